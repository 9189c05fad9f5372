"""Every rejection of the game's own list (SB-18), each with its rule and a sentence."""

from __future__ import annotations

import functools
from typing import Final

from grimoire.engine import Illegal

__all__ = ["CODES", "ORDER", "bad_position", "refuse"]

CODES: Final[dict[str, tuple[str, str]]] = {
    "match_over": ("SB-15.1", "The match is over."),
    "not_authorised": ("SB-18", "This command is not yours to send."),
    "not_your_prompt": ("SB-16.1", "You are not asked now."),
    "wrong_state": ("SB-4", "This cannot be done at this point of the turn."),
    "unknown_id": ("SB-18", "There is no such card, mode, step, place, book, piece, mage, spell or policy here."),
    "spell_not_held": ("SB-10.1", "None of your mages holds this spell."),
    "spell_timing": ("SB-10.1", "This spell cannot be cast now."),
    "card_not_in_display": ("SB-2.14", "This card does not lie in the display."),
    "card_elsewhere": ("SB-2.14", "This card does not lie there."),
    "no_force": ("SB-5.3", "Fortuna has no force and cannot be sent to the tower."),
    "one_card_only": ("SB-5.1", "One card goes to the tower; only Pixies go together."),
    "not_playable": ("SB-6.6", "This card has no action."),
    "fortuna_stays": ("SB-6.5", "Fortuna cannot be discarded."),
    "cost_impossible": ("SB-8.7", "This card's cost cannot be paid so."),
    "step_not_left": ("SB-6.2", "The card has no such step left."),
    "same_place": ("SB-7.1", "That is where it is already."),
    "city_to_city": ("SB-7.1", "No movement leads from one city directly to another."),
    "not_a_city": ("SB-8.3", "That is no city."),
    "rider_not_here": ("SB-8.2", "Only another mage at the same place can ride along."),
    "one_rider": ("SB-8.2", "A Centaur carries one rider."),
    "no_carry": ("SB-8.2", "Only a Centaur carries a rider."),
    "ride_refused": ("SB-8.2", "This mage has declined to ride there."),
    "no_magic_here": ("SB-7.6", "Magic works in cities and in the wilderness only."),
    "wand_full": ("SB-7.5", "The wand is full."),
    "hat_at_start": ("SB-7.7", "The hat stands on its first space already."),
    "no_ally_here": ("SB-7.9", "No ally lies face up here."),
    "influence_elsewhere": ("SB-7.9", "All influence of one card goes to one village."),
    "influence_short": ("SB-10.11", "The influence would not be enough."),
    "not_at_the_book": ("SB-7.15", "The mage is not where this book is searched."),
    "book_not_on_track": ("SB-7.15", "This book is gained or lost."),
    "wand_too_low": ("SB-9.1", "The wand is not charged so high."),
    "not_wicked": ("SB-9.2", "This is neither a witch card nor a troll card."),
    "no_target": ("SB-8.4", "There is nothing this could be done to."),
    "not_lowest": ("SB-8.4", "Another ally asks for less influence."),
    "too_many_cards": ("SB-6.7", "At most two cards other than Fortuna may stay in the display."),
    "books_missing": ("SB-15.4", "Four books are needed."),
    "not_at_tower": ("SB-4.3", "The mage is not at the Witch's Tower."),
    "mages_gathered": ("SB-4.3", "All mages are at the Witch's Tower."),
    "mages_not_gathered": ("SB-15.4", "Not every mage is at the Witch's Tower."),
    "bad_assignment": ("SB-15.4", "Every gained book has one use, and a card is destroyed once."),
}
"""Rule and sentence of each code, in the order in which they apply."""

ORDER: Final = tuple(CODES)


@functools.cache
def refuse(code: str, rule: str = "") -> Illegal:
    """The rejection of this code.

    Args:
        code: one of `CODES`.
        rule: the rule that is broken, where it is not the code's usual one.

    >>> refuse("wand_full").rule
    'SB-7.5'
    """
    usual, sentence = CODES[code]
    return Illegal(code, rule or usual, sentence)


def bad_position(fault: str) -> Illegal:
    """An arranged position that cannot be set up."""
    return Illegal("bad_position", "SB-2", fault, field="position")
