"""A whole match of random commands, decision by decision."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from google.protobuf.message import Message

from broom_service.rules import BroomService
from broom_service.state import State
from grimoire.engine import Actor, Decision, Illegal, Legal, Prompt, Setup
from grimoire.engine.answers import fill, random_answer
from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.match.frames import travelling
from grimoire.v1 import prompt_pb2

__all__ = ["GAME", "Step", "dealt", "entries_of", "random_match"]

GAME = BroomService()


class Step(msgspec.Struct, frozen=True):
    """One decision; `before` is the state in which the prompt was open."""

    before: State
    prompt: Prompt
    events: tuple[Message, ...]
    state: State


def dealt(seed: object, seats: int, options: Mapping[str, str]) -> tuple[State, tuple[Message, ...]]:
    """The state after the deal, and its events."""
    facts = GAME.configure(options, seats)
    assert not isinstance(facts, Illegal), facts
    start = GAME.start(Setup("random", seats, dict(facts.options)), _draws(seed))
    assert not isinstance(start, Illegal)
    return start.state, start.events


def random_match(seed: object, seats: int, options: Mapping[str, str]) -> Iterator[Step]:
    """From the deal to the end; steps of actions are given up seldom."""
    chance = random.Random(f"random {seed}")
    state, _ = dealt(seed, seats, options)
    while state.result is None:
        prompt = chance.choice(GAME.prompts(state))
        entries = GAME.legal(state, prompt.seat, prompt)
        entry = chance.choices(entries, [0.1 if entry.type == "skip_step" else 1.0 for entry in entries])[0]
        decision = GAME.decide(state, Actor.of_seat(prompt.seat), _complete(entry, chance), prompt, _draws(seed))
        assert isinstance(decision, Decision), (entry, decision)
        yield Step(state, prompt, decision.events, decision.state)
        state = decision.state


def entries_of(state: State, prompt: Prompt) -> Sequence[prompt_pb2.LegalEntry]:
    """What is legal, as it travels to clients."""
    return travelling(GAME.schema, GAME.legal(state, prompt.seat, prompt))


def _complete(entry: Legal, chance: random.Random) -> Message:
    command = GAME.schema.command(entry.type, entry.fixed)
    for slot in entry.slots:
        fill(command, slot, random_answer(slot, chance))
    return command


def _draws(seed: object) -> RecordedDraws:
    return RecordedDraws(GAME.id, Secret(random.Random(f"joint {seed}").randbytes(32)))
