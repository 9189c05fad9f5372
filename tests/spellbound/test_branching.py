"""Playing on from any decision of a match: the arranged position is the same in everything that matters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from grimoire.engine import ALL, PUBLIC, Illegal, Seat, Setup, Viewer
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.positions import SpellboundPositions, position_fault
from spellbound.rules import Spellbound
from spellbound.state import Result, Stage, State, WindowKind
from tests.support.branching import Branches

GAME = Spellbound()
POSITIONS = SpellboundPositions()
SEATS = 3
VIEWERS = (PUBLIC, ALL, Viewer.of_seat(Seat(1)))
OPTIONS = {"mages": "4", "mage_seats": "0,1,2,1"}
"""Four mages of three seats: one seat holds two of them."""

FAR_GAMES: tuple[Mapping[str, Any], ...] = (
    {
        "lower_row": ["centaur_1", "centaur_2", "giant_eagle_1", "warlock_1"],
        "mages": ["wilderness"] * 4,
        "spells": {0: ["puppetry", "teleport"], 1: ["hat_trick", "alchemy"], 2: ["book_wyrm", "winning_smile"]},
        "hats": {"red": 3, "blue": 3},
        "policies": {1: "always"},
        "upper_row": ["witch_red_a", "witch_blue_a", "troll_b"],
        "deck_top": ["witch_red_c", "basic_move_red", "witch_blue_b", "basic_move_blue", "basic_move_green", "knight"],
    },
    {
        "lower_row": ["basic_magic_red", "basic_magic_blue", "magic_dwarf_1", "lizardman_1"],
        "mages": ["city_red", "city_blue", "city_green", "city_red"],
        "spells": {1: ["alchemy", "hat_trick"], 2: ["teleport"], 3: ["book_wyrm"]},
        "hats": {"red": 3, "blue": 3, "green": 3},
        "bag": "s1 m6",
        "deck": 2,
        "sun_pile": ["dragon_1", "dragon_2"],
        "moon_pile": ["witch_red_c", "witch_green_c"],
    },
    {
        "state": "witching",
        "mages": ["village_04"] * 4,
        "books": {"red": "gained", "blue": "gained", "green": "gained", "yellow": 8},
        "hats": {"yellow": 7},
        "spells": {0: ["alchemy", "circle_of_magi"], 2: ["hat_trick", "book_wyrm"]},
        "witch": 3,
        "minions": ["skeleton_army"],
        "deck": 3,
        "sun_pile": ["giant_eagle_1", "warrior_1"],
    },
    {
        "lower_row": ["vampire_1", "warlock_2", "changeling", "ranger_1", "city_watchman", "centaur_3", "fortuna_deck"],
        "upper_row": ["squire", "witch_red_b"],
        "mages": ["wilderness", "village_03", "wilderness", "wilderness"],
        "wands": [3, 3, 3, 3],
        "books": {"red": "gained", "blue": "gained", "green": "gained", "silver": "lost"},
        "troll": 5,
        "spells": {0: ["sun_burst", "winning_smile"], 3: ["teleport", "circle_of_magi"]},
        "moon_pile": ["librarian", "witch_blue_b"],
        "influence": {"village_03": ["basic_influence_red"], "village_07": ["halfling_3"]},
        "deck_top": ["basic_influence_blue", "dragon_1", "basic_magic_red", "lizardman_3", "dark_elf_1"],
    },
)
BRANCHES = Branches(
    GAME,
    POSITIONS,
    position_fault,
    lambda _state: options(),
    SEATS,
    useful=("card_step", "play_card", "cast_spell", "use_wand", "answer_ride", "declare_final_battle"),
    more_often=6,
)
play_on, draws = BRANCHES.play_on, BRANCHES.draws


def options() -> dict[str, str]:
    facts = GAME.configure(OPTIONS, SEATS)
    assert not isinstance(facts, Illegal)
    return dict(facts.options)


def started(seed: int, position: bytes = b"") -> State:
    return BRANCHES.started(seed, options(), position)


def beginning(seed: int) -> State:
    """A deal, or one of the games that are far on."""
    which = seed % (len(FAR_GAMES) + 1)
    if which == len(FAR_GAMES):
        return started(seed)
    return started(seed, POSITIONS.parse(FAR_GAMES[which], options()).SerializeToString())


def branch(state: State) -> State:
    """The state with which a new match from this one begins."""
    branched: State = BRANCHES.branch(state)
    usual, found = asdict(without_the_past(state, branched.facts)), asdict(branched)
    assert {name: found[name] for name in found if found[name] != usual[name]} == {}
    return branched


def without_the_past(state: State, facts: int) -> State:
    """What only tells how a state came about: how many events there were, stones that wait for nothing, and in which
    part of its turn a seat has declared the battle."""
    told = replace(state, facts=facts, terms=replace(state.terms, arranged=True))
    return replace(told, stones=()) if state.window is None else replace(told, stage=Stage.STORY)


def shown(state: State, viewer: Viewer) -> pb.View:
    view = GAME.view(state, viewer)
    view.ClearField("arranged")
    if state.window is None:
        view.ClearField("stones")
    return view


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(0, 6))
def test_any_decision_can_be_played_on_from(seed: int, first: int) -> None:
    for state in itertools.islice(play_on(beginning(seed), seed), first, 200, 7):
        branched = branch(state)
        BRANCHES.same_to_play(state, branched, VIEWERS, shown)


def test_every_stage_and_window_can_be_played_on_from() -> None:
    wanted = ({*Stage} - {Stage.SETUP, Stage.OVER, Stage.REACTION}) | {*WindowKind}
    seen: set[Stage | WindowKind] = set()
    for seed in range(400):
        for state in play_on(beginning(seed), seed):
            here = state.asked if state.window is None else state.window.kind
            if here not in seen or state.window is not None or state.asked is Stage.CONSENT:
                seen.add(here)
                branch(state)
        if seen == wanted:
            break
    assert seen == wanted


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_a_branch_goes_on_to_an_end_and_can_be_branched_again(seed: int, after: int) -> None:
    state = next(itertools.islice(play_on(beginning(seed), seed), after, None), None)
    if state is None:
        return
    for step, here in enumerate(play_on(branch(state), seed + 1)):
        if step % 25 == 0:
            assert branch(here).terms == here.terms


def test_there_is_nothing_to_play_on_from_before_the_deal_and_after_the_end() -> None:
    state = started(1)
    for nothing in (replace(state, stage=Stage.SETUP), replace(state, result=Result(won=False, reason="resigned"))):
        with pytest.raises(ValueError, match="while the match runs"):
            POSITIONS.from_state(nothing)


def test_the_start_refuses_what_is_no_position() -> None:
    event = POSITIONS.parse({}, options())
    event.lower_row.append("dwarf")
    for body in (b"\xff\xff", event.SerializeToString()):
        refusal = GAME.start(Setup("branched", SEATS, options(), body), draws(0))
        assert isinstance(refusal, Illegal)
        assert (refusal.code, refusal.field) == ("bad_position", "position")


def test_hidden_parts_of_a_position() -> None:
    # Decks, face-down villages, set-aside and boxed cards go to nobody; merging all parts gives the whole event again.
    # Which cards the destiny deck holds follows from what is seen, where they lie does not (SB-17.3).
    event = POSITIONS.parse({"villages": {"village_10": "?warrior_1"}, "deck_top": ["dragon_2"]}, options())
    assert (event.deck[0], event.deck_cards[-1]) == ("dragon_2", "dragon_2")
    split = GAME.schema.split([event], SEATS)
    assert [*split.parts] == ["sealed"]
    for word in (b"warrior_1", b"witch_red_b", b"alchemy", b"lizardman_3"):
        assert word in split.parts["sealed"]
        assert word not in split.public
    assert GAME.schema.merge(split.public, split.parts) == [event]
