"""What a player's program makes of a finished match by itself: the audit, on this machine, with one's own keepsake."""

from __future__ import annotations

import asyncio

import msgspec

from grimoire.client.connection import Connection
from grimoire.engine import Schema
from grimoire.fairness.export import MAX_FILE_BYTES, Export, ExportError, read_export
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.verify import first_lie, unreadable, verify_export
from grimoire.match.rules import created_in
from grimoire.plugins import UnknownGameError, load_game
from grimoire.v1 import audit_pb2, replay_pb2

__all__ = ["Verdict", "fetch_export", "verify"]


class Verdict(msgspec.Struct, frozen=True):
    """The result of an audit made here.

    Attributes:
        holds: nothing that was checked lies.
        report: every check, and what no audit can prove. Checks 7 and 8 are left to others: the transparency log's
            proofs, and the rules, which need the game's code (`grimoire audit`).
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


async def verify(connection: Connection, match_id: str, keepsake: Keepsake | None, head: bytes) -> Verdict:
    """Audits a match from its exported file.

    Args:
        connection: to the server.
        match_id: of the match.
        keepsake: one's own, if there is one.
        head: hash of the last entry that was seen.

    Raises:
        UnavailableError, Rejected: if the file cannot be had.
    """
    try:
        data = await fetch_export(connection, match_id)
        # Hashing a long log is work for a thread: other matches of this program go on.
        return await asyncio.to_thread(_judge, read_export([data]), match_id, keepsake, head)
    except ExportError as error:
        return Verdict(False, unreadable(error), False)


def _judge(export: Export, match_id: str, keepsake: Keepsake | None, head: bytes) -> Verdict:
    report = verify_export(export, schema=_schema(export), keepsakes=[keepsake] if keepsake is not None else [])
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
