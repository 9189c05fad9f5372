"""The deal (WG-3): who begins, the two decks, five spirit cards and the spells."""

from __future__ import annotations

import msgspec

from grimoire.engine import Draws, Seat
from wizards_garden.catalogue import DATA
from wizards_garden.pieces import CARDS, COLOURS, SPELLS
from wizards_garden.state import other

__all__ = ["Deal", "deal", "first_seat"]


class Deal(msgspec.Struct, frozen=True):
    """What was dealt.

    Attributes:
        hands, spells: by seat.
        deck: what is left of the spirit cards, from the top.
        set_aside: spells that nobody has.
        spirit_order, spell_order: the shuffled decks, as the deal digest lists them.
    """

    hands: tuple[tuple[str, ...], tuple[str, ...]]
    spells: tuple[tuple[str, ...], tuple[str, ...]]
    deck: tuple[str, ...]
    set_aside: tuple[str, ...]
    spirit_order: tuple[str, ...]
    spell_order: tuple[str, ...]


def first_seat(first_player: str, draws: Draws) -> Seat:
    """WG-3.1; the label `first_seat` is asked only where chance decides (WG-16)."""
    if first_player == "random":
        return Seat(draws.coin("first_seat"))
    return Seat(COLOURS.index(first_player))


def deal(*, first: Seat, spells_per_player: int, draws: Draws) -> Deal:
    """The first seat's two spirits, the other's three; then each seat's spells (WG-3.3, WG-3.4)."""
    spirits = draws.shuffle("spirit_deck", CARDS)
    spells = draws.shuffle("spell_deck", SPELLS)
    few, dealt = DATA.constants.deal_first, DATA.constants.deal_first + DATA.constants.deal_second
    hands = [(*spirits[:few],), (*spirits[few:dealt],)]
    cast = 2 * spells_per_player
    held = [(*spells[:spells_per_player],), (*spells[spells_per_player:cast],)]
    return Deal(
        hands=(hands[first], hands[other(first)]),
        spells=(held[first], held[other(first)]),
        deck=(*spirits[dealt:],),
        set_aside=(*spells[cast:],),
        spirit_order=(*spirits,),
        spell_order=(*spells,),
    )
