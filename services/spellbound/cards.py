"""What the rules ask of a card, looked up by its id (SB-2)."""

from __future__ import annotations

from typing import Final

from spellbound.catalogue import DATA, ModeRecord
from spellbound.places import BOOK_INDEX, NOWHERE

__all__ = [
    "ALLIES",
    "BOOK",
    "CARD_ORDER",
    "COLOUR",
    "FAIRY_SPRING",
    "FORTUNA",
    "FORTUNA_VILLAGE",
    "GUARDS",
    "INFLUENCE",
    "KNIGHT",
    "MINIONS",
    "MODES",
    "MODE_IDS",
    "MOON",
    "PIXIES",
    "SET_CARDS",
    "SPELLS",
    "SQUIRE",
    "STEPS",
    "SUN",
    "TOWER",
    "TROLLS",
    "TYPE",
    "WARLOCKS",
    "WICKED",
    "WITCHES",
    "Timing",
]

FORTUNA: Final = "fortuna_deck"
FORTUNA_VILLAGE: Final = "fortuna_village"
TOWER: Final = "witchs_tower"
FAIRY_SPRING: Final = "fairy_spring"
KNIGHT: Final = "knight"
SQUIRE: Final = "squire"
GUARDS: Final = frozenset({KNIGHT, SQUIRE})

STEPS: Final = (
    "move",
    "magic",
    "influence",
    "book_own",
    "book_any",
    "watchman",
    "changeling",
    "tower_discard_top",
)
"""Kinds of steps that a seat takes one by one; the other kinds are carried out at once."""

CARD_ORDER: Final = {card.id: number for number, card in enumerate(DATA.cards)}
TYPE: Final = {card.id: card.type for card in DATA.cards}
SUN: Final = {card.id: card.sun for card in DATA.cards}
MOON: Final = {card.id: card.moon for card in DATA.cards}
BOOK: Final = {card.id: BOOK_INDEX.get(card.book, NOWHERE) for card in DATA.cards}
"""Number of a basic card's own book."""
INFLUENCE: Final = {card.id: card.influence for card in DATA.cards if card.group == "ally"}
"""What an ally asks for (SB-2.8)."""
COLOUR: Final = {card.id: BOOK_INDEX[card.colour] for card in DATA.cards if card.group == "witch"}
"""Number of the hat that a witch card moves."""

ALLIES: Final = frozenset(INFLUENCE)
WITCHES: Final = frozenset(COLOUR)
TROLLS: Final = frozenset(card.id for card in DATA.cards if card.group == "troll")
WICKED: Final = WITCHES | TROLLS
MINIONS: Final = DATA.minion_order
PIXIES: Final = frozenset(card.id for card in DATA.cards if card.type == "pixies")
WARLOCKS: Final = tuple(card.id for card in DATA.cards if card.type == "warlock")
SET_CARDS: Final = {card: ally_set.cards for ally_set in DATA.ally_sets for card in ally_set.cards}
"""By ally: all cards of its set, in the data's order."""

MODES: Final[dict[str, dict[str, ModeRecord]]] = {
    card.id: {mode.id: mode for mode in DATA.types[card.type].modes} for card in DATA.cards
}
MODE_IDS: Final = frozenset(mode for modes in MODES.values() for mode in modes)

SPELLS: Final = {card.id: card.timing for card in DATA.cards if card.group == "spell"}
"""Each spell's timing (SB-10.1)."""


class Timing:
    """When spells are cast (SB-10.1)."""

    ANY_TIME: Final = "any_time"
    OWN_TURN: Final = "own_turn"
    AT_ONCE: Final = "at_once"
