"""The state of a match: frozen records that compare by value. Hidden cards never show in a repr.

Places, books and pieces are numbers here (`places.py`), cards and spells are ids. The records hold no cycles, so the
garbage collector need not look at them (`gc=False`).
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from spellbound.places import BOOK_START, NOWHERE, TRACK_START, VILLAGES

__all__ = [
    "NO_BATTLE",
    "NO_ONE",
    "WHEN_IT_MATTERS",
    "Batch",
    "Fields",
    "Progress",
    "Result",
    "Ride",
    "Stage",
    "State",
    "Stone",
    "Stones",
    "Terms",
    "Window",
    "WindowKind",
]

NO_ONE: Final = -1
"""No mage."""

NO_BATTLE: Final = -1

WHEN_IT_MATTERS: Final = "when_it_matters"

Stones = tuple[int, int]
"""Sunstones, moonstones."""

Parts = tuple[tuple[tuple[str, ...], int], ...]
"""Kinds of steps, and how many of them are left."""

Lying = tuple[tuple[str, int], ...]
"""Cards at a village and what each is worth there."""


class Stage(enum.StrEnum):
    """What the match waits for (SB-4); prompts are called so too."""

    SETUP = "setup"
    WITCHING = "witching"
    STORY = "story"
    CARD = "card"
    CONSENT = "consent"
    REACTION = "reaction"
    CHOOSE_BOOK = "choose_book"
    OVER = "over"


class WindowKind(enum.StrEnum):
    """Points of the automatic part at which a spell may matter (SB-16.4 to SB-16.7)."""

    STORY_END = "story_end"
    MOVES = "moves"
    END_OF_DECK = "end_of_deck"
    STONE = "stone"
    ENCOUNTER_STONES = "encounter_stones"


class Terms(msgspec.Struct, frozen=True, gc=False):
    """What is fixed for the whole match (SB-1.3).

    Attributes:
        mage_seats: seat of each mage.
        arranged: the match began from an arranged position.
    """

    seats: int
    mage_seats: tuple[int, ...]
    troll_buster: bool = False
    dan: int = 0
    witchfinder_general: bool = False
    arranged: bool = False


class Progress(msgspec.Struct, frozen=True, gc=False):
    """The card in progress (SB-6.1).

    Attributes:
        left: steps that are left, part by part.
        village: where its influence goes; `NOWHERE`: it gave none.
        recruited: an ally was recruited there since (SB-7.11).
        rider: the mage that rides along on it (SB-8.2).
        refused: rides that were declined: mage and destination.
    """

    card: str
    mode: str
    left: Parts
    village: int = NOWHERE
    given: int = 0
    recruited: bool = False
    rider: int = NO_ONE
    refused: tuple[tuple[int, int], ...] = ()


class Ride(msgspec.Struct, frozen=True, gc=False):
    """A movement that waits for the rider's consent (SB-8.2)."""

    rider: int
    to: int


class Window(msgspec.Struct, frozen=True, gc=False):
    """A reaction window that is open (SB-16.3).

    Attributes:
        passed: seats that are not asked again.
        caster: the seat that cast last in it: it is asked again first; `NO_ONE`: nobody did.
    """

    kind: WindowKind
    passed: tuple[int, ...] = ()
    caster: int = NO_ONE


class Batch(msgspec.Struct, frozen=True, gc=False):
    """Moves of pieces that are about to be made (SB-13.1)."""

    cause: str
    moves: tuple[int, ...]


class Stone(msgspec.Struct, frozen=True, gc=False):
    """A stone drawn for what is under way.

    Attributes:
        number: it is the n-th of the match.
        turned: Alchemy makes it count as a sunstone (SB-10.2).
    """

    number: int
    sun: bool
    turned: bool = False

    @property
    def counts_as_sun(self) -> bool:
        """Whether it helps the mages."""
        return self.sun or self.turned


class Result(msgspec.Struct, frozen=True, gc=False):
    """How the match ended (SB-15)."""

    won: bool
    reason: str


class Fields(msgspec.Struct, gc=False):
    """Everything there is at one version; `State` is this, frozen, and `Draft` is this under change.

    Attributes:
        facts: how many events led here, policies not counted; tells one prompt from the next.
        turn: 0 before the first turn.
        acting: the acting mage: the turn mage, or its puppet (SB-4.1).
        stage: `WITCHING` or `STORY` within a turn; `asked` says what is asked.
        pieces: spaces of the hats and the troll.
        books: 4..8 on the track, or `GAINED`, or `LOST`.
        places, wands, spells: by mage.
        policies: by seat.
        moved: the acting mage changed its place in this turn (SB-11.2).
        visited: Fortuna was visited since her card came (SB-7.2).
        stones_drawn: over the match.
        lower, upper: the display, oldest first; guards lie in the upper row.
        fresh: cards of the upper row that were drawn in this refill and have not acted (SB-12.1).
        squire_used: the Squire has met his witch card (SB-8.9).
        sun_pile, moon_pile, discards, removed: oldest first.
        minions: in play.
        villages: by village, its card; empty: none.
        face_up: by village.
        lying: by village, cards that lie there.
        deck, spell_deck, wicked_deck: index 0 on top.
        deck_ends, sweep_ups: so far.
        deck_ending: between the end of the deck and the sweep up (SB-14).
        climb: steps of the tower that the witch still goes up.
        stones: drawn for what is under way.
        battle: books used as sun force in the final battle, or `NO_BATTLE`.
        choosing: an encounter was won, and its book is not moved yet (SB-14.9).
    """

    terms: Terms
    facts: int = 0
    turn: int = 0
    turn_mage: int = 0
    acting: int = 0
    stage: Stage = Stage.SETUP
    pieces: tuple[int, ...] = (TRACK_START,) * len(BOOK_START)
    books: tuple[int, ...] = BOOK_START
    witch: int = 1
    places: tuple[int, ...] = ()
    wands: tuple[int, ...] = ()
    spells: tuple[tuple[str, ...], ...] = ()
    policies: tuple[str, ...] = ()
    watchman: int = NOWHERE
    moved: bool = False
    visited: bool = False
    bag: Stones = (0, 0)
    drawn: Stones = (0, 0)
    supply: Stones = (0, 0)
    stones_drawn: int = 0
    lower: tuple[str, ...] = ()
    upper: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    squire_used: bool = False
    sun_pile: tuple[str, ...] = ()
    moon_pile: tuple[str, ...] = ()
    minions: tuple[str, ...] = ()
    discards: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    villages: tuple[str, ...] = ("",) * len(VILLAGES)
    face_up: tuple[bool, ...] = (False,) * len(VILLAGES)
    lying: tuple[Lying, ...] = ((),) * len(VILLAGES)
    deck: tuple[str, ...] = ()
    spell_deck: tuple[str, ...] = ()
    wicked_deck: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    box: tuple[str, ...] = ()
    deck_ends: int = 0
    sweep_ups: int = 0
    deck_ending: bool = False
    climb: int = 0
    progress: Progress | None = None
    ride: Ride | None = None
    window: Window | None = None
    batch: Batch | None = None
    stones: tuple[Stone, ...] = ()
    battle: int = NO_BATTLE
    choosing: bool = False
    result: Result | None = None

    @property
    def asked(self) -> Stage:
        """What the match waits for."""
        if self.result is not None:
            return Stage.OVER
        if self.window is not None:
            return Stage.REACTION
        if self.choosing:
            return Stage.CHOOSE_BOOK
        if self.ride is not None:
            return Stage.CONSENT
        return Stage.CARD if self.progress is not None else self.stage

    @property
    def active_seat(self) -> int:
        """The turn mage's seat (SB-4.1)."""
        return self.terms.mage_seats[self.turn_mage]

    @property
    def here(self) -> int:
        """Where the acting mage stands."""
        return self.places[self.acting]


class State(Fields, frozen=True, gc=False):  # type: ignore[misc]  # msgspec freezes what the base leaves open
    """A match at one version. Its repr tells no hidden card."""

    def __repr__(self) -> str:
        return f"State(turn={self.turn}, mage={self.turn_mage}, asked={self.asked.value}, facts={self.facts})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("turn", self.turn), ("mage", self.turn_mage), ("asked", self.asked.value), ("facts", self.facts)]
