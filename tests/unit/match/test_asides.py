"""What a seat does unasked is bounded by how far the match moves on, whoever tries whatever."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.engine import ALL
from grimoire.match import Entry, MatchState, redecide
from grimoire.match.asides import MAX_ASIDES
from grimoire.match.table import Table
from grimoire.v1 import audit_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy

PERSON = match_pb2.OCCUPANT_KIND_PERSON
MOVES_ON = {match_pb2.PROMPT_CAUSE_ANSWERED, match_pb2.PROMPT_CAUSE_EXPIRED}


def running(mode: str = "melee", seats: int = 2) -> Table:
    table = Table(PLUGIN.game, match_id="asides", seats=seats, options={"mode": mode, "rounds": "3"})
    table.begin()
    return table


def stance(table: Table, seat: int = 0):
    return table.play(seat, toy.SetStance(always_pass=True))


def used_up(table: Table, seat: int = 0) -> Table:
    """This seat has done unasked all it may."""
    while isinstance(stance(table, seat), Entry):
        pass
    return table


def refolded(table: Table) -> MatchState | None:
    state = None
    for entry in table.entries:
        state = table.referee.fold(state, entry.header, entry.public, dict(entry.parts), entry.hash)
    return state


def test_a_seat_that_does_too_much_unasked_is_refused_and_leaves_nothing() -> None:
    table = used_up(running())
    before = len(table.entries)
    refusal = stance(table)
    assert (refusal.code, refusal.version) == ("too_many_asides", table.running.version)
    assert [(a.name, a.value) for a in refusal.arguments] == [("limit", str(MAX_ASIDES))]
    assert len(table.entries) == before <= 2 * MAX_ASIDES
    assert isinstance(stance(table, 1), Entry), "the other seat has a stock of its own"


def test_each_move_of_anybody_gives_one_back() -> None:
    table = used_up(running())
    table.answer(1, toy.ChooseRune(rune=table.running.game.keepers[1].hand[0]))
    assert isinstance(stance(table), Entry)
    assert stance(table).code == "too_many_asides"
    assert isinstance(table.expire_next(), Entry), "the clock moves a match on, too"
    assert isinstance(stance(table), Entry)


def test_answers_are_never_refused_for_it_nor_giving_up() -> None:
    table = used_up(running())
    assert isinstance(table.answer(0, toy.ChooseRune(rune=table.running.game.keepers[0].hand[0])), Entry)
    assert isinstance(used_up(running("duel")).play(0, match_pb2.Resign()), Entry)


def test_leaving_and_returning_is_no_way_around_it() -> None:
    table = running()
    holder = match_pb2.BindSeat(seat=0, occupant_id="seat-0", kind=PERSON, reason="returned")
    rounds = 0
    while isinstance(table.play(0, match_pb2.LeaveSeat()), Entry):
        assert isinstance(table.bind(holder), Entry)
        rounds += 1
    assert rounds <= MAX_ASIDES
    assert table.play(0, match_pb2.Resign()).code == "too_many_asides", "where that leaves the seat to others"
    assert isinstance(table.mark_away(0), Entry), "who closes the page is away all the same"


def test_who_has_sealed_too_often_can_still_open() -> None:
    table = Table(PLUGIN.game, match_id="asides", seats=2)
    table.create()
    while isinstance(answer := table.seal(0), Entry):
        pass
    assert answer.code == "too_many_asides"
    assert all(isinstance(each, Entry) for each in (table.seal(1), table.open(0), table.open(1)))


def test_what_the_handshake_used_up_is_there_again_when_the_match_starts() -> None:
    table = Table(PLUGIN.game, match_id="asides", seats=2, options={"mode": "melee", "rounds": "3"})
    table.create()
    while isinstance(table.seal(0), Entry):
        pass
    assert all(isinstance(each, Entry) for each in (table.seal(1), table.open(0), table.open(1)))
    assert table.running.asides == ()
    used_up(table)
    assert table.running.asides[0] == MAX_ASIDES
    assert refolded(table) == table.running


def test_a_log_from_before_the_bound_is_judged_again_without_it() -> None:
    table = running()
    table.referee._most_asides = 10**6  # as hosts were once
    for _ in range(3 * MAX_ASIDES):
        assert isinstance(stance(table), Entry)
    table.void("enough")
    walk = redecide(PLUGIN.game, table.log(ALL))
    assert walk.status == audit_pb2.CHECK_STATUS_PASSED, walk.detail


DEEDS = st.sampled_from(["stance", "answer", "expire", "leave", "return", "chant"])


def do(table: Table, seat: int, deed: str, times: int) -> None:
    for _ in range(times):
        if table.running.over:
            return
        if deed == "stance":
            stance(table, seat)
        elif deed == "leave":
            table.play(seat, match_pb2.LeaveSeat())
        elif deed == "return":
            if seat in table.running.away:
                table.bind(match_pb2.BindSeat(seat=seat, occupant_id=f"seat-{seat}", kind=PERSON, reason="returned"))
        elif deed == "expire":
            table.expire_next()
        else:
            wanted = "chant" if deed == "chant" else "choose"
            asked = next((p for p in table.running.prompts if p.prompt.seat == seat and p.prompt.kind == wanted), None)
            if asked is not None:
                hand = table.running.game.keepers[seat].hand
                message = toy.Chant() if deed == "chant" else toy.ChooseRune(rune=hand[0])
                assert isinstance(table.play(seat, message, asked.prompt_id), Entry)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), DEEDS, st.sampled_from([1, 2, 40, 70])), max_size=14))
def test_no_seat_writes_more_than_its_stock_and_one_for_each_move(deeds: list[tuple[int, str, int]]) -> None:
    table = running(seats=3)
    for seat, deed, times in deeds:
        do(table, seat, deed, times)
    moves, asides = 0, Counter[int]()
    for entry in table.entries:
        header = match_pb2.EntryHeader.FromString(entry.header)
        if any(isinstance(e, match_pb2.PromptClosed) and e.cause in MOVES_ON for e in entry.events):
            moves += 1
        elif any(isinstance(e, match_pb2.MatchStarted) for e in entry.events):
            asides.clear()
        elif header.actor == match_pb2.ACTOR_KIND_SEAT:
            asides[header.seat] += 1
    assert all(count <= MAX_ASIDES + moves for count in asides.values())
    assert refolded(table) == table.running, "the count follows from the log alone"
    assert not table.running.asides or max(table.running.asides) <= MAX_ASIDES
