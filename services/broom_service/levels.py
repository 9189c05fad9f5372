"""Strengths of the built-in players (BS-17)."""

from __future__ import annotations

import enum

__all__ = ["Level"]


class Level(enum.StrEnum):
    """Weakest first."""

    RANDOM = "random"
    HEURISTIC = "heuristic"
    SEARCHING = "searching"
