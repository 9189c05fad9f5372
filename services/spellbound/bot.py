"""The built-in players (SB-24). They are given what their seat may see, and nothing else."""

from __future__ import annotations

import random
from typing import Final

from google.protobuf.message import Message

from grimoire.engine.answers import complete_at_random
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.v1 import prompt_pb2
from spellbound.helping import help_of
from spellbound.heuristic import Heuristic
from spellbound.levels import Level
from spellbound.rules import Spellbound

__all__ = ["SpellboundBot"]

_PLANS: Final = 600
"""Turns that the heuristic player tries for a decision."""

_PLANS_A_MS: Final = 15
_FEWEST: Final = 500
_MOST: Final = 6000
"""The searching player's, by the time it is given: the same chance gives the same answer on any machine."""


class SpellboundBot:
    """`Bot` of Spellbound."""

    levels: tuple[str, ...] = tuple(level.value for level in Level)

    def suggest(
        self, view: Message, prompt: prompt_pb2.Prompt, level: str, rng: random.Random, budget_ms: int
    ) -> tuple[str, Message]:
        """A legal command for one's own open prompt.

        Raises:
            ValueError: for an unknown level.
            TypeError: for another game's view.
        """
        kind = Level(level)
        if kind is Level.RANDOM:
            entry = rng.choice(prompt.legal)
            return entry.type, complete_at_random(entry, Spellbound.schema.commands[entry.type], rng)
        if not isinstance(view, pb.View):
            raise TypeError(f"{type(view).__name__} is no view of Spellbound")
        plans = _PLANS
        if kind is Level.SEARCHING:
            plans = max(_FEWEST, min(_MOST, budget_ms * _PLANS_A_MS))
        command = Heuristic(rng, plans).choose(view, prompt)
        return Spellbound.schema.code(command), command

    def volunteers(self, view: Message, prompt: prompt_pb2.Prompt, level: str) -> bool:
        """Whether to cast a spell while another seat thinks (SB-16.2): only when the battle can be declared then."""
        return level != Level.RANDOM and isinstance(view, pb.View) and help_of(view, prompt.seat) is not None
