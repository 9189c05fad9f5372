"""Playing on from any decision of a match: the arranged position is the same in everything that matters."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broom_service.positions import BroomServicePositions, position_fault
from broom_service.state import NO_ONE, Result, Stage, State
from grimoire.engine import ALL, PUBLIC, Illegal, Seat, Setup, Viewer
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from tests.broom_service.lively import BACK, BACK_STORM, BOARDS, GAME, draws
from tests.broom_service.test_second_course import arranged, dealt, match
from tests.support.branching import Branches

POSITIONS = BroomServicePositions()


def options_of(state: State) -> dict[str, str]:
    """Options that mean the terms of this match."""
    terms = state.terms
    named = {
        "board": terms.board,
        "storm_clouds": terms.storm_clouds,
        "heavy_clouds": terms.heavy_clouds,
        "mountain_tiles": terms.mountain_tiles,
        "timeout_limit": terms.timeout_limit,
    }
    facts = GAME.configure({name: str(value).lower() for name, value in named.items()}, terms.seats)
    assert not isinstance(facts, Illegal), facts
    return dict(facts.options)


def branch(state: State) -> State:
    """The state with which a new match from this one begins, which is the same but for what tells of the past."""
    branches = Branches(GAME, POSITIONS, position_fault, options_of, state.terms.seats, useful=())
    branched: State = branches.branch(state)
    past = {"step_facts": branched.step_facts, "terms": branched.terms}
    if not state.steps:
        past |= {"acting": NO_ONE, "last_step": 0, "last_group": 0}
    assert branched == replace(state, **past)
    assert branched.terms == replace(state.terms, arranged=True, first_player=None)
    viewers = (PUBLIC, ALL, *(Viewer.of_seat(Seat(seat)) for seat in range(state.terms.seats)))
    branches.same_to_play(state, branched, viewers, shown)
    return branched


def shown(state: State, viewer: Viewer) -> pb.View:
    view = GAME.view(state, viewer)
    view.ClearField("arranged")
    return view


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(0, len(BOARDS) - 1), st.integers(0, 6))
def test_any_decision_can_be_played_on_from(seed: int, seats: int, board: int, first: int) -> None:
    for state, _ in itertools.islice(match(seed, seats, BOARDS[board], leave=0.01), first, None, 7):
        if state.result is None:
            branch(state)


def test_every_stage_can_be_played_on_from() -> None:
    wanted = {*Stage} - {Stage.SETUP, Stage.OVER}
    seen: set[Stage] = set()
    for seed in range(60):
        for state, _ in match(seed, 2 + seed % 4, (BACK, BACK_STORM)[seed % 2], begin=arranged):
            if state.result is None and (state.asked not in seen or state.asked is Stage.STEPS):
                seen.add(state.asked)
                branch(state)
        if seen == wanted:
            break
    assert seen == wanted


def test_there_is_nothing_to_play_on_from_before_the_deal_and_after_the_end() -> None:
    state, _ = dealt(1, 2, {})
    for nothing in (replace(state, stage=Stage.SETUP), replace(state, result=Result((), (), "scored"))):
        with pytest.raises(ValueError, match="while the match runs"):
            POSITIONS.from_state(nothing)


def test_the_start_refuses_what_is_no_position() -> None:
    state, _ = dealt(1, 2, {})
    event = POSITIONS.from_state(state)
    event.seats[0].pawns[0] = "w1"
    for body in (b"\xff\xff", event.SerializeToString()):
        refusal = GAME.start(Setup("branched", 2, options_of(state), body), draws(0))
        assert isinstance(refusal, Illegal)
        assert (refusal.code, refusal.field) == ("bad_position", "position")


def test_hidden_parts_of_a_position() -> None:
    # A hand goes to its seat alone, stacks and events to come to nobody (BS-11.4).
    seats = {0: {"roles": ["hill_witch"]}, 1: {"roles": ["prairie_witch"]}}
    event = POSITIONS.parse(
        {"players": 2, "bewitched": ["root_gatherer", "herb_gatherer", "fruit_gatherer"], "seats": seats}, {}
    )
    split = GAME.schema.split([event], 2)
    assert sorted(split.parts) == ["sealed", "seat/0", "seat/1"]
    for word, where in ((b"hill_witch", "seat/0"), (b"prairie_witch", "seat/1"), (b"brave_heart", "sealed")):
        holders = {name for name, part in split.parts.items() if word in part}
        assert where in holders
        assert holders <= {where, "sealed"}  # the stack of bewitched roles names roles too
        assert word not in split.public
    assert GAME.schema.merge(split.public, split.parts) == [event]
