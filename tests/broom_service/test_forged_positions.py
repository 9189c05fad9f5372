"""Positions from clients: whatever is changed in one, it is refused with a sentence or played on; nothing raises."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from broom_service.positions import BroomServicePositions, position_fault
from broom_service.roles import EVENTS, ROLE_IDS
from broom_service.state import Stage, State
from broom_service.tiles import TILES
from grimoire.engine import Actor, Illegal, Setup, Start
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from tests.broom_service.lively import BOARDS, GAME, answer, draws, random_command
from tests.broom_service.test_branching import options_of
from tests.broom_service.test_second_course import arranged, match

POSITIONS = BroomServicePositions()
WORDS = (
    *("", "nonsense", "brave", "cowardly", "event", "orange", "wand", "front", "back"),
    *(stage.value for stage in Stage),
    *("gather", "move", "deliver", "dispel", "turbo", "A", "D", "hill", "prairie", "water"),
    *("p3", "f6", "w1", "m1", "h4", "p10", "c01", "heavy_01", "storm_gust_1", "orange_rd_01", "purple_sq_01", "h_vat"),
    *ROLE_IDS[::3],
    *[*EVENTS][::3],
    *[*TILES][::4],
)
NUMBERS = (0, 0, 1, 2, 3, 4, 5, 6, 7, 10, 255, 2**31 - 1)


def forge(message: Message, chance: random.Random) -> None:
    """Changes one thing somewhere in it."""
    field: Any = chance.choice([*message.DESCRIPTOR.fields])
    value: Any = getattr(message, field.name)
    if field.message_type is not None:
        if not field.is_repeated:
            forge(value, chance)
        elif value and chance.random() < 0.8:
            forge(chance.choice(value), chance)
        elif value and chance.random() < 0.5:
            value.add().CopyFrom(value[0])
        elif value:
            value.pop(chance.randrange(len(value)))
        else:
            forge(value.add(), chance)
        return
    made = chance.choice(WORDS) if field.type == FieldDescriptor.TYPE_STRING else chance.choice(NUMBERS)
    if field.type == FieldDescriptor.TYPE_BOOL:
        made = chance.random() < 0.5
    if not field.is_repeated:
        setattr(message, field.name, made)
    elif value and chance.random() < 0.5:
        value.pop(chance.randrange(len(value)))
    else:
        value.insert(chance.randrange(len(value) + 1), made)


def play_out(state: State, chance: random.Random) -> None:
    """To the end, or for so long that nothing stands still."""
    for _ in range(400):
        prompts = GAME.prompts(state)
        if not prompts:
            break
        prompt = chance.choice(prompts)
        entry = chance.choice(GAME.legal(state, prompt.seat, prompt))
        command = random_command(entry, chance)
        state = answer(state, Actor.of_seat(prompt.seat), command, prompt, 1).state
    assert (state.result is None) == bool(GAME.prompts(state))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from(BOARDS), st.integers(0, 60))
def test_a_forged_position_is_refused_or_played(seed: int, seats: int, options: Any, moment: int) -> None:
    chance = random.Random(seed)
    state = next(state for n, (state, _) in enumerate(match(seed, seats, options, begin=arranged)) if n >= moment % 20)
    if state.result is not None:
        return
    whole = POSITIONS.from_state(state)
    for _ in range(20):
        event = pb.PositionArranged.FromString(whole.SerializeToString())
        for _ in range(chance.choice((1, 1, 2, 3))):
            forge(event, chance)
        fault = position_fault(event, state.terms)
        setup = Setup("forged", seats, options_of(state), event.SerializeToString())
        start = GAME.start(setup, draws(0))
        assert isinstance(start, Illegal) is bool(fault)
        if isinstance(start, Start) and chance.random() < 0.3:
            play_out(start.state, chance)
