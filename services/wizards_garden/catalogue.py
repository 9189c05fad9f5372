"""The data file as typed records, checked when it is read."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from grimoire.engine.catalogue import CatalogueError, Id, Names, Natural, Positive, Record, read_data, same, typed
from grimoire.engine.options import Choice, Range

__all__ = [
    "DATA",
    "DATA_BYTES",
    "DATA_FILE",
    "BoardRecord",
    "CatalogueError",
    "CatalogueFile",
    "KindRecord",
    "Names",
    "SpaceRecord",
    "SpellRecord",
    "load",
]

DATA_FILE: Final = "wizards_garden.json"

_SpaceId = Annotated[str, msgspec.Meta(pattern="^[a-z][0-9]$")]
_Colour = Literal["blue", "red"]


class Options(Record, frozen=True):
    """WG-1.3."""

    spells_per_player: Range
    first_player: Choice
    turn_limit: Range


class Constants(Record, frozen=True):
    """The rules' fixed numbers."""

    lanterns_to_win: Positive
    start_gnomes: Positive
    deal_first: Positive
    deal_second: Positive
    board_spirits: Literal[2]
    open_row: Literal[3]
    hand_limit: Positive
    max_fire_per_player: Positive
    max_water_per_deposit: Positive
    max_pests_per_space: Literal[2]
    max_fish_fire_per_space: Positive
    water_to_light: Positive
    pair_strength: Literal[2]


class Supply(Record, frozen=True):
    """WG-2.2."""

    pests: Positive
    water: Positive
    fire: Positive
    gnomes_per_player: Positive
    lanterns_per_player: Positive
    spirit_cards: Positive
    spell_cards: Positive


class ByColour(Record, frozen=True):
    """Ids of each seat's pieces."""

    blue: tuple[Id, ...]
    red: tuple[Id, ...]


class PieceIds(Record, frozen=True):
    """WG-2.5."""

    gnomes: ByColour
    pests: tuple[Id, ...]
    lanterns: ByColour


class KindRecord(Record, frozen=True):
    """A kind of lantern, spirit and action (WG-2.1, WG-6)."""

    id: Id
    colour: Id
    action_name: Names
    lantern_name: Names
    spirit_name: Names
    colour_source: str
    lantern_steps: Positive
    magician_steps: Positive
    spirit_steps: Positive
    cards: Positive
    card_ids: tuple[Id, ...]


class SpellRecord(Record, frozen=True):
    """A spell card (WG-13)."""

    id: Id
    name: Names
    timing: Id
    replaces: Literal["garden_phase", "wizard_phase", "turn"] | None
    cost: dict[str, int | str]
    text: Names


class SpaceRecord(Record, frozen=True):
    """A space of the yard (WG-2.6)."""

    id: _SpaceId
    kind: Literal["plain", "deposit", "terrace", "pit"]
    has_deposit: bool
    terrace_owner: _Colour | None
    x: Natural
    y: Positive
    adjacent: tuple[_SpaceId, ...]


class Start(Record, frozen=True):
    """Where each seat's gnomes stand at first (WG-3.2)."""

    blue: dict[_SpaceId, Id]
    red: dict[_SpaceId, Id]


class TerraceDeposit(Record, frozen=True):
    """Each seat's own deposit (WG-2.7)."""

    blue: _SpaceId
    red: _SpaceId


class BoardRecord(Record, frozen=True):
    """WG-2.6."""

    source: str
    columns: tuple[str, ...]
    rows: tuple[int, ...]
    drawing: str
    start: Start
    terrace_deposit: TerraceDeposit
    deposits: tuple[_SpaceId, ...]
    pits: tuple[_SpaceId, ...]
    spaces: tuple[SpaceRecord, ...]


class CatalogueFile(Record, frozen=True):
    """The whole file."""

    game: Literal["wizards_garden"]
    data_version: Positive
    name: Names
    players: Literal[2]
    seats: tuple[Literal["blue"], Literal["red"]]
    options: Options
    constants: Constants
    supply: Supply
    piece_ids: PieceIds
    kinds: tuple[KindRecord, ...]
    spells: tuple[SpellRecord, ...]
    board: BoardRecord
    terms: dict[str, Names]


_KINDS: Final = ("pest", "water", "spirit", "gnome", "fire")
_SPELLS: Final = (
    "feather",
    "skull",
    "eye",
    "gem",
    "butterfly",
    "dagger",
    "flower",
    "doll",
    "bottle",
    "trinket",
    "conch",
    "fish",
)


def _check(data: CatalogueFile) -> None:
    """References between the parts that types alone cannot say."""
    same(DATA_FILE, "kinds (WG-2.1)", [kind.id for kind in data.kinds], _KINDS)
    same(DATA_FILE, "spells (WG-13)", [spell.id for spell in data.spells], _SPELLS)
    same(DATA_FILE, "seats that may begin", data.options.first_player.values, ("random", *data.seats))
    _check_numbers(data)
    _check_board(data.board)


def _check_numbers(data: CatalogueFile) -> None:
    supply, ids = data.supply, data.piece_ids
    counts = (
        (supply.gnomes_per_player, len(ids.gnomes.blue), len(ids.gnomes.red)),
        (supply.lanterns_per_player, len(ids.lanterns.blue), len(ids.lanterns.red), len(data.kinds)),
        (supply.pests, len(ids.pests)),
        (supply.spirit_cards, sum(len(kind.card_ids) for kind in data.kinds), sum(kind.cards for kind in data.kinds)),
        (supply.spell_cards, len(data.spells)),
    )
    for count in counts:
        if len({*count}) != 1:
            raise CatalogueError(f"{DATA_FILE}: supply and ids differ (WG-2.2): {count}")
    for limits in (data.options.spells_per_player, data.options.turn_limit):
        if not limits.min <= limits.default <= limits.max:
            raise CatalogueError(f"{DATA_FILE}: the default {limits.default} is out of range")


def _check_board(board: BoardRecord) -> None:
    by_id = {space.id: space for space in board.spaces}
    if len(by_id) != len(board.columns) * len(board.rows):
        raise CatalogueError(f"{DATA_FILE}: {len(by_id)} spaces do not fill the board (WG-2.6)")
    for space in board.spaces:
        beside = {s.id for s in board.spaces if abs(s.x - space.x) + abs(s.y - space.y) == 1}
        if {*space.adjacent} != beside:
            raise CatalogueError(f"{DATA_FILE}: {space.id} does not touch exactly its neighbours (WG-2.6)")
        if (space.kind == "terrace") is (space.terrace_owner is None):
            raise CatalogueError(f"{DATA_FILE}: {space.id} is no terrace of anybody (WG-2.7)")
    same(DATA_FILE, "deposits", sorted(board.deposits), sorted(s.id for s in board.spaces if s.has_deposit))
    same(DATA_FILE, "pits", sorted(board.pits), sorted(s.id for s in board.spaces if s.kind == "pit"))
    for colour, start in (("blue", board.start.blue), ("red", board.start.red)):
        terrace = sorted(s.id for s in board.spaces if s.terrace_owner == colour)
        same(DATA_FILE, f"start spaces of {colour} (WG-3.2)", sorted(start), terrace)


def load(data: bytes) -> CatalogueFile:
    """The checked catalogue.

    Raises:
        CatalogueError: with the place and the fault.
    """
    catalogue = typed(data, CatalogueFile, DATA_FILE)
    _check(catalogue)
    return catalogue


DATA_BYTES: Final = read_data("wizards_garden", DATA_FILE)
DATA: Final = load(DATA_BYTES)
