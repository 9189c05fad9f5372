"""The data file as typed records, checked when it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec

from grimoire.engine.catalogue import CatalogueError, Id, Natural, Positive, Record, Text, read_data, typed

__all__ = [
    "DATA",
    "DATA_BYTES",
    "DATA_FILE",
    "BoardRecord",
    "CatalogueError",
    "CatalogueFile",
    "CloudRecord",
    "EventRecord",
    "Names",
    "RegionRecord",
    "RoleRecord",
    "TileRecord",
    "TowerRecord",
    "load",
]

DATA_FILE: Final = "broom_service.json"

Terrain = Literal["prairie", "forest", "hill", "mountain", "water"]
Land = Literal["prairie", "forest", "hill", "mountain"]
Colour = Literal["orange", "green", "purple"]
ResourceId = Literal["orange", "green", "purple", "wand"]
TileSite = Literal["mountain", "forest", "hill"]
Circle = Annotated[str, msgspec.Meta(pattern="^[A-D]$")]


class Names(Record, frozen=True):
    """A text in the languages of the data."""

    en: Text
    el: Text


class Constants(Record, frozen=True):
    """The rules' fixed numbers."""

    rounds: Positive
    roles_per_round: Positive
    start_vp: Natural
    pawns: Literal[2]
    start_potions_each: Natural
    bewitched_penalty: Natural
    seats_plus_bewitched: Positive
    events_in_stack: Positive
    square_deliveries_per_role: Literal[1]
    max_forest_tiles_per_role: Literal[1]
    max_extra_role_tiles_per_round: Literal[1]


class SeatsOption(Record, frozen=True):
    """BS-1.1."""

    min: Positive
    max: Positive


class Side(Record, frozen=True):
    """Which board."""

    default: Literal["front", "back"]
    one_of: tuple[Literal["front", "back"], ...]


class Switch(Record, frozen=True):
    """An option that is on or off on either board."""

    default: bool
    legal: tuple[bool, ...]


class SideSwitch(Record, frozen=True):
    """An option whose values depend on the board."""

    default: dict[str, bool]
    legal: dict[str, tuple[bool, ...]]


class HeavyCloudsOption(Record, frozen=True):
    """BS-1.3."""

    default: Positive
    max: Positive
    min_without_storm_clouds: Positive
    min_with_storm_clouds: dict[str, Positive]


class FirstPlayer(Record, frozen=True):
    """Who begins."""

    default: Literal["random"]
    one_of: tuple[str, ...]
    note: Text


class RangeOption(Record, frozen=True):
    """A whole number."""

    default: Positive
    min: Positive
    max: Positive


class Options(Record, frozen=True):
    """BS-1.3."""

    seats: SeatsOption
    board: Side
    storm_clouds: Switch
    heavy_clouds: HeavyCloudsOption
    mountain_tiles: SideSwitch
    forest_tiles: SideSwitch
    hill_tiles: SideSwitch
    first_player: FirstPlayer
    turn_time_s: RangeOption
    timeout_limit: RangeOption


class SeatsRecord(Record, frozen=True):
    """By number of seats: wands by place (BS-3.3), bewitched roles a round (BS-3.7)."""

    start_wands: dict[str, tuple[Natural, ...]]
    bewitched_per_round: dict[str, Natural]
    note: Text


class TerrainRecord(Record, frozen=True):
    """A kind of landscape."""

    id: Terrain
    name: Names
    enterable: bool = True


class ResourceRecord(Record, frozen=True):
    """BS-2.1; the pieces are a fact of the box, not a limit."""

    id: ResourceId
    kind: Literal["potion", "wand"]
    name: Names
    pieces: Positive


class BothTexts(Record, frozen=True):
    """What stands on a role card."""

    brave: Names
    cowardly: Names


class BraveRecord(Record, frozen=True):
    """What a brave role does; fields that do not belong to its kind are absent."""

    take: dict[ResourceId, Positive] = msgspec.field(default_factory=dict)
    move: bool = False
    deliver: bool = False
    dispel: bool = False
    bonus_vp: Natural = 0


class CowardlyRecord(Record, frozen=True):
    """What a cowardly role does."""

    take_one_of: tuple[ResourceId, ...] = ()
    move: bool = False
    deliver: bool = False
    dispel: bool = False


class RoleRecord(Record, frozen=True):
    """BS-2.4."""

    id: Id
    kind: Literal["gatherer", "witch", "druid", "fairy"]
    name: Names
    brave: BraveRecord
    cowardly: CowardlyRecord
    text: BothTexts
    colour: Colour | None = None
    terrains: tuple[Land, ...] = ()


class InsteadRecord(Record, frozen=True):
    """What a cowardly seat may take in place of its action (BS-9.2)."""

    vp: Natural = 0
    any_resource: Natural = 0


class EventParams(Record, frozen=True):
    """Figures of an event; those of the others are absent."""

    min_roles: Natural = 0
    max_roles: Natural = 0
    vp_by_count: dict[str, int] = msgspec.field(default_factory=dict)
    instead_of_cowardly: InsteadRecord = InsteadRecord()
    leader_must_be: Literal["brave"] | None = None
    vp_per_pawn: dict[Land, int] = msgspec.field(default_factory=dict)
    first_vp: Natural = 0
    second_vp: Natural = 0
    second_from_seats: Natural = 0
    vp_per_resource: int = 0
    set_vp: dict[str, Positive] = msgspec.field(default_factory=dict)
    max_sets: Natural = 0
    vp_if_same_terrain: Natural = 0


class EventRecord(Record, frozen=True):
    """BS-2.5."""

    id: Id
    when: Literal["before", "during", "end"]
    name: Names
    params: EventParams
    text: Names


class CloudParams(Record, frozen=True):
    """Figures of a storm cloud's effect."""

    vp_per_delivery: Natural = 0
    moves: Natural = 0
    deliveries: Natural = 0
    colour: Colour | None = None
    at_least: Natural = 0
    vp: Natural = 0


class CloudRecord(Record, frozen=True):
    """BS-2.6; a heavy cloud has no kind."""

    id: Id
    stars: Natural
    lightning: Natural
    kind: Literal["power", "gust", "courier", "show"] | None = None
    params: CloudParams = CloudParams()


class TileParams(Record, frozen=True):
    """Figures of a tile's effect."""

    orange: Natural = 0
    green: Natural = 0
    purple: Natural = 0
    wand: Natural = 0
    moves: Natural = 0
    roles: Natural = 0
    vp: Natural = 0
    circles: tuple[Circle, ...] = ()
    colour: Colour | None = None
    shape: Literal["square"] | None = None
    wands: Natural = 0


class TileRecord(Record, frozen=True):
    """BS-2.7."""

    id: Id
    effect: Literal[
        "take",
        "deliver",
        "moves",
        "dispel",
        "brave_action",
        "extra_role",
        "five_points",
        "turbo",
        "tower",
    ]
    params: TileParams
    name: Names
    text: Names


class TilesRecord(Record, frozen=True):
    """The landscape tiles by site."""

    mountain: tuple[TileRecord, ...]
    forest: tuple[TileRecord, ...]
    hill: tuple[TileRecord, ...]


class AmuletsRecord(Record, frozen=True):
    """BS-10.3."""

    per_seat: Positive
    pieces: Positive
    vp_by_count: tuple[Natural, ...]


class FinalScoring(Record, frozen=True):
    """BS-2.9."""

    lightning_vp: tuple[Natural, ...]
    lightning_vp_each_beyond: Natural
    resource_sets: dict[str, Positive]


class RegionRecord(Record, frozen=True):
    """One hexagon of a board (BS-2.8)."""

    id: Id
    name: Names
    terrain: Terrain
    hex: tuple[Natural, Natural]
    adjacent: tuple[Id, ...]
    castle: bool
    stone_circle: Circle | None
    tile_site: TileSite | None
    covered_towers: tuple[Id, ...]


class SpaceRecord(Record, frozen=True):
    """A space for a cloud."""

    id: Id
    region: Id


class TowerRecord(Record, frozen=True):
    """A tower and the regions that it touches."""

    id: Id
    colour: Colour
    shape: Literal["square", "round"]
    vp: Positive
    wands: Natural
    touches: tuple[Id, ...]
    slot: Positive


class BoardRecord(Record, frozen=True):
    """One side of the board."""

    id: Literal["front", "back"]
    name: Names
    castle_banner: Text
    castles: tuple[Id, Id]
    regions: tuple[RegionRecord, ...]
    cloud_spaces: tuple[SpaceRecord, ...]
    towers: tuple[TowerRecord, ...]


class TermRecord(Record, frozen=True):
    """A word of the rules."""

    id: Id
    name: Names


class CatalogueFile(Record, frozen=True):
    """The whole file (BS-2.10)."""

    schema: Literal["broom_service/1"]
    game: Literal["broom_service"]
    catalog_version: Text
    rules_prefix: Literal["BS"]
    sources: dict[str, Text]
    constants: Constants
    options: Options
    seats: SeatsRecord
    terrains: tuple[TerrainRecord, ...]
    resources: tuple[ResourceRecord, ...]
    roles: tuple[RoleRecord, ...]
    events: tuple[EventRecord, ...]
    heavy_clouds: tuple[CloudRecord, ...]
    storm_clouds: tuple[CloudRecord, ...]
    storm_texts: dict[str, Names]
    landscape_tiles: TilesRecord
    amulets: AmuletsRecord
    final_scoring: FinalScoring
    boards: tuple[BoardRecord, BoardRecord]
    terms: tuple[TermRecord, ...]


# ---- checks ----------------------------------------------------------------------------------------------------------

_CLOUD_SPACES: Final = {"front": 18, "back": 19}
_SITES: Final[Mapping[str, Mapping[str | None, int]]] = {
    "front": {"mountain": 3},
    "back": {"mountain": 3, "forest": 4, "hill": 4},
}
_CIRCLES: Final = {"front": "", "back": "ABCD"}


def _demand(holds: object, fault: str) -> None:
    if not holds:
        raise CatalogueError(f"{DATA_FILE}: {fault}")


def _check(data: CatalogueFile) -> None:
    _check_counts(data)
    _demand([board.id for board in data.boards] == ["front", "back"], "the boards are front and back (BS-2.8)")
    for board in data.boards:
        _check_regions(board)
        _check_board(board)
    lists = (data.roles, data.events, data.heavy_clouds, data.storm_clouds, data.terms)
    for listed in lists:
        _unlike([each.id for each in listed])
    for number in ("2", "3", "4", "5"):
        _demand(len(data.seats.start_wands.get(number, ())) == int(number), f"wands of {number} seats (BS-3.3)")
        total = data.seats.bewitched_per_round.get(number, 0) + int(number)
        _demand(total == data.constants.seats_plus_bewitched, f"bewitched roles with {number} seats (BS-3.7)")


def _check_counts(data: CatalogueFile) -> None:
    """BS-2.4 to BS-2.7."""
    counts = Counter(role.kind for role in data.roles)
    _demand(counts == {"gatherer": 3, "witch": 4, "druid": 2, "fairy": 1}, "ten roles (BS-2.4)")
    when = Counter(event.when for event in data.events)
    _demand(when == {"before": 1, "during": 3, "end": 6}, "ten events (BS-2.5)")
    _demand(len(data.heavy_clouds) == 24 and len(data.storm_clouds) == 8, "24 heavy and 8 storm clouds (BS-2.6)")
    stars = sum(cloud.stars for cloud in data.heavy_clouds), sum(cloud.lightning for cloud in data.heavy_clouds)
    _demand(stars == (46, 40), "46 stars and 40 bolts on the heavy clouds (BS-2.6)")
    _demand(all(cloud.kind for cloud in data.storm_clouds), "a storm cloud has an effect (BS-2.6)")
    tiles = data.landscape_tiles
    _demand((len(tiles.mountain), len(tiles.forest), len(tiles.hill)) == (5, 6, 6), "17 tiles (BS-2.7)")
    _demand(len(data.amulets.vp_by_count) == data.amulets.per_seat + 1, "amulets (BS-10.3)")
    _demand(data.constants.rounds == data.constants.events_in_stack, "an event for each round (BS-3.6)")


def _check_regions(board: BoardRecord) -> None:
    """BS-15.13: adjacency is symmetric and is the neighbourhood of the hexagons."""
    at = {region.hex: region.id for region in board.regions}
    _unlike([region.id for region in board.regions])
    _demand(len(at) == len(board.regions), f"two regions of the {board.id} have the same hexagon")
    for region in board.regions:
        neighbours = sorted(at[place] for place in _around(region.hex) if place in at)
        _demand(sorted(region.adjacent) == neighbours, f"the neighbours of {region.id} on the {board.id} (BS-2.8)")


def _around(place: tuple[int, int]) -> Sequence[tuple[int, int]]:
    """The six hexagons around one; odd rows are shifted right by half a hexagon."""
    column, row = place
    left = column - 1 + row % 2
    return (
        (column - 1, row),
        (column + 1, row),
        (left, row - 1),
        (left + 1, row - 1),
        (left, row + 1),
        (left + 1, row + 1),
    )


def _check_board(board: BoardRecord) -> None:
    """BS-2.8: counts, castles, sites, circles; what a tower touches hangs together."""
    regions = {region.id: region for region in board.regions}
    where = f"on the {board.id} (BS-2.8)"
    _demand(set(board.castles) == {region.id for region in board.regions if region.castle}, f"two castles {where}")
    _demand(len(board.cloud_spaces) == _CLOUD_SPACES[board.id], f"cloud spaces {where}")
    _demand(all(space.region in regions for space in board.cloud_spaces), f"regions of the cloud spaces {where}")
    sites = Counter(region.tile_site for region in board.regions if region.tile_site)
    _demand(sites == _SITES[board.id], f"sites of tiles {where}")
    circles = sorted(region.stone_circle for region in board.regions if region.stone_circle)
    _demand("".join(circles) == _CIRCLES[board.id], f"stone circles {where}")
    towers = [tower.id for tower in board.towers]
    _unlike([*towers, *regions, *(space.id for space in board.cloud_spaces)])
    covered = [tower for region in board.regions for tower in region.covered_towers]
    _demand(set(covered) <= set(towers), f"covered towers {where}")
    clouded = {space.region for space in board.cloud_spaces}
    open_regions = (region for region in board.regions if region.castle or region.stone_circle)
    _demand(all(region.id not in clouded for region in open_regions), f"castles and circles are free of clouds {where}")
    for tower in board.towers:
        _demand(1 <= len(tower.touches) <= 3 and set(tower.touches) <= set(regions), f"{tower.id} {where}")
        pairs = [(a, b) for a in tower.touches for b in tower.touches if a != b]
        _demand(all(b in regions[a].adjacent for a, b in pairs), f"{tower.id} touches regions that are apart {where}")


def _unlike(ids: Sequence[str]) -> None:
    twice = [each for each, times in Counter(ids).items() if times > 1]
    _demand(not twice, f"listed twice: {', '.join(twice)}")


def load(data: bytes) -> CatalogueFile:
    """The checked catalogue.

    Raises:
        CatalogueError: with the place and the fault.
    """
    catalogue = typed(data, CatalogueFile, DATA_FILE)
    _check(catalogue)
    return catalogue


DATA_BYTES: Final = read_data("broom_service", DATA_FILE)
DATA: Final = load(DATA_BYTES)
