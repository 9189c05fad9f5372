"""Places, tracks and the witch's tower as numbers (SB-2.1 to SB-2.4).

Places 0..3 are the cities in the order of the colours, 4 is the wilderness, 5..16 are the villages. A track has the
number of its place, so `HATS` are the pieces 0..3 and `TROLL` is piece 4; book 4 is the silver one.
"""

from __future__ import annotations

from typing import Final

from spellbound.catalogue import DATA

__all__ = [
    "BOOKS",
    "BOOK_INDEX",
    "BOOK_START",
    "CITIES",
    "CLIMB_MOVES",
    "CLIMB_WICKED",
    "FIRST_VILLAGE",
    "GAINED",
    "HATS",
    "LOST",
    "NOWHERE",
    "PIECES",
    "PIECE_INDEX",
    "PLACES",
    "PLACE_INDEX",
    "SPELL_SPACES",
    "STRENGTH",
    "TOP_STEP",
    "TRACK_END",
    "TRACK_START",
    "TROLL",
    "VILLAGES",
    "WILDERNESS",
    "on_track",
]

PLACES: Final = tuple(place.id for place in DATA.locations)
PLACE_INDEX: Final = {place: number for number, place in enumerate(PLACES)}
NOWHERE: Final = -1

CITIES: Final = len(DATA.colours)
"""Places below this number are cities."""
WILDERNESS: Final = PLACE_INDEX[DATA.constants.start_location]
FIRST_VILLAGE: Final = WILDERNESS + 1
VILLAGES: Final = PLACES[FIRST_VILLAGE:]

BOOKS: Final[tuple[str, ...]] = DATA.books
BOOK_INDEX: Final[dict[str, int]] = {book: number for number, book in enumerate(BOOKS)}
PIECES: Final = tuple(track.piece for track in DATA.tracks)
PIECE_INDEX: Final = {piece: number for number, piece in enumerate(PIECES)}
HATS: Final = tuple(range(CITIES))
TROLL: Final = CITIES

TRACK_START: Final = DATA.constants.track_start
TRACK_END: Final = DATA.constants.track_end
BOOK_START: Final = tuple(track.book_start for track in DATA.tracks)
SPELL_SPACES: Final = frozenset(DATA.tracks[0].spell_spaces)
GAINED: Final = TRACK_END
"""Where a book stands that is above the tower."""
LOST: Final = 0
"""Where a book stands that is out of the game."""

STRENGTH: Final = (0, *(step.strength or 0 for step in DATA.tower))
"""The witch's personal strength by step; steps count from 1."""
TOP_STEP: Final = len(DATA.tower)


def _moves(step: int) -> tuple[int, ...]:
    moves: list[int] = []
    for effect in DATA.tower[step - 1].on_enter:
        if not isinstance(effect, str):
            moves += [TROLL] * effect.get("troll", 0) + [*HATS] * effect.get("all_hats", 0)
    return tuple(moves)


def _wicked(step: int) -> int:
    effects = DATA.tower[step - 1].on_enter
    return sum(effect.get("wicked_to_discards", 0) for effect in effects if not isinstance(effect, str))


CLIMB_MOVES: Final = ((), *(_moves(step.step) for step in DATA.tower))
"""By step entered: pieces that move on, in the order printed (SB-13.1)."""
CLIMB_WICKED: Final = (0, *(_wicked(step.step) for step in DATA.tower))
"""By step entered: wicked cards that are added after that."""


def on_track(book: int) -> bool:
    """Whether a book that stands there can still move and be caught.

    >>> on_track(4), on_track(GAINED), on_track(LOST)
    (True, False, False)
    """
    return LOST < book < GAINED
