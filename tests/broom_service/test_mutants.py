"""A changed rule is noticed: by the scenario file that its mutant names, which passes with the true rules."""

from __future__ import annotations

import pytest

from tests.broom_service.mutants import MUTANTS
from tests.support.mutation import Mutant, exchanged, passes


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name.replace(" ", "-") for mutant in MUTANTS])
def test_a_changed_rule_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passes(mutant.seen)
    exchanged(f"broom_service.{mutant.where}", mutant.old, mutant.new)(monkeypatch)
    assert not passes(mutant.seen)


def test_there_are_mutants_of_every_part_of_the_rules() -> None:
    assert len(MUTANTS) >= 90
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    broken = {mutant.rule.partition(".")[0] for mutant in MUTANTS}
    assert broken >= {"BS-1", *(f"BS-{chapter}" for chapter in (*range(3, 11), 12))}
