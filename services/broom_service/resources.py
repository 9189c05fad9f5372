"""Resources of a seat: four counts in catalogue order (BS-2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Protocol

from broom_service.catalogue import DATA
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = [
    "INDEX",
    "NOTHING",
    "RESOURCE_IDS",
    "WAND",
    "Holding",
    "amounts_of",
    "as_message",
    "kinds_in",
    "less",
    "more",
    "only",
    "read",
]

Holding = tuple[int, int, int, int]
"""Orange, green, purple potions, wands."""

RESOURCE_IDS: Final = tuple(resource.id for resource in DATA.resources)
INDEX: Final[dict[str, int]] = {resource: index for index, resource in enumerate(RESOURCE_IDS)}
WAND: Final = INDEX["wand"]
NOTHING: Final[Holding] = (0, 0, 0, 0)


class _HasResources(Protocol):
    """`pb.Resources` or `pb.Deltas`."""

    orange: int
    green: int
    purple: int
    wand: int


def read(message: _HasResources) -> Holding:
    """The counts of a message."""
    return message.orange, message.green, message.purple, message.wand


def as_message(holding: Holding) -> pb.Resources:
    """The counts as a message."""
    orange, green, purple, wand = holding
    return pb.Resources(orange=orange, green=green, purple=purple, wand=wand)


def more(holding: Holding, by: Holding) -> Holding:
    """Both together; `by` may be below 0.

    >>> more((1, 1, 1, 2), (0, 0, -1, 1))
    (1, 1, 0, 3)
    """
    return holding[0] + by[0], holding[1] + by[1], holding[2] + by[2], holding[3] + by[3]


def less(holding: Holding) -> Holding:
    """The same going away.

    >>> less((1, 0, 0, 2))
    (-1, 0, 0, -2)
    """
    return -holding[0], -holding[1], -holding[2], -holding[3]


def only(resource: str, amount: int = 1) -> Holding:
    """So many of one resource.

    >>> only("wand", 2)
    (0, 0, 0, 2)
    """
    return amounts_of({resource: amount})


def amounts_of(amounts: Mapping[str, int] | Iterable[tuple[str, int]]) -> Holding:
    """So many of each.

    >>> amounts_of({"orange": 2, "wand": 1})
    (2, 0, 0, 1)
    """
    held = dict(amounts)
    orange, green, purple, wand = (held.get(resource, 0) for resource in RESOURCE_IDS)
    return orange, green, purple, wand


def kinds_in(holding: Holding) -> int:
    """How many different resources there are.

    >>> kinds_in((5, 0, 5, 0))
    2
    """
    return sum(1 for amount in holding if amount)
