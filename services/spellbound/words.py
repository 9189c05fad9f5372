"""The game's words in each language, read from `data/<language>.toml`; every language has the same keys."""

from __future__ import annotations

from typing import Final

import msgspec

from grimoire.engine.phrasebook import LANGUAGES, Phrases, read_phrases

__all__ = ["LANGUAGES", "WORDS", "Words", "words_in"]


class Words(Phrases, frozen=True, forbid_unknown_fields=True):
    """One language.

    Attributes:
        mages: names of the figures by number.
        places, books, pieces: names by id.
        types, texts: of card faces by id, their names and what they do; English has them in the data (SB-25).
    """

    mages: dict[str, str]
    places: dict[str, str]
    books: dict[str, str]
    pieces: dict[str, str]
    types: dict[str, str] = msgspec.field(default_factory=dict)
    texts: dict[str, str] = msgspec.field(default_factory=dict)


WORDS: Final = read_phrases("spellbound", Words)


def words_in(language: str) -> Words:
    """The words of a language; English for one that the game does not speak."""
    return WORDS.get(language, WORDS["en"])
