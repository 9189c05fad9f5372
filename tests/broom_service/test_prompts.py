"""What is listed as legal is exactly what is accepted, on every board, for any number of seats (BS-11, BS-15.11)."""

from __future__ import annotations

import random

from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from broom_service.boards import BOARDS
from broom_service.resources import RESOURCE_IDS
from broom_service.roles import EVENT, ROLE_IDS, STANCES
from broom_service.state import State
from broom_service.tiles import FOREST_TILES
from grimoire.engine import Actor, Decision, Illegal
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.match.scenario.legality import allows
from tests.broom_service import lively
from tests.broom_service.lively import GAME, draws, lively_match, random_command


def near_miss(command: Message, state: State, chance: random.Random) -> Message:
    """The command with one field changed to something that might be meant."""
    other = type(command)()
    other.CopyFrom(command)
    board = BOARDS[state.terms.board]
    guesses: dict[str, tuple[object, ...]] = {
        "step": tuple(range(1, 6)),
        "pawn": (0, 1, 2),
        "to": board.regions,
        "tower": (*board.towers, "h_vat"),
        "space": (*board.spaces,),
        "circle": ("A", "B", "C", "D", "E"),
        "take_wands": (0, 1, 2, 3),
        "role": ROLE_IDS,
        "stance": ("", *STANCES, "bold"),
        "instead": ("", EVENT, *FOREST_TILES, "m_wands"),
        "resource": ("", *RESOURCE_IDS, "gold"),
        "tile": FOREST_TILES,
        "size": (2, 3, 4, 5),
    }
    fields = [field.name for field in command.DESCRIPTOR.fields if field.name in guesses]
    lists = [field.name for field in command.DESCRIPTOR.fields if field.name in ("roles", "resources")]
    if not fields and not lists:
        return other
    name = chance.choice(fields + lists)
    if name in guesses:
        setattr(other, name, chance.choice(guesses[name]))
        if isinstance(other, pb.Deliver) and other.HasField("take_wands") and not other.take_wands:
            other.take_wands = 1  # to take none where there are none is not listed apart
    elif isinstance(other, pb.Gather | pb.Offer):
        resource = chance.choice((*RESOURCE_IDS, "gold"))
        other.resources.append(pb.Amount(resource=resource, amount=chance.choice((1, 2, 9))))
    elif chance.random() < 0.5 and getattr(other, name):
        del getattr(other, name)[0]
    else:
        getattr(other, name).append(chance.choice(ROLE_IDS if name == "roles" else RESOURCE_IDS))
    return other


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(0, 5))
def test_what_is_listed_is_accepted_and_what_is_almost_so_is_judged_as_listed(seed, seats, board):
    chance = random.Random(seed)
    for turn in lively_match(seed, seats, lively.BOARDS[board], troubled=True):
        for prompt in GAME.prompts(turn.state):
            entries = GAME.legal(turn.state, prompt.seat, prompt)
            for entry in entries:
                command = random_command(entry, chance)
                judged = GAME.decide(turn.state, Actor.of_seat(prompt.seat), command, prompt, draws(seed))
                assert isinstance(judged, Decision), (command, judged)
                almost = near_miss(command, turn.state, chance)
                judged = GAME.decide(turn.state, Actor.of_seat(prompt.seat), almost, prompt, draws(seed))
                assert isinstance(judged, Illegal) is (allows(entries, GAME.schema, almost) is False), (almost, judged)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(0, 5))
def test_nobody_is_asked_what_is_no_choice_of_its_own(seed, seats, board):
    """Who lacks the led role is not asked (BS-5.2), nor is who has nothing to offer (BS-9.6) or hand in (BS-9.8)."""
    for turn in lively_match(seed, seats, lively.BOARDS[board]):
        state = turn.after
        for prompt in GAME.prompts(state):
            if prompt.kind == "follow":
                assert state.led_role in state.hands[prompt.seat]
            elif prompt.kind == "lead":
                assert state.hands[prompt.seat]
            elif prompt.kind == "offer":
                assert sum(state.resources[prompt.seat])
            elif prompt.kind == "hand_in":
                assert sum(1 for amount in state.resources[prompt.seat] if amount) >= 3
