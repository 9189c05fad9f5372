"""Who is asked in a reaction window, and which spells fit there (SB-16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from spellbound.cards import FORTUNA
from spellbound.notions import (
    books_on_track,
    counts,
    empty_places,
    idle_piece,
    loses_a_book,
    mage_order,
    result_of,
    seat_holds,
)
from spellbound.places import NOWHERE, TRACK_END, TROLL, on_track
from spellbound.state import NO_ONE, Fields, Window, WindowKind

__all__ = [
    "ALCHEMY",
    "BOOK_WYRM",
    "HAT_TRICK",
    "TELEPORT",
    "any_time_seats",
    "asked_seat",
    "fits",
    "seats_to_ask",
    "spells_in_window",
    "useful_any_time",
]

ALWAYS: Final = "always"
NEVER: Final = "never"

ALCHEMY: Final = "alchemy"
BOOK_WYRM: Final = "book_wyrm"
HAT_TRICK: Final = "hat_trick"
TELEPORT: Final = "teleport"


def seats_to_ask(fields: Fields, kind: WindowKind) -> list[int]:
    """Seats that hold a fitting spell, in the order in which they are asked (SB-16.3)."""
    return [seat for seat in _seats(fields) if fits(fields, kind, seat)]


def asked_seat(fields: Fields) -> int:
    """Whom the open window asks now; `NO_ONE`: it is done."""
    window = fields.window
    if window is None:
        return NO_ONE
    for seat in _order(fields, window):
        if seat not in window.passed and fits(fields, window.kind, seat):
            return seat
    return NO_ONE


def _order(fields: Fields, window: Window) -> Iterator[int]:
    if window.caster != NO_ONE:
        yield window.caster
    yield from _seats(fields)


def _seats(fields: Fields) -> Iterator[int]:
    seats = fields.terms.mage_seats
    return iter(dict.fromkeys(seats[mage] for mage in mage_order(fields)))


def fits(fields: Fields, kind: WindowKind, seat: int) -> bool:
    """Whether this window asks this seat, by the spells its mages hold and its policy (SB-16.4 to SB-16.8)."""
    return fields.policies[seat] != NEVER and _FITS[kind](fields, seat)


def spells_in_window(fields: Fields, seat: int) -> list[str]:
    """Spells that a seat may cast in the open window, whatever its policy asks it."""
    window = fields.window
    if window is None:
        return []
    if window.kind is not WindowKind.MOVES:
        spell = ALCHEMY if window.kind in (WindowKind.STONE, WindowKind.ENCOUNTER_STONES) else TELEPORT
        return [spell] if _FITS[window.kind](fields, seat) else []
    spells = [HAT_TRICK] if _hats(fields) and seat_holds(fields, seat, HAT_TRICK) else []
    return [*spells, BOOK_WYRM] if _wyrm_saves(fields, seat) else spells


# ---- the windows -----------------------------------------------------------------------------------------------------


def _at_story_end(fields: Fields, seat: int) -> bool:
    """SB-16.4."""
    if seat == fields.active_seat or not seat_holds(fields, seat, TELEPORT):
        return False
    piece = idle_piece(fields)
    moves = piece != NOWHERE and fields.pieces[piece] < TRACK_END
    return moves or (FORTUNA in fields.lower and not fields.visited)


def _at_moves(fields: Fields, seat: int) -> bool:
    """SB-16.5, SB-16.8."""
    hats = _hats(fields)
    if hats and seat_holds(fields, seat, HAT_TRICK) and (fields.policies[seat] == ALWAYS or _matters(fields, hats)):
        return True
    return _wyrm_saves(fields, seat)


def _hats(fields: Fields) -> tuple[int, ...]:
    batch = fields.batch
    return () if batch is None else tuple(piece for piece in batch.moves if piece != TROLL)


def _matters(fields: Fields, hats: tuple[int, ...]) -> bool:
    """A hat would catch its book or reach the end."""
    return any(
        fields.pieces[hat] + 1 == TRACK_END
        or (on_track(fields.books[hat]) and fields.pieces[hat] + 1 == fields.books[hat])
        for hat in hats
    )


def _wyrm_saves(fields: Fields, seat: int) -> bool:
    batch = fields.batch
    return batch is not None and seat_holds(fields, seat, BOOK_WYRM) and loses_a_book(fields, batch.moves)


def _at_end_of_deck(fields: Fields, seat: int) -> bool:
    """SB-16.6."""
    return seat_holds(fields, seat, TELEPORT) and bool(empty_places(fields))


def _at_stone(fields: Fields, seat: int) -> bool:
    """SB-16.7: a moonstone was drawn by magic."""
    return seat_holds(fields, seat, ALCHEMY) and not all(stone.counts_as_sun for stone in fields.stones)


def _at_encounter_stones(fields: Fields, seat: int) -> bool:
    """SB-16.7: turning a moonstone would change the result."""
    suns = sum(stone.counts_as_sun for stone in fields.stones)
    if suns == len(fields.stones) or not seat_holds(fields, seat, ALCHEMY):
        return False
    now, turned = counts(fields, suns), counts(fields, suns + 1)
    return result_of(fields, *now) != result_of(fields, *turned)


_FITS: Final[dict[WindowKind, Callable[[Fields, int], bool]]] = {
    WindowKind.STORY_END: _at_story_end,
    WindowKind.MOVES: _at_moves,
    WindowKind.END_OF_DECK: _at_end_of_deck,
    WindowKind.STONE: _at_stone,
    WindowKind.ENCOUNTER_STONES: _at_encounter_stones,
}


# ---- free casting (SB-16.2) ------------------------------------------------------------------------------------------


def useful_any_time(fields: Fields, seat: int) -> list[str]:
    """Spells that a seat may cast while the active seat thinks."""
    spells = [TELEPORT] if seat_holds(fields, seat, TELEPORT) else []
    return [*spells, BOOK_WYRM] if seat_holds(fields, seat, BOOK_WYRM) and books_on_track(fields) else spells


def any_time_seats(fields: Fields) -> list[int]:
    """Seats, other than the active one, that have the optional prompt."""
    active = fields.active_seat
    if not any(spell in held for held in fields.spells for spell in (TELEPORT, BOOK_WYRM)):
        return []
    return [seat for seat in range(fields.terms.seats) if seat != active and useful_any_time(fields, seat)]
