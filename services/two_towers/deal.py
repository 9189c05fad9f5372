"""The deal (TT-3): who begins, the pack, twelve cards one at a time."""

from __future__ import annotations

import msgspec

from grimoire.engine import Draws, Seat
from two_towers.cards import CATALOGUE
from two_towers.state import HAND_SIZE, other
from two_towers.turn import draw_endless

__all__ = ["Deal", "deal", "first_seat"]


class Deal(msgspec.Struct, frozen=True):
    """What was dealt.

    Attributes:
        hands: by seat, by slot.
        pile: what is left, from the top; empty in an endless match.
        order: every card in draw order, as the deal digest lists them (TT-9.5).
    """

    hands: tuple[tuple[str, ...], tuple[str, ...]]
    pile: tuple[str, ...]
    order: tuple[str, ...]


def first_seat(first_player: str, draws: Draws) -> Seat:
    """TT-3.3; the label `first_seat` is asked only where chance decides (TT-9.4)."""
    if first_player == "random":
        return Seat(draws.coin("first_seat"))
    return Seat(int(first_player.removeprefix("seat_")))


def deal(*, standard: bool, first: Seat, draws: Draws) -> Deal:
    """First seat slot 0, other seat slot 0, first seat slot 1, ... (TT-3.5)."""
    hands: tuple[list[str], list[str]] = ([], [])
    pack = draws.shuffle("deck", CATALOGUE) if standard else []  # TT-3.4
    order: list[str] = []
    for n in range(2 * HAND_SIZE):
        hand = hands[first if n % 2 == 0 else other(first)]
        card = pack[n] if standard else draw_endless(hand, n + 1, draws)
        hand.append(card)
        order.append(card)
    pile = tuple(pack[2 * HAND_SIZE :])
    return Deal(((*hands[0],), (*hands[1],)), pile, (*order, *pile))
