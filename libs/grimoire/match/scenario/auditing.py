"""Audits a table's log, honest or changed."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import Message

from grimoire.engine import ALL
from grimoire.fairness import chain
from grimoire.fairness.verify import verify
from grimoire.match.redecide import redecide
from grimoire.match.scenario.document import ScenarioError
from grimoire.match.scenario.plain import set_path
from grimoire.match.scenario.spec import Tamper
from grimoire.match.table import Table
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2

__all__ = ["audit"]


def audit(table: Table, tampers: Sequence[Tamper] = ()) -> audit_pb2.AuditReport:
    """All checks over a copy of the log, after these changes.

    Args:
        table: its match is revealed.
        tampers: what to change.

    Raises:
        ScenarioError: if there is nothing to be changed as it is written.
    """
    log = table.log(ALL)
    for tamper in tampers:
        if not 1 <= tamper.version <= len(log):
            raise ScenarioError(tamper.line, f"there is no entry {tamper.version}; there are {len(log)}")
        _change(table, log[tamper.version - 1], tamper)
        if tamper.reseal:
            _reseal(table.match_id, log)
    schema = table.referee.schema
    return verify(log, schema=schema, rules_walk=redecide(table.referee.game, log))


def _change(table: Table, entry: frame_pb2.ViewerEntry, tamper: Tamper) -> None:
    parts = {part.audience: part for part in entry.parts}
    if tamper.event == "command":
        record = match_pb2.CommandRecord.FromString(parts["command"].body)
        _set(record, tamper)
        parts["command"].body = record.SerializeToString()
        return
    schema = table.referee.schema
    events = schema.merge(entry.public, {a: p.body for a, p in parts.items() if a != "command"})
    found = [event for event in events if schema.code(event) == tamper.event]
    if len(found) < tamper.nth:
        raise ScenarioError(tamper.line, f"entry {tamper.version} has {len(found)} events {tamper.event}")
    _set(found[tamper.nth - 1], tamper)
    split = schema.split(events, len(table.running.occupants))
    entry.public = split.public
    for audience, body in split.parts.items():
        parts[audience].body = body


def _set(message: Message, tamper: Tamper) -> None:
    for path, value in tamper.fields.items():
        try:
            set_path(message, str(path), value)
        except (TypeError, ValueError, LookupError) as error:
            raise ScenarioError(tamper.line, f"{tamper.event}.{path} cannot be {value!r}: {error}") from error


def _reseal(match_id: str, log: Sequence[frame_pb2.ViewerEntry]) -> None:
    """Digests and chain made anew, as a host that lies would do it."""
    previous = chain.genesis(match_id)
    for entry in log:
        digests: list[tuple[str, bytes]] = []
        for part, digest in zip(entry.parts, entry.digests, strict=True):
            digest.digest = chain.part_digest(part.audience, part.salt, part.body)
            digests.append((part.audience, digest.digest))
        previous = entry.hash = chain.link(previous, entry.header, entry.public, digests)
