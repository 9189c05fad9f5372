"""The board's words, and how numbers and long words are written."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib

import msgspec

from grimoire.engine.board import Shown
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.screen.signs import BAD, GOOD
from two_towers.short import signed
from two_towers.text import card_name
from two_towers.words import LANGUAGES, words_in

__all__ = ["Speech", "changed", "cut", "fitting", "view_of"]


@functools.cache
def _catalogue() -> dict[str, dict[str, str]]:
    text = importlib.resources.files("two_towers").joinpath("data", "screen.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, dict[str, str]])


class Speech:
    """The board's words in one language, `data/screen.toml`; English for one that the game does not speak."""

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else LANGUAGES[0]
        self._texts = _catalogue()[self.language]

    def __call__(self, key: str, **arguments: object) -> str:
        """A text with its arguments filled in."""
        return self._texts[key].format(**arguments)

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


def cut(text: str, width: int) -> str:
    """At most `width` cells of a text.

    >>> cut("Lohikäärmeen sydän", 10)
    'Lohikäärm…'
    """
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def fitting(room: int, *texts: str) -> str:
    """The first text that fits into the room, else the last.

    >>> fitting(8, "+3 a turn", "+3/turn", "+3")
    '+3/turn'
    """
    return next((text for text in texts if len(text) <= room), texts[-1])


def view_of(shown: Shown) -> pb.View:
    """The view as this game's.

    Raises:
        TypeError: if it is another game's.
    """
    if not isinstance(shown.view, pb.View):
        raise TypeError(f"{type(shown.view).__name__} is no view of Two Towers")
    return shown.view
