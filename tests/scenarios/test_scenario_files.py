"""Every scenario file passes, can fail, and the format's README tells everything about it."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from grimoire.match.codes import RULES
from grimoire.match.referee import PLATFORM
from grimoire.match.scenario import ScenarioResult, run_document, run_file, run_text
from grimoire.match.scenario.document import Items, Keys, load_documents
from grimoire.plugins import GamePlugin, load_game
from tests.support.toy import PLUGIN as TOY

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.yaml"))
README = (HERE / "README.md").read_text()


def load(game: str) -> GamePlugin:
    return TOY if game == "toy" else load_game(game)


def failed(results: list[ScenarioResult]) -> str:
    return "\n".join(result.text() for result in results if not result.passed)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_scenario_passes(path):
    results = run_file(path, load)
    assert results
    assert not failed(results)


@pytest.mark.parametrize(
    ("game", "count"), [("two_towers", 45), ("wizards_garden", 57), ("spellbound", 47), ("broom_service", 56)]
)
def test_all_worked_scenarios_of_the_rules_have_a_file(game, count):
    numbers = [int(path.stem[:2]) for path in FILES if path.parent.name == game]
    assert numbers == list(range(1, count + 1))


# ---- a scenario can fail ---------------------------------------------------------------------------------------------

NEGATIVE = {"not", "excludes", "unseen", "lacks", "no_events", "at_least", "at_most", "one_of", "absent", "tamper"}
"""What stands below these says what must not be: another value there may well pass."""


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all single values below an expectation."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in NEGATIVE:
                yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from leaves(inner, (*path, index))
    else:
        yield path


def expectations(document: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for place in ("create", "start"):
        yield from ((place, *path) for path in leaves(document.get(place) or {}))
    for number, step in enumerate(document.get("steps") or []):
        yield from (("steps", number, "expect", *path) for path in leaves(step.get("expect") or {}))


def mutated(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if value is None:
        return "something"
    if re.fullmatch(r"[0-9a-f]{8,}", value):
        return ("1" if value[0] == "0" else "0") + value[1:]
    return {"none": "handshake", "passed": {"failed": [1]}}.get(value, value + "_x")


def plain(value: Any) -> Any:
    """Without the lines, so that it can be written again."""
    if isinstance(value, Keys):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, Items):
        return [plain(inner) for inner in value]
    return value


def mutants() -> list[tuple[str, Keys, tuple[Any, ...]]]:
    found = []
    for path in FILES:
        for document in load_documents(path.read_text()):
            found += [(f"{path.stem}: {document['name']}", document, where) for where in expectations(document)]
    return found


def changed(value: Any, where: tuple[Any, ...]) -> Any:
    """A copy in which what stands there is another value."""
    if not where:
        return mutated(value)
    copied = copy.copy(value)
    copied[where[0]] = changed(value[where[0]], where[1:])
    return copied


def survivors(chosen: list[tuple[str, Keys, tuple[Any, ...]]]) -> list[str]:
    return [
        f"{name}: {where}"
        for name, document, where in chosen
        if run_document(changed(document, where), name, load).passed
    ]


def test_a_changed_expectation_fails():
    everything = mutants()
    assert len(everything) > 700
    assert survivors(everything[:: len(everything) // 120]) == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_changed_expectation_fails():
    assert survivors(mutants()) == []


# ---- the README ------------------------------------------------------------------------------------------------------


def test_the_readme_names_every_event_with_all_its_fields():
    for schema in (PLATFORM, load_game("two_towers").game.schema):
        for code, message in schema.events.items():
            row = next((line for line in README.splitlines() if line.startswith(f"| `{code}` |")), "")
            assert row, code
            missing = [f.name for f in message.DESCRIPTOR.fields if not re.search(rf"`[^`]*\b{f.name}\b[^`]*`", row)]
            assert not missing, (code, missing)


def test_the_readme_names_every_command_with_all_its_fields():
    for schema in (PLATFORM, load_game("two_towers").game.schema):
        for code, message in schema.commands.items():
            row = next((line for line in README.splitlines() if line.startswith(f"| `{code}` |")), "")
            assert row, code
            if code != "create_match":
                assert all(f"`{f.name}`" in row for f in message.DESCRIPTOR.fields), code


def test_the_readme_names_every_field_of_the_view():
    descriptor = load_game("two_towers").game.view_type.DESCRIPTOR
    assert [f.name for f in descriptor.fields if not re.search(rf"\b{f.name}\b", README)] == []


def test_the_readme_names_every_refusal_and_every_key():
    beyond_one_table = {
        "rate_limited",
        "overloaded",
        "not_judged",
        "match_broken",
        "not_logged_yet",
        "rules_not_installed",
    }
    missing = [code for code in RULES if f"`{code}`" not in README and code not in beyond_one_table]
    assert missing == []
    from grimoire.match.scenario import expectations as expects
    from grimoire.match.scenario import matching, reading

    keys = (
        *reading._KEYS,
        *reading._STEP_KEYS,
        *expects._EXPECT_KEYS,
        *expects._REJECTED_KEYS,
        *expects._DIGEST_KEYS,
        *expects._PROMPT_KEYS,
        *expects._DRAW_KEYS,
        *expects._OUTCOME_KEYS,
        *matching.OPERATORS,
    )
    assert [key for key in keys if not re.search(rf"`[^`]*\b{key}\b[^`]*`", README)] == []


def fragments() -> list[str]:
    cases = README.partition("## Cases")[2]
    return re.findall(r"```yaml\n(.*?)```", cases, re.DOTALL)


@pytest.mark.parametrize("fragment", fragments(), ids=range(len(fragments())))
def test_the_cases_of_the_readme_are_true(fragment):
    [case] = load_documents(fragment)
    document = {"game": "two_towers", "name": "a case", "rules": ["TT-1"]} | plain(case)
    if "expect" in document:
        document["steps"] = [
            {"seat": 0, "command": {"type": "discard_card", "slot": 0, "card": "orc"}, "expect": document.pop("expect")}
        ]
    if not {"position", "create", "start", "handshake"} & document.keys() and "audit" not in fragment:
        document["position"] = {"seats": {0: {"tower": 46, "mana": 9, "hand": ["orc", "ruby"]}}, "pile_top": ["dragon"]}
    assert not failed(run_text(yaml.safe_dump(document, sort_keys=False), "README.md", load))


def test_the_first_example_of_the_readme_is_true():
    example = re.search(r"```yaml\n(.*?)```", README, re.DOTALL)[1]
    assert not failed(run_text(example, "README.md", load))


def test_the_positions_of_the_readme_can_be():
    block = README.partition("### `position`")[2]
    lines = re.search(r"```yaml\n(.*?)```", block, re.DOTALL)[1].splitlines()
    assert len(lines) == 5
    for line in lines:
        text = f"game: two_towers\nname: x\nrules: [TT-1]\n{line}\n"
        assert not failed(run_text(text, "README.md", load))
