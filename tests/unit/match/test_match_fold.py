"""Folding and judging again: the state is the fold of the entries, and a log that lies is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grimoire.engine import ALL, SchemaError
from grimoire.match import Entry, redecide
from grimoire.match.table import START_MS, Table
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy

PASSED, FAILED = audit_pb2.CHECK_STATUS_PASSED, audit_pb2.CHECK_STATUS_FAILED


def played(**more) -> Table:
    """A whole match with a bit of everything."""
    made = Table(PLUGIN.game, match_id="fold", seats=3, **more)
    made.begin()
    made.answer(2, toy.Chant())
    made.answer(1, toy.ChooseRune(rune=made.running.game.keepers[1].hand[1]))
    made.now_ms += 3_000
    made.down.append((START_MS, START_MS + 2_000))
    made.play(0, toy.SetStance(always_pass=True))
    made.expire_next()
    made.expire_next()
    while made.running.game.phase == "stack" and made.running.game.asked != 1:
        made.expire_next()
    if made.running.game.phase == "stack":
        made.answer(1, toy.Counter(stake=1))
    while made.expire_next() is not None:
        pass
    return made


def fold(table: Table, entries: list[Entry]):
    state = None
    for entry in entries:
        state = table.referee.fold(state, entry.header, entry.public, dict(entry.parts), entry.hash)
        yield state, entry


@pytest.mark.parametrize("mode", ["coop", "duel"])
def test_the_state_is_the_fold_at_every_entry(mode):
    made = played(options={"mode": mode})
    assert made.running.over
    for folded, entry in fold(made, made.entries):
        assert folded == entry.state
        assert folded.game == entry.state.game


def test_the_state_of_an_arranged_match_is_the_fold_too():
    position = PLUGIN.positions.parse({"hands": [["yew"], ["ash"], ["oak"]]}, {}).SerializeToString()
    made = played(mode=match_pb2.MATCH_MODE_ANALYSIS, position=position)
    for folded, entry in fold(made, made.entries):
        assert folded == entry.state


def test_a_voided_match_folds():
    made = Table(PLUGIN.game, match_id="fold", seats=2)
    made.begin()
    made.void("x")
    for folded, entry in fold(made, made.entries):
        assert folded == entry.state


def test_parts_and_public_bytes_merge_back_to_the_events():
    made = played()
    for entry in made.entries:
        parts = {a: b for a, b in entry.parts if a != "command"}
        assert tuple(made.referee.schema.merge(entry.public, parts)) == entry.events


def test_entries_that_do_not_follow_each_other_are_refused():
    made = played()
    first, second, third = made.entries[:3]
    state = made.referee.fold(None, first.header, first.public, dict(first.parts), first.hash)
    with pytest.raises(ValueError, match="does not follow"):
        made.referee.fold(state, third.header, third.public, dict(third.parts), third.hash)
    with pytest.raises(ValueError, match="begins with match_created"):
        made.referee.fold(None, second.header, second.public, dict(second.parts), second.hash)
    with pytest.raises(SchemaError):
        made.referee.fold(state, second.header, b"\xff", {}, second.hash)


def test_the_command_record_holds_who_what_and_every_draw():
    made = played()
    records = [match_pb2.CommandRecord.FromString(dict(e.parts)["command"]) for e in made.entries]
    created, start = records[0], records[6]
    assert (created.actor, created.type, created.occupant_id) == (match_pb2.ACTOR_KIND_HOST, "create_match", "")
    assert (start.seat, start.type, start.occupant_id, start.HasField("prompt_id")) == (
        2,
        "open_nonce",
        "seat-2",
        False,
    )
    assert [(d.label, d.kind, d.bound) for d in start.draws] == [("deck", match_pb2.DRAW_KIND_SHUFFLE, 24)]
    assert records[8].prompt_id == 2
    assert {r.actor for r in records} == {1, 2, 3}
    for entry, record in zip(made.entries, records, strict=True):
        assert list(entry.draws) == list(record.draws)


# ---- judging again ---------------------------------------------------------------------------------------------------


def test_an_honest_log_is_judged_again_the_same():
    for made in (played(), played(options={"mode": "duel"})):
        check = redecide(PLUGIN.game, made.log(ALL))
        assert (check.status, check.number, check.version) == (PASSED, 8, 0), check.detail


def test_an_honest_analysis_log_with_forced_draws_is_judged_again_the_same():
    made = played(mode=match_pb2.MATCH_MODE_ANALYSIS, forced={"deck": [7, 3], "omen/1": [2]})
    assert redecide(PLUGIN.game, made.log(ALL)).status == PASSED


def test_a_void_log_is_judged_again_the_same():
    made = Table(PLUGIN.game, match_id="fold", seats=2)
    made.create()
    made.seal(0)
    made.now_ms += 60_000
    made.expire(0)
    assert redecide(PLUGIN.game, made.log(ALL)).status == PASSED


def test_a_log_of_other_rules_is_not_judged():
    made = played()
    log = made.log(ALL)
    events = match_pb2.Events.FromString(log[0].public)
    created = match_pb2.MatchCreated.FromString(events.events[0].body)
    created.rules_version = 2
    events.events[0].body = created.SerializeToString()
    log[0].public = events.SerializeToString()
    check = redecide(PLUGIN.game, log)
    assert check.status == audit_pb2.CHECK_STATUS_NOT_CHECKED
    assert "rules version 2" in check.detail


def of_another_edition() -> list[frame_pb2.ViewerEntry]:
    log = played().log(ALL)
    edit_event(1, 0, lambda e: setattr(e, "rules_digest", bytes(32)))(log)
    return log


def test_a_log_whose_data_files_had_another_digest_is_judged_all_the_same():
    check = redecide(PLUGIN.game, of_another_edition())
    assert check.status == PASSED
    assert "another digest" in check.detail


def test_what_differs_under_another_digest_accuses_nobody():
    log = of_another_edition()
    edit_record(9, lambda r: setattr(r, "payload", b"\n\x03zzz"))(log)
    check = redecide(PLUGIN.game, log)
    assert (check.status, check.version) == (audit_pb2.CHECK_STATUS_NOT_CHECKED, 9)


def test_a_field_that_lies_open_though_the_schema_hides_it_is_a_lie():
    log = played().log(ALL)
    version = next(n for n, e in enumerate(log, 1) for p in e.parts if p.audience == "seat/0" and p.body)
    entry = log[version - 1]
    part = next(p for p in entry.parts if p.audience == "seat/0")
    pieces, events = match_pb2.PartEvents.FromString(part.body), match_pb2.Events.FromString(entry.public)
    for piece in pieces.events:
        events.events[piece.index].body += piece.body
        piece.body = b""
    part.body, entry.public = pieces.SerializeToString(), events.SerializeToString()
    check = redecide(PLUGIN.game, log)
    assert (check.status, check.version) == (FAILED, version)
    assert "audience" in check.detail


def test_a_command_recorded_without_its_prompt_is_a_lie():
    made = played()
    version = next(
        n for n, e in enumerate(made.entries, 1)
        if match_pb2.CommandRecord.FromString(dict(e.parts)["command"]).HasField("prompt_id")
    )  # fmt: skip
    log = made.log(ALL)
    edit_record(version, lambda r: r.ClearField("prompt_id"))(log)
    check = redecide(PLUGIN.game, log)
    assert (check.status, check.version) == (FAILED, version)


def test_a_log_without_its_reveal_or_without_anything_fails():
    log = played().log(ALL)
    assert redecide(PLUGIN.game, log[:-1]).status == FAILED
    assert redecide(PLUGIN.game, []).status == FAILED
    assert redecide(PLUGIN.game, log[1:]).status == FAILED


def edit_event(version: int, index: int, change: Callable) -> Callable:
    """Changes one event in the public bytes of one entry."""

    def apply(log: list[frame_pb2.ViewerEntry]) -> None:
        events = match_pb2.Events.FromString(log[version - 1].public)
        event = events.events[index]
        schema = Table(PLUGIN.game, match_id="x", seats=2).referee.schema
        message = schema.events[event.type].FromString(event.body)
        change(message)
        event.body = message.SerializeToString()
        log[version - 1].public = events.SerializeToString()

    return apply


def edit_part(version: int, audience: str, change: Callable[[bytes], bytes]) -> Callable:
    def apply(log: list[frame_pb2.ViewerEntry]) -> None:
        (part,) = (p for p in log[version - 1].parts if p.audience == audience)
        part.body = change(part.body)

    return apply


def edit_record(version: int, change: Callable) -> Callable:
    def apply(body: bytes) -> bytes:
        record = match_pb2.CommandRecord.FromString(body)
        change(record)
        return record.SerializeToString()

    return edit_part(version, "command", apply)


def edit_header(version: int, /, **fields) -> Callable:
    def apply(log: list[frame_pb2.ViewerEntry]) -> None:
        header = match_pb2.EntryHeader.FromString(log[version - 1].header)
        for name, value in fields.items():
            setattr(header, name, value)
        log[version - 1].header = header.SerializeToString()

    return apply


LAST = len(played().entries)
LIES = {
    "another commitment": (1, edit_event(1, 0, lambda e: setattr(e, "server_commitment", bytes(32)))),
    "another seal": (2, edit_event(2, 0, lambda e: setattr(e, "seal", bytes(32)))),
    "another deal digest": (7, edit_event(7, 2, lambda e: setattr(e, "deal_digest", bytes(32)))),
    "another hand": (7, edit_part(7, "seat/1", lambda b: b.replace(b"\n\x04", b"\n\x04", 1)[:-1] + b"q")),
    "another deck": (7, edit_part(7, "sealed", lambda b: b[:-1] + b"q")),
    "another draw": (7, edit_record(7, lambda r: r.draws[0].results.reverse())),
    "a draw left out": (7, edit_record(7, lambda r: r.ClearField("draws"))),
    "another command": (9, edit_record(9, lambda r: setattr(r, "payload", b"\n\x03zzz"))),
    "an unknown command": (9, edit_record(9, lambda r: setattr(r, "type", "zzz"))),
    "a payload that does not parse": (9, edit_record(9, lambda r: setattr(r, "payload", b"\xff"))),
    "another seat's command": (9, edit_record(9, lambda r: setattr(r, "seat", 2))),
    "a seat that is none": (9, edit_record(9, lambda r: setattr(r, "seat", 9))),
    "another sender": (9, edit_record(9, lambda r: setattr(r, "occupant_id", "stranger"))),
    "another prompt": (9, edit_record(9, lambda r: setattr(r, "prompt_id", 3))),
    "a clock that was a seat": (9, edit_record(9, lambda r: setattr(r, "actor", match_pb2.ACTOR_KIND_CLOCK))),
    "a time before the last": (9, edit_header(9, server_time_ms=1)),
    "a version twice": (9, edit_header(9, version=8)),
    "another match": (9, edit_header(9, match_id="other")),
    "another actor in the header": (9, edit_header(9, actor=match_pb2.ACTOR_KIND_HOST)),
    "another seat in the header": (9, edit_header(9, seat=2)),
    "a match id that is none": (1, edit_header(1, match_id="a b")),
    "a seed of another length": (1, edit_event(LAST, -1, lambda e: setattr(e, "server_seed", b"short"))),
    "another seed": (1, edit_event(LAST, -1, lambda e: setattr(e, "server_seed", bytes(32)))),
    "no seed": (LAST, edit_event(LAST, -1, lambda e: e.ClearField("server_seed"))),
    "another outcome": (LAST, edit_event(LAST, -2, lambda e: setattr(e, "kind", match_pb2.OUTCOME_KIND_DRAW))),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_log_that_lies_fails_at_the_first_entry_that_does(lie):
    version, change = LIES[lie]
    log = played().log(ALL)
    change(log)
    check = redecide(PLUGIN.game, log)
    assert (check.status, check.version) == (FAILED, version), check.detail
    assert check.detail
