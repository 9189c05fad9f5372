"""What the terminal client itself says, in each language; what a game says comes from the game."""

from __future__ import annotations

import functools
import importlib.resources
from typing import Annotated, Final

import msgspec

__all__ = ["LANGUAGES", "Words", "next_language"]

LANGUAGES: Final = ("en", "fi")

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


def next_language(language: str) -> str:
    """The language after this one, in a circle.

    >>> next_language("en"), next_language("fi")
    ('fi', 'en')
    """
    return LANGUAGES[(LANGUAGES.index(language) + 1) % len(LANGUAGES)] if language in LANGUAGES else LANGUAGES[0]


@functools.cache
def _catalogue(language: str) -> dict[str, _Text]:
    data = importlib.resources.files("grimoire.cli.screens").joinpath("words", f"{language}.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, _Text])
