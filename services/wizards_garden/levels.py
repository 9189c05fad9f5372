"""Strengths of the built-in players (WG-20)."""

from __future__ import annotations

import enum

__all__ = ["Level"]


class Level(enum.StrEnum):
    """Weakest first."""

    RANDOM = "random"
    HEURISTIC = "heuristic"
    SEARCHING = "searching"
