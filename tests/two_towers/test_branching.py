"""Playing on from any decision of a match: the arranged position is the same in everything that matters."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import ALL, PUBLIC, Seat, Viewer
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from tests.two_towers.table import GAME, Table
from tests.two_towers.test_invariants import MATCHES, begin, play_on
from two_towers.positions import TwoTowersPositions
from two_towers.state import Phase, State

VIEWERS = (PUBLIC, ALL, Viewer.of_seat(Seat(0)), Viewer.of_seat(Seat(1)))
POSITIONS = TwoTowersPositions()


def branch(state: State, options: dict[str, object]) -> Table:
    """A new match from this state."""
    return Table.from_position(POSITIONS.from_state(state), options)


def without_the_past(view: pb.View) -> pb.View:
    """A view without what only tells how the match came to be there."""
    view.ClearField("last_cards")
    view.ClearField("arranged")
    return view


@settings(deadline=None, max_examples=30)
@given(MATCHES, st.integers(0, 60))
def test_any_decision_can_be_played_on_from(match: dict[str, object], after: int) -> None:
    table, rng = begin(match)
    state = next(itertools.islice(play_on(table, rng, match), after, None), None)
    if state is None:
        return
    options = {key: match[key] for key in ("battlefield", "deck_type")}
    branched = branch(state, options).state
    past = {"decisions": 0, "shown_before": (), "shown_now": ()}
    assert branched == replace(state, **past, terms=replace(state.terms, arranged=True))
    for viewer in VIEWERS:
        assert without_the_past(GAME.view(branched, viewer)) == without_the_past(GAME.view(state, viewer))
    (before,), (now,) = GAME.prompts(state), GAME.prompts(branched)
    assert (now.seat, now.kind) == (before.seat, before.kind)
    assert GAME.legal(branched, now.seat, now) == GAME.legal(state, before.seat, before)
    assert GAME.outcome(branched) is None


@settings(deadline=None, max_examples=10)
@given(MATCHES, st.integers(0, 30))
def test_a_branch_goes_on_to_an_end_and_can_be_branched_again(match: dict[str, object], after: int) -> None:
    table, rng = begin(match)
    state = next(itertools.islice(play_on(table, rng, match), after, None), None)
    if state is None:
        return
    options = {key: match[key] for key in ("battlefield", "deck_type")}
    branched = branch(state, options)
    for step, here in enumerate(play_on(branched, rng, match)):
        if step % 10 == 0:
            assert branch(here, options).state.terms == here.terms
    assert branched.folded() == branched.state


def test_there_is_nothing_to_play_on_from_before_the_first_turn_and_after_the_end() -> None:
    table = Table.dealt()
    for phase in (Phase.SETUP, Phase.OVER):
        with pytest.raises(ValueError, match="decision"):
            POSITIONS.from_state(replace(table.state, phase=phase))
