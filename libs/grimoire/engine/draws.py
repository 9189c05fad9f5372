"""Randomness as a game sees it: labelled draws and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")


class Draws(Protocol):
    """Labelled, recorded draws (fairness specification, section 3). A label is used once per match.

    The same label asked again within one command continues its stream (TT-8.3); each ask is recorded.
    Labels match `[a-z0-9_/.-]{1,64}`; 1 <= n <= 2**32.
    """

    def below(self, label: str, n: int) -> int:
        """A uniform integer in 0..n-1."""
        ...

    def coin(self, label: str) -> int:
        """`below(label, 2)`."""
        ...

    def choice(self, label: str, items: Sequence[T]) -> T:
        """`items[below(label, len(items))]`."""
        ...

    def shuffle(self, label: str, items: Sequence[T]) -> list[T]:
        """A shuffled copy; index 0 is the top."""
        ...

    def sample(self, label: str, items: Sequence[T], k: int) -> list[T]:
        """K different items in the order drawn."""
        ...
