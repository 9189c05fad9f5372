"""The deal (SB-3.4 to SB-3.7, SB-20.1): what is shuffled before the first card is drawn."""

from __future__ import annotations

from typing import Final

import msgspec

from grimoire.engine import Draws
from spellbound.cards import CARD_ORDER
from spellbound.catalogue import DATA
from spellbound.places import VILLAGES
from spellbound.state import Terms

__all__ = ["Deal", "deal", "first_mage", "shuffled_start_deck", "sorted_cards", "villages_to_reveal"]

_FEW_MAGES: Final = 2
"""With so many mages, or fewer, the City Watchman is in the start deck (SB-3.5)."""

_LOCATIONS: Final = tuple(card.id for card in DATA.cards if card.kind == "location")


class Deal(msgspec.Struct, frozen=True):
    """What was dealt; index 0 of a deck is its top.

    Attributes:
        villages: card of each village.
        start_deck: in the order in which it is given to be shuffled.
    """

    spell_deck: tuple[str, ...]
    villages: tuple[str, ...]
    set_aside: tuple[str, ...]
    box: tuple[str, ...]
    wicked_deck: tuple[str, ...]
    start_deck: tuple[str, ...]


def deal(terms: Terms, draws: Draws) -> Deal:
    """Spells, villages and the wicked deck, in that order."""
    few = len(terms.mage_seats) <= _FEW_MAGES
    spells = draws.shuffle("spells", [card.id for card in DATA.cards if card.kind == "spell"])
    in_deck = DATA.start_deck.mages_1_2 if few else ()
    candidates = [s.village_first for s in DATA.ally_sets if s.village_first not in in_deck]
    allies = draws.shuffle("villages/allies", candidates)
    stay = DATA.constants.villages_allies
    villages = draws.shuffle("villages/place", [*allies[:stay], *_LOCATIONS])
    dealt = {*candidates, *in_deck}
    wicked = draws.shuffle("wicked", DATA.wicked_deck.shuffled)
    return Deal(
        spell_deck=(*spells,),
        villages=(*villages,),
        set_aside=tuple(card for s in DATA.ally_sets for card in s.cards if card not in dealt),
        box=(*allies[stay:],),
        wicked_deck=(*wicked,) if terms.troll_buster else (DATA.wicked_deck.top, *wicked),
        start_deck=(
            *DATA.start_deck.always,
            *in_deck,
            *(DATA.start_deck.troll_buster if terms.troll_buster else ()),
        ),
    )


def shuffled_start_deck(cards: tuple[str, ...], attempt: int, draws: Draws) -> tuple[str, ...]:
    """SB-3.9; attempts count from 1."""
    label = "destiny/0" if attempt == 1 else f"destiny/0/{attempt}"
    return (*draws.shuffle(label, cards),)


def villages_to_reveal(draws: Draws) -> list[str]:
    """SB-3.10."""
    return draws.sample("villages/reveal", VILLAGES, DATA.constants.face_up_at_start)


def first_mage(option: str, mages: int, draws: Draws) -> int:
    """SB-3.10; the label is asked only where chance decides (SB-20.1)."""
    return draws.below("first_mage", mages) if option == "random" else int(option)


def sorted_cards(cards: tuple[str, ...]) -> list[str]:
    """In the data's order.

    >>> sorted_cards(("fortuna_deck", "basic_move_red"))
    ['basic_move_red', 'fortuna_deck']
    """
    return sorted(cards, key=CARD_ORDER.__getitem__)
