"""Random play that looks to the end of the turn, so that matches last: books are gained, spells cast, battles won."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import msgspec
from google.protobuf.message import Message

from grimoire.engine import Actor, Decision, Illegal, Legal, Prompt, Setup, Start
from grimoire.engine.answers import fill, random_answer
from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from spellbound.cards import ALLIES
from spellbound.notions import books_gained, tower_at
from spellbound.places import GAINED, LOST, on_track
from spellbound.rules import Spellbound
from spellbound.state import State

GAME = Spellbound()
TRIES = 40


class Played(msgspec.Struct, frozen=True):
    """One decision of a match."""

    state: State
    prompt: Prompt
    command: Message
    events: tuple[Message, ...]
    after: State


def joint(seed: object) -> Secret:
    """A J for tests."""
    return Secret(random.Random(f"joint {seed}").randbytes(32))


def draws(secret: Secret) -> RecordedDraws:
    """The draws of one command."""
    return RecordedDraws(GAME.id, secret)


def started(seed: object, seats: int = 1, options: Mapping[str, str] | None = None) -> Start[State]:
    """A deal."""
    facts = GAME.configure(options or {}, seats)
    assert not isinstance(facts, Illegal), facts
    start = GAME.start(Setup("keen", seats, dict(facts.options)), draws(joint(seed)))
    assert not isinstance(start, Illegal)
    return start


def complete(entry: Legal, chance: random.Random) -> Message:
    """A command of this entry, its slots answered at random."""
    command = GAME.schema.command(entry.type, entry.fixed)
    for slot in entry.slots:
        fill(command, slot, random_answer(slot, chance))
    return command


WEIGHTS = {
    "end_card": 0.3,
    "discard_card": 0.4,
    "discard_influence": 0.02,
    "end_story": 0.5,
}
"""How gladly each command is tried; 1 if it is not named."""

STEPS = {"book_own": 40.0, "book_any": 40.0, "magic": 12.0, "influence": 12.0}
"""The same for steps of a card."""


def weight(entry: Legal) -> float:
    """How gladly a command of this entry is tried."""
    return STEPS.get(str(entry.fixed[0][1]), 1.0) if entry.type == "card_step" else WEIGHTS.get(entry.type, 1.0)


def worth(state: State) -> float:
    """How well the mages stand, about as SB-24.1 values it."""
    if state.result is not None:
        return 2000.0 if state.result.won else -1000.0
    value = 0.0
    for book, piece in zip(state.books, state.pieces, strict=True):
        if book == GAINED:
            value += 100
        elif book == LOST:
            value -= 156
        elif on_track(book):
            value += 14 * (book - 4) - {1: 34, 2: 15, 3: 6}.get(book - piece, 0)
        value -= 25 * (piece >= 8)
    gathered = sum(place == tower_at(state) for place in state.places)
    value += 20 * gathered * (books_gained(state) >= 4) + 5 * sum(map(len, state.spells)) + 3 * sum(state.wands)
    allies = sum(card in ALLIES for card in (*state.lower, *state.deck, *state.discards))
    return value - 5 * len(state.upper) - 25 * state.witch + 6 * allies + 2 * sum(map(len, state.lying))


def _rollout(state: State, secret: Secret, chance: random.Random) -> tuple[float, list[Played]]:
    """Random commands to the end of the turn."""
    turn, played = state.turn, []
    while state.result is None and state.turn == turn:
        prompts = GAME.prompts(state)
        prompt = chance.choice(prompts) if chance.random() < 0.05 else prompts[0]
        entries = GAME.legal(state, prompt.seat, prompt)
        entry = chance.choices(entries, [weight(entry) for entry in entries])[0]
        command = complete(entry, chance)
        decision = GAME.decide(state, Actor.of_seat(prompt.seat), command, prompt, draws(secret))
        assert isinstance(decision, Decision), (command, decision)
        played.append(Played(state, prompt, command, decision.events, decision.state))
        state = decision.state
    return worth(state) + chance.random(), played


def keen_turn(state: State, secret: Secret, chance: random.Random, tries: int = TRIES) -> list[Played]:
    """Of some random ways to the end of the turn, each played with foresight of the draws, the best."""
    turns = [_rollout(state, secret, chance) for _ in range(tries)]
    return max(turns, key=lambda turn: turn[0])[1]


def keen_match(
    seed: object, seats: int = 1, options: Mapping[str, str] | None = None, tries: int = TRIES
) -> Iterator[Played]:
    """A whole match of such turns."""
    yield from keen_play(started(seed, seats, options).state, seed, tries)


def keen_play(state: State, seed: object, tries: int = TRIES) -> Iterator[Played]:
    """The same from a state on."""
    chance, secret = random.Random(f"keen {seed}"), joint(seed)
    while state.result is None:
        turn = keen_turn(state, secret, chance, tries)
        yield from turn
        state = turn[-1].after
