"""Draws set by hand, by number or by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from grimoire.fairness.draws import ForcedDrawError, ForcedDraws, RecordedDraws

__all__ = ["NamedDraws", "Namer"]

T = TypeVar("T")

Namer = Callable[[str, int], int]
"""The number of a name among `n` things."""


class NamedDraws:
    """Forced draws that take names: of an item where items are drawn, of a catalogue's item where a number is.

    Args:
        forced: results by label.
        fallback: answers what is not forced.
        namer: for labels that draw a number.
        used: every forced label that is asked for goes in here.
    """

    def __init__(
        self, forced: Mapping[str, Sequence[int | str]], fallback: RecordedDraws, namer: Namer, used: set[str]
    ) -> None:
        self._named = {label: list(results) for label, results in forced.items()}
        self._fallback = fallback
        self._namer = namer
        self._used = used
        self.taken = fallback.taken

    def below(self, label: str, n: int) -> int:
        """The label's next result."""
        results = self._take(label)
        if not results:
            return self._fallback.below(label, n)
        number = self._number(label, results.pop(0), lambda name: self._namer(name, n))
        return ForcedDraws({label: [number]}, self._fallback).below(label, n)

    def coin(self, label: str) -> int:
        """`below(label, 2)`."""
        return self.below(label, 2)

    def choice(self, label: str, items: Sequence[T]) -> T:
        """The named item, or the numbered one."""
        return items[self._one_of(label, items)]

    def shuffle(self, label: str, items: Sequence[T]) -> list[T]:
        """The forced beginning, then the rest in order."""
        return self._ordered(label, items).shuffle(label, items)

    def sample(self, label: str, items: Sequence[T], k: int) -> list[T]:
        """The forced beginning, then the rest in order, k in all."""
        return self._ordered(label, items).sample(label, items, k)

    def _one_of(self, label: str, items: Sequence[Any]) -> int:
        results = self._take(label)
        if not results:
            return self._fallback.below(label, len(items))
        number = self._number(label, results.pop(0), lambda name: _index(label, name, items))
        return ForcedDraws({label: [number]}, self._fallback).below(label, len(items))

    def _ordered(self, label: str, items: Sequence[Any]) -> ForcedDraws:
        results = self._take(label)
        if results is None:
            return ForcedDraws({}, self._fallback)
        numbers = [self._number(label, r, lambda name: _index(label, name, items)) for r in results]
        return ForcedDraws({label: numbers}, self._fallback)

    def _take(self, label: str) -> list[int | str] | None:
        if label in self._named:
            self._used.add(label)
        return self._named.get(label)

    def _number(self, label: str, result: int | str, find: Callable[[str], int]) -> int:
        if isinstance(result, int):
            return result
        try:
            return find(result)
        except LookupError as error:
            raise ForcedDrawError(f"{label}: {error}") from error


def _index(label: str, name: str, items: Sequence[Any]) -> int:
    names = [str(getattr(item, "id", item)) for item in items]
    if name not in names:
        raise ForcedDrawError(f"{label}: {name!r} is not among what is drawn: {', '.join(names[:200])}")
    return names.index(name)
