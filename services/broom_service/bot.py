"""The built-in players (BS-17). They are given what their seat may see, and nothing else."""

from __future__ import annotations

import random

from google.protobuf.message import Message

from broom_service.heuristic import Heuristic
from broom_service.levels import Level
from broom_service.rules import BroomService
from broom_service.search import Searching
from broom_service.sight import seen
from grimoire.engine.answers import complete_at_random
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.v1 import prompt_pb2

__all__ = ["BroomServiceBot"]


class BroomServiceBot:
    """`Bot` of Broom Service."""

    levels: tuple[str, ...] = tuple(level.value for level in Level)

    def suggest(
        self,
        view: Message,
        prompt: prompt_pb2.Prompt,
        level: str,
        rng: random.Random,
        budget_ms: int,
    ) -> tuple[str, Message]:
        """A legal command for one's own open prompt.

        Raises:
            ValueError: for an unknown level.
            TypeError: for another game's view.
        """
        kind = Level(level)
        if kind is Level.RANDOM:
            entry = rng.choice(prompt.legal)
            return entry.type, complete_at_random(entry, BroomService.schema.commands[entry.type], rng)
        if not isinstance(view, pb.View):
            raise TypeError(f"{type(view).__name__} is no view of Broom Service")
        sight = seen(view, prompt.seat)
        player = Searching(sight, rng, budget_ms) if kind is Level.SEARCHING else Heuristic(sight, rng)
        command = player.choose(prompt.kind)
        return BroomService.schema.code(command), command
