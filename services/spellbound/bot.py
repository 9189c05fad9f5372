"""The built-in players (SB-24). They are given what their seat may see, and nothing else."""

from __future__ import annotations

import random

from google.protobuf.message import Message

from grimoire.engine.answers import complete_at_random
from grimoire.v1 import prompt_pb2
from spellbound.levels import Level
from spellbound.rules import Spellbound

__all__ = ["SpellboundBot"]

_KEENNESS = {
    "card_step_book_own": 40.0,
    "card_step_book_any": 40.0,
    "card_step_magic": 12.0,
    "card_step_influence": 12.0,
    "use_wand_2": 20.0,
    "declare_final_battle": 3.0,
    "end_card": 0.3,
    "discard_card": 0.3,
    "discard_influence": 0.05,
    "end_story": 0.5,
    "pass": 0.3,
    "answer_ride_decline": 0.2,
    "skip_turn": 0.2,
}
"""How gladly each command is given, by its label; 1 if it is not named."""


class SpellboundBot:
    """`Bot` of Spellbound."""

    levels: tuple[str, ...] = tuple(level.value for level in Level)

    def suggest(
        self,
        view: Message,  # noqa: ARG002
        prompt: prompt_pb2.Prompt,
        level: str,
        rng: random.Random,
        budget_ms: int,  # noqa: ARG002
    ) -> tuple[str, Message]:
        """A legal command for one's own open prompt.

        Raises:
            ValueError: for an unknown level.
        """
        keen = Level(level) is not Level.RANDOM
        weights = [_KEENNESS.get(entry.label.key, 1.0) if keen else 1.0 for entry in prompt.legal]
        entry = rng.choices(prompt.legal, weights)[0]
        return entry.type, complete_at_random(entry, Spellbound.schema.commands[entry.type], rng)
