"""The board's words, and the view as this game's."""

from __future__ import annotations

from typing import Final

from grimoire.engine.board import Shown
from grimoire.engine.phrasebook import read_screen_words
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from spellbound.words import LANGUAGES, Words, words_in

__all__ = ["Speech", "view_of"]

_WORDS: Final = read_screen_words("spellbound")


class Speech:
    """The board's words in one language, `data/screen.toml`; English for one that the game does not speak."""

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else LANGUAGES[0]
        self._texts = _WORDS[self.language]

    def __call__(self, key: str, **arguments: object) -> str:
        """A text with its arguments filled in."""
        return self._texts[key].format(**arguments)

    @property
    def words(self) -> Words:
        """The game's own words."""
        return words_in(self.language)


def view_of(shown: Shown) -> pb.View:
    """The view as this game's.

    Raises:
        TypeError: if it is another game's.
    """
    if not isinstance(shown.view, pb.View):
        raise TypeError(f"{type(shown.view).__name__} is no view of Spellbound")
    return shown.view
