"""One match of the log: its file, judged alone and against the log."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from google.protobuf.message import DecodeError

from grimoire.cli.wholelog.findings import Doubt
from grimoire.fairness.export import Export, ExportError, read_export
from grimoire.fairness.transparency import EvidenceError, VerifierKey
from grimoire.fairness.transparency.summary import Story
from grimoire.fairness.transparency.wholelog import WholeLog
from grimoire.fairness.verify import exit_status, first_lie
from grimoire.match.offline import audit_export
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2

__all__ = ["Judged", "judge"]


class Judged(msgspec.Struct):
    """What became of a match.

    Attributes:
        doubt: None: it stands.
        what: a sentence, if it does not.
        draws: of a match that stands, in order.
    """

    doubt: Doubt | None = None
    what: str = ""
    draws: list[match_pb2.Draw] = []


def judge(data: bytes, story: Story, whole: WholeLog, key: VerifierKey) -> Judged:
    """Judges a file that the server gives for a match of its log.

    Args:
        data: the file.
        story: what the log says of the match; it has a reveal leaf.
        whole: the log.
        key: of the log.
    """
    try:
        export = read_export([data])
    except ExportError as error:
        return Judged(Doubt.LIES, f"its file cannot be read: {error}")
    differs = _differs(export, story, whole, key)
    if differs:
        return Judged(Doubt.LIES, differs)
    report = audit_export(export, log_key=key)
    status = exit_status(report)
    if status == 1:
        lie = first_lie(report)
        return Judged(Doubt.LIES, "its file does not hold" if lie is None else _said(lie))
    draws = [draw for entry in export.entries for draw in _draws(entry)]
    if status:
        return Judged(Doubt.UNJUDGED, _unchecked(report), draws)
    return Judged(draws=draws)


def _differs(export: Export, story: Story, whole: WholeLog, key: VerifierKey) -> str:
    """What the file's proofs say otherwise than the log; empty: nothing."""
    if export.match_id != story.match_id:
        return f"its file is that of match {export.match_id}"
    if export.evidence is None:
        return "its file carries no proofs, as if it had not been in the log"
    try:
        proved = export.evidence.prove(export.match_id, key)
    except EvidenceError as error:
        return str(error)
    if not whole.agrees_with(proved.checkpoint):
        return f"its file shows a checkpoint of another log ({proved.checkpoint.size} leaves)"
    if any(not whole.has(logged.number, logged.leaf) for logged in export.evidence.leaves):
        return "its file shows leaves that are not in the log"
    if set(proved.leaves) != set(story.times):
        return "its file shows other leaves than the log"
    return ""


def _draws(entry: frame_pb2.ViewerEntry) -> Iterator[match_pb2.Draw]:
    for part in entry.parts:
        if part.audience == "command":
            try:
                yield from match_pb2.CommandRecord.FromString(part.body).draws
            except DecodeError:
                return


def _said(check: audit_pb2.AuditCheck) -> str:
    where = f", version {check.version}" if check.version else ""
    return f"check {check.number}{where}: {check.detail}"


def _unchecked(report: audit_pb2.AuditReport) -> str:
    open_ = [check for check in report.checks if check.status == audit_pb2.CHECK_STATUS_NOT_CHECKED]
    return "; ".join(f"check {check.number}: {check.detail}" for check in open_)
