"""What everything is called, and what it does, in each language."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from broom_service.boards import BOARDS
from broom_service.catalogue import (
    DATA,
    BoardRecord,
    CloudRecord,
    EventRecord,
    Names,
    ResourceRecord,
    RoleRecord,
    TermRecord,
    TerrainRecord,
    TileRecord,
)
from broom_service.clouds import CLOUDS
from broom_service.roles import BRAVE, COWARDLY
from broom_service.tiles import TILES
from broom_service.words import LANGUAGES, words_in

__all__ = ["CIRCLES", "REGIONS", "SPACES", "TOWERS", "name_of", "pawn_name", "role_text", "text_of"]

REGIONS = (*dict.fromkeys(region.id for board in DATA.boards for region in board.regions),)
"""Of both boards: regions of the same id are called the same."""
SPACES = (*dict.fromkeys(space for board in BOARDS.values() for space in board.spaces),)
TOWERS = (*dict.fromkeys(tower for board in BOARDS.values() for tower in board.towers),)
CIRCLES = (*sorted(circle for board in BOARDS.values() for circle in board.circles),)


def name_of(thing: str, language: str) -> str:
    """The name of a role, event, tile, cloud, region, tower or whatever else the data names; any other text as it is.

    >>> name_of("forest_witch", "el"), name_of("p3", "fi"), name_of("orange_rd_01", "en"), name_of("7", "en")
    ('Μάγισσα του δάσους', 'niitty 3', 'orange round tower 1', '7')
    """
    return _named(language if language in LANGUAGES else LANGUAGES[0]).get(thing, thing)


def pawn_name(pawn: int, language: str) -> str:
    """People count from one.

    >>> pawn_name(0, "en")
    'pawn 1'
    """
    return words_in(language).names["pawn"].format(n=pawn + 1)


def text_of(thing: str, language: str) -> str:
    """What an event, a tile or a cloud does.

    >>> text_of("m_wands", "fi")
    'Ota 2 taikasauvaa.'
    """
    return _texts(language if language in LANGUAGES else LANGUAGES[0])[thing]


def role_text(role: str, stance: str, language: str) -> str:
    """What a role does, brave or cowardly.

    >>> role_text("root_gatherer", "cowardly", "en")
    'Take 1 orange potion or 1 wand.'
    """
    return text_of(f"{role}.{stance}", language)


# ---- names -----------------------------------------------------------------------------------------------------------


@functools.cache
def _named(language: str) -> Mapping[str, str]:
    return dict(_names(language))


def _names(language: str) -> Iterable[tuple[str, str]]:
    names = words_in(language).names
    yield from ((each.id, _in(language, each.id, each.name)) for each in _records())
    yield from ((region, _region(region, language)) for region in REGIONS)
    yield from ((cloud.id, _cloud(cloud, language)) for cloud in CLOUDS.values())
    yield from ((space, names["space"].format(n=int(space[1:]))) for space in SPACES)
    yield from ((circle, names["circle"].format(letter=circle)) for circle in CIRCLES)
    for board in BOARDS.values():
        for tower in board.towers.values():
            yield tower.id, names[f"tower.{tower.colour}.{tower.shape}"].format(n=int(tower.id[-2:]))


_Named = TermRecord | TerrainRecord | ResourceRecord | RoleRecord | EventRecord | TileRecord | BoardRecord


def _records() -> Iterable[_Named]:
    yield from DATA.terms
    yield from DATA.terrains
    yield from DATA.resources
    yield from DATA.roles
    yield from DATA.events
    yield from TILES.values()
    yield from DATA.boards


def _in(language: str, thing: str, names: Names) -> str:
    return words_in(language).called.get(thing) or (names.el if language == "el" else names.en)


def _region(region: str, language: str) -> str:
    """In the middle of a sentence: no capital."""
    record = next(each for board in DATA.boards for each in board.regions if each.id == region)
    terrain = next(each for each in DATA.terrains if each.id == record.terrain)
    return f"{_in(language, terrain.id, terrain.name)} {region[1:]}"


def _cloud(cloud: CloudRecord, language: str) -> str:
    names = words_in(language).names
    kind = f"{cloud.kind}.{cloud.params.colour}" if cloud.params.colour else cloud.kind or "heavy"
    return names["cloud"].format(kind=names[f"cloud.{kind}"], stars=cloud.stars, lightning=cloud.lightning)


# ---- texts -----------------------------------------------------------------------------------------------------------


@functools.cache
def _texts(language: str) -> Mapping[str, str]:
    found = {**dict(_told(language)), **words_in(language).texts}
    for cloud in CLOUDS.values():
        found[cloud.id] = found[cloud.kind] if cloud.kind else words_in(language).names["cloud_text.heavy"]
    return found


def _told(language: str) -> Iterable[tuple[str, str]]:
    for role in DATA.roles:
        for stance, text in ((BRAVE, role.text.brave), (COWARDLY, role.text.cowardly)):
            yield f"{role.id}.{stance}", text.el if language == "el" else text.en
    told = {
        **{event.id: event.text for event in DATA.events},
        **{tile.id: tile.text for tile in TILES.values()},
        **DATA.storm_texts,
    }
    yield from ((thing, text.el if language == "el" else text.en) for thing, text in told.items())
