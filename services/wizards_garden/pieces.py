"""Pieces, kinds, cards and spells by index and by name. The state counts; events and views speak in ids.

Pieces are numbered in one row: 0..9 the blue gnomes, 10..19 the red ones, 20..29 the pests (WG-2.5).
"""

from __future__ import annotations

from typing import Final

from wizards_garden.catalogue import DATA

__all__ = [
    "CARDS",
    "CARD_KIND",
    "CARD_ORDER",
    "COLOURS",
    "FIRE",
    "FIRE_IN_ALL",
    "FIRST_PEST",
    "GNOME",
    "GNOMES_EACH",
    "KINDS",
    "KIND_INDEX",
    "PEST",
    "PIECES",
    "PIECE_INDEX",
    "SPELLS",
    "SPIRIT",
    "WATER",
    "WATER_IN_ALL",
    "colour_of",
]

COLOURS: Final = DATA.seats
"""By seat (WG-1.2)."""

GNOMES_EACH: Final = DATA.supply.gnomes_per_player
FIRST_PEST: Final = 2 * GNOMES_EACH
"""Pieces below are gnomes, pieces from here on are pests."""

PIECES: Final = (*DATA.piece_ids.gnomes.blue, *DATA.piece_ids.gnomes.red, *DATA.piece_ids.pests)
PIECE_INDEX: Final = {piece: index for index, piece in enumerate(PIECES)}

KINDS: Final = tuple(kind.id for kind in DATA.kinds)
KIND_INDEX: Final = {kind: index for index, kind in enumerate(KINDS)}

# Plain integers, not an enum: they index tuples in the hottest loops there are.
PEST: Final = 0
WATER: Final = 1
SPIRIT: Final = 2
GNOME: Final = 3
FIRE: Final = 4

CARDS: Final = tuple(card for kind in DATA.kinds for card in kind.card_ids)
"""The spirit cards in the order of the data (WG-16)."""

CARD_ORDER: Final = {card: index for index, card in enumerate(CARDS)}
CARD_KIND: Final = {card: KIND_INDEX[kind.id] for kind in DATA.kinds for card in kind.card_ids}

SPELLS: Final = tuple(spell.id for spell in DATA.spells)
"""In the order of WG-13."""

WATER_IN_ALL: Final = DATA.supply.water
FIRE_IN_ALL: Final = DATA.supply.fire


def colour_of(piece: int) -> int:
    """The seat of a gnome, 2 for a pest.

    >>> colour_of(PIECE_INDEX["red_gnome_01"]), colour_of(PIECE_INDEX["pest_03"])
    (1, 2)
    """
    return piece // GNOMES_EACH
