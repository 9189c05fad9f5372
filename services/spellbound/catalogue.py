"""The data file as typed records, checked when it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal

from grimoire.engine.catalogue import (
    CatalogueError,
    Id,
    Natural,
    Positive,
    Record,
    Text,
    read_data,
    same,
    typed,
)

__all__ = [
    "DATA",
    "DATA_BYTES",
    "DATA_FILE",
    "CardRecord",
    "CatalogueError",
    "CatalogueFile",
    "ModeRecord",
    "Names",
    "PartRecord",
    "SetRecord",
    "TypeRecord",
    "load",
]

DATA_FILE: Final = "spellbound.json"

_Colour = Literal["red", "blue", "green", "yellow"]
_Book = Literal["red", "blue", "green", "yellow", "silver"]
StepKind = Literal[
    "move",
    "magic",
    "influence",
    "book_own",
    "book_any",
    "watchman",
    "changeling",
    "tower_discard_top",
    "guard_all",
    "guard_first",
    "display_discard_witches",
    "tower_discard_all",
]


class Names(Record, frozen=True):
    """A text in the language of the data."""

    en: Text


class MageCount(Record, frozen=True):
    """SB-1.2."""

    default: str
    min: Literal[1]
    max: Literal[4]


class Described(Record, frozen=True):
    """An option whose values are described."""

    default: str
    meaning: str


class FirstMage(Record, frozen=True):
    """Who begins."""

    default: Literal["random"]
    values: tuple[Literal["random"] | Natural, ...]


class Switch(Record, frozen=True):
    """An option that is on or off."""

    default: bool


class Dan(Record, frozen=True):
    """SB-3.12."""

    default: Natural
    values: tuple[Natural, ...]
    meaning: str


class Options(Record, frozen=True):
    """SB-1.3."""

    mages: MageCount
    mage_seats: Described
    first_mage: FirstMage
    troll_buster: Switch
    dan: Dan
    witchfinder_general: Switch


class Constants(Record, frozen=True):
    """The rules' fixed numbers."""

    display_mages: Positive
    leave_at_most: Positive
    purge_at: Positive
    books_to_win: Positive
    books_lost_to_lose: Positive
    track_end: Positive
    track_start: Positive
    pieces_at_end_to_lose: Positive
    two_steps_by: Positive
    villages: Positive
    face_up_at_start: Positive
    villages_allies: Positive
    boxed_allies_by_mages: dict[str, Positive]
    wand_top: Positive
    annihilation_by: Positive
    scry_reveals: Positive
    winning_smile: Positive
    start_location: Literal["wilderness"]


class Bag(Record, frozen=True):
    """Stones in the bag at the start."""

    sun: Positive
    moon: Positive


class DanBag(Record, frozen=True):
    """The bag of SB-3.12; its moonstones are the option's value."""

    sun: Positive
    moon: Literal["dan"]


class StoneCounts(Record, frozen=True):
    """SB-2.5."""

    sun: Positive
    moon: Positive
    bag_start: Bag
    bag_start_dan: DanBag


class TrackRecord(Record, frozen=True):
    """SB-2.2."""

    id: _Book
    place: Id
    book: _Book
    piece: Id
    length: Positive
    piece_start: Positive
    book_start: Positive
    spell_spaces: tuple[Positive, ...]


class WitchfinderStart(Record, frozen=True):
    """SB-3.13."""

    hats: Positive
    troll: Positive


class LocationRecord(Record, frozen=True):
    """SB-2.1."""

    id: Id
    kind: Literal["city", "wilderness", "village"]
    colour: _Colour | None = None


class TowerStep(Record, frozen=True):
    """SB-2.4."""

    step: Positive
    strength: Positive | None
    on_enter: tuple[dict[Literal["troll", "all_hats", "wicked_to_discards"], Positive] | Literal["lose"], ...]


class WandLevel(Record, frozen=True):
    """SB-9.2."""

    level: Natural
    gives: str | None


class SetRecord(Record, frozen=True):
    """A set of allies (SB-2.8)."""

    id: Id
    cards: tuple[Id, ...]
    village_first: Id
    influence: Positive


class StartDeck(Record, frozen=True):
    """SB-3.5."""

    always: tuple[Id, ...]
    mages_1_2: tuple[Id, ...]
    troll_buster: tuple[Id, ...]


class WickedDeck(Record, frozen=True):
    """SB-3.7."""

    top: Id
    shuffled: tuple[Id, ...]


class PartRecord(Record, frozen=True):
    """A part of a mode: so many steps, each of any of these kinds."""

    any: tuple[StepKind, ...]
    times: Positive


class ModeRecord(Record, frozen=True):
    """One use of a card."""

    id: Id
    parts: tuple[PartRecord, ...]
    cost: Literal["", "discard_ally_or_witch", "discard_other_warlock"] = ""
    carry: bool = False


class TypeRecord(Record, frozen=True):
    """One card face."""

    name: Names
    text: Names
    modes: tuple[ModeRecord, ...] = ()
    on_reveal: tuple[dict[str, str | int], ...] = ()
    timing: Literal["", "any_time", "own_turn", "at_once"] = ""


class CardRecord(Record, frozen=True):
    """One of the 90 cards (SB-2)."""

    id: Id
    type: Id
    kind: Literal["mage", "location", "wicked", "spell", "wand", "minion", "unused"]
    group: Id
    sun: Natural = 0
    moon: Natural = 0
    influence: Natural = 0
    set: str = ""
    colour: str = ""
    book: str = ""
    starts_in: str = ""
    timing: str = ""
    order: Natural = 0


class CatalogueFile(Record, frozen=True):
    """The whole file."""

    game: Literal["spellbound"]
    data_version: Positive
    name: Names
    options: Options
    constants: Constants
    stones: StoneCounts
    colours: tuple[_Colour, ...]
    books: tuple[_Book, ...]
    reaction_policies: tuple[Id, ...]
    tracks: tuple[TrackRecord, ...]
    witchfinder_piece_start: WitchfinderStart
    locations: tuple[LocationRecord, ...]
    tower: tuple[TowerStep, ...]
    wand_levels: tuple[WandLevel, ...]
    minion_order: tuple[Id, ...]
    ally_sets: tuple[SetRecord, ...]
    start_deck: StartDeck
    wicked_deck: WickedDeck
    types: dict[Id, TypeRecord]
    cards: tuple[CardRecord, ...]
    sources: dict[str, tuple[str, ...]]


_GROUPS: Final = {
    "basic": 15,
    "ally": 37,
    "fortuna": 1,
    "location": 3,
    "spell": 10,
    "wand": 4,
    "witch": 12,
    "troll": 2,
    "minion": 3,
    "help": 2,
    "blank": 1,
}
"""How many cards of each group there are (SB-2)."""


def _check(data: CatalogueFile) -> None:
    """References between the parts that types alone cannot say."""
    same(DATA_FILE, "books (SB-2.2)", data.books, ("red", "blue", "green", "yellow", "silver"))
    same(DATA_FILE, "colours (SB-2.2)", data.colours, data.books[:-1])
    same(DATA_FILE, "policies (SB-16.8)", data.reaction_policies, ("when_it_matters", "always", "never"))
    same(
        DATA_FILE,
        "groups of cards (SB-2)",
        sorted(Counter(c.group for c in data.cards).items()),
        sorted(_GROUPS.items()),
    )
    _check_places(data)
    _check_cards(data)
    _check_decks(data)
    _check_tower(data)


def _check_places(data: CatalogueFile) -> None:
    """SB-2.1, SB-2.2: the first five places are those of the tracks."""
    same(DATA_FILE, "books of the tracks", [track.book for track in data.tracks], data.books)
    same(
        DATA_FILE,
        "places of the tracks",
        [track.place for track in data.tracks],
        [place.id for place in data.locations[:5]],
    )
    same(DATA_FILE, "pieces", [t.piece for t in data.tracks], [*(f"hat_{colour}" for colour in data.colours), "troll"])
    same(DATA_FILE, "villages", [place.kind for place in data.locations[5:]], ["village"] * data.constants.villages)
    for track in data.tracks:
        if track.length != data.constants.track_end or track.piece_start != data.constants.track_start:
            raise CatalogueError(f"{DATA_FILE}: the track {track.id} is not like the others (SB-2.2)")


def _check_cards(data: CatalogueFile) -> None:
    by_id = {card.id: card for card in data.cards}
    if len(by_id) != len(data.cards):
        raise CatalogueError(f"{DATA_FILE}: a card is listed twice")
    for card in data.cards:
        if card.type not in data.types:
            raise CatalogueError(f"{DATA_FILE}: {card.id} has the unknown type {card.type}")
        if data.types[card.type].timing != card.timing:
            raise CatalogueError(f"{DATA_FILE}: {card.id} and its type differ in timing")
    _known(by_id, data.minion_order, "minion_order")
    same(
        DATA_FILE,
        "cards of the sets",
        [c.id for c in data.cards if c.set],
        [c for s in data.ally_sets for c in s.cards],
    )
    for ally_set in data.ally_sets:
        for card in (by_id[name] for name in ally_set.cards):
            if card.set != ally_set.id or card.influence != ally_set.influence:
                raise CatalogueError(f"{DATA_FILE}: {card.id} and its set differ (SB-2.8)")
        if ally_set.village_first != ally_set.cards[0]:
            raise CatalogueError(f"{DATA_FILE}: the first card of {ally_set.id} is not the one at the village")


def _known(by_id: dict[str, CardRecord], names: Iterable[str], where: str) -> None:
    for name in names:
        if name not in by_id:
            raise CatalogueError(f"{DATA_FILE}: {where} names the unknown card {name}")


def _check_decks(data: CatalogueFile) -> None:
    """SB-3.5, SB-3.7."""
    by_id = {card.id: card for card in data.cards}
    start, wicked = data.start_deck, data.wicked_deck
    named = (*start.always, *start.mages_1_2, *start.troll_buster, *wicked.shuffled)
    _known(by_id, named, "a deck")
    same(DATA_FILE, "top of the wicked deck and Troll Buster", (wicked.top,), start.troll_buster)
    everywhere = [name for name in named if by_id[name].kind == "wicked"]
    same(DATA_FILE, "wicked cards", sorted(everywhere), sorted(card.id for card in data.cards if card.kind == "wicked"))


def _check_tower(data: CatalogueFile) -> None:
    """SB-2.4: only the last step loses, and what moves comes before what is added."""
    same(DATA_FILE, "steps of the tower", [step.step for step in data.tower], range(1, len(data.tower) + 1))
    for step in data.tower:
        last = step is data.tower[-1]
        if ("lose" in step.on_enter) is not last or (step.strength is None) is not last:
            raise CatalogueError(f"{DATA_FILE}: the tower is lost on its last step only (SB-2.4)")
        verbs = [next(iter(effect)) for effect in step.on_enter if not isinstance(effect, str)]
        if "wicked_to_discards" in verbs[:-1]:
            raise CatalogueError(f"{DATA_FILE}: wicked cards are added last on a step of the tower (SB-2.4)")


def load(data: bytes) -> CatalogueFile:
    """The checked catalogue.

    Raises:
        CatalogueError: with the place and the fault.
    """
    catalogue = typed(data, CatalogueFile, DATA_FILE)
    _check(catalogue)
    return catalogue


DATA_BYTES: Final = read_data("spellbound", DATA_FILE)
DATA: Final = load(DATA_BYTES)
