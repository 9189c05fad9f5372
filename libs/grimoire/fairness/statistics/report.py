"""Which of many tests is remarkable: with a thousand tests, one in a thousand is no news."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from grimoire.fairness.statistics.tally import Tally

__all__ = ["REMARKABLE", "Row", "judge_all"]

REMARKABLE: Final = 0.001
"""A corrected p below this is worth a question."""


class Row(msgspec.Struct, frozen=True):
    """One test of one game and month.

    Attributes:
        game, month: whose draws, e.g. `2026-11`.
        test, statistic, degrees, draws, p: see `Result`.
        matches: they come from.
        corrected: p after Holm's correction for all tests of the report.
    """

    game: str
    month: str
    test: str
    statistic: float
    degrees: int
    draws: int
    matches: int
    p: float
    corrected: float

    @property
    def remarkable(self) -> bool:
        """Too unlikely for chance, all tests considered."""
        return self.corrected < REMARKABLE


def judge_all(tallies: Mapping[tuple[str, str], Tally]) -> list[Row]:
    """All tests of all games and months, with Holm's correction.

    Args:
        tallies: by game and month.
    """
    rows = [
        Row(game, month, r.test, r.statistic, r.degrees, r.draws, tally.matches, r.p, 1.0)
        for (game, month), tally in sorted(tallies.items())
        for r in tally.results()
    ]
    corrected: dict[int, float] = {}
    worst = 0.0
    for rank, index in enumerate(sorted(range(len(rows)), key=lambda i: rows[i].p)):
        worst = max(worst, min(1.0, (len(rows) - rank) * rows[index].p))
        corrected[index] = worst
    return [msgspec.structs.replace(row, corrected=corrected[index]) for index, row in enumerate(rows)]
