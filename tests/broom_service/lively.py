"""Random play that seeks deliveries, clouds and tiles, so that matches show what the rules hold."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from google.protobuf.message import Message

from broom_service.rules import BroomService
from broom_service.state import State
from grimoire.engine import CLOCK, Actor, Decision, Illegal, Legal, Prompt, Setup, Start
from grimoire.engine.answers import fill, random_answer
from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.v1 import match_pb2

GAME = BroomService()

FRONT: Mapping[str, str] = {}
BACK: Mapping[str, str] = {"board": "back"}
STORM: Mapping[str, str] = {"storm_clouds": "true", "heavy_clouds": "10"}
BACK_STORM: Mapping[str, str] = {"board": "back", "storm_clouds": "true", "heavy_clouds": "11"}
MOUNTAINS: Mapping[str, str] = {"mountain_tiles": "true"}
MOUNTAINS_STORM: Mapping[str, str] = {**STORM, **MOUNTAINS}
BOARDS = (FRONT, BACK, STORM, BACK_STORM, MOUNTAINS, MOUNTAINS_STORM)
"""The six boards to play (BS-1.3)."""

_SOUGHT = ("ride", "deliver", "dispel", "add_role", "hand_in", "gather", "move_pawn")
_AVOIDED = ("skip_step", "decline_extra", "decline_set")


class Played(msgspec.Struct, frozen=True):
    """One decision of a match."""

    state: State
    prompt: Prompt
    command: Message
    events: tuple[Message, ...]
    after: State


def draws(seed: object) -> RecordedDraws:
    """The randomness of a match; the same for each of its commands."""
    return RecordedDraws(GAME.id, Secret(random.Random(f"joint {seed}").randbytes(32)))


def setup_of(seats: int, options: Mapping[str, str], position: bytes = b"") -> Setup:
    """What a match begins from."""
    facts = GAME.configure(options, seats)
    assert not isinstance(facts, Illegal), facts
    return Setup("lively", seats, dict(facts.options), position)


def started(seed: object, seats: int, options: Mapping[str, str]) -> Start[State]:
    """A deal."""
    start = GAME.start(setup_of(seats, options), draws(seed))
    assert not isinstance(start, Illegal)
    return start


def random_command(entry: Legal, chance: random.Random) -> Message:
    """A command of this entry, its slots answered at random."""
    command = GAME.schema.command(entry.type, entry.fixed)
    for slot in entry.slots:
        fill(command, slot, random_answer(slot, chance))
    return command


def lively_command(entries: Sequence[Legal], chance: random.Random) -> Message:
    """What does something is played rather than what gives up."""
    sought = [entry for entry in entries if entry.type in _SOUGHT]
    kept = [entry for entry in entries if entry.type not in _AVOIDED]
    if sought and chance.random() < 0.9:
        entries = sought
    elif kept and chance.random() < 0.5:
        entries = kept
    return random_command(chance.choice(entries), chance)


def answer(state: State, actor: Actor, command: Message, prompt: Prompt | None, seed: object) -> Decision[State]:
    """An accepted command."""
    decision = GAME.decide(state, actor, command, prompt, draws(seed))
    assert isinstance(decision, Decision), decision
    return decision


def lively_match(
    seed: object, seats: int, options: Mapping[str, str], *, troubled: bool = False, state: State | None = None
) -> Iterator[Played]:
    """A match in which seats decide at random.

    Args:
        troubled: clocks run out now and then, and seats resign.
        state: to go on from; None: from the deal.
    """
    chance = random.Random(f"lively {seed}")
    if state is None:
        state = started(seed, seats, options).state
    while GAME.outcome(state) is None:
        prompt = chance.choice(GAME.prompts(state))
        actor = Actor.of_seat(prompt.seat)
        command: Message
        if troubled and chance.random() < 0.08:
            actor, command = CLOCK, match_pb2.Expire()
        elif troubled and chance.random() < 0.01:
            command = match_pb2.Resign()
        else:
            command = lively_command(GAME.legal(state, prompt.seat, prompt), chance)
        decision = answer(state, actor, command, prompt, seed)
        yield Played(state, prompt, command, decision.events, decision.state)
        state = decision.state
