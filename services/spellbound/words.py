"""The game's words in each language, read from `data/<language>.toml`; every language has the same keys."""

from __future__ import annotations

from typing import Final

from grimoire.engine.phrasebook import LANGUAGES, Phrases, read_phrases

__all__ = ["LANGUAGES", "WORDS", "Words", "words_in"]


class Words(Phrases, frozen=True, forbid_unknown_fields=True):
    """One language; `places` are names, `mages` a text with {mage}."""

    places: dict[str, str]
    mages: dict[str, str]


WORDS: Final = read_phrases("spellbound", Words)


def words_in(language: str) -> Words:
    """The words of a language; English for one that the game does not speak."""
    return WORDS.get(language, WORDS["en"])
