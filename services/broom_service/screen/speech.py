"""The board's words, and the view as this game's."""

from __future__ import annotations

from typing import Final

from broom_service.words import Words, words_in
from grimoire.engine.board import Shown
from grimoire.engine.lines import own_view
from grimoire.engine.phrasebook import ScreenSpeech, read_screen_words
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["Speech", "view_of"]

_WORDS: Final = read_screen_words("broom_service")


class Speech(ScreenSpeech):
    """The board's words in one language, `data/screen.toml`."""

    def __init__(self, language: str) -> None:
        super().__init__(_WORDS, language)

    @property
    def words(self) -> Words:
        """The game's own words."""
        return words_in(self.language)


def view_of(shown: Shown) -> pb.View:
    """The view as this game's.

    Raises:
        TypeError: if it is another game's.
    """
    return own_view(shown.view, pb.View, "Broom Service")
