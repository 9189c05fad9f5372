"""Clouds by id (BS-2.6)."""

from __future__ import annotations

from typing import Final

from broom_service.catalogue import DATA, CloudRecord

__all__ = ["CLOUDS", "HEAVY_CLOUDS", "STORM_CLOUDS"]

HEAVY_CLOUDS: Final = tuple(cloud.id for cloud in DATA.heavy_clouds)
STORM_CLOUDS: Final = tuple(cloud.id for cloud in DATA.storm_clouds)
CLOUDS: Final[dict[str, CloudRecord]] = {cloud.id: cloud for cloud in (*DATA.heavy_clouds, *DATA.storm_clouds)}
"""In catalogue order."""
