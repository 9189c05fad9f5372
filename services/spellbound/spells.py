"""Spells (SB-10), and answers in reaction windows (SB-16)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import CARD_ORDER, INFLUENCE, SPELLS, WICKED, Timing
from spellbound.catalogue import DATA
from spellbound.course import Course
from spellbound.fate import go_on
from spellbound.notions import ally_at, amount_at, holder_of, seat_holds
from spellbound.places import BOOK_INDEX, CITIES, PIECE_INDEX, PLACE_INDEX, TROLL, on_track
from spellbound.state import Fields, Stage
from spellbound.steps import top_wicked_card
from spellbound.superfluous import superfluous
from spellbound.windows import ALCHEMY, BOOK_WYRM, HAT_TRICK, TELEPORT, asked_seat, spells_in_window

__all__ = [
    "CIRCLE_OF_MAGI",
    "PUPPETRY",
    "SUN_BURST",
    "WINNING_SMILE",
    "cast_spell",
    "pass_window",
    "spell_fault",
    "timing_fits",
]

CIRCLE_OF_MAGI: Final = "circle_of_magi"
PUPPETRY: Final = "puppetry"
SUN_BURST: Final = "sun_burst"
WINNING_SMILE: Final = "winning_smile"

_MORE: Final = DATA.constants.winning_smile

_FIELDS: Final = {
    BOOK_WYRM: frozenset({"spell", "book"}),
    PUPPETRY: frozenset({"spell", "mage"}),
    SUN_BURST: frozenset({"spell", "card"}),
    TELEPORT: frozenset({"spell", "mage", "to"}),
    HAT_TRICK: frozenset({"spell", "piece"}),
}
_SPELL_ONLY: Final = frozenset({"spell"})


def timing_fits(fields: Fields, seat: int, spell: str) -> bool:
    """Whether a spell that a seat holds may be cast now (SB-10.1, SB-16)."""
    if fields.asked is Stage.REACTION:
        return seat == asked_seat(fields) and spell in spells_in_window(fields, seat)
    if spell in (TELEPORT, BOOK_WYRM):
        return True
    return SPELLS[spell] == Timing.OWN_TURN and holder_of(fields, spell) == fields.turn_mage


def cast_spell(course: Course, seat: int, command: pb.CastSpell) -> str:
    """Casts a spell of this seat; or the code why not."""
    draft, spell = course.draft, command.spell
    if not _ids_known(draft, command):
        return "unknown_id"
    if not seat_holds(draft, seat, spell):
        return "spell_not_held"
    if not timing_fits(draft, seat, spell):
        return "spell_timing"
    fault = spell_fault(draft, command)
    if fault:
        return fault
    event = pb.SpellCast(spell=spell, book=command.book, to=command.to, card=command.card, piece=command.piece)
    if command.HasField("mage"):
        event.target = command.mage
    course.cast(event)
    _EFFECTS[spell](course, event)
    go_on(course)
    return ""


def _ids_known(fields: Fields, command: pb.CastSpell) -> bool:
    if command.spell not in SPELLS or superfluous(command, _FIELDS.get(command.spell, _SPELL_ONLY)):
        return False
    if command.HasField("mage") and command.mage >= len(fields.places):
        return False
    named = (
        (command.book, BOOK_INDEX),
        (command.to, PLACE_INDEX),
        (command.card, CARD_ORDER),
        (command.piece, PIECE_INDEX),
    )
    return all(not value or value in known for value, known in named)


# ---- why not ---------------------------------------------------------------------------------------------------------


def spell_fault(fields: Fields, command: pb.CastSpell) -> str:
    """What is wrong with what a spell names; empty: nothing."""
    fault = _FAULTS.get(command.spell)
    return "" if fault is None else fault(fields, command)


def _book_wyrm_fault(fields: Fields, command: pb.CastSpell) -> str:
    if not command.book:
        return "unknown_id"
    return "" if on_track(fields.books[BOOK_INDEX[command.book]]) else "book_not_on_track"


def _circle_fault(fields: Fields, _command: pb.CastSpell) -> str:
    """SB-10.4."""
    if fields.here >= CITIES:
        return "not_a_city"
    return "" if on_track(fields.books[fields.here]) else "book_not_on_track"


def _puppetry_fault(fields: Fields, command: pb.CastSpell) -> str:
    """SB-10.7."""
    if len(fields.places) == 1 or (command.HasField("mage") and command.mage == fields.acting):
        return "no_target"
    return "" if command.HasField("mage") else "unknown_id"


def _sun_burst_fault(fields: Fields, command: pb.CastSpell) -> str:
    """SB-10.8."""
    if not command.card:
        return "unknown_id" if top_wicked_card(fields) else "no_target"
    if command.card not in fields.moon_pile:
        return "card_elsewhere"
    return "" if command.card in WICKED else "not_wicked"


def _teleport_fault(fields: Fields, command: pb.CastSpell) -> str:
    """SB-10.9."""
    if not command.HasField("mage") or not command.to:
        return "unknown_id"
    return "same_place" if fields.places[command.mage] == PLACE_INDEX[command.to] else ""


def _smile_fault(fields: Fields, _command: pb.CastSpell) -> str:
    """SB-10.11."""
    ally = ally_at(fields, fields.here)
    if not ally:
        return "no_ally_here"
    return "" if amount_at(fields, fields.here) + _MORE >= INFLUENCE[ally] else "influence_short"


def _hat_trick_fault(fields: Fields, command: pb.CastSpell) -> str:
    """SB-10.5."""
    if not command.piece:
        return "unknown_id"
    piece = PIECE_INDEX[command.piece]
    batch = fields.batch
    return "" if batch is not None and piece != TROLL and piece in batch.moves else "no_target"


_FAULTS: Final[dict[str, Callable[[Fields, pb.CastSpell], str]]] = {
    BOOK_WYRM: _book_wyrm_fault,
    CIRCLE_OF_MAGI: _circle_fault,
    PUPPETRY: _puppetry_fault,
    SUN_BURST: _sun_burst_fault,
    TELEPORT: _teleport_fault,
    WINNING_SMILE: _smile_fault,
    HAT_TRICK: _hat_trick_fault,
}


# ---- what they do ----------------------------------------------------------------------------------------------------


def _alchemy(course: Course, _event: pb.SpellCast) -> None:
    """SB-10.2: of equal moonstones the first is turned."""
    draft = course.draft
    magic = draft.progress is not None
    course.tell(pb.StoneTurned(number=next(stone.number for stone in draft.stones if not stone.counts_as_sun)))
    if magic:
        course.move_back(draft.here, ALCHEMY)


def _book_wyrm(course: Course, event: pb.SpellCast) -> None:
    course.move_book(BOOK_INDEX[event.book], event.mage, BOOK_WYRM)


def _circle_of_magi(course: Course, _event: pb.SpellCast) -> None:
    """SB-10.4: one step for each mage there."""
    draft = course.draft
    city = draft.here
    for _ in range(draft.places.count(city)):
        if on_track(draft.books[city]):
            course.move_book(city, draft.turn_mage, CIRCLE_OF_MAGI)


def _hat_trick(course: Course, event: pb.SpellCast) -> None:
    course.tell(pb.MovePrevented(piece=event.piece))


def _puppetry(course: Course, event: pb.SpellCast) -> None:
    course.tell(pb.PuppetTaken(mage=event.mage, puppet=event.target))


def _sun_burst(course: Course, event: pb.SpellCast) -> None:
    course.discard(event.card, "tower", SUN_BURST)


def _teleport(course: Course, event: pb.SpellCast) -> None:
    course.move(event.target, PLACE_INDEX[event.to], TELEPORT)
    course.arrive(event.target, charges=event.target)


def _winning_smile(course: Course, _event: pb.SpellCast) -> None:
    course.recruit_if_enough(course.draft.here, _MORE)


_EFFECTS: Final[dict[str, Callable[[Course, pb.SpellCast], None]]] = {
    ALCHEMY: _alchemy,
    BOOK_WYRM: _book_wyrm,
    CIRCLE_OF_MAGI: _circle_of_magi,
    HAT_TRICK: _hat_trick,
    PUPPETRY: _puppetry,
    SUN_BURST: _sun_burst,
    TELEPORT: _teleport,
    WINNING_SMILE: _winning_smile,
}


# ---- windows ---------------------------------------------------------------------------------------------------------


def pass_window(course: Course, seat: int) -> str:
    """SB-16.3."""
    window = course.draft.window
    if window is None:
        return "wrong_state"
    course.tell(pb.Passed(window=window.kind.value, seat=seat))
    go_on(course)
    return ""
