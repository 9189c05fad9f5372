"""Every rejection of the game's own list (TT-5.2), each with its rule and a sentence."""

from __future__ import annotations

from typing import Final

from grimoire.engine import Illegal
from two_towers.cards import Card

__all__ = ["RULES", "bad_position", "bad_slot", "cannot_afford", "card_mismatch", "empty_slot", "plain"]

RULES: Final = {
    "match_over": "TT-5.2",
    "not_authorised": "TT-5.2",
    "not_your_prompt": "TT-5.2",
    "must_discard": "TT-4.6",
    "bad_slot": "TT-5.2",
    "empty_slot": "TT-5.2",
    "card_mismatch": "TT-5.1",
    "cannot_afford": "TT-4.3",
    "bad_option": "TT-1.5",
    "bad_position": "TT-2",
}
"""The rule that each code breaks."""

_PLAIN: Final = {
    code: Illegal(code, RULES[code], sentence)
    for code, sentence in (
        ("match_over", "The match is over."),
        ("not_authorised", "This command is not yours to send."),
        ("not_your_prompt", "It is the other player's decision."),
        ("must_discard", "You drew a card; now discard one of your six cards."),
    )
}


def plain(code: str) -> Illegal:
    """A rejection without arguments."""
    return _PLAIN[code]


def bad_slot(slot: int) -> Illegal:
    """Not one of the six slots."""
    return _of("bad_slot", f"There is no slot {slot}; slots are 0 to 5.", slot=slot)


def empty_slot(slot: int) -> Illegal:
    """Nothing lies there."""
    return _of("empty_slot", f"Slot {slot} is empty.", slot=slot)


def card_mismatch(slot: int) -> Illegal:
    """Another card lies there than the sender believes."""
    return _of("card_mismatch", f"Slot {slot} does not hold that card; your screen is out of date.", slot=slot)


def cannot_afford(card: Card, stock: int) -> Illegal:
    """The stock does not cover the cost."""
    short = card.cost - stock
    return _of(
        "cannot_afford",
        f"{card.name.en} costs {card.cost} {card.resource}; you have {stock}, so {short} is missing.",
        card=card.id,
        cost=card.cost,
        resource=card.resource,
        stock=stock,
        shortfall=short,
    )


def bad_position(fault: str) -> Illegal:
    """An arranged position that cannot be set up."""
    return Illegal("bad_position", RULES["bad_position"], fault, field="position")


def _of(code: str, sentence: str, **arguments: object) -> Illegal:
    return Illegal(code, RULES[code], sentence, tuple((name, str(value)) for name, value in arguments.items()))
