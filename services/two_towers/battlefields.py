"""The eight battlefields (TT-2.3)."""

from __future__ import annotations

from typing import Final

import msgspec

from two_towers.catalogue import DATA, BattlefieldRecord, Names

__all__ = ["BATTLEFIELDS", "Battlefield"]


class Battlefield(msgspec.Struct, frozen=True):
    """Where both seats start alike.

    Attributes:
        numbers: the eight numbers at the start, in the order of `fields.FIELDS`.
        goal_tower: a tower this high wins (TT-1.2).
        goal_resource: any one stock this large wins.
    """

    id: str
    name: Names
    numbers: tuple[int, ...]
    goal_tower: int
    goal_resource: int


def _build(record: BattlefieldRecord) -> Battlefield:
    producers, stock = record.producers, record.stock
    numbers = (
        record.tower,
        record.wall,
        producers.mines,
        producers.monasteries,
        producers.barracks,
        stock.ore,
        stock.mana,
        stock.recruits,
    )
    return Battlefield(record.id, record.name, numbers, record.goal_tower, record.goal_resource)


BATTLEFIELDS: Final = {record.id: _build(record) for record in DATA.battlefields}
"""By id, in the rules' order."""
