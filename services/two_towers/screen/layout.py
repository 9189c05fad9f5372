"""How a board of some size is divided, and which of a card's texts it has room for."""

from __future__ import annotations

import functools
import textwrap
from typing import Final

import msgspec

from two_towers.cards import CARDS
from two_towers.short import short_text
from two_towers.state import HAND_SIZE
from two_towers.words import LANGUAGES, words_in

__all__ = ["Layout", "effect_lines", "layout", "text_lines"]

_LEAST_FIELD: Final = 9
_LEAST_SIDE: Final = 22
_WIDEST_SIDE: Final = 34
_WHOLE_TEXT_ROWS: Final = 5
_CHOICES: Final = ((6, 26, 8), (3, 26, _WHOLE_TEXT_ROWS), (3, 26, 3))
"""Columns, least width of a card, rows of text; the best first. The longest name needs 26 cells with its frame."""


class Layout(msgspec.Struct, frozen=True):
    """A board's parts, in cells.

    Attributes:
        columns: cards side by side.
        card_width, card_height: of one card, its frame included.
        side: width of a seat's numbers.
    """

    columns: int
    card_width: int
    card_height: int
    side: int

    @property
    def whole_texts(self) -> bool:
        """Cards are large enough for their whole texts under the short ones."""
        return self.card_height - 2 >= _WHOLE_TEXT_ROWS

    @property
    def hand_height(self) -> int:
        """Of all rows of cards."""
        return self.card_height * -(-HAND_SIZE // self.columns)


@functools.lru_cache(64)
def layout(width: int, height: int) -> Layout:
    """The best way to divide a board; at least nine rows are for the towers.

    >>> layout(80, 19)
    Layout(columns=3, card_width=26, card_height=5, side=22)
    >>> layout(164, 50).columns, layout(104, 34).card_height
    (6, 7)
    """
    side = max(_LEAST_SIDE, min(_WIDEST_SIDE, width * 27 // 100))
    for columns, least, wanted in _CHOICES:
        card_width = width // columns
        if card_width >= least:
            tried = Layout(columns, card_width, max(wanted, _effect_height(card_width - 2)) + 2, side)
            if height - tried.hand_height >= max(_LEAST_FIELD, height * 2 // 5):
                return tried
    # Smaller than what is promised: nothing may break, but names are cut.
    return Layout(3, max(12, width // 3), max(3, min(5, height // 4)), min(side, max(10, width // 3)))


def effect_lines(card: str, language: str, width: int) -> list[str]:
    """What a card does, in the short form, in lines of at most `width` cells; ↻ on the frame says that one acts again.

    >>> effect_lines("gem_spear", "en", 24), effect_lines("faerie", "en", 24)
    (['enemy tower −5'], ['damage 2'])
    """
    text = short_text(card, language).removesuffix(words_in(language).short["play_again"]).removesuffix(" · ")
    return textwrap.wrap(text, width) or [""]


def text_lines(card: str, language: str, width: int, rows: int) -> list[str]:
    """A card's whole text, where cards are large enough for such texts and this one fits; else nothing.

    Args:
        card: its id.
        language: of the text.
        width: of a line.
        rows: that are left under the short form.
    """
    lines = textwrap.wrap(CARDS[card].text.in_language(language), width)
    return lines if len(lines) <= rows else []


@functools.cache
def _effect_height(width: int) -> int:
    """Lines that the longest short form of all cards needs, in whichever language is longer."""
    return max(len(effect_lines(card, language, width)) for card in CARDS for language in LANGUAGES)
