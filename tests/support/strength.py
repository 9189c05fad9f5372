"""How strong players are: whether one wins as many of a number of matches as it should."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["certain"]


def certain(least: int, matches: int) -> Callable[[Sequence[int], int], bool]:
    """For `simulate(..., settled=...)`: no other match changes whether the first bot wins `least` of `matches`."""

    def settled(won: Sequence[int], played: int) -> bool:
        return won[0] >= least or won[0] + matches - played < least

    return settled
