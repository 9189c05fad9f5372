"""How likely a position is won: what the searching player sees at the end of its look-ahead.

A logistic model with one set of weights for each battlefield and one worth for each card in hand, fitted to matches
that the heuristic player played against itself. `tools/fit_two_towers.py` makes the data file.
"""

from __future__ import annotations

import functools
import importlib.resources
import math
from collections.abc import Iterable
from typing import Final

import msgspec

from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CATALOGUE
from two_towers.catalogue import CatalogueError
from two_towers.fields import Numbers

__all__ = ["FEATURES", "WORTH", "Appraisal", "appraisal_for", "chance", "features"]

FEATURES: Final = (
    "tower",
    "tower^2",
    "tower^4",
    "danger",
    "tower/20",
    "wall/10",
    "wall/25",
    "wall/60",
    *(f"{producer}{limit}" for producer in ("mines", "monasteries", "barracks") for limit in ("/1", "/3", "/6")),
    *(f"{stock}{limit}" for stock in ("ore", "mana", "recruits") for limit in ("/6", "/15", "/30")),
    "largest",
    "largest^3",
    "to_move",
)
"""Names of the weights. `/n`: as a part of n and no more (producers by 6: without limit); powers: of the goal."""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    features: tuple[str, ...]
    battlefields: dict[str, tuple[float, ...]]
    cards: dict[str, float]


def _load() -> _File:
    data = importlib.resources.files("two_towers").joinpath("data", "appraisal.json").read_bytes()
    file = msgspec.json.decode(data, type=_File)
    fits = file.features == FEATURES and all(len(w) == len(FEATURES) for w in file.battlefields.values())
    if not fits or tuple(file.battlefields) != tuple(BATTLEFIELDS) or tuple(file.cards) != CATALOGUE:
        raise CatalogueError("appraisal.json does not fit the catalogue; run tools/fit_two_towers.py")
    return file


_FILE: Final = _load()

WORTH: Final = _FILE.cards
"""What holding a card is worth, by id, in logits."""


def _part(value: int, whole: int) -> float:
    return min(value, whole) / whole


def _tower(tower: int, goal: int) -> list[float]:
    part = tower / goal
    return [part, part**2, part**4, 10 / (1 + tower), _part(tower, 20)]


def _wall(wall: int) -> list[float]:
    return [_part(wall, 10), _part(wall, 25), _part(wall, 60)]


def _producer(count: int) -> list[float]:
    return [_part(count, 1), _part(count, 3), count / 6]


def _stock(stock: int) -> list[float]:
    return [_part(stock, 6), _part(stock, 15), _part(stock, 30)]


def _largest(stock: int, goal: int) -> list[float]:
    part = stock / goal
    return [part, part**3]


def features(numbers: Numbers, goal_tower: int, goal_resource: int) -> list[float]:
    """One side's features, in the order of `FEATURES` without `to_move`."""
    tower, wall, mines, monasteries, barracks, *stocks = numbers
    return [
        *_tower(tower, goal_tower),
        *_wall(wall),
        *(value for count in (mines, monasteries, barracks) for value in _producer(count)),
        *(value for stock in stocks for value in _stock(stock)),
        *_largest(max(stocks), goal_resource),
    ]


class Appraisal:
    """The model for one battlefield and one pair of goals, as tables."""

    def __init__(self, battlefield: str, goal_tower: int, goal_resource: int) -> None:
        weights = iter(_FILE.battlefields[battlefield])

        def table(rows: Iterable[list[float]]) -> list[float]:
            listed = [*rows]
            own = [next(weights) for _ in listed[0]]
            return [sum(w * x for w, x in zip(own, row, strict=True)) for row in listed]

        stocks = range(goal_resource + 1)
        self._tower = table(_tower(n, goal_tower) for n in range(goal_tower + 1))
        self._wall = table(_wall(n) for n in range(200))
        self._mines, self._monasteries, self._barracks = (table(_producer(n) for n in range(100)) for _ in range(3))
        self._ore, self._mana, self._recruits = (table(_stock(n) for n in stocks) for _ in range(3))
        self._largest = table(_largest(n, goal_resource) for n in stocks)
        self.to_move = next(weights)

    def side(self, numbers: Numbers) -> float:
        """One side's share of the logit, its hand apart."""
        tower, wall, mines, monasteries, barracks, ore, mana, recruits = numbers
        largest = ore
        if mana > largest:
            largest = mana
        if recruits > largest:
            largest = recruits
        try:
            return (
                self._tower[tower]
                + self._wall[wall]
                + self._mines[mines]
                + self._monasteries[monasteries]
                + self._barracks[barracks]
                + self._ore[ore]
                + self._mana[mana]
                + self._recruits[recruits]
                + self._largest[largest]
            )
        except IndexError:  # only an arranged position stands beyond a goal or has a hundred producers
            return self.side([min(n, limit) for n, limit in zip(numbers, self._limits(), strict=True)])

    def _limits(self) -> list[int]:
        stock = len(self._largest) - 1
        return [len(self._tower) - 1, 199, 99, 99, 99, stock, stock, stock]


def chance(logit: float) -> float:
    """The probability of winning.

    >>> chance(0.0)
    0.5
    """
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, logit))))


@functools.lru_cache(maxsize=32)
def appraisal_for(battlefield: str, goal_tower: int, goal_resource: int) -> Appraisal:
    """The model for a match."""
    return Appraisal(battlefield, goal_tower, goal_resource)
