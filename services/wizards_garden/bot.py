"""The built-in players (WG-20). They are given what their seat may see, and nothing else."""

from __future__ import annotations

import random

from google.protobuf.message import Message

from grimoire.engine.answers import complete_at_random
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.v1 import prompt_pb2
from wizards_garden.heuristic import Heuristic
from wizards_garden.levels import Level
from wizards_garden.outlook import Chance
from wizards_garden.rules import WizardsGarden
from wizards_garden.search import search
from wizards_garden.sight import imagined
from wizards_garden.state import State

__all__ = ["WizardsGardenBot"]


class WizardsGardenBot:
    """`Bot` of the Wizard's Garden."""

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
            return entry.type, complete_at_random(entry, WizardsGarden.schema.commands[entry.type], rng)
        if not isinstance(view, pb.View):
            raise TypeError(f"{type(view).__name__} is no view of the Wizard's Garden")

        def imagine() -> State:
            return imagined(view, prompt.seat, rng)

        if kind is Level.SEARCHING:
            command = search(imagine, rng, budget_ms)
        else:
            command = Heuristic(Chance(rng)).choose(imagine())
        return WizardsGarden.schema.code(command), command
