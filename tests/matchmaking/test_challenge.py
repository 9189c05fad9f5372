"""The pure core of challenges, by its properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.engine import Illegal
from grimoire.v1 import match_pb2, matchmaking_pb2
from matchmaking.challenge import (
    ENDS,
    Cancel,
    Challenge,
    Command,
    Create,
    End,
    Expire,
    Fail,
    Join,
    Open,
    Sitter,
    Stage,
    decide,
    fold,
)
from matchmaking.log import SCHEMA

ACCOUNTS = ("ada", "bo", "cleo", "dag", "eve")
CLOSED = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN, ranks=[1, 2], reasons=["x"]).SerializeToString()
EXPIRES_MS = 1_000


def opening(
    *sitters: Sitter, seats: int = 2, kept_for: tuple[str, ...] = (), match_id: str = "m0", rematch_of: str = ""
) -> Open:
    return Open(
        challenge_id="c1",
        game="two_towers",
        options=(("deck", "standard"),),
        seats=seats,
        sitters=tuple(enumerate(sitters)),
        expires_ms=EXPIRES_MS,
        match_id=match_id,
        series_id="s1",
        kept_for=kept_for,
        rematch_of=rematch_of,
    )


def run(challenge: Challenge | None, command: Command, now_ms: int = 0) -> Challenge:
    events = decide(challenge, command, now_ms)
    assert not isinstance(events, Illegal), events
    if not events:
        assert challenge is not None
        return challenge
    return fold(challenge, events, now_ms)


def refused(challenge: Challenge | None, command: Command, now_ms: int = 0) -> str:
    refusal = decide(challenge, command, now_ms)
    assert isinstance(refusal, Illegal), refusal
    return refusal.code


OPEN = run(None, opening(Sitter("ada")))
FULL = run(OPEN, Join(Sitter("bo"), "m1"))


def test_a_challenge_opens_with_its_owner_on_the_first_seat() -> None:
    assert OPEN.seats == (Sitter("ada"), None)
    assert OPEN.owner == "ada"
    assert OPEN.stage is Stage.OPEN
    assert OPEN.mode == match_pb2.MATCH_MODE_RATED


def test_the_last_seat_fixes_the_match_before_it_is_created() -> None:
    assert FULL.stage is Stage.FULL
    assert FULL.match_id == "m1"
    assert FULL.seats == (Sitter("ada"), Sitter("bo"))


def test_bots_fill_a_challenge_at_once_and_make_it_casual() -> None:
    challenge = run(None, opening(Sitter("ada"), Sitter("bot-random-1", bot=True, level="random")))
    assert challenge.stage is Stage.FULL
    assert challenge.match_id == "m0"
    assert challenge.mode == match_pb2.MATCH_MODE_CASUAL
    assert challenge.bots == ((1, Sitter("bot-random-1", bot=True, level="random")),)


def test_a_program_that_joins_makes_it_casual() -> None:
    assert run(OPEN, Join(Sitter("robot", bot=True), "m1")).mode == match_pb2.MATCH_MODE_CASUAL


def test_joins_are_refused_for_the_right_reason() -> None:
    join = Join(Sitter("cleo"), "m2")
    assert refused(None, join) == "unknown_challenge"
    assert refused(OPEN, Join(Sitter("ada"), "m2")) == "own_challenge"
    assert refused(FULL, join) == "challenge_full"
    assert refused(run(FULL, Create()), join) == "challenge_full"
    assert refused(run(OPEN, Cancel("ada")), join) == "challenge_gone"
    assert refused(run(OPEN, Expire(), EXPIRES_MS), join) == "challenge_gone"
    assert refused(OPEN, join, EXPIRES_MS) == "challenge_gone", "the time counts, not the entry that says so"


def test_joining_twice_is_one_join() -> None:
    assert decide(FULL, Join(Sitter("bo"), "m9"), 0) == ()


def test_only_the_owner_withdraws_and_only_while_it_is_open() -> None:
    assert refused(OPEN, Cancel("bo")) == "not_your_challenge"
    assert run(OPEN, Cancel("ada")).stage is Stage.CANCELLED
    assert decide(run(OPEN, Cancel("ada")), Cancel("ada"), 0) == ()
    assert refused(FULL, Cancel("ada")) == "too_late_to_cancel"
    assert refused(run(OPEN, Expire(), EXPIRES_MS), Cancel("ada")) == "challenge_gone"


def test_a_rematch_keeps_each_seat_for_its_player() -> None:
    kept = ("bo", "ada")
    opened = decide(None, Open("c2", "g", (), 2, ((1, Sitter("ada")),), 10, "m", "s", 1, "m1", kept), 0)
    assert not isinstance(opened, Illegal)
    rematch = fold(None, opened, 0)
    assert rematch.owner == "ada"
    assert (rematch.series_id, rematch.game_no, rematch.rematch_of) == ("s", 1, "m1")
    assert refused(rematch, Join(Sitter("eve"), "m2")) == "not_invited"
    assert run(rematch, Join(Sitter("bo"), "m2")).seats == (Sitter("bo"), Sitter("ada"))


def test_nothing_expires_early() -> None:
    assert decide(OPEN, Expire(), EXPIRES_MS - 1) == ()


def test_a_match_that_ended_before_its_creation_was_acknowledged_is_written_down_whole() -> None:
    ended = run(FULL, End(CLOSED, 77))
    assert ended.stage is Stage.ENDED
    assert (ended.closed, ended.ended_ms) == (CLOSED, 77)


_accounts = st.sampled_from(ACCOUNTS)
_commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Join, st.builds(Sitter, _accounts, st.booleans()), st.sampled_from(("m1", "m2", "m3"))),
    st.builds(Cancel, _accounts),
    st.just(Expire()),
    st.just(Create()),
    st.builds(Fail, st.just("refused")),
    st.just(End(CLOSED, 5)),
    st.just(opening(Sitter("eve"))),
)
_steps = st.lists(st.tuples(_commands, st.integers(0, 2 * EXPIRES_MS)), max_size=25)
_openings = st.integers(1, 4).flatmap(
    lambda seats: st.integers(1, seats).map(
        lambda taken: opening(*(Sitter(name) for name in ACCOUNTS[:taken]), seats=seats)
    )
)


@given(_openings, _steps)
def test_every_life_of_a_challenge_holds_its_rules(first: Open, steps: list[tuple[Command, int]]) -> None:
    challenge = run(None, first)
    log = [("challenge_opened", challenge)]
    now_ms = 0
    for command, at_ms in steps:
        now_ms = max(now_ms, at_ms)
        events = decide(challenge, command, now_ms)
        if isinstance(events, Illegal) or not events:
            continue
        assert challenge.stage not in ENDS, "nothing follows an end"
        before, challenge = challenge, fold(challenge, events, now_ms)
        log += [(SCHEMA.code(event), challenge) for event in events]
        # A seat, once taken, stays with who took it; a match id, once fixed, stays.
        assert all(old is None or old == new for old, new in zip(before.seats, challenge.seats, strict=True))
        assert before.match_id in ("", challenge.match_id)
        # The same command again has nothing left to do, or is refused; it never acts twice.
        again = decide(challenge, command, now_ms)
        assert isinstance(again, Illegal) or again == ()
    codes = [code for code, _ in log]
    accounts = [sitter.account_id for _, sitter in challenge.sitters]
    assert len(accounts) == len(set(accounts)), "nobody sits twice"
    assert codes.count("challenge_filled") <= 1
    assert codes.count("challenge_matched") <= 1
    assert sum(codes.count(code) for code in ("challenge_cancelled", "challenge_expired", "challenge_ended")) == (
        challenge.stage in ENDS
    )
    full = None not in challenge.seats
    assert full == bool(challenge.match_id)
    assert full or challenge.stage in (Stage.OPEN, Stage.CANCELLED, Stage.EXPIRED)


@given(_openings, _steps)
def test_stored_bytes_fold_to_the_same_state(first: Open, steps: list[tuple[Command, int]]) -> None:
    challenge: Challenge | None = None
    read: Challenge | None = None
    for command, at_ms in [(first, 0), *steps]:
        events = decide(challenge, command, at_ms)
        if isinstance(events, Illegal) or not events:
            continue
        challenge = fold(challenge, events, at_ms)
        read = fold(read, SCHEMA.merge(SCHEMA.split(events, 4).public, {}), at_ms)
    assert read == challenge


def test_nobody_can_fill_the_events_with_a_foreign_message() -> None:
    with pytest.raises(ValueError, match="no event of a challenge"):
        fold(OPEN, [matchmaking_pb2.Challenge()], 0)
