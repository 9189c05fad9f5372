"""What a player's program makes of a finished match by itself: the audit, on this machine, with one's own keepsake."""

from __future__ import annotations

import asyncio

import msgspec

from grimoire.client.connection import Connection
from grimoire.client.errors import Alarm
from grimoire.client.logbook import LogBook
from grimoire.engine import Schema
from grimoire.fairness.export import MAX_FILE_BYTES, Export, ExportError, read_export
from grimoire.fairness.findings import Check
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.transparency import VerifierKey
from grimoire.fairness.verify import first_lie, unreadable, verify_export, with_check
from grimoire.match.rules import created_in
from grimoire.plugins import UnknownGameError, load_game
from grimoire.v1 import audit_pb2, replay_pb2

__all__ = ["Verdict", "fetch_export", "verify"]


class Verdict(msgspec.Struct, frozen=True):
    """The result of an audit made here.

    Attributes:
        holds: nothing that was checked lies.
        report: every check, and what no audit can prove. Check 8 is left to others: the rules need the game's code
            (`grimoire audit`).
        same_head: the exported log ends with the entry that this program saw last.
    """

    holds: bool
    report: audit_pb2.AuditReport
    same_head: bool

    def __str__(self) -> str:
        """One line for people."""
        if self.holds:
            return f"match {self.report.match_id}: {self.report.entries} entries, everything that was checked holds"
        lie = first_lie(self.report)
        if lie is None:
            return f"match {self.report.match_id}: the exported log is not the one that was played"
        return f"match {self.report.match_id}: check {lie.number} ({lie.name}) fails: {lie.detail}"


async def fetch_export(connection: Connection, match_id: str) -> bytes:
    """The file of a match, as far as the caller may see it now.

    Raises:
        UnavailableError, Rejected: if it cannot be had.
        ExportError: if the server sends more than a file may hold.
    """
    pieces: list[bytes] = []
    size = 0
    request = replay_pb2.ExportRequest(match_id=match_id)
    async for response in connection.stream(connection.replay.Export, request):
        size += len(response.chunk)
        if size > MAX_FILE_BYTES:
            raise ExportError(0, f"the file is longer than {MAX_FILE_BYTES} bytes")
        pieces.append(response.chunk)
    return b"".join(pieces)


async def verify(
    connection: Connection, logbook: LogBook, match_id: str, keepsake: Keepsake | None, head: bytes
) -> Verdict:
    """Audits a match from its exported file.

    Args:
        connection: to the server.
        logbook: what is known of the server's transparency log; the file's checkpoint is compared with it.
        match_id: of the match.
        keepsake: one's own, if there is one.
        head: hash of the last entry that was seen.

    Raises:
        UnavailableError, Rejected: if the file cannot be had.
    """
    try:
        data = await fetch_export(connection, match_id)
        # Hashing a long log is work for a thread: other matches of this program go on.
        export = await asyncio.to_thread(read_export, [data])
        doubt = await _compare_logs(connection, logbook, export)
        return await asyncio.to_thread(_judge, export, match_id, keepsake, head, logbook.key, doubt)
    except ExportError as error:
        return Verdict(False, unreadable(error), False)


async def _compare_logs(connection: Connection, logbook: LogBook, export: Export) -> str:
    """Why the file's checkpoint is not of the log that is known of this server; empty: it is, or the file has none."""
    if export.evidence is None:
        return ""
    try:
        await logbook.check(connection, export.match_id, export.evidence.key, export.evidence.checkpoint)
    except Alarm as alarm:
        return alarm.reason
    return ""


def _judge(
    export: Export,
    match_id: str,
    keepsake: Keepsake | None,
    head: bytes,
    log_key: VerifierKey | None,
    doubt: str,
) -> Verdict:
    keepsakes = [keepsake] if keepsake is not None else []
    report = verify_export(export, schema=_schema(export), keepsakes=keepsakes, log_key=log_key)
    if doubt:
        logged = audit_pb2.AuditCheck()
        logged.CopyFrom(report.checks[Check.TRANSPARENCY_LOG - 1])
        logged.status, logged.detail = audit_pb2.CHECK_STATUS_FAILED, doubt
        report = with_check(report, logged)
    same_head = export.match_id == match_id and export.head == head
    return Verdict(same_head and first_lie(report) is None, report, same_head)


def _schema(export: Export) -> Schema | None:
    """Of the rules the match was played by, where they are installed."""
    created = created_in(export.entries)
    try:
        rules = load_game(export.game).rules(created.rules_version) if created is not None else None
    except UnknownGameError:
        return None
    return None if rules is None else rules.schema
