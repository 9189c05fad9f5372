"""The clock over a match: deadlines, expiry on the dot, and down time given back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.engine import CLOCK
from grimoire.match import Entry, clock_command, due_extensions, first_expired
from grimoire.match.table import START_MS, Table
from grimoire.v1 import envelope_pb2, match_pb2
from tests.support.toy import PLUGIN
from tests.support.toy import schema as toy


def running(seats: int = 2, **more) -> Table:
    made = Table(PLUGIN.game, match_id="clock", seats=seats, **more)
    made.begin()
    return made


def extended(entry: Entry) -> list[tuple[int, int]]:
    return [(e.prompt_id, e.by_ms) for e in entry.events if isinstance(e, match_pb2.ClockExtended)]


def test_a_prompt_has_the_limit_of_its_class():
    made = running(options={"choose_s": "45", "react_s": "7"})
    assert [(p.prompt.kind, p.limit_ms) for p in made.running.prompts[:2]] == [("choose", 45_000)] * 2
    chant = made.running.prompts[2]
    assert (chant.prompt.kind, chant.limit_ms, chant.deadline_ms) == ("chant", 0, 0)
    assert made.running.next_deadline_ms == START_MS + 45_000
    made.now_ms += 5_000
    made.answer(0, toy.ChooseRune(rune=made.running.game.keepers[0].hand[0]))
    made.answer(1, toy.ChooseRune(rune=made.running.game.keepers[1].hand[0]))
    (reaction,) = made.running.prompts
    assert (reaction.limit_ms, reaction.opened_ms, reaction.deadline_ms) == (7_000, START_MS + 5_000, START_MS + 12_000)


def test_a_prompt_expires_exactly_at_its_deadline():
    made = running()
    made.now_ms = START_MS + 29_999
    assert made.expire(1).code == "not_due"
    made.now_ms += 1
    entry = made.expire(1)
    assert isinstance(entry, Entry)
    closed = next(e for e in entry.events if isinstance(e, match_pb2.PromptClosed))
    assert (closed.prompt_id, closed.cause) == (1, match_pb2.PROMPT_CAUSE_EXPIRED)
    header = match_pb2.EntryHeader.FromString(entry.header)
    assert (header.actor, header.seat) == (match_pb2.ACTOR_KIND_CLOCK, 0)


def test_a_prompt_without_a_deadline_never_expires():
    made = running()
    made.now_ms += 10**12
    assert made.expire(3).code == "not_due"
    assert made.running.open_prompt(3).prompt.kind == "chant"


def test_an_expiry_that_comes_again_is_the_same_command():
    made = running()
    made.now_ms += 30_000
    first = made.expire(1)
    assert first.command_id == clock_command(1).command_id == bytes(12) + b"\x00\x00\x00\x01"
    assert made.expire(1) == envelope_pb2.Accepted(version=first.version, duplicate=True)


def test_no_seat_can_use_up_the_clocks_command_id():
    made = running()
    command = made.envelope(0, "chant", prompt_id=3, command_id=clock_command(1).command_id)
    refused = made.submit(command, "seat-0")
    assert (refused.code, refused.field) == ("malformed", "command_id")


def test_a_seats_command_after_the_deadline_counts_if_the_clock_has_not_spoken():
    made = running()
    made.now_ms += 31_000
    rune = made.running.game.keepers[0].hand[0]
    assert isinstance(made.play(0, toy.ChooseRune(rune=rune), 1), Entry)
    assert made.expire(1).code == "stale_prompt"


def test_time_never_decreases():
    made = running()
    made.now_ms = START_MS - 5_000
    entry = made.play(0, toy.SetStance(always_pass=True))
    assert entry.server_time_ms == made.running.time_ms == START_MS
    times = [match_pb2.EntryHeader.FromString(e.header).server_time_ms for e in made.entries]
    assert times == sorted(times)


def test_down_time_is_given_back_to_every_running_clock_in_front_of_the_next_command():
    made = running()
    made.now_ms += 10_000
    made.down.append((made.now_ms - 8_000, made.now_ms))
    entry = made.play(0, toy.SetStance(always_pass=True))
    assert extended(entry) == [(1, 8_000), (2, 8_000)]
    assert isinstance(entry.events[0], match_pb2.ClockExtended)
    assert [p.deadline_ms for p in made.running.prompts[:2]] == [START_MS + 38_000] * 2
    again = made.play(0, toy.SetStance(always_pass=False))
    assert extended(again) == [], "what was given back is not given twice"


def test_down_time_is_given_back_to_the_handshake():
    made = Table(PLUGIN.game, match_id="clock", seats=2)
    made.create()
    made.down.append((START_MS + 1_000, START_MS + 21_000))
    made.now_ms = START_MS + 60_000
    assert made.expire(0).code == "not_due"
    made.now_ms = START_MS + 80_000
    entry = made.expire(0)
    assert extended(entry) == [(0, 20_000)]
    assert isinstance(entry.events[1], match_pb2.MatchVoided)


def test_an_expiry_counts_the_down_time_before_it_judges():
    made = running()
    made.down.append((START_MS + 10_000, START_MS + 15_000))
    made.now_ms = START_MS + 30_000
    assert made.expire(1).code == "not_due"
    made.now_ms = START_MS + 35_000
    entry = made.expire(1)
    assert extended(entry) == [(1, 5_000), (2, 5_000)]


def test_only_down_time_after_a_prompt_opened_counts_for_it():
    made = running()
    made.down.append((START_MS - 9_000, START_MS + 2_000))
    made.now_ms += 5_000
    assert due_extensions(made.running, made.down, made.now_ms) == ((1, 2_000), (2, 2_000))
    assert due_extensions(made.running, made.down, START_MS + 500) == ((1, 500), (2, 500)), "not yet past"


def test_overlapping_down_time_counts_once():
    made = running()
    down = [(START_MS + 3_000, START_MS + 9_000), (START_MS, START_MS + 5_000), (START_MS + 4_000, START_MS + 4_500)]
    assert due_extensions(made.running, down, START_MS + 20_000) == ((1, 9_000), (2, 9_000))


def test_a_very_long_down_time_is_given_back_piece_by_piece():
    made = running()
    week = 7 * 86_400_000
    made.down.append((START_MS, START_MS + 10 * week))
    made.now_ms = START_MS + 10 * week
    first = made.play(0, toy.SetStance(always_pass=True))
    second = made.play(0, toy.SetStance(always_pass=False))
    third = made.play(0, toy.SetStance(always_pass=True))
    assert [by for _, by in extended(first)] == [2**32 - 1] * 2
    assert [by for _, by in extended(second)] == [10 * week - (2**32 - 1)] * 2
    assert extended(third) == []


def test_nothing_is_given_back_to_a_match_that_is_over():
    made = running()
    made.play(0, match_pb2.Resign())
    assert due_extensions(made.running, [(START_MS, START_MS + 9_000)], START_MS + 10_000) == ()


spans = st.lists(
    st.tuples(st.integers(-50, 200), st.integers(0, 60)).map(lambda s: (START_MS + s[0], START_MS + s[0] + s[1])),
    max_size=6,
)


@given(spans, st.lists(st.integers(0, 60), min_size=1, max_size=5))
def test_whenever_commands_come_the_whole_down_time_is_given_back_once(down, steps):
    made = running()
    made.down = down
    for step in steps:
        made.now_ms += step
        made.play(0, toy.SetStance(always_pass=step % 2 == 0))
    moments = {ms for start, to in down for ms in range(max(start, START_MS), min(to, made.now_ms))}
    assert {p.extended_ms for p in made.running.prompts if p.limit_ms} == {len(moments)}


def test_first_expired_names_the_earliest_clock():
    made = running()
    state = made.running
    assert first_expired(state, (), START_MS + 29_999) == (None, START_MS + 30_000)
    assert first_expired(state, (), START_MS + 30_000) == (1, None)
    assert first_expired(state, ((1, 5_000),), START_MS + 30_000) == (2, None)
    assert first_expired(state, ((1, 5_000), (2, 6_000)), START_MS + 30_000) == (None, START_MS + 35_000)
    made.play(0, match_pb2.Resign())
    assert first_expired(made.running, (), START_MS + 10**9) == (None, None)
    waiting = Table(PLUGIN.game, match_id="clock", seats=2)
    waiting.create()
    assert first_expired(waiting.running, ((0, 10),), START_MS + 60_000) == (None, START_MS + 60_010)
    assert first_expired(waiting.running, (), START_MS + 60_000) == (0, None)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_expiries_alone_end_a_match(seats):
    made = running(seats)
    while (entry := made.expire_next()) is not None:
        assert isinstance(entry, Entry)
        assert match_pb2.EntryHeader.FromString(entry.header).actor == CLOCK.kind.value
    assert made.running.over
    assert made.running.outcome is not None
