"""The worst card of a hand (TT-7.5): what the clock discards, and what the built-in players give up first."""

from __future__ import annotations

from collections.abc import Sequence

from two_towers.cards import CARDS
from two_towers.fields import Numbers
from two_towers.state import EMPTY

__all__ = ["worst_slot"]


def worst_slot(hand: Sequence[str], numbers: Numbers) -> int:
    """The slot of the worst card.

    Larger shortfall first, then cards without play again, then lower cost, then lower number, then lower slot.

    >>> worst_slot(["lucky_cache", "basic_wall", "dragon", "orc", "ruby", "faerie"], [20, 5, 2, 2, 2, 5, 5, 5])
    2
    """

    def key(slot: int) -> tuple[int, bool, int, int, int]:
        card = CARDS[hand[slot]]
        return (-max(0, card.cost - numbers[card.stock]), card.play_again, card.cost, card.no, slot)

    return min((slot for slot, card in enumerate(hand) if card != EMPTY), key=key)
