"""Seats that change hands: who may leave, who is back, who is bound, and that the log alone tells it all."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness.export import Export, read_export
from grimoire.fairness.verify import verify_export
from grimoire.match import Entry, MatchState, redecide
from grimoire.match.frames import FrameFold, head
from grimoire.match.headline import headline
from grimoire.match.seats import occupants_of
from grimoire.match.table import Table
from grimoire.v1 import audit_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy

PERSON, BOT = match_pb2.OCCUPANT_KIND_PERSON, match_pb2.OCCUPANT_KIND_BOT
RATED = match_pb2.MATCH_MODE_RATED


def running(mode: str = "melee", seats: int = 3, holders: tuple[str, ...] = (), **more) -> Table:
    occupants = [
        match_pb2.SeatOccupant(
            seat=n,
            occupant_id=name,
            kind=BOT if name.startswith("bot") else PERSON,
            level="random" if name.startswith("bot") else "",
        )
        for n, name in enumerate(holders or [f"seat-{n}" for n in range(seats)])
    ]
    made = Table(
        PLUGIN.game, match_id="hands", seats=len(occupants), options={"mode": mode}, occupants=occupants, **more
    )
    made.begin()
    return made


def bind(table: Table, seat: int, occupant: str, kind: int = BOT, **more):
    level = {"level": "random"} if kind == BOT else {}
    return table.bind(match_pb2.BindSeat(seat=seat, occupant_id=occupant, kind=kind, reason="left", **level, **more))


def said(entry: Entry) -> list[str]:
    return [type(event).__name__ for event in entry.events]


def rune(table: Table, seat: int) -> toy.ChooseRune:
    return toy.ChooseRune(rune=table.running.game.keepers[seat].hand[0])


def refolded(table: Table) -> list[MatchState]:
    """The state after every entry, from stored bytes alone."""
    states, state = [], None
    for entry in table.entries:
        state = table.referee.fold(state, entry.header, entry.public, dict(entry.parts), entry.hash)
        states.append(state)
    return states


# ---- leaving -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "leaving"), [("coop", 0), ("duel", 0), ("league", 1), ("melee", 2), ("party", 3)])
def test_the_first_entry_says_what_becomes_of_leavers(mode: str, leaving: int) -> None:
    table = running(mode)
    created = match_pb2.MatchCreated.FromString(table.running.created)
    assert (created.leaving, created.grace_s) == (leaving, 60 if leaving else 0)


def test_where_seats_are_kept_nobody_leaves_and_nobody_is_bound() -> None:
    table = running("duel")
    assert table.play(0, match_pb2.LeaveSeat()).code == "seats_are_kept"
    assert bind(table, 0, "bot").code == "seats_are_kept"
    assert "BeaconClosed" in said(table.play(0, match_pb2.Resign())), "the game judges who resigns"


def test_who_resigns_leaves_the_seat_and_the_match_goes_on() -> None:
    table = running("melee")
    entry = table.play(1, match_pb2.Resign())
    assert entry.events == (match_pb2.SeatLeft(seat=1, reason="resigned"),)
    assert not table.running.over
    assert table.running.away == {1}
    assert table.play(1, match_pb2.Resign()).code == "already_left"


def test_where_it_retires_the_game_judges_who_resigns() -> None:
    assert "BeaconClosed" in said(running("league").play(1, match_pb2.Resign()))
    assert said(running("league").play(1, match_pb2.LeaveSeat())) == ["SeatLeft"]


@pytest.mark.parametrize(
    ("holders", "ends"),
    [
        (("ada", "bo", "eve"), False),
        (("ada", "bot-1", "bot-2"), True),
        (("ada", "ada", "bot-2"), True),
        (("ada", "ada", "bo"), False),
        (("ada",), True),
    ],
)
def test_the_last_person_of_a_party_gives_up_for_all(holders: tuple[str, ...], ends: bool) -> None:
    table = running("party", holders=holders)
    entry = table.play(0, match_pb2.Resign())
    assert table.running.over is ends
    if not ends:
        assert [e.seat for e in entry.events] == [n for n, name in enumerate(holders) if name == "ada"]


def test_who_left_before_does_not_count_as_there() -> None:
    table = running("party", holders=("ada", "bo"))
    table.play(0, match_pb2.LeaveSeat())
    assert "MatchClosed" in said(table.play(1, match_pb2.Resign()))


def test_one_command_is_enough_to_be_back() -> None:
    table = running("melee", holders=("ada", "ada", "bo"))
    table.play(0, match_pb2.LeaveSeat())
    assert table.running.away == {0, 1}
    entry = table.answer(1, rune(table, 1))
    assert said(entry)[:3] == ["SeatBack", "SeatBack", "RuneChosen"]
    assert not table.running.away


def test_who_is_back_in_time_keeps_the_seat_from_whoever_comes_for_one_who_left() -> None:
    table = running("melee", holders=("ada", "bo", "eve"))
    assert bind(table, 0, "bot", if_left=True).code == "not_left"
    table.play(0, match_pb2.LeaveSeat())
    table.answer(0, rune(table, 0))
    assert bind(table, 0, "bot", if_left=True).code == "not_left"
    table.play(0, match_pb2.LeaveSeat())
    assert said(bind(table, 0, "bot", if_left=True)) == ["SeatBound"]
    assert said(bind(table, 0, "ada", PERSON)) == ["SeatBound"], "who returns asks nobody"


def test_two_prompts_in_a_row_that_run_out_are_leaving() -> None:
    table = running("melee", 2)
    first = table.expire_next()
    assert table.running.missed == (1, 0)
    assert "SeatLeft" not in said(first)
    table.answer(1, rune(table, 1))
    entry = None
    while not table.running.over and 0 not in table.running.away:
        entry = table.expire_next()
    assert match_pb2.SeatLeft(seat=0, reason="timed_out") in entry.events


def test_a_command_in_between_forgives_and_a_bot_never_leaves() -> None:
    table = running("melee", holders=("ada", "bot-1"))
    assert isinstance(table.expire_next(), Entry)
    table.play(0, toy.SetStance(always_pass=True))
    assert table.running.missed[0] == 0
    while not table.running.over:
        table.expire_next()
    gone = [e for entry in table.entries for e in entry.events if isinstance(e, match_pb2.SeatLeft)]
    assert 1 not in {e.seat for e in gone}


# ---- binding -------------------------------------------------------------------------------------------------------


def test_the_new_occupant_acts_and_the_old_one_no_more() -> None:
    table = running()
    entry = bind(table, 1, "bot-9")
    assert entry.events == (match_pb2.SeatBound(seat=1, occupant_id="bot-9", kind=BOT, reason="left", level="random"),)
    command = table.envelope(1, "set_stance", toy.SetStance(always_pass=True).SerializeToString())
    assert table.submit(command, "seat-1").code == "not_a_seat"
    command.command_id = table.new_command_id()
    assert isinstance(table.submit(command, "bot-9"), Entry)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"seat": 3}, "seat"),
        ({"occupant_id": ""}, "occupant_id"),
        ({"occupant_id": "x" * 129}, "occupant_id"),
        ({"kind": 0}, "kind"),
        ({"kind": PERSON, "level": "random"}, "level"),
        ({"kind": PERSON, "occupant_id": "seat-0"}, "occupant_id"),
    ],
)
def test_who_cannot_be_bound(changes: dict, field: str) -> None:
    rated = Table(PLUGIN.game, match_id="rated", seats=3, options={"mode": "melee"}, mode=RATED)
    rated.begin()
    message = {"seat": 1, "occupant_id": "bo", "kind": BOT, "reason": "left"} | changes
    refused = rated.bind(match_pb2.BindSeat(**message))
    assert (refused.code, refused.field) == ("malformed", field)


def test_a_fellow_of_a_rated_party_may_help_out() -> None:
    rated = Table(PLUGIN.game, match_id="rated", seats=3, options={"mode": "party"}, mode=RATED)
    rated.begin()
    assert isinstance(bind(rated, 1, "seat-0", PERSON), Entry)


def test_only_the_host_binds_and_only_while_the_match_runs() -> None:
    table = Table(PLUGIN.game, match_id="early", seats=2, options={"mode": "melee"})
    table.create()
    assert bind(table, 0, "bot").code == "match_not_started"
    started = running()
    message = match_pb2.BindSeat(seat=0, occupant_id="bot", kind=BOT)
    assert started.play(0, message).code == "not_authorised"
    started.void("enough")
    assert bind(started, 0, "bot").code == "match_over"


def test_a_seat_waits_no_longer_than_an_hour() -> None:
    table = Table(PLUGIN.game, match_id="grace", seats=2, options={"mode": "melee"}, grace_s=3601)
    assert table.create().field == "grace_s"
    table = Table(PLUGIN.game, match_id="grace", seats=2, options={"mode": "melee"}, grace_s=5)
    table.create()
    assert match_pb2.MatchCreated.FromString(table.running.created).grace_s == 5


# ---- what the log tells --------------------------------------------------------------------------------------------


def lively() -> Table:
    """A match in which everything above happens, to its end."""
    table = running("party", holders=("ada", "bo", "eve"))
    table.play(1, match_pb2.Resign())
    bind(table, 1, "bot-1")
    table.play(2, match_pb2.LeaveSeat())
    table.play(2, toy.SetStance(always_pass=True))
    table.play(2, match_pb2.LeaveSeat())
    bind(table, 2, "ada", PERSON)
    bind(table, 1, "bo", PERSON)
    while not table.running.over:
        table.expire_next()
    return table


def test_folding_the_bytes_gives_the_judged_states() -> None:
    table = lively()
    for state, entry in zip(refolded(table), table.entries, strict=True):
        assert state == entry.state


def test_head_and_headline_tell_who_sits_where_now() -> None:
    table = running()
    assert not head(table.referee, table.running).seats
    bind(table, 1, "bot-1")
    told = head(table.referee, table.running)
    assert [s.occupant_id for s in occupants_of(told).values()] == ["seat-0", "bot-1", "seat-2"]
    assert [s.occupant_id for s in told.created.seats] == ["seat-0", "seat-1", "seat-2"]
    assert list(headline("hands", table.log(PUBLIC)).seats) == list(told.seats)


def test_the_whole_log_is_judged_again_the_same_and_verifies() -> None:
    table = lively()
    log = table.log(ALL)
    check = redecide(PLUGIN.game, log)
    assert check.status == audit_pb2.CHECK_STATUS_PASSED, check.detail
    report = verify_export(Export("toy", "hands", tuple(log), log[-1].hash))
    failed = [c.name for c in report.checks if c.status == audit_pb2.CHECK_STATUS_FAILED]
    assert failed == ["Transparency log"], "a table keeps none"


def test_a_command_of_the_old_occupant_in_the_log_is_found_out() -> None:
    table = running("party", holders=("ada", "bo"))
    bind(table, 1, "eve", PERSON)
    table.referee.holds_seat = lambda *_: True  # a host that lets the old one play on
    command = table.envelope(1, "set_stance", toy.SetStance(always_pass=True).SerializeToString())
    assert isinstance(table.submit(command, "bo"), Entry)
    while not table.running.over:
        table.expire_next()
    check = redecide(PLUGIN.game, table.log(ALL))
    assert check.status == audit_pb2.CHECK_STATUS_FAILED
    assert "was not this sender's" in check.detail


def test_replay_frames_go_through_every_hand() -> None:
    table = lively()
    fold = FrameFold(table.referee, Viewer.of_seat(1))
    frames = [fold.frame(e.header, e.public, dict(e.parts), e.hash) for e in table.entries]
    assert [f.version for f in frames] == list(range(1, len(table.entries) + 1))


def test_the_log_that_the_browsers_verifier_is_tried_on_is_judged_alike() -> None:
    kept = Path(__file__).parents[3] / "services/web/src/fair/changed_seats.jsonl.gz"
    export = read_export([gzip.decompress(kept.read_bytes())])
    assert redecide(PLUGIN.game, export.entries).status == audit_pb2.CHECK_STATUS_PASSED
    kinds = {e.type for entry in export.entries for e in match_pb2.Events.FromString(entry.public).events}
    assert {"seat_left", "seat_back", "seat_bound"} <= kinds


# ---- away ----------------------------------------------------------------------------------------------------------


def test_the_host_marks_who_is_away_and_one_command_is_enough_to_be_back() -> None:
    table = running("party", holders=("ada", "bo", "ada", "bot-x"))
    entry = table.mark_away(2)
    assert isinstance(entry, Entry)
    assert [(event.seat, event.reason) for event in entry.events] == [(0, "away"), (2, "away")]
    assert table.running.away == {0, 2}
    again = table.mark_away(0)
    assert not isinstance(again, Entry)
    assert again.code == "already_left"
    back = table.play(0, toy.SetStance(always_pass=True))
    assert said(back)[:2] == ["SeatBack", "SeatBack"]
    assert not table.running.away
    assert refolded(table)[-1].away == table.running.away


@pytest.mark.parametrize(
    ("mode", "seat", "code"), [("duel", 0, "seats_are_kept"), ("party", 3, "malformed"), ("party", 9, "malformed")]
)
def test_only_people_who_may_leave_are_away(mode: str, seat: int, code: str) -> None:
    holders = ("ada", "bo") if mode == "duel" else ("ada", "bo", "eve", "bot-x")
    refused = running(mode, holders=holders).mark_away(seat)
    assert not isinstance(refused, Entry)
    assert refused.code == code


def test_no_seat_says_that_another_is_away() -> None:
    table = running("party")
    refused = table.play(0, match_pb2.MarkAway(seat=1))
    assert not isinstance(refused, Entry)
    assert refused.code == "not_authorised"
