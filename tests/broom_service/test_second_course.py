"""Whole matches, told by the game and by a second reading of the rules: event for event the same (`second.py`)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from broom_service.boards import BOARDS as SIDES
from broom_service.clouds import HEAVY_CLOUDS, STORM_CLOUDS
from broom_service.positions import BroomServicePositions
from broom_service.roles import EVENTS, ROLE_IDS
from broom_service.state import State
from broom_service.tiles import FOREST_TILES
from grimoire.engine import CLOCK, Actor, Prompt, Start
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.v1 import match_pb2
from tests.broom_service.lively import (
    BACK,
    BACK_STORM,
    BOARDS,
    GAME,
    MOUNTAINS_STORM,
    answer,
    draws,
    random_command,
    setup_of,
    started,
)
from tests.broom_service.second import KINDS, Reading, Told

POSITIONS = BroomServicePositions()


def shown(message: Message) -> dict[str, Any]:
    """Fields that have a value, by name."""
    return {field.name: _plain(value) for field, value in message.ListFields()}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return shown(value)
    if isinstance(value, str | int):
        return value
    return [_plain(each) for each in value]


def told(events: tuple[Message, ...]) -> list[Told]:
    """Events as the second reading tells them."""
    return [(GAME.schema.code(event), shown(event)) for event in events]


def dealt(seed: int, seats: int, options: Mapping[str, str]) -> tuple[State, Reading]:
    """A deal, and the second reading of it, which has told the first round alike."""
    start = started(seed, seats, options)
    stacks, laid, *rest = start.events
    assert isinstance(stacks, pb.StacksOrdered)
    assert isinstance(laid, pb.TableLaid)
    reading = Reading(laid, stacks)
    assert reading.begin() == told((*rest,))
    return start.state, reading


def arranged(seed: int, seats: int, options: Mapping[str, str]) -> tuple[State, Reading]:
    """A position far on in a match: much is held, charmed and taken, an event of the round's end or a choice ahead."""
    final = dict(setup_of(seats, options).options)
    event = POSITIONS.parse(far_on(random.Random(seed), seats, final), final)
    start = GAME.start(setup_of(seats, options, event.SerializeToString()), draws(seed))
    assert isinstance(start, Start), start
    return start.state, Reading(event, None)


def far_on(chance: random.Random, seats: int, options: Mapping[str, str]) -> dict[str, Any]:
    """A written position."""
    board = SIDES[options["board"]]
    clouds = chance.sample(HEAVY_CLOUDS, 10) + ([*STORM_CLOUDS] if options["storm_clouds"] == "true" else [])
    chance.shuffle(clouds)
    lying = dict(zip(chance.sample([*board.spaces], 8), clouds, strict=False))
    free = [r for r, land in board.terrain.items() if land != "water" and r not in {board.spaces[s] for s in lying}]
    free = [region for region in free if not any(region in sites for sites in board.sites.values())]
    hands = options["forest_tiles"] == "true" and chance.sample(FOREST_TILES, 4)
    events = chance.sample([*EVENTS], 2)
    leads = chance.random() < 0.5
    return {
        "players": seats,
        "stage": "lead" if leads else "choose",
        "round": chance.choice((1, 4, 5, 6)),
        "event": events[0],
        "events": events[1:],
        "led": chance.sample(ROLE_IDS, chance.choice((0, 0, 1, 3))) if leads else [],
        "bewitched_stack": [],
        "clouds": lying,
        "occupied": [
            t for t in board.towers if "_rd_" in t and chance.random() < 0.2 and t not in board.covered_by_mountains
        ],
        "seats": {
            seat: {
                "pawns": [chance.choice(free), chance.choice(free)],
                "resources": " ".join(f"{kind}{chance.randrange(6)}" for kind in "ogpw"),
                "vp": chance.randrange(-3, 60),
                "clouds": clouds[8 + seat : 9 + seat],
                "forest_tiles": hands[seat : seat + 1] if hands else [],
                "timeouts": chance.randrange(3),
                "roles": chance.sample(ROLE_IDS, chance.randint(1, 4)) if leads else [],
            }
            for seat in range(seats)
        },
    }


def chosen(state: State, prompt: Prompt, chance: random.Random) -> Message:
    """A legal command: any role, then any of its ways; what is given up is given up seldom."""
    entries = GAME.legal(state, prompt.seat, prompt)
    types = sorted({entry.type for entry in entries})
    keep = [kind for kind in types if kind not in ("skip_step", "decline_extra", "decline_set")]
    kind = chance.choice(keep if keep and chance.random() < 0.9 else types)
    entry = chance.choice([entry for entry in entries if entry.type == kind])
    return random_command(entry, chance)


def step(state: State, reading: Reading, chance: random.Random, seed: int, *, leave: float = 0.002) -> State:
    """One command, judged by both."""
    prompts = GAME.prompts(state)
    assert [(prompt.seat, prompt.kind) for prompt in prompts] == reading.asked()
    prompt = chance.choice(prompts)
    seat, actor = int(prompt.seat), Actor.of_seat(prompt.seat)
    message: Message
    dice = chance.random()
    if dice < leave:
        seat = chance.choice([seat for seat, gone in enumerate(state.retired) if not gone])
        actor, message = Actor.of_seat(seat), match_pb2.Resign()
    elif dice < 5 * leave:
        actor, message = CLOCK, match_pb2.Expire(prompt_id=1)
    else:
        message = chosen(state, prompt, chance)
        assert reading.faults(seat, message) == []
    decision = answer(state, actor, message, prompt, seed)
    stacks = [[*event.roles] for event in decision.events if isinstance(event, pb.BewitchedShuffled)]
    assert reading.hear(seat, message, stacks) == told(decision.events), message
    return decision.state


Begin = Callable[[int, int, Mapping[str, str]], tuple[State, Reading]]


def match(
    seed: int, seats: int, options: Mapping[str, str], *, leave: float = 0.002, begin: Begin = dealt
) -> Iterator[tuple[State, Reading]]:
    """A random match, with both at every moment."""
    chance = random.Random(f"second {seed}")
    state, reading = begin(seed, seats, options)
    yield state, reading
    while state.result is None:
        state = step(state, reading, chance, seed, leave=leave)
        yield state, reading
    assert reading.over


def agree(state: State, reading: Reading) -> None:
    """Everything that lies there is the same."""
    assert [*state.vp] == reading.vp
    assert [dict(zip(KINDS, held, strict=True)) for held in state.resources] == reading.held
    assert [[*pawns] for pawns in state.pawns] == reading.pawns
    assert [[*hand] for hand in state.hands] == reading.hands
    assert [cloud for cloud in state.clouds if cloud] == [*reading.clouds.values()]
    assert dict(state.tiles) == reading.tiles
    assert {*state.occupied} == reading.occupied
    assert [[*tiles] for tiles in state.forest_tiles] == reading.forest


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from(BOARDS))
def test_a_second_reading_goes_on_from_the_same_positions(seed: int, seats: int, options: Mapping[str, str]) -> None:
    for state, reading in match(seed, seats, options, begin=arranged, leave=0.01):
        agree(state, reading)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from(BOARDS))
def test_a_second_reading_tells_the_same_matches(seed: int, seats: int, options: Mapping[str, str]) -> None:
    for state, reading in match(seed, seats, options):
        agree(state, reading)


def test_everything_that_can_happen_is_told() -> None:
    wanted = {*GAME.schema.events} - {"position_arranged", "stacks_ordered", "table_laid"}
    wanted |= {f"{kind} by {cause}" for cause, kind in STEPS.items()}
    wanted |= {*AFTER_RETIRING}
    seen: set[str] = set()
    for seed in range(300):
        begin = dealt if seed % 7 == 0 else arranged
        boards = (BACK_STORM, BACK, BACK_STORM, MOUNTAINS_STORM)
        for _, reading in match(seed, 2 + seed % 4, boards[seed % 4], begin=begin, leave=0.01):
            seen.update(names(reading.told))
        if seen >= wanted:
            break
    assert wanted - seen == set()


STEPS = {
    "root_gatherer": "gather",
    "hill_witch": "move",
    "valley_druid": "deliver",
    "weather_fairy": "dispel",
    "mountain_witch": "deliver",
    "h_cd": "turbo",
    "m_potions": "gather",
    "m_wands": "gather",
    "m_deliver": "deliver",
    "m_moves": "move",
    "m_dispel": "dispel",
    "storm_gust_2": "move",
    "storm_courier": "deliver",
}
"""What opens steps of which kind."""


def names(events: list[Told]) -> Iterator[str]:
    """What was told, in short."""
    for name, fields in events:
        yield name
        if name == "step_opened":
            yield f"{fields['step']['kind']} by {fields['step']['cause']}"
        if name == "seat_retired":
            later = {after for after, _ in events}
            yield from (word for word, event in AFTER_RETIRING.items() if event in later)


AFTER_RETIRING = {
    "round over by resigning": "round_ended",
    "next trick by resigning": "trick_started",
    "steps given up by resigning": "step_closed",
}


@pytest.mark.parametrize(
    ("seats", "shuffles"), [(2, {4: (2, 9), 7: (3, 9)}), (3, {6: (2, 10)}), (4, {}), (5, {})], ids=str
)
def test_the_bewitched_stack_over_seven_rounds(seats: int, shuffles: dict[int, tuple[int, int]]) -> None:
    # BS-14.14, BS-14.15: when the stack runs out, and how many roles are shuffled anew.
    found: dict[int, tuple[int, int]] = {}
    opened: list[int] = []
    for state, reading in match(seats, seats, {}, leave=0):
        for name, fields in reading.told:
            if name == "bewitched_shuffled":
                found[state.round] = (fields["n"], fields["count"])
            if name == "round_started":
                assert len({*state.bewitched}) == 5 - seats
                opened.append(fields["round"])
    assert found == shuffles
    assert opened == [*range(1, 8)]
