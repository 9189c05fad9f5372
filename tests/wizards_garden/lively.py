"""Random play that seeks trouble: phases are seldom declined, threats are made, carried out and answered."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from google.protobuf.message import Message

from grimoire.engine import Actor, Decision, Illegal, Legal, Prompt, Setup
from grimoire.engine.answers import fill, random_answer
from grimoire.fairness import RecordedDraws, Secret
from wizards_garden.rules import WizardsGarden
from wizards_garden.state import State

GAME = WizardsGarden()

WEIGHTS = {
    "end_phase": 0.3,
    "end_action": 0.1,
    "withdraw": 0.3,
    "declare_attack": 4.0,
    "advance": 4.0,
    "threaten_with_gnome": 4.0,
    "threaten_with_pests": 4.0,
    "bring_pest_threatening": 2.0,
    "bring_gnome_threatening": 2.0,
    "place_lantern": 6.0,
    "light_with_pair": 4.0,
    "light_with_water": 4.0,
    "spirit_action": 3.0,
    "cast_dagger": 0.3,
}
"""How gladly each command is played; 1 if it is not named."""


class Played(msgspec.Struct, frozen=True):
    """One decision of a match."""

    state: State
    prompt: Prompt
    command: Message
    after: State
    events: tuple[Message, ...]


def joint(seed: int) -> Secret:
    """A J for tests."""
    return Secret(random.Random(f"joint {seed}").randbytes(32))


def draws(seed: int) -> RecordedDraws:
    """The draws of this seed."""
    return RecordedDraws("wizards_garden", joint(seed))


def setup_of(options: Mapping[str, str], position: bytes = b"") -> Setup:
    """What a match with these options begins from."""
    facts = GAME.configure(options, 2)
    assert not isinstance(facts, Illegal)
    return Setup("lively", 2, dict(facts.options), position)


def started(seed: int, options: Mapping[str, str]) -> State:
    """The state after the deal."""
    start = GAME.start(setup_of(options), draws(seed))
    assert not isinstance(start, Illegal)
    return start.state


def command_of(legal: Legal, chance: random.Random) -> Message:
    """A command of this entry, its slots answered at random."""
    command = GAME.schema.command(legal.type, legal.fixed)
    for slot in legal.slots:
        fill(command, slot, random_answer(slot, chance))
    return command


def lively_command(entries: Sequence[Legal], chance: random.Random) -> Message:
    """One of these commands."""
    (entry,) = chance.choices(entries, [WEIGHTS.get(entry.type, 1.0) for entry in entries])
    return command_of(entry, chance)


def asked(state: State) -> Prompt:
    """The one open prompt."""
    (prompt,) = GAME.prompts(state)
    return prompt


def legal_of(state: State) -> tuple[Legal, ...]:
    """What the asked seat may do."""
    prompt = asked(state)
    return GAME.legal(state, prompt.seat, prompt)


def decide(state: State, command: Message, seed: int = 0, seat: int | None = None) -> Any:
    """A command of the asked seat, judged."""
    prompt = asked(state)
    return GAME.decide(state, Actor.of_seat(prompt.seat if seat is None else seat), command, prompt, draws(seed))


def lively_match(seed: int, state: State | None = None, **options: str) -> Iterator[Played]:
    """A match of random commands; without a state, from the deal."""
    chance = random.Random(seed)
    state = started(seed, {"turn_limit": "60", **options}) if state is None else state
    while GAME.outcome(state) is None:
        command = lively_command(legal_of(state), chance)
        decision = decide(state, command, seed)
        assert isinstance(decision, Decision), (command, decision)
        yield Played(state, asked(state), command, decision.state, decision.events)
        state = decision.state
