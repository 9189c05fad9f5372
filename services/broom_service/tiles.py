"""Landscape tiles by id (BS-2.7)."""

from __future__ import annotations

from typing import Final

from broom_service.catalogue import DATA, TileRecord

__all__ = ["EXTRA_ROLE_TILES", "FOREST_TILES", "HILL_TILES", "MOUNTAIN_TILES", "TILES", "TILE_SITE", "VAT"]

MOUNTAIN_TILES: Final = tuple(tile.id for tile in DATA.landscape_tiles.mountain)
FOREST_TILES: Final = tuple(tile.id for tile in DATA.landscape_tiles.forest)
HILL_TILES: Final = tuple(tile.id for tile in DATA.landscape_tiles.hill)

TILES: Final[dict[str, TileRecord]] = {
    tile.id: tile for tile in (*DATA.landscape_tiles.mountain, *DATA.landscape_tiles.forest, *DATA.landscape_tiles.hill)
}
"""In catalogue order."""

TILE_SITE: Final[dict[str, str]] = {
    **dict.fromkeys(MOUNTAIN_TILES, "mountain"),
    **dict.fromkeys(FOREST_TILES, "forest"),
    **dict.fromkeys(HILL_TILES, "hill"),
}
"""What kind of site each lies on."""

VAT: Final = next(tile for tile in HILL_TILES if TILES[tile].effect == "tower")
"""The hill tile that is a tower of its own, of the same id (BS-8.3)."""

EXTRA_ROLE_TILES: Final = frozenset(tile for tile in FOREST_TILES if TILES[tile].effect == "extra_role")
"""BS-4.5."""
