"""The toy with players that fail in every way, and one that chants: for tests of what the bots service does then."""

from __future__ import annotations

import os
import random
import time

import msgspec
from google.protobuf.message import Message

from grimoire.v1 import prompt_pb2
from tests.support.toy import PLUGIN as TOY
from tests.support.toy import schema as pb


class TroubledBot:
    """Its levels are its troubles."""

    levels: tuple[str, ...] = ("well", "chants", "raises", "hangs", "dies", "cheats")

    def volunteers(self, view: Message, prompt: prompt_pb2.Prompt, level: str) -> bool:
        if level == "raises":
            raise RuntimeError(f"my hand is {view}")
        return level in ("chants", "cheats")

    def suggest(
        self, view: Message, prompt: prompt_pb2.Prompt, level: str, rng: random.Random, budget_ms: int
    ) -> tuple[str, Message]:
        match level:
            case "raises":
                raise RuntimeError(f"my hand is {view}")
            case "hangs":
                time.sleep(3600)
            case "dies":
                os._exit(9)
            case "cheats":
                return "choose_rune", pb.ChooseRune(rune="no such rune")
        return TOY.bot.suggest(view, prompt, "random", rng, budget_ms)


PLUGIN = msgspec.structs.replace(TOY, bot=TroubledBot())
