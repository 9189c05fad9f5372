"""Witching time and the story, card steps apart: cards, wand, lying influence, the end (SB-5, SB-6, SB-9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.cards import ALLIES, CARD_ORDER, FORTUNA, GUARDS, MODES, PIXIES, STEPS, SUN, WARLOCKS, WICKED, WITCHES
from spellbound.catalogue import DATA, ModeRecord
from spellbound.course import Course
from spellbound.fate import end_story as end_of_story
from spellbound.fate import skip_turn as turn_is_skipped
from spellbound.notions import all_gathered, books_gained, tower_at
from spellbound.places import FIRST_VILLAGE, NOWHERE, PLACE_INDEX
from spellbound.state import Fields
from spellbound.steps import book_fault, move_fault
from spellbound.superfluous import superfluous

__all__ = [
    "cost_cards",
    "discard_card",
    "discard_influence",
    "end_card",
    "end_story",
    "mode_fault",
    "play_card",
    "send_to_tower",
    "skip_fault",
    "skip_turn",
    "too_many_cards",
    "use_wand",
]

_CONSTANTS = DATA.constants

# ---- witching time (SB-5, SB-4.3) ------------------------------------------------------------------------------------


def send_to_tower(course: Course, command: pb.SendToTower) -> str:
    """SB-5.1 to SB-5.4."""
    draft = course.draft
    cards = [*command.cards]
    if any(card not in CARD_ORDER for card in cards):
        return "unknown_id"
    if any(card not in draft.lower and card not in draft.upper for card in cards):
        return "card_not_in_display"
    if FORTUNA in cards:
        return "no_force"
    if len(cards) != 1 and not (cards and PIXIES.issuperset(cards) and len({*cards}) == len(cards)):
        return "one_card_only"
    course.tell(pb.SentToTower(cards=cards, pile="sun" if SUN[cards[0]] else "moon"))
    return ""


def skip_fault(fields: Fields) -> str:
    """SB-4.3."""
    if books_gained(fields) < _CONSTANTS.books_to_win:
        return "books_missing"
    tower = tower_at(fields)
    if tower == NOWHERE or fields.here != tower:
        return "not_at_tower"
    return "mages_gathered" if all_gathered(fields) else ""


def skip_turn(course: Course, _command: pb.SkipTurn) -> str:
    """SB-4.3."""
    fault = skip_fault(course.draft)
    if not fault:
        turn_is_skipped(course)
    return fault


# ---- cards (SB-6) ----------------------------------------------------------------------------------------------------


def cost_cards(fields: Fields, card: str) -> list[str]:
    """What may be discarded for the Vampire (SB-8.7)."""
    cards = [each for each in fields.lower if each in ALLIES and each != card]
    return cards + [each for each in fields.upper if each in WITCHES]


def mode_fault(fields: Fields, card: str, mode: ModeRecord, discard: str) -> str:
    """Why a mode's cost cannot be paid so."""
    if mode.cost == "discard_other_warlock":
        return "" if all(warlock in fields.lower for warlock in WARLOCKS) else "cost_impossible"
    if mode.cost != "discard_ally_or_witch" or discard in cost_cards(fields, card):
        return ""
    if discard in WITCHES:
        return "card_elsewhere"
    if discard in ALLIES and discard not in fields.lower and discard not in fields.upper:
        return "card_not_in_display"
    return "cost_impossible"


def play_card(course: Course, command: pb.PlayCard) -> str:
    """SB-6.1."""
    draft, card = course.draft, command.card
    modes = MODES.get(card)
    mode = modes.get(command.mode) if modes else None
    if modes is None or (modes and mode is None):
        return "unknown_id"
    if command.discard and (command.discard not in CARD_ORDER or (mode and not _names_cost(mode))):
        return "unknown_id"
    if card not in draft.lower:
        return "card_not_in_display"
    if mode is None:
        return "not_playable"
    fault = mode_fault(draft, card, mode, command.discard)
    if fault:
        return fault
    parts = [pb.Part(any=part.any, times=part.times) for part in mode.parts if part.any[0] in STEPS]
    course.tell(pb.CardPlayed(card=card, mode=mode.id, parts=parts))
    if command.discard:
        course.discard(command.discard, "display" if command.discard in draft.lower else "upper_row", "cost")
    if not parts:
        _AT_ONCE[mode.parts[0].any[0]](course, card)
    return ""


def _names_cost(mode: ModeRecord) -> bool:
    return mode.cost == "discard_ally_or_witch"


def _guard(course: Course, card: str) -> None:
    """SB-8.9."""
    course.tell(pb.CardEnded(card=card, to="guard"))


def _fight(course: Course, _card: str) -> None:
    """SB-8.10."""
    for witch in [each for each in course.draft.upper if each in WITCHES]:
        course.discard(witch, "upper_row", "warrior")
    course.end_card()


def _decimate(course: Course, card: str) -> None:
    """SB-8.8."""
    other = next(warlock for warlock in WARLOCKS if warlock != card)
    course.discard(other, "display", "cost")
    for wicked in [each for each in course.draft.moon_pile if each in WICKED]:
        course.discard(wicked, "tower", "warlock")
    course.end_card()


_AT_ONCE: Final[dict[str, Callable[[Course, str], None]]] = {
    "guard_all": _guard,
    "guard_first": _guard,
    "display_discard_witches": _fight,
    "tower_discard_all": _decimate,
}


def discard_card(course: Course, command: pb.DiscardCard) -> str:
    """SB-6.5."""
    card = command.card
    if card not in CARD_ORDER:
        return "unknown_id"
    if card not in course.draft.lower:
        return "card_not_in_display"
    if card == FORTUNA:
        return "fortuna_stays"
    course.discard(card, "display", "discard_card")
    return ""


def end_card(course: Course, _command: pb.EndCard) -> str:
    """SB-6.2."""
    course.end_card()
    return ""


def too_many_cards(fields: Fields) -> bool:
    """SB-6.7."""
    return len(fields.lower) - (FORTUNA in fields.lower) > _CONSTANTS.leave_at_most


def end_story(course: Course, _command: pb.EndStory) -> str:
    """SB-6.7."""
    if too_many_cards(course.draft):
        return "too_many_cards"
    end_of_story(course)
    return ""


# ---- the wand (SB-9) -------------------------------------------------------------------------------------------------

_WAND_FIELDS: Final = {1: frozenset({"level", "to"}), 2: frozenset({"level"}), 3: frozenset({"level", "card"})}


def use_wand(course: Course, command: pb.UseWand) -> str:
    """SB-9.1, SB-9.2."""
    draft, level = course.draft, command.level
    fields = _WAND_FIELDS.get(level)
    if fields is None:
        return "wand_too_low"
    if superfluous(command, fields):
        return "unknown_id"
    enough = level <= draft.wands[draft.turn_mage]
    if (command.to and command.to not in PLACE_INDEX) or (command.card and command.card not in CARD_ORDER):
        return "unknown_id"
    fault = _wand_fault(draft, command)
    if fault and fault != "not_wicked":
        return fault
    if not enough:
        return "wand_too_low"
    if fault:
        return fault
    course.tell(pb.WandUsed(mage=draft.turn_mage, level=level))
    if level == 1:
        course.move(draft.acting, PLACE_INDEX[command.to], "wand")
        course.arrive(draft.acting, charges=draft.turn_mage)
    elif level == 2:
        course.move_book(draft.here, draft.turn_mage, "wand")
    else:
        course.discard(command.card, "upper_row", "wand")
    return ""


def _wand_fault(fields: Fields, command: pb.UseWand) -> str:
    """What else is wrong, beside the charge."""
    too_low = command.level > fields.wands[fields.turn_mage]
    if command.level == 1:
        if not command.to:
            return "wand_too_low" if too_low else "unknown_id"
        return move_fault(fields, fields.acting, PLACE_INDEX[command.to])
    if command.level == 2:
        return book_fault(fields)
    if not command.card:
        return "wand_too_low" if too_low else "unknown_id"
    if command.card not in fields.upper:
        return "card_elsewhere"
    return "not_wicked" if command.card in GUARDS else ""


# ---- lying influence (SB-7.14) ---------------------------------------------------------------------------------------


def discard_influence(course: Course, command: pb.DiscardInfluence) -> str:
    """SB-7.14."""
    place = PLACE_INDEX.get(command.village, NOWHERE)
    cards = [*command.cards]
    if place < FIRST_VILLAGE or any(card not in CARD_ORDER for card in cards):
        return "unknown_id"
    lying = {card for card, _ in course.draft.lying[place - FIRST_VILLAGE]}
    if not cards or not lying.issuperset(cards) or len({*cards}) < len(cards):
        return "card_elsewhere"
    for card in cards:
        course.discard(card, command.village, "influence")
    return ""
