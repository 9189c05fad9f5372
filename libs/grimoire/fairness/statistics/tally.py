"""Counts the draws of many matches of one game, and what these counts say.

Draws are grouped by label (numbers in it left out: `reshuffle/*`), kind and bound. Every test has a known distribution
if draws are fair; the formulas stand in this package's README. Groups with too few draws are counted more coarsely,
until the approximation is good, or not at all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from grimoire.fairness.statistics.tails import chi_squared_tail, normal_tails
from grimoire.v1 import match_pb2

__all__ = ["Result", "Tally"]

_CELLS: Final = 64
"""Places and cards are counted in so many neighbouring blocks at most."""
_EXPECTED: Final = 5.0
"""Fewer than this expected in a cell, and the cells are made larger."""
_ENOUGH: Final = 30
"""For a normal approximation."""
_GAPS: Final = 8

Matrix = list[list[int]]


class Result(msgspec.Struct, frozen=True):
    """One test.

    Attributes:
        test: `positions`, `neighbours`, `rises`, `runs` or `gaps`.
        statistic: chi-squared, or a standard normal z.
        degrees: of freedom; 0: the statistic is z.
        draws: that went into it.
        p: how likely fair draws are to go at least so far.
    """

    test: str
    statistic: float
    degrees: int
    draws: int
    p: float


class Tally:
    """Everything counted of one game, or of one game and month."""

    def __init__(self) -> None:
        self._shuffles: dict[tuple[str, int], _Shuffles] = {}
        self._samples: dict[tuple[str, int, int], _Samples] = {}
        self._numbers: dict[tuple[str, int], _Numbers] = {}
        self.draws = 0
        self.matches = 0

    def match(self, draws: Iterable[match_pb2.Draw]) -> None:
        """Adds a match; matches in the order in which they were played.

        Args:
            draws: as recorded, in order; they have been verified.
        """
        self.matches += 1
        for draw in draws:
            self._take(_pattern(draw.label), draw)

    def _take(self, label: str, draw: match_pb2.Draw) -> None:
        bound, results = draw.bound, draw.results
        if bound < 2:
            return
        self.draws += 1
        if draw.kind == match_pb2.DRAW_KIND_BELOW:
            self._numbers.setdefault((label, bound), _Numbers(bound)).take(results[0])
        elif len(results) == bound:
            self._shuffles.setdefault((label, bound), _Shuffles(bound)).take(results)
        elif results:
            size = len(results)
            self._samples.setdefault((label, bound, size), _Samples(bound, size)).take(results)

    def results(self) -> list[Result]:
        """All tests for which there are enough draws."""
        found = [self._positions(), self._neighbours(), self._rises(), self._runs(), self._gaps()]
        return [one for one in found if one is not None]

    def _positions(self) -> Result | None:
        """Does every card come to every place, every number, every sample equally often?"""
        terms = [group.positions() for group in self._shuffles.values()]
        terms += [group.positions() for group in self._samples.values()]
        terms += [group.positions() for group in self._numbers.values()]
        return _added("positions", terms)

    def _neighbours(self) -> Result | None:
        """Do cards that lay together stay together?"""
        return _normal("neighbours", [group.neighbours for group in self._shuffles.values()])

    def _rises(self) -> Result | None:
        """Is an order kept, or turned round?"""
        return _normal("rises", [group.rises for group in self._shuffles.values()])

    def _runs(self) -> Result | None:
        """From match to match: does it change too often, or too seldom, between high and low?"""
        return _added("runs", [sequence.runs() for sequence in self._sequences()])

    def _gaps(self) -> Result | None:
        """From match to match: are the waits for a low one as long as they should be?"""
        return _added("gaps", [sequence.gaps() for sequence in self._sequences()])

    def _sequences(self) -> list[_Halves]:
        shuffles = [group.halves for group in self._shuffles.values()]
        return shuffles + [group.halves for group in self._numbers.values()]


def _pattern(label: str) -> str:
    return "/".join("*" if piece.isdigit() else piece for piece in label.split("/"))


_Term = tuple[float, int, int]
"""Chi-squared, its degrees of freedom, and how many draws are in it; no degrees: not tested."""


def _added(test: str, terms: Sequence[_Term]) -> Result | None:
    """Independent chi-squared terms make one."""
    degrees = sum(term[1] for term in terms)
    if not degrees:
        return None
    statistic = sum(term[0] for term in terms if term[1])
    draws = sum(term[2] for term in terms if term[1])
    return Result(test, statistic, degrees, draws, chi_squared_tail(statistic, degrees))


class _Sum(msgspec.Struct):
    """A sum of independent counts with what is expected of it."""

    draws: int = 0
    total: float = 0.0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, value: float, mean: float, variance: float) -> None:
        self.draws += 1
        self.total += value
        self.mean += mean
        self.variance += variance


def _normal(test: str, sums: Sequence[_Sum]) -> Result | None:
    draws = sum(one.draws for one in sums)
    variance = sum(one.variance for one in sums)
    if draws < _ENOUGH or variance <= 0:
        return None
    z = sum(one.total - one.mean for one in sums) / math.sqrt(variance)
    return Result(test, z, 0, draws, normal_tails(z))


class _Halves:
    """A sequence of numbers below a bound, reduced to low and high."""

    def __init__(self, bound: int) -> None:
        self._middle = bound // 2
        self._low = self._middle / bound
        self._count = [0, 0]
        self._runs = 0
        self._last = -1
        self._since: int | None = None
        self._waits = [0] * (_GAPS + 1)

    def take(self, value: int) -> None:
        low = int(value < self._middle)
        self._runs += low != self._last
        self._last = low
        self._count[low] += 1
        if not low:
            self._since = None if self._since is None else self._since + 1
            return
        if self._since is not None:
            self._waits[min(self._since, _GAPS)] += 1
        self._since = 0

    def runs(self) -> _Term:
        """Wald and Wolfowitz: given how many were low, how often it changed."""
        high, low = self._count
        count = high + low
        if min(high, low) < _ENOUGH // 2:
            return 0.0, 0, 0
        mean = 2 * high * low / count + 1
        variance = (mean - 1) * (mean - 2) / (count - 1)
        return (self._runs - mean) ** 2 / variance, 1, count

    def gaps(self) -> _Term:
        """How many high ones lie between two low ones: a geometric distribution."""
        count = sum(self._waits)
        high = 1 - self._low
        expected = [count * self._low * high**wait for wait in range(_GAPS)] + [count * high**_GAPS]
        observed = list(self._waits)
        while len(expected) > 1 and expected[-1] < _EXPECTED:
            expected[-2:] = [sum(expected[-2:])]
            observed[-2:] = [sum(observed[-2:])]
        if len(expected) < 2:
            return 0.0, 0, 0
        value = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
        return value, len(expected) - 1, count


class _Numbers:
    """Numbers below one bound."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._cells = [0] * min(bound, _CELLS)
        self.halves = _Halves(bound)

    def take(self, value: int) -> None:
        self._cells[value * len(self._cells) // self._bound] += 1
        self.halves.take(value)

    def positions(self) -> _Term:
        count = sum(self._cells)
        cells, sizes = list(self._cells), _sizes(self._bound, len(self._cells))
        while len(cells) > 1 and count * min(sizes) / self._bound < _EXPECTED:
            cells, sizes = _halved(cells), _halved(sizes)
        if len(cells) < 2:
            return 0.0, 0, 0
        expected = [count * size / self._bound for size in sizes]
        value = sum((o - e) ** 2 / e for o, e in zip(cells, expected, strict=True))
        return value, len(cells) - 1, count


class _Samples:
    """Samples of one size out of one number of things: how often each thing is in it."""

    def __init__(self, bound: int, size: int) -> None:
        self._bound = bound
        self._size = size
        self._count = 0
        self._cells = [0] * min(bound, _CELLS)

    def take(self, results: Sequence[int]) -> None:
        self._count += 1
        for value in results:
            self._cells[value * len(self._cells) // self._bound] += 1

    def positions(self) -> _Term:
        n, k, count = self._bound, self._size, self._count
        cells, sizes = list(self._cells), _sizes(n, len(self._cells))
        while len(cells) > 1 and count * k * min(sizes) / n < _EXPECTED:
            cells, sizes = _halved(cells), _halved(sizes)
        if len(cells) < 2:
            return 0.0, 0, 0
        spread = sum((o - count * k * s / n) ** 2 / s for o, s in zip(cells, sizes, strict=True))
        return spread * n * (n - 1) / (count * k * (n - k)), len(cells) - 1, count


class _Shuffles:
    """Shuffles of one number of things."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._count = 0
        size = min(bound, _CELLS)
        self._cells: Matrix = [[0] * size for _ in range(size)]
        self._cell_of = [index * size // bound for index in range(bound)]
        self.halves = _Halves(bound)
        self.neighbours = _Sum()
        self.rises = _Sum()

    def take(self, results: Sequence[int]) -> None:
        n, cell_of = self._bound, self._cell_of
        self._count += 1
        for place, card in enumerate(results):
            self._cells[cell_of[card]][cell_of[place]] += 1
        pairs = list(itertools.pairwise(results))
        kept = sum(after == before + 1 for before, after in pairs)
        # Of n-1 pairs of places each keeps neighbours with chance 1/n; second factorial moment (n-2)/n.
        mean = (n - 1) / n
        self.neighbours.add(kept, mean, (n - 2) / n + mean - mean * mean)
        self.rises.add(sum(after > before for before, after in pairs), (n - 1) / 2, (n + 1) / 12)
        self.halves.take(results[0])

    def positions(self) -> _Term:
        """Card by place. Rows and columns are bound to their sums: (k-1)^2 degrees, and the factor (n-1)/n."""
        n, count = self._bound, self._count
        cells, sizes = self._cells, _sizes(n, len(self._cells))
        while len(cells) > 1 and count * min(sizes) ** 2 / n < _EXPECTED:
            sizes = _halved(sizes)
            cells = [_halved(row) for row in cells]
            cells = [list(map(sum, zip(*rows, strict=True))) for rows in _paired(cells)]
        if len(cells) < 2:
            return 0.0, 0, 0
        spread = sum(
            (cells[i][j] - count * sizes[i] * sizes[j] / n) ** 2 / (sizes[i] * sizes[j])
            for i in range(len(cells))
            for j in range(len(cells))
        )
        return spread * (n - 1) / count, (len(cells) - 1) ** 2, count


def _sizes(bound: int, cells: int) -> list[int]:
    """How many of 0 .. bound-1 fall into each of so many cells: `value * cells // bound`."""
    edges = [-(-cell * bound // cells) for cell in range(cells + 1)]
    return [after - before for before, after in itertools.pairwise(edges)]


def _halved(cells: Sequence[int]) -> list[int]:
    """Neighbouring cells joined two and two."""
    return [sum(cells[at : at + 2]) for at in range(0, len(cells), 2)]


def _paired(rows: Matrix) -> list[Matrix]:
    return [rows[at : at + 2] for at in range(0, len(rows), 2)]
