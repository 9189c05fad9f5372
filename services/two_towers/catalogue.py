"""The data file as typed records, checked when it is read (TT-2.9)."""

from __future__ import annotations

import importlib.resources
from typing import Annotated, Final, Literal

import msgspec

from grimoire.engine.options import Choice, Range
from two_towers.effects import Effect
from two_towers.fields import Resource

__all__ = ["DATA", "DATA_BYTES", "DATA_FILE", "CatalogueError", "Names"]

DATA_FILE: Final = "two_towers.json"

_Natural = Annotated[int, msgspec.Meta(ge=0)]
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Id = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]


class CatalogueError(ValueError):
    """The data file contradicts the rules or itself."""


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record that has exactly these fields."""


class Names(_Strict, frozen=True):
    """A text in the languages of the data."""

    en: _Text
    fi: _Text

    def in_language(self, language: str) -> str:
        """The Finnish text for `fi`, else the English one."""
        return self.fi if language == "fi" else self.en


class ResourceRecord(_Strict, frozen=True):
    """A stock, its producer and its colour (TT-2.2)."""

    id: Resource
    producer: Literal["mines", "monasteries", "barracks"]
    colour: Literal["red", "blue", "green"]
    name: Names
    producer_name: Names


class StructureRecord(_Strict, frozen=True):
    """Tower or wall."""

    id: Literal["tower", "wall"]
    name: Names


class DeckTypeRecord(_Strict, frozen=True):
    """TT-2.5."""

    id: Literal["standard", "endless"]
    name: Names
    copies_per_card: int | None = None
    max_copies_in_hand: int | None = None


class Constants(_Strict, frozen=True):
    """The rules' fixed numbers."""

    seats: Literal[2]
    hand_size: Literal[6]
    stock_min: Literal[0]
    producer_min: Literal[0]
    tower_min: Literal[0]
    wall_min: Literal[0]
    turn_limit: _Positive
    turn_action_limit: _Positive


class ChoiceRecord(_Strict, frozen=True):
    """An option with named values."""

    default: _Id
    one_of: tuple[_Id, ...]

    @property
    def choice(self) -> Choice:
        """As every game offers it."""
        return Choice(self.default, self.one_of)


class Options(_Strict, frozen=True):
    """TT-1.5."""

    battlefield: ChoiceRecord
    deck_type: ChoiceRecord
    turn_time_s: Range
    timeout_limit: Range
    first_player: ChoiceRecord


class ProducersRecord(_Strict, frozen=True):
    """A battlefield's producers."""

    mines: _Natural
    monasteries: _Natural
    barracks: _Natural


class StockRecord(_Strict, frozen=True):
    """A battlefield's start stocks."""

    ore: _Natural
    mana: _Natural
    recruits: _Natural


class BattlefieldRecord(_Strict, frozen=True):
    """TT-2.3."""

    id: _Id
    name: Names
    tower: _Positive
    wall: _Natural
    producers: ProducersRecord
    stock: StockRecord
    goal_tower: _Positive
    goal_resource: _Positive


class CardRecord(_Strict, frozen=True):
    """TT-2.4."""

    no: _Positive
    id: _Id
    colour: Literal["red", "blue", "green"]
    resource: Resource
    cost: _Natural
    name: Names
    effects: tuple[Effect, ...]
    play_again: bool
    text: Names
    classic_note: str | None = None


class CatalogueFile(_Strict, frozen=True):
    """The whole file."""

    schema: Literal["two_towers/1"]
    game: Literal["two_towers"]
    catalog_version: _Text
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
    try:
        catalogue = msgspec.json.decode(data, type=CatalogueFile)
    except msgspec.ValidationError as error:
        raise CatalogueError(f"{DATA_FILE}: {error}") from error
    _check(catalogue)
    return catalogue


DATA_BYTES: Final = importlib.resources.files("two_towers").joinpath("data", DATA_FILE).read_bytes()
DATA: Final = load(DATA_BYTES)
