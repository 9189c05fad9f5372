"""The toy's players: `random`, and `careful`, which feeds the beacon its dearest rune and lets everything pass."""

from __future__ import annotations

import random
from collections.abc import Sequence

from google.protobuf.message import Message

from grimoire.v1 import prompt_pb2
from tests.support.toy import schema as pb
from tests.support.toy.state import RUNES


class ToyBot:
    """Beacon's `Bot`."""

    levels: tuple[str, ...] = ("random", "careful")

    def suggest(
        self, view: Message, prompt: prompt_pb2.Prompt, level: str, rng: random.Random, budget_ms: int
    ) -> tuple[str, Message]:
        entry = rng.choice(prompt.legal) if level == "random" else prompt.legal[0]
        if entry.type == "choose_rune":
            runes = [ref.removeprefix("rune:") for ref in entry.slots[0].one.candidates]
            rune = rng.choice(runes) if level == "random" else max(runes, key=lambda r: RUNES[r])
            return entry.type, pb.ChooseRune(rune=rune)
        if entry.type == "counter":
            stakes = entry.slots[0].number
            return entry.type, pb.Counter(stake=rng.randint(stakes.min, stakes.max))
        return entry.type, pb.Chant() if entry.type == "chant" else pb.LetPass()


class ToyTerminal:
    """Beacon's `Terminal`."""

    def render(self, view: Message, language: str, names: dict[int, str], width: int) -> Sequence[str]:
        seats = [
            f"{names.get(s.seat, f'seat {s.seat}')}: {s.score} ({s.tokens} tokens) {' '.join(s.hand)}"
            for s in view.seats
        ]
        return [line[:width] for line in (f"round {view.round_no}/{view.rounds}, light {view.light}", *seats)]
