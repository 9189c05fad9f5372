"""The client's own catalogues: same keys, same arguments, everything used, nothing missing; one language at a time."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest

import grimoire.cli.screens as screens
from grimoire.cli.screens.model import Ending, Stage
from grimoire.cli.screens.words import LANGUAGES, Words, _catalogue, common_language, language_name, next_language

FOLDER = Path(screens.__file__).parent
SOURCES = "\n".join(path.read_text("utf-8") for path in sorted(FOLDER.glob("*.py")))
FAMILIES = {
    "turn.": {stage.value for stage in Stage} | {"yours", "waiting", "watching", "nobody"},
    "ending.": {ending.value for ending in Ending},
    "result.": {"rematch", "audit", "lobby", "look", "quit", "digest", "seed"},
    "key.": {"new", "join", "help", "quit", "log", "resign", "undo"},
    "lobby.help.": {str(n) for n in range(1, 7)},
    "rejection.": None,
    "event.match_voided.": {"not_sealed", "not_opened"},
}
"""Keys that are made in the source, by their beginning."""


def arguments(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_catalogues_have_equal_keys_in_order() -> None:
    for language in LANGUAGES:
        assert list(_catalogue(language)) == sorted(_catalogue("en")), language


@pytest.mark.parametrize("key", list(_catalogue("en")))
def test_a_sentence_takes_the_same_arguments_in_every_language(key: str) -> None:
    assert len({frozenset(arguments(_catalogue(language)[key])) for language in LANGUAGES}) == 1


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_sentences_differ_between_languages(language: str) -> None:
    same = {key for key in _catalogue("en") if _catalogue("en")[key] == _catalogue(language)[key]}
    assert same <= {"plain.lobby.own", "plain.lobby.open", "plain.lobby.watch", "plain.slot"}


def test_every_key_in_the_source_is_in_the_catalogue() -> None:
    asked = set(re.findall(r"words\(\s*[\"']([a-z][a-z0-9_.]*)[\"']", SOURCES))
    asked |= set(re.findall(r"(?:hint|Fault|section)\(\s*\"([a-z]+(?:\.[a-z0-9_]+)+|sending|failure)\"", SOURCES))
    assert len(asked) > 80
    assert asked <= set(_catalogue("en"))


def test_every_key_of_the_catalogue_is_used() -> None:
    literals = set(re.findall(r"[\"']([a-z][a-z0-9_.]*)[\"']", SOURCES))
    for key in _catalogue("en"):
        made = any(
            key.startswith(begin) and (ends is None or key.removeprefix(begin) in ends)
            for begin, ends in FAMILIES.items()
        )
        assert made or key in literals, f"{key} is used nowhere"


def test_families_are_complete() -> None:
    for begin, ends in FAMILIES.items():
        for end in ends or ():
            assert f"{begin}{end}" in _catalogue("en")


def test_an_unknown_language_is_english() -> None:
    assert Words("xx").language == "en"
    assert Words("xx")("no") == "No"


@pytest.mark.parametrize("games", [("en",), ("en", "fi"), ("en", "el"), ("en", "el", "fi", "xx")])
def test_languages_of_client_and_game_go_round(games: tuple[str, ...]) -> None:
    assert next_language("xx", games) == "en"
    seen = ["en"]
    while (following := next_language(seen[-1], games)) != "en":
        seen.append(following)
    assert seen == [language for language in LANGUAGES if language in games]
    assert {common_language(language, games) for language in (*LANGUAGES, "xx")} == {*seen}


def test_every_language_names_itself() -> None:
    assert len({language_name(language) for language in LANGUAGES}) == len(LANGUAGES)
