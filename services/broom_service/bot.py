"""The built-in players (BS-17). They are given what their seat may see, and nothing else."""

from __future__ import annotations

import random

from google.protobuf.message import Message

from broom_service.levels import Level
from broom_service.rules import BroomService
from grimoire.engine.answers import complete_at_random
from grimoire.v1 import prompt_pb2

__all__ = ["BroomServiceBot"]


class BroomServiceBot:
    """`Bot` of Broom Service."""

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
        Level(level)
        entry = rng.choice(prompt.legal)
        return entry.type, complete_at_random(entry, BroomService.schema.commands[entry.type], rng)
