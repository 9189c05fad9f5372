"""The searching player: plays its best commands forward in imagined worlds and takes the one that comes out best.

It knows what its seat may see. What it does not know, the other hand, the deck's order and the other's spells, is
imagined anew for each world; every candidate meets the same worlds, so that luck cancels out. Ahead, both seats play as
the heuristic player would, the own turn to its end and a few more; then the position is appraised. How much it looks at
follows from the time it is given, not from a clock: the same chance gives the same answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from google.protobuf.message import Message

from wizards_garden.heuristic import Heuristic, Ranked
from wizards_garden.outlook import Chance, tried
from wizards_garden.state import Stage, State

__all__ = ["search"]

_TURNS: Final = 2
"""Turns looked ahead, the own one included."""

_CANDIDATES: Final = 5
_BEHIND: Final = 30.0
"""What the heuristic player values so much lower is not looked at."""

_TRUST: Final = 0.5
"""How much the heuristic player's own opinion counts beside a game played forward: few games are a matter of luck."""

_MS_A_GAME: Final = 4
_FEWEST_GAMES: Final = 6
_MOST_GAMES: Final = 36
"""Games played forward for one decision."""

_DECIDED: Final = 400.0
"""A won match counts so many points, a lost one as many below nothing."""


def search(imagine: Callable[[], State], rng: random.Random, budget_ms: int) -> Message:
    """The best candidate found.

    Args:
        imagine: gives a state that looks to the seat like the one it is asked in, the hidden dealt anew.
        rng: the player's own randomness.
        budget_ms: how long it may think.
    """
    first = imagine()
    ranked = _candidates(Heuristic(Chance(rng), noise=0.0).ranked(first))
    candidates: list[Message] = [command for _, command in ranked]
    if len(candidates) == 1:
        return candidates[0]
    games = max(_FEWEST_GAMES, min(_MOST_GAMES, budget_ms // _MS_A_GAME))
    gained = [0.0] * len(candidates)
    alive = [*range(len(candidates))]
    world, worlds = first, 0
    while games >= len(alive) or not worlds:
        seed = rng.getrandbits(32)
        for number in alive:
            gained[number] += _played_on(world, candidates[number], seed) + _TRUST * ranked[number][0]
        games -= len(alive)
        worlds += 1
        if worlds > 1 and len(alive) > 2:
            alive = sorted(alive, key=gained.__getitem__, reverse=True)[: max(2, len(alive) - 1)]
        world = imagine()
    best: int = max(alive, key=gained.__getitem__)
    return candidates[best]


def _candidates(ranked: Ranked) -> Ranked:
    """The heuristic player's best."""
    least = ranked[0][0] - _BEHIND
    return [(worth, command) for worth, command in ranked[:_CANDIDATES] if worth > least]


def _played_on(state: State, command: Message, seed: int) -> float:
    """What comes of a command in this world, in points of the seat that gives it."""
    me, last = state.asked, state.turn_no + _TURNS
    chance = Chance(random.Random(seed))  # noqa: S311 - a game that is only imagined
    player = Heuristic(chance, noise=0.0)
    while True:
        draft = tried(state, command, chance)
        if draft is None:
            return -_DECIDED
        if draft.result is not None:
            winner = draft.result.winner
            return 0.0 if winner is None else _DECIDED if winner == me else -_DECIDED
        if draft.turn_no >= last and draft.stage is Stage.GARDEN:
            return player.worth(draft, me)
        state = draft.freeze()
        command = player.choose(state)
