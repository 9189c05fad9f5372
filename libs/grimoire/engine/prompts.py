"""Prompts: the state itself says who may act now, and on what."""

from __future__ import annotations

import msgspec

from grimoire.engine.seats import Seat


class Prompt(msgspec.Struct, frozen=True):
    """One thing one seat is asked. Who is asked depends on public facts only.

    Attributes:
        seat: the asked seat.
        kind: from the game's short public list, e.g. `main`.
        key: tells a renewed prompt from the one before. The platform closes every open prompt whose
            (seat, kind, key) is gone from `Game.prompts` after a command and opens the new ones, numbering them
            1, 2, 3, ... over the match. A game that counts its decisions uses that count.
        deadline_class: `setup`, `turn` or `reaction`; the platform gives it seconds. Empty: no deadline.
        required: the match waits for it (an optional prompt is an open offer).
    """

    seat: Seat
    kind: str
    key: int
    deadline_class: str = "turn"
    required: bool = True
