"""A changed rule is noticed: by the scenario file that its mutant names, which passes with the true rules."""

from __future__ import annotations

import pytest

from tests.support.mutation import Mutant, exchanged, passes
from tests.wizards_garden.mutants import MUTANTS


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
