"""The game's words in each language, read from `data/<language>.toml`; every language has the same keys."""

from __future__ import annotations

import importlib.resources
import tomllib
from typing import Final

import msgspec

__all__ = ["LANGUAGES", "WORDS", "Words", "words_in"]

LANGUAGES: Final = ("en", "fi")


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One language. Each table maps a key to a text, some with {named} arguments; clauses to a title and a sentence."""

    name: str
    events: dict[str, str]
    prompts: dict[str, str]
    commands: dict[str, str]
    refs: dict[str, str]
    rejections: dict[str, str]
    reasons: dict[str, str]
    ladder: dict[str, str]
    terms: dict[str, str]
    options: dict[str, str]
    presets: dict[str, str]
    short: dict[str, str]
    bots: dict[str, str]
    terminal: dict[str, str]
    marks: dict[str, str]
    clauses: dict[str, tuple[str, str]]


def _read(language: str) -> Words:
    text = importlib.resources.files("two_towers").joinpath("data", f"{language}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Words)


WORDS: Final = {language: _read(language) for language in LANGUAGES}


def words_in(language: str) -> Words:
    """The words of a language; English for one that the game does not speak."""
    return WORDS.get(language, WORDS["en"])
