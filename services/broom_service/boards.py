"""Both sides of the board, prepared for look-ups (BS-2.8)."""

from __future__ import annotations

from typing import Final

import msgspec

from broom_service.catalogue import DATA, BoardRecord, TowerRecord
from broom_service.tiles import TILES, VAT

__all__ = ["BOARDS", "WATER", "Board", "vat_at"]

WATER: Final = "water"


class Board(msgspec.Struct, frozen=True):
    """A side of the board.

    Attributes:
        terrain: by region, in data order.
        adjacent: by region.
        spaces: region of each cloud space, in data order.
        towers: by id, in data order.
        towers_at: towers that touch each region, in data order.
        circles: region of each stone circle.
        sites: regions with a site of each kind of tile, in data order.
        covered_by_mountains: towers that mountain tiles cover (BS-3.5).
    """

    id: str
    castles: tuple[str, str]
    terrain: dict[str, str]
    adjacent: dict[str, frozenset[str]]
    spaces: dict[str, str]
    towers: dict[str, TowerRecord]
    towers_at: dict[str, tuple[str, ...]]
    circles: dict[str, str]
    sites: dict[str, tuple[str, ...]]
    covered_by_mountains: tuple[str, ...]

    @property
    def regions(self) -> tuple[str, ...]:
        """In data order."""
        return tuple(self.terrain)


def _prepared(record: BoardRecord) -> Board:
    regions = record.regions
    return Board(
        id=record.id,
        castles=record.castles,
        terrain={region.id: region.terrain for region in regions},
        adjacent={region.id: frozenset(region.adjacent) for region in regions},
        spaces={space.id: space.region for space in record.cloud_spaces},
        towers={tower.id: tower for tower in record.towers},
        towers_at={
            region.id: tuple(tower.id for tower in record.towers if region.id in tower.touches) for region in regions
        },
        circles={region.stone_circle: region.id for region in regions if region.stone_circle},
        sites={
            site: tuple(region.id for region in regions if region.tile_site == site)
            for site in ("mountain", "forest", "hill")
        },
        covered_by_mountains=tuple(tower for region in regions for tower in region.covered_towers),
    )


BOARDS: Final[dict[str, Board]] = {record.id: _prepared(record) for record in DATA.boards}


def vat_at(region: str) -> TowerRecord:
    """The vat as the tower that it is (BS-8.3).

    >>> vat_at("h3").vp, vat_at("h3").shape
    (7, 'square')
    """
    params = TILES[VAT].params
    if params.colour is None or params.shape is None:
        raise AssertionError("the vat has a colour and a shape")
    return TowerRecord(VAT, params.colour, params.shape, params.vp, params.wands, (region,), 1)
