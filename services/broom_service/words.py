"""The game's words in each language, read from `data/<language>.toml`; every language has the same keys."""

from __future__ import annotations

from typing import Final

import msgspec

from grimoire.engine.phrasebook import Phrases, read_phrases

__all__ = ["LANGUAGES", "WORDS", "Words", "words_in"]

LANGUAGES: Final = ("en", "el", "fi")
"""English, the rulebook's Greek, and Finnish."""


class Words(Phrases, frozen=True, forbid_unknown_fields=True):
    """One language.

    Attributes:
        names: of things that are told apart by a number, a letter or figures.
        called, texts: names by id, and what things do; of English and Greek both stand in the data (BS-18).
    """

    names: dict[str, str]
    called: dict[str, str] = msgspec.field(default_factory=dict)
    texts: dict[str, str] = msgspec.field(default_factory=dict)


WORDS: Final = read_phrases("broom_service", Words, LANGUAGES)


def words_in(language: str) -> Words:
    """The words of a language; English for one that the game does not speak."""
    return WORDS.get(language, WORDS["en"])
