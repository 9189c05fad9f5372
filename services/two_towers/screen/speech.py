"""The board's words, and how numbers and long words are written."""

from __future__ import annotations

from typing import Final

from grimoire.engine.board import Shown
from grimoire.engine.lines import own_view
from grimoire.engine.phrasebook import ScreenSpeech, read_screen_words
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.screen.signs import BAD, GOOD
from two_towers.short import signed
from two_towers.text import card_name
from two_towers.words import words_in

__all__ = ["Speech", "changed", "view_of"]


_WORDS: Final = read_screen_words("two_towers")


class Speech(ScreenSpeech):
    """The board's words in one language, `data/screen.toml`."""

    def __init__(self, language: str) -> None:
        super().__init__(_WORDS, language)

    def term(self, key: str) -> str:
        """One of the game's own words."""
        return words_in(self.language).terms[key]

    def card(self, card: str) -> str:
        """A card's name."""
        return card_name(card, self.language)


def changed(n: int) -> tuple[str, str]:
    """A change as text and style; no text where nothing changed.

    >>> changed(5)[0], changed(-3)[0], changed(0)[0]
    (' +5', ' −3', '')
    """
    return (f" {signed(n)}" if n else "", f"bold {GOOD if n > 0 else BAD}")


def view_of(shown: Shown) -> pb.View:
    """The view as this game's.

    Raises:
        TypeError: if it is another game's.
    """
    return own_view(shown.view, pb.View, "Two Towers")
