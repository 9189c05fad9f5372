"""Check 8 of the audit: the game's own walk. Every command of a revealed log is judged anew with the joint seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.protobuf.message import DecodeError, Message

from grimoire.engine import CLOCK, HOST, Actor, Game, SchemaError
from grimoire.fairness.secret import Secret
from grimoire.match.entry import Entry
from grimoire.match.parsed import Parsed
from grimoire.match.referee import MAX_ENTRIES, Referee
from grimoire.match.rules import created_in
from grimoire.match.state import MatchState
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2

NAME = "Rules walk"


class _LieError(Exception):
    """The first entry that the rules do not confirm."""

    def __init__(self, version: int, detail: str) -> None:
        super().__init__(detail)
        self.version = version
        self.detail = detail


def redecide(
    game: Game[Any], entries: Iterable[frame_pb2.ViewerEntry], older: Iterable[Game[Any]] = ()
) -> audit_pb2.AuditCheck:
    """Refolds a revealed log and re-decides each of its commands; events and draws are compared field by field.

    Args:
        game: the rules. A log of the same version whose data files had another digest is judged, as that is what the
            version promises, but what differs then is not called a lie.
        entries: whole, from version 1 to the reveal.
        older: earlier versions of the rules. A log of a version that is not among them is not judged.

    Returns:
        Check 8: passed, failed at the first version that lies, or not checked (with the reason).
    """
    log = list(entries)
    created = created_in(log)
    if created is None:
        return _check(audit_pb2.CHECK_STATUS_FAILED, "the log does not begin with match_created", 1)
    named = (created.game, created.rules_version)
    rules = next((one for one in (game, *older) if (one.id, one.rules_version) == named), None)
    if rules is None:
        return _check(
            audit_pb2.CHECK_STATUS_NOT_CHECKED,
            f"8 not re-decided: rules version {created.rules_version} of {created.game} not installed",
        )
    same_edition = created.rules_digest == rules.rules_digest
    try:
        seed = _seed(log)
        forced = created.mode == match_pb2.MATCH_MODE_ANALYSIS
        referee = Referee(rules, lambda *_: seed, host_key_id=created.host_key_id, most_asides=MAX_ENTRIES)
        state: MatchState[Any] | None = None
        for entry in log:
            state = _walk(referee, state, entry, forced)
        if state is None or not state.revealed:
            raise _LieError(len(log), "the log does not reach its reveal")
    except _LieError as lie:
        if not same_edition:
            # Data of another edition may rightly come out otherwise: that accuses nobody.
            edition = f"8 not re-decided: another edition of rules version {created.rules_version} is installed"
            return _check(audit_pb2.CHECK_STATUS_NOT_CHECKED, f"{edition} ({lie.detail})", lie.version)
        return _check(audit_pb2.CHECK_STATUS_FAILED, lie.detail, lie.version)
    passed = f"all {len(log)} entries were judged again with the revealed seed and came out the same"
    if not same_edition:
        passed += "; the game's data files have another digest by now"
    return _check(audit_pb2.CHECK_STATUS_PASSED, passed)


def _walk(
    referee: Referee[Any], state: MatchState[Any] | None, entry: frame_pb2.ViewerEntry, forced: bool
) -> MatchState[Any]:
    version = 1 if state is None else state.version + 1
    parts = {p.audience: p.body for p in entry.parts}
    try:
        head = match_pb2.EntryHeader.FromString(entry.header)
        record = match_pb2.CommandRecord.FromString(parts["command"])
        events = referee.schema.merge(entry.public, {a: b for a, b in parts.items() if a != "command"})
        message = referee.schema.commands[record.type].FromString(record.payload)
    except (KeyError, DecodeError, SchemaError) as error:
        raise _LieError(version, f"entry {version} cannot be read by these rules") from error
    if record.actor == match_pb2.ACTOR_KIND_SEAT and not (
        state is not None and referee.holds_seat(state, record.seat, record.occupant_id)
    ):
        raise _LieError(version, f"seat {record.seat} was not this sender's")
    prompt_id = record.prompt_id if record.HasField("prompt_id") else None
    if (record.type in referee.rules().standing) is not (prompt_id is None):
        raise _LieError(version, f"{record.type} is recorded {'with' if prompt_id else 'without'} a prompt")
    parsed = Parsed(head.command_id, record.type, message, record.payload, prompt_id, record.occupant_id)
    judge = _forced_referee(referee, record) if forced else referee
    try:
        again = _judge(judge, state, head, record, parsed, events)
    except ValueError as error:  # seeds of another length, forced draws that cannot be
        raise _LieError(version, f"entry {version} cannot be judged by these rules") from error
    if not isinstance(again, Entry):
        raise _LieError(version, f"the rules refuse this command: {again.code} {again.rule}".rstrip())
    if state is None:
        _take_edition(again.events[0], events[0])
    if list(again.events) != events:
        raise _LieError(
            version, f"the rules give other events than the log: {_difference(referee, again.events, events)}"
        )
    rejudged = referee.schema.split(again.events, len(again.state.occupants))
    if _by_audience(referee, rejudged.public, rejudged.parts) != _by_audience(referee, entry.public, parts):
        raise _LieError(version, "fields of its events lie in another audience's part than the schema says")
    if list(again.draws) != list(record.draws):
        raise _LieError(version, "the rules draw otherwise than the log records")
    if match_pb2.EntryHeader.FromString(again.header) != head:
        raise _LieError(version, "the header is not of this command, this version or a time after the last entry's")
    if match_pb2.CommandRecord.FromString(dict(again.parts)["command"]) != record:
        raise _LieError(version, "the command's record holds more than the command")
    return referee.fold(state, entry.header, entry.public, parts, entry.hash)


def _by_audience(referee: Referee[Any], public: bytes, parts: dict[str, bytes]) -> dict[str, list[Message]]:
    """What each audience alone is shown. Messages, not bytes: serialising is not canonical for ever."""
    shown = {a: referee.schema.merge(public, {a: body}) for a, body in parts.items() if a != "command"}
    return {**shown, "public": referee.schema.merge(public, {})}


def _take_edition(again: Message, logged: Message) -> None:
    """Which edition of its data a match began with is the log's to say: new texts of a card change no match."""
    if isinstance(again, match_pb2.MatchCreated) and isinstance(logged, match_pb2.MatchCreated):
        again.rules_digest = logged.rules_digest
        again.catalog_version = logged.catalog_version


def _judge(
    referee: Referee[Any],
    state: MatchState[Any] | None,
    head: match_pb2.EntryHeader,
    record: match_pb2.CommandRecord,
    parsed: Parsed,
    events: list[Message],
) -> Entry | Any:
    if state is None:
        return referee.create(head.match_id, parsed, head.server_time_ms)
    given_back = [(e.prompt_id, e.by_ms) for e in events if isinstance(e, match_pb2.ClockExtended)]
    return referee.judge(state, _actor(record), parsed, head.server_time_ms, given_back)


def _actor(record: match_pb2.CommandRecord) -> Actor:
    if record.actor == match_pb2.ACTOR_KIND_SEAT:
        return Actor.of_seat(record.seat)
    return CLOCK if record.actor == match_pb2.ACTOR_KIND_CLOCK else HOST


def _forced_referee(referee: Referee[Any], record: match_pb2.CommandRecord) -> Referee[Any]:
    """Analysis matches may force draws: the recorded results are what was asked for."""
    forced: dict[str, list[int]] = {}
    for draw in record.draws:
        forced.setdefault(draw.label, []).extend(draw.results)
    return referee.with_forced(forced)


def _seed(log: list[frame_pb2.ViewerEntry]) -> Secret:
    try:
        for event in match_pb2.Events.FromString(log[-1].public).events:
            if event.type == "fairness_revealed":
                return Secret(match_pb2.FairnessRevealed.FromString(event.body).server_seed)
    except (DecodeError, ValueError):
        pass
    raise _LieError(len(log), "the log does not end with its reveal")


def _difference(referee: Referee[Any], again: tuple[Message, ...], logged: list[Message]) -> str:
    """Names the first event that differs; the log is revealed, so nothing here is secret."""
    for index, (a, b) in enumerate(zip(again, logged, strict=False)):
        if a != b:
            return (
                f"event {index} is {referee.schema.code(b)}, judged anew {referee.schema.code(a)} with other contents"
            )
    return f"{len(logged)} events logged, {len(again)} judged anew"


def _check(status: audit_pb2.CheckStatus.ValueType, detail: str, version: int = 0) -> audit_pb2.AuditCheck:
    return audit_pb2.AuditCheck(number=8, name=NAME, status=status, detail=detail, version=version)
