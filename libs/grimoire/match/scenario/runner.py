"""Runs scenario files: each document is a match at a table of its own, judged step by step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from grimoire.engine import usual_seats
from grimoire.match.referee import PLATFORM
from grimoire.match.scenario.course import Course
from grimoire.match.scenario.document import Keys, ScenarioError, load_documents
from grimoire.match.scenario.reading import read_scenario
from grimoire.match.scenario.result import ScenarioResult
from grimoire.plugins import GamePlugin, UnknownGameError, load_game

__all__ = ["run_document", "run_file", "run_text"]

Load = Callable[[str], GamePlugin]


def run_file(path: str | Path, load: Load = load_game) -> list[ScenarioResult]:
    """Runs every scenario of a file.

    Args:
        path: the file.
        load: finds a game by name.

    Returns:
        One result for each document; one with a `fault` where the file or a document cannot be read.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        return [ScenarioResult(str(path), 1, fault=f"the file cannot be read: {reason}", fault_line=1)]
    return run_text(text, str(path), load)


def run_text(text: str, path: str = "(text)", load: Load = load_game) -> list[ScenarioResult]:
    """As `run_file`, for a file's text.

    >>> [result] = run_text('''
    ... game: two_towers
    ... name: Play
    ... rules: [TT-4.4]
    ... position: {seats: {0: {mana: 7, hand: [ruby]}}}
    ... steps:
    ...   - seat: 0
    ...     command: {type: play_card, slot: 0, card: ruby}
    ...     expect: {state: {seats.0.numbers.tower: 25, seats.0.numbers.mana: 4}}
    ... ''')
    >>> result.passed
    True
    """
    try:
        documents = load_documents(text)
    except ScenarioError as error:
        return [ScenarioResult(path, error.line, fault=error.reason, fault_line=error.line)]
    return [run_document(document, path, load) for document in documents]


def run_document(document: Keys, path: str = "(text)", load: Load = load_game) -> ScenarioResult:
    """As `run_text`, for one document that has been loaded."""
    name, game, rules = document.get("name"), document.get("game"), document.get("rules")
    result = ScenarioResult(
        path,
        document.line,
        name=name if isinstance(name, str) else "",
        game=game if isinstance(game, str) else "",
        rules=tuple(r for r in rules if isinstance(r, str)) if isinstance(rules, list) else (),
    )
    try:
        plugin = _plugin(document, load)
        game = plugin.game
        schema = game.schema.union(PLATFORM)
        scenario = read_scenario(
            document, schema, game.view_type, usual_seats(game.min_seats, game.max_seats), plugin.texts.languages
        )
        course = Course(scenario, plugin)
        failures = course.play()
    except ScenarioError as error:
        return replace(result, fault=error.reason, fault_line=error.line)
    return replace(result, steps=course.done, failures=tuple(failures))


def _plugin(document: Keys, load: Load) -> GamePlugin:
    game = document.get("game")
    if not isinstance(game, str):
        raise ScenarioError(document.lines.get("game", document.line), "`game` is missing: the name of a game")
    try:
        return load(game)
    except UnknownGameError as error:
        raise ScenarioError(document.lines["game"], str(error)) from error
