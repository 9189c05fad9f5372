"""The data file as typed records, checked when it is read (TT-2.9)."""

from __future__ import annotations

from typing import Final, Literal

from grimoire.engine.catalogue import CatalogueError, Id, Names, Natural, Positive, Record, Text, read_data, typed
from grimoire.engine.options import Choice, Range
from two_towers.effects import Effect
from two_towers.fields import Resource

__all__ = ["DATA", "DATA_BYTES", "DATA_FILE", "CatalogueError", "Names"]

DATA_FILE: Final = "two_towers.json"


class ResourceRecord(Record, frozen=True):
    """A stock, its producer and its colour (TT-2.2)."""

    id: Resource
    producer: Literal["mines", "monasteries", "barracks"]
    colour: Literal["red", "blue", "green"]
    name: Names
    producer_name: Names


class StructureRecord(Record, frozen=True):
    """Tower or wall."""

    id: Literal["tower", "wall"]
    name: Names


class DeckTypeRecord(Record, frozen=True):
    """TT-2.5."""

    id: Literal["standard", "endless"]
    name: Names
    copies_per_card: int | None = None
    max_copies_in_hand: int | None = None


class Constants(Record, frozen=True):
    """The rules' fixed numbers."""

    seats: Literal[2]
    hand_size: Literal[6]
    stock_min: Literal[0]
    producer_min: Literal[0]
    tower_min: Literal[0]
    wall_min: Literal[0]
    turn_limit: Positive
    turn_action_limit: Positive


class ChoiceRecord(Record, frozen=True):
    """An option with named values."""

    default: Id
    one_of: tuple[Id, ...]

    @property
    def choice(self) -> Choice:
        """As every game offers it."""
        return Choice(self.default, self.one_of)


class Options(Record, frozen=True):
    """TT-1.5."""

    battlefield: ChoiceRecord
    deck_type: ChoiceRecord
    turn_time_s: Range
    timeout_limit: Range
    first_player: ChoiceRecord


class ProducersRecord(Record, frozen=True):
    """A battlefield's producers."""

    mines: Natural
    monasteries: Natural
    barracks: Natural


class StockRecord(Record, frozen=True):
    """A battlefield's start stocks."""

    ore: Natural
    mana: Natural
    recruits: Natural


class BattlefieldRecord(Record, frozen=True):
    """TT-2.3."""

    id: Id
    name: Names
    tower: Positive
    wall: Natural
    producers: ProducersRecord
    stock: StockRecord
    goal_tower: Positive
    goal_resource: Positive


class CardRecord(Record, frozen=True):
    """TT-2.4."""

    no: Positive
    id: Id
    colour: Literal["red", "blue", "green"]
    resource: Resource
    cost: Natural
    name: Names
    effects: tuple[Effect, ...]
    play_again: bool
    text: Names
    classic_note: str | None = None


class CatalogueFile(Record, frozen=True):
    """The whole file."""

    schema: Literal["two_towers/1"]
    game: Literal["two_towers"]
    catalog_version: Text
    sources: dict[str, str]
    resources: tuple[ResourceRecord, ...]
    structures: tuple[StructureRecord, ...]
    deck_types: tuple[DeckTypeRecord, ...]
    constants: Constants
    options: Options
    effect_ops: tuple[str, ...]
    battlefields: tuple[BattlefieldRecord, ...]
    cards: tuple[CardRecord, ...]


def _check(data: CatalogueFile) -> None:
    """References between the parts that types alone cannot say."""
    ids = {
        "battlefield": [b.id for b in data.battlefields],
        "deck_type": [d.id for d in data.deck_types],
        "first_player": ["random", "seat_0", "seat_1"],
    }
    for name, known in ids.items():
        choice: ChoiceRecord = getattr(data.options, name)
        if list(choice.one_of) != known or len({*known}) != len(known):
            raise CatalogueError(f"option {name} offers {choice.one_of}, the catalogue has {known}")
        if choice.default not in choice.one_of:
            raise CatalogueError(f"option {name}: {choice.default} is not offered")
    for name in ("turn_time_s", "timeout_limit"):
        limits: Range = getattr(data.options, name)
        if not limits.min <= limits.default <= limits.max:
            raise CatalogueError(f"option {name}: {limits.default} is out of range")
    if [(r.id, r.producer, r.colour) for r in data.resources] != [
        ("ore", "mines", "red"),
        ("mana", "monasteries", "blue"),
        ("recruits", "barracks", "green"),
    ]:
        raise CatalogueError("resources differ from TT-2.2")


def load(data: bytes) -> CatalogueFile:
    """The checked catalogue.

    Raises:
        CatalogueError: with the place and the fault.
    """
    catalogue = typed(data, CatalogueFile, DATA_FILE)
    _check(catalogue)
    return catalogue


DATA_BYTES: Final = read_data("two_towers", DATA_FILE)
DATA: Final = load(DATA_BYTES)
