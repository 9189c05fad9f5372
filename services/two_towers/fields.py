"""The eight numbers of a seat (TT-2.1), by name and by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

__all__ = [
    "BARRACKS",
    "FIELDS",
    "FIELD_INDEX",
    "MANA",
    "MINES",
    "MONASTERIES",
    "ORE",
    "PRODUCERS",
    "RECRUITS",
    "STOCKS",
    "TOWER",
    "WALL",
    "Field",
    "Numbers",
    "Resource",
]

Field = Literal["tower", "wall", "mines", "monasteries", "barracks", "ore", "mana", "recruits"]
"""Name of a number, as events, views and the catalogue use it."""

Resource = Literal["ore", "mana", "recruits"]
"""Name of a stock."""

Numbers = Sequence[int]
"""Eight integers >= 0 in the order of `FIELDS`."""

FIELDS: Final[tuple[Field, ...]] = ("tower", "wall", "mines", "monasteries", "barracks", "ore", "mana", "recruits")
FIELD_INDEX: Final[dict[str, int]] = {name: index for index, name in enumerate(FIELDS)}

# Plain integers, not an enum: they index lists in the hottest loops there are.
TOWER: Final = 0
WALL: Final = 1
MINES: Final = 2
MONASTERIES: Final = 3
BARRACKS: Final = 4
ORE: Final = 5
MANA: Final = 6
RECRUITS: Final = 7

PRODUCERS: Final = (MINES, MONASTERIES, BARRACKS)
STOCKS: Final = (ORE, MANA, RECRUITS)
"""Each stock's producer stands at the same place of `PRODUCERS` (TT-2.2)."""
