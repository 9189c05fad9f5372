"""What several rules ask of a state: who stands where, what lies where, what would move (SB-4 to SB-15)."""

from __future__ import annotations

from collections.abc import Iterator

from spellbound.cards import COLOUR, GUARDS, INFLUENCE, MOON, SUN, TOWER, WITCHES
from spellbound.catalogue import DATA
from spellbound.draft import face_up_at
from spellbound.places import (
    CITIES,
    FIRST_VILLAGE,
    GAINED,
    HATS,
    LOST,
    NOWHERE,
    STRENGTH,
    TRACK_END,
    TROLL,
    WILDERNESS,
    on_track,
)
from spellbound.state import NO_BATTLE, Fields

__all__ = [
    "all_gathered",
    "ally_at",
    "amount_at",
    "books_gained",
    "books_lost",
    "books_on_track",
    "city_to_city",
    "counts",
    "empty_places",
    "holder_of",
    "idle_piece",
    "loses_a_book",
    "lowest_requirement",
    "mage_order",
    "moves_of",
    "result_of",
    "seat_holds",
    "tower_at",
    "wicked_in_upper_row",
]


# ---- books -----------------------------------------------------------------------------------------------------------


def books_on_track(fields: Fields) -> list[int]:
    """Numbers of the books that can still move."""
    return [book for book, at in enumerate(fields.books) if on_track(at)]


def books_gained(fields: Fields) -> int:
    """How many stand above the tower."""
    return fields.books.count(GAINED)


def books_lost(fields: Fields) -> int:
    """How many are out of the game."""
    return fields.books.count(LOST)


# ---- mages and places ------------------------------------------------------------------------------------------------


def mage_order(fields: Fields) -> Iterator[int]:
    """Mages from the turn mage on (SB-16.3)."""
    mages = len(fields.places)
    return ((fields.turn_mage + step) % mages for step in range(mages))


def city_to_city(origin: int, to: int) -> bool:
    """A movement that SB-7.1 forbids.

    >>> city_to_city(0, 3), city_to_city(0, 4), city_to_city(4, 3)
    (True, False, False)
    """
    return origin < CITIES and to < CITIES


def tower_at(fields: Fields) -> int:
    """The village of the Witch's Tower, if it is face up (SB-4.3)."""
    return face_up_at(fields, TOWER)


def all_gathered(fields: Fields) -> bool:
    """Every mage stands at the face-up Witch's Tower."""
    tower = tower_at(fields)
    return tower != NOWHERE and all(place == tower for place in fields.places)


def idle_piece(fields: Fields) -> int:
    """The piece that SB-11.2 would move on now, or `NOWHERE`."""
    here = fields.places[fields.acting]
    return here if not fields.moved and here <= WILDERNESS else NOWHERE


def empty_places(fields: Fields) -> list[int]:
    """Pieces that move on because nobody guards their place (SB-14.3)."""
    taken = {*fields.places}
    moves = [city for city in HATS if city not in taken and city != fields.watchman]
    return moves if WILDERNESS in taken else [*moves, TROLL]


# ---- villages --------------------------------------------------------------------------------------------------------


def ally_at(fields: Fields, place: int) -> str:
    """The ally that lies face up there; empty: none."""
    village = place - FIRST_VILLAGE
    if village < 0 or not fields.face_up[village]:
        return ""
    card = fields.villages[village]
    return card if card in INFLUENCE else ""


def amount_at(fields: Fields, place: int) -> int:
    """Influence lying at a village, the card in progress included (SB-7.10)."""
    amount = sum(worth for _, worth in fields.lying[place - FIRST_VILLAGE])
    progress = fields.progress
    if progress is not None and progress.village == place and not progress.recruited:
        amount += progress.given
    return amount


def lowest_requirement(fields: Fields) -> int:
    """The lowest requirement among all face-up allies; 0: there is none (SB-8.4)."""
    asked = [
        INFLUENCE[card]
        for card, face_up in zip(fields.villages, fields.face_up, strict=True)
        if face_up and card in INFLUENCE
    ]
    return min(asked, default=0)


# ---- the display -----------------------------------------------------------------------------------------------------


def wicked_in_upper_row(fields: Fields) -> list[str]:
    """Wicked cards of the upper row, in display order; guards are none (SB-8.9)."""
    return [card for card in fields.upper if card not in GUARDS]


# ---- spells ----------------------------------------------------------------------------------------------------------


def holder_of(fields: Fields, spell: str) -> int:
    """The mage that holds a spell, or -1."""
    for mage, held in enumerate(fields.spells):
        if spell in held:
            return mage
    return -1


def seat_holds(fields: Fields, seat: int, spell: str) -> bool:
    """Whether one of the seat's mages holds it."""
    holder = holder_of(fields, spell)
    return holder >= 0 and fields.terms.mage_seats[holder] == seat


# ---- pieces moving on (SB-13) ----------------------------------------------------------------------------------------


def moves_of(fields: Fields, card: str) -> list[int]:
    """What a wicked card moves when it acts (SB-2.9)."""
    if card in WITCHES:
        return [COLOUR[card]]
    return [*HATS] if fields.pieces[TROLL] == TRACK_END else [TROLL]


def loses_a_book(fields: Fields, moves: tuple[int, ...]) -> bool:
    """Whether these moves, all made, would catch a book."""
    for piece in {*moves}:
        book = fields.books[piece]
        if on_track(book) and fields.pieces[piece] + moves.count(piece) >= book:
            return True
    return False


# ---- encounters and the battle (SB-14.6, SB-15.5) --------------------------------------------------------------------


def counts(fields: Fields, suns: int) -> tuple[int, int]:
    """Moon force and sun force, if so many of the stones drawn count as sunstones."""
    moon = STRENGTH[fields.witch] + len(fields.stones) - suns
    moon += sum([MOON[card] for card in fields.moon_pile]) + sum([MOON[card] for card in fields.minions])
    sun = suns + sum([SUN[card] for card in fields.sun_pile])
    return moon, (sun if fields.battle == NO_BATTLE else sun + fields.battle)


def result_of(fields: Fields, moon: int, sun: int) -> str:
    """What these forces mean: `won`, `one_step`, `two_steps` or `annihilation`; in the battle `won` or `lost`."""
    if sun > moon:
        return "won"
    if fields.battle != NO_BATTLE:
        return "lost"
    if moon - sun >= DATA.constants.annihilation_by:
        return "annihilation"
    return "two_steps" if moon - sun >= DATA.constants.two_steps_by else "one_step"
