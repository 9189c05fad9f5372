"""Every rejection of the game's own list (WG-14), each with its rule and a sentence."""

from __future__ import annotations

import functools
from typing import Final

from grimoire.engine import Illegal

__all__ = ["CODES", "bad_position", "refuse"]

CODES: Final[dict[str, tuple[str, str]]] = {
    "match_over": ("WG-12.1", "The match is over."),
    "not_authorised": ("WG-14", "This command is not yours to send."),
    "not_your_prompt": ("WG-4.9", "It is the other player's decision."),
    "wrong_state": ("WG-4", "This cannot be done at this point of the turn."),
    "unknown_id": ("WG-14", "There is no such card, piece, space, kind, slot, group or choice."),
    "spell_not_held": ("WG-13", "You do not hold this spell."),
    "spell_timing": ("WG-13", "This spell cannot be cast now."),
    "card_not_in_hand": ("WG-10.1", "This card is not in your hand."),
    "card_not_open": ("WG-6.4", "This card does not lie open there."),
    "bad_choice": ("WG-3.5", "Name two different cards, and the kind of one of them."),
    "lantern_not_bright": ("WG-6", "You have no bright lantern of this kind in the yard."),
    "lantern_not_on_board": ("WG-5.5", "This lantern is not on your wizard board."),
    "already_lit": ("WG-5.5", "This lantern is lit already."),
    "nothing_lit": ("WG-5.6", "None of your lanterns is lit."),
    "deposit_not_open": ("WG-5.6", "You hold no deposit there that this can be done with."),
    "no_pair": ("WG-5.2", "Your two spirits are not of the same kind."),
    "not_enough_water": ("WG-5.1", "There is not so much water."),
    "not_enough_fire": ("WG-9.3", "You do not have so much fire."),
    "bad_amount": ("WG-9.3", "This is not an amount that can be used here."),
    "not_your_gnome": ("WG-6.5", "This gnome cannot be chosen by you."),
    "gnome_fixed": ("WG-2.11", "A gnome that bears a lantern stays where it is."),
    "gnome_on_terrace": ("WG-2.9", "A gnome on a terrace is out of reach of this spell."),
    "in_transit": ("WG-8.7", "This piece came straight onto a border and stays there until the attack phase."),
    "already_moved": ("WG-6.7", "This piece has taken its step in this action."),
    "no_supply": ("WG-11.1", "The supply has run out."),
    "origin_invalid": ("WG-6.5", "Nothing can be brought from there."),
    "not_adjacent": ("WG-6.2", "These do not touch."),
    "forbidden_space": ("WG-2.9", "This piece may never be there: a pit, or a terrace."),
    "space_occupied": ("WG-2.8", "The space is taken."),
    "stack_full": ("WG-2.8", "Two pests are there already."),
    "no_target": ("WG-8.3", "There is nothing that could be attacked."),
    "own_target": ("WG-8.3", "This would be an attack on a gnome of your own side."),
    "border_taken": ("WG-8.2", "There is a threat over this border already."),
    "deposit_full": ("WG-6.3", "This deposit holds five water already."),
    "deposit_blocked": ("WG-6.3", "A pest or fire stands on this deposit."),
    "fire_full": ("WG-6.6", "You have five fire already."),
    "hand_full": ("WG-6.4", "Your hand is full: name a card to discard."),
    "discard_not_allowed": ("WG-6.4", "No card is discarded for this."),
    "opposed": ("WG-9.1", "Somebody stands there: attack, or withdraw."),
    "unopposed": ("WG-9.1", "Nobody stands there any more: advance, or withdraw."),
    "target_blocked": ("WG-9.1", "This group can only withdraw."),
    "no_defence_possible": ("WG-9.5", "This cannot be defended so."),
    "no_effect": ("WG-7.3", "The spell would do nothing."),
    "discard_required": ("WG-13.5", "Each step of Butterfly costs a spirit card of your hand."),
}
"""Rule and sentence of each code, in the order in which they apply."""


@functools.cache
def refuse(code: str, rule: str = "") -> Illegal:
    """The rejection of this code.

    Args:
        code: one of `CODES`.
        rule: the rule that is broken, where it is not the code's usual one.

    >>> refuse("no_pair").rule
    'WG-5.2'
    """
    usual, sentence = CODES[code]
    return Illegal(code, rule or usual, sentence)


def bad_position(fault: str) -> Illegal:
    """An arranged position that cannot be set up."""
    return Illegal("bad_position", "WG-2", fault, field="position")
