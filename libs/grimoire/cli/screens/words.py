"""What the terminal client itself says, in each language; what a game says comes from the game."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

__all__ = ["LANGUAGES", "Words", "common_language", "language_name", "next_language"]

LANGUAGES: Final = ("en", "fi", "el")

_OWN_NAMES: Final = {"en": "English", "fi": "Suomeksi", "el": "Ελληνικά"}

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Words:
    """One language's catalogue, `words/<language>.json`: keys to sentences with {named} arguments.

    Args:
        language: one that the client does not speak gives English.

    >>> Words("en")("turn.yours")
    'Your turn'
    >>> Words("fi")("match.leave.hint", command="grimoire play")
    'Takaisin pääset komennolla: grimoire play'
    """

    def __init__(self, language: str) -> None:
        self.language = language if language in LANGUAGES else LANGUAGES[0]
        self._texts = _catalogue(self.language)

    def __call__(self, key: str, **arguments: object) -> str:
        """The sentence for a key.

        Raises:
            KeyError: for a key that no catalogue has: a mistake of the program's own.
        """
        return self._texts[key].format(**arguments)

    def has(self, key: str) -> bool:
        """Whether there is such a sentence."""
        return key in self._texts


def common_language(language: str, games: Sequence[str]) -> str:
    """The one language that client and game both say everything in: the wanted one if both speak it, else English.

    Args:
        language: wanted.
        games: languages of the game.

    >>> common_language("el", ("en", "fi", "el")), common_language("el", ("en", "fi")), common_language("xx", ("xx",))
    ('el', 'en', 'en')
    """
    return language if language in LANGUAGES and language in games else LANGUAGES[0]


def next_language(language: str, games: Sequence[str]) -> str:
    """The language after this one, in a circle of those that client and game both speak.

    Args:
        language: spoken now.
        games: languages of the game.

    >>> next_language("fi", ("en", "fi", "el")), next_language("fi", ("en", "fi"))
    ('el', 'en')
    """
    circle = [each for each in LANGUAGES if each in games]
    return circle[(circle.index(language) + 1) % len(circle)] if language in circle else LANGUAGES[0]


def language_name(language: str) -> str:
    """What a language calls itself: whoever looks for it may understand no other.

    >>> language_name("fi")
    'Suomeksi'
    """
    return _OWN_NAMES[language]


@functools.cache
def _catalogue(language: str) -> dict[str, _Text]:
    data = importlib.resources.files("grimoire.cli.screens").joinpath("words", f"{language}.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, _Text])
