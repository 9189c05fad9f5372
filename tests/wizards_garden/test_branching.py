"""Playing on from any decision of a match: the arranged position is the same in everything that matters."""

from __future__ import annotations

import itertools

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from grimoire.engine import ALL, PUBLIC, Actor, Illegal, Seat, Setup, Viewer
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.support.branching import Branches
from wizards_garden.positions import WizardsGardenPositions, position_fault
from wizards_garden.rules import WizardsGarden
from wizards_garden.state import Stage, State

GAME = WizardsGarden()
POSITIONS = WizardsGardenPositions()
VIEWERS = (PUBLIC, ALL, Viewer.of_seat(Seat(0)), Viewer.of_seat(Seat(1)))
BRANCHES = Branches(
    GAME,
    POSITIONS,
    position_fault,
    lambda state: options(state.terms.spells_per_player, state.terms.turn_limit),
    seats=2,
    useful=("cast_", "declare_attack", "place_lantern", "threaten_", "bring_", "defend"),  # battles and spells
)
play_on, branch, draws = BRANCHES.play_on, BRANCHES.branch, BRANCHES.draws


def options(spells: int, turn_limit: int = 40) -> dict[str, str]:
    return {"turn_limit": str(turn_limit), "spells_per_player": str(spells)}


def dealt(seed: int, spells: int) -> State:
    return BRANCHES.started(seed, options(spells))


def shown(state: State, viewer: Viewer) -> pb.View:
    view = GAME.view(state, viewer)
    view.ClearField("arranged")
    return view


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(0, 9))
def test_any_decision_can_be_played_on_from(seed: int, spells: int, first: int) -> None:
    for state in itertools.islice(play_on(dealt(seed, spells), seed), first, 400, 10):
        branched = branch(state)
        assert branched == replace(state, events=branched.events, terms=replace(state.terms, arranged=True))
        BRANCHES.same_to_play(state, branched, VIEWERS, shown)


def test_every_stage_can_be_played_on_from() -> None:
    seen: set[Stage] = set()
    for seed in range(40):
        for state in play_on(dealt(seed, 3), seed):
            if state.stage not in seen or state.battle is not None:
                seen.add(state.stage)
                branch(state)
        if len(seen) == len(Stage) - 2:
            break
    assert seen == {*Stage} - {Stage.SETUP, Stage.OVER}


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 2**32), st.integers(0, 120))
def test_a_branch_goes_on_to_an_end_and_can_be_branched_again(seed: int, after: int) -> None:
    state = next(itertools.islice(play_on(dealt(seed, 2), seed), after, None), None)
    if state is None:
        return
    for step, here in enumerate(play_on(branch(state), seed + 1)):
        if step % 25 == 0:
            assert branch(here).terms == here.terms


def test_there_is_nothing_to_play_on_from_before_the_deal_and_after_the_end() -> None:
    state = dealt(1, 2)
    for stage in (Stage.SETUP, Stage.OVER):
        with pytest.raises(ValueError, match="while the match runs"):
            POSITIONS.from_state(replace(state, stage=stage))


def test_the_start_refuses_what_is_no_position() -> None:
    event = POSITIONS.parse({}, {})
    event.spaces[0].gnome = "dwarf"
    for body in (b"\xff\xff", event.SerializeToString()):
        refusal = GAME.start(Setup("branched", 2, {}, body), draws(0))
        assert isinstance(refusal, Illegal)
        assert (refusal.code, refusal.rule, refusal.field) == ("bad_position", "WG-2", "position")


def test_hidden_parts_of_a_position() -> None:
    # Each hand goes to its seat, deck and spare spells to nobody; merging all parts gives the whole event again.
    event = POSITIONS.parse(
        {
            "blue": {"hand": ["spirit_fire_09"], "spells": ["doll"]},
            "red": {"hand": ["spirit_pest_09"], "spells": ["conch"]},
        },
        {},
    )
    split = WizardsGarden.schema.split([event], 2)
    assert sorted(split.parts) == ["sealed", "seat/0", "seat/1"]
    for word in (b"spirit_fire_09", b"doll"):
        assert word in split.parts["seat/0"]
        assert word not in split.public + split.parts["seat/1"] + split.parts["sealed"]
    for word in (b"spirit_pest_09", b"conch"):
        assert word not in split.public + split.parts["seat/0"] + split.parts["sealed"]
    assert b"spirit_gnome_05" not in split.public + split.parts["seat/0"] + split.parts["seat/1"]
    assert WizardsGarden.schema.merge(split.public, split.parts) == [event]


@pytest.mark.parametrize(
    ("fire", "kind", "command", "code"),
    [
        ((5, 0), "fire", pb.CollectFire(), "fire_full"),
        ((5, 5), "fire", pb.CollectFire(), "no_supply"),
        ((0, 0), "water", pb.CollectWater(deposit="c4"), "no_supply"),
    ],
)
def test_refusals_that_no_match_meets(fire: tuple[int, int], kind: str, command: Message, code: str) -> None:
    # Such an action closes by itself (WG-6.1), so nobody is asked for the step; the order of reasons holds.
    event = POSITIONS.parse({"state": "wizard_main", "yard": "w5@a2 w5@e2 w5@a4 w4@c1"}, {})
    event.action.CopyFrom(pb.Action(source="magician", kind=kind, steps=1, steps_left=1))
    start = GAME.start(Setup("branched", 2, {}, event.SerializeToString()), draws(0))
    assert not isinstance(start, Illegal)
    state = start.state
    seats = tuple(replace(side, fire=amount) for side, amount in zip(state.seats, fire, strict=True))
    state = replace(state, seats=seats, water=tuple(5 if amount else 0 for amount in state.water))
    [prompt] = GAME.prompts(state)
    refusal = GAME.decide(state, Actor.of_seat(Seat(0)), command, prompt, draws(0))
    assert isinstance(refusal, Illegal)
    assert refusal.code == code
