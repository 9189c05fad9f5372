"""A changed rule is noticed: by the scenario file that its mutant names, which passes with the true rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from grimoire.match.scenario import run_file
from grimoire.plugins import load_game
from tests.support.mutation import exchanged
from tests.wizards_garden.mutants import MUTANTS, Mutant

SCENARIOS = Path(__file__).parents[1] / "scenarios"


def passes(name: str) -> bool:
    """False also where changed rules lead to something that cannot be."""
    try:
        return all(result.passed for result in run_file(SCENARIOS / f"{name}.yaml", load_game))
    except (ValueError, LookupError):
        return False


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name.replace(" ", "-") for mutant in MUTANTS])
def test_a_changed_rule_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes(mutant.seen)
    exchanged(f"wizards_garden.{mutant.where}", mutant.old, mutant.new)(monkeypatch)
    assert not passes(mutant.seen)


def test_there_are_mutants_of_every_part_of_the_rules() -> None:
    assert len(MUTANTS) >= 50
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    broken = {mutant.rule.partition(".")[0] for mutant in MUTANTS}
    assert broken >= {f"WG-{chapter}" for chapter in (2, 3, 4, 5, 6, 8, 9, 10, 12, 13)}
