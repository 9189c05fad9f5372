"""TT-2.7: each verb of the effect vocabulary by itself."""

from __future__ import annotations

import msgspec
import pytest

from two_towers.effects import (
    Condition,
    Damage,
    DiscardChoice,
    Draw,
    Effect,
    Gain,
    If,
    Lose,
    MatchEnemy,
    PlayAgain,
    RaiseBothToMax,
    StealHalfUp,
    StealPart,
    SwapWalls,
    TowerDamage,
    WallDamage,
    compile_effects,
)
from two_towers.fields import FIELD_INDEX, FIELDS

OWN = (20, 5, 2, 3, 4, 10, 11, 12)
ENEMY = (18, 7, 3, 2, 4, 6, 9, 1)


def run(
    *effects: Effect, own: tuple[int, ...] = OWN, enemy: tuple[int, ...] = ENEMY
) -> tuple[dict[str, int], dict[str, int]]:
    """What changed on either side; the log must say the same."""
    sides = ([*own], [*enemy])
    log: list[tuple[int, int, int, int]] = []
    compile_effects(effects)(sides, log)
    replayed = ([*own], [*enemy])
    for whose, field, delta, value in log:
        assert delta != 0
        replayed[whose][field] += delta
        assert replayed[whose][field] == value >= 0
    assert replayed == sides
    changed = [
        {name: after[i] for i, name in enumerate(FIELDS) if after[i] != before[i]}
        for before, after in ((own, sides[0]), (enemy, sides[1]))
    ]
    return changed[0], changed[1]


def having(base: tuple[int, ...], **fields: int) -> tuple[int, ...]:
    numbers = [*base]
    for name, value in fields.items():
        numbers[FIELD_INDEX[name]] = value
    return tuple(numbers)


def test_gain() -> None:
    assert run(Gain("self", "tower", 3)) == ({"tower": 23}, {})
    assert run(Gain("enemy", "mana", 3)) == ({}, {"mana": 12})
    assert run(Gain("both", "mines", 1)) == ({"mines": 3}, {"mines": 4})


def test_lose_stops_at_nothing() -> None:
    assert run(Lose("enemy", "recruits", 5)) == ({}, {"recruits": 0})
    assert run(Lose("both", "barracks", 1)) == ({"barracks": 3}, {"barracks": 3})
    assert run(Lose("self", "mines", 9), own=having(OWN, mines=0)) == ({}, {})


def test_damage_meets_the_wall_first() -> None:
    assert run(Damage("enemy", 6)) == ({}, {"wall": 1})
    assert run(Damage("enemy", 7)) == ({}, {"wall": 0})
    assert run(Damage("enemy", 10)) == ({}, {"wall": 0, "tower": 15})
    assert run(Damage("enemy", 100)) == ({}, {"wall": 0, "tower": 0})
    assert run(Damage("self", 6)) == ({"wall": 0, "tower": 19}, {})
    assert run(Damage("both", 6)) == ({"wall": 0, "tower": 19}, {"wall": 1})


def test_tower_damage_passes_the_wall_by() -> None:
    assert run(TowerDamage("enemy", 4)) == ({}, {"tower": 14})
    assert run(TowerDamage("both", 19)) == ({"tower": 1}, {"tower": 0})


def test_wall_damage_never_spills() -> None:
    assert run(WallDamage("both", 6)) == ({"wall": 0}, {"wall": 1})
    assert run(WallDamage("enemy", 60)) == ({}, {"wall": 0})


def test_match_enemy_only_rises() -> None:
    assert run(MatchEnemy("mines")) == ({"mines": 3}, {})
    assert run(MatchEnemy("monasteries")) == ({}, {})
    assert run(MatchEnemy("barracks")) == ({}, {})


def test_raise_both_to_max() -> None:
    assert run(RaiseBothToMax("monasteries")) == ({}, {"monasteries": 3})
    assert run(RaiseBothToMax("mines")) == ({"mines": 3}, {})
    assert run(RaiseBothToMax("barracks")) == ({}, {})


def test_swap_walls() -> None:
    assert run(SwapWalls()) == ({"wall": 7}, {"wall": 5})
    assert run(SwapWalls(), own=having(OWN, wall=7)) == ({}, {})


@pytest.mark.parametrize(("stock", "taken", "gained"), [(0, 0, 0), (1, 1, 1), (2, 2, 1), (9, 9, 5), (40, 10, 5)])
def test_steal_half_up(stock: int, taken: int, gained: int) -> None:
    own, enemy = run(StealHalfUp((StealPart("mana", 10),)), enemy=having(ENEMY, mana=stock))
    assert own == ({"mana": 11 + gained} if gained else {})
    assert enemy == ({"mana": stock - taken} if taken else {})


def test_steal_takes_each_part_by_itself() -> None:
    effect = StealHalfUp((StealPart("mana", 10), StealPart("ore", 5)))
    assert run(effect) == ({"mana": 16, "ore": 13}, {"mana": 0, "ore": 1})


@pytest.mark.parametrize(
    ("left", "cmp", "right", "holds"),
    [
        ("self.wall", "<", "enemy.wall", True),
        ("self.wall", ">", "enemy.wall", False),
        ("self.barracks", "<", "enemy.barracks", False),
        ("self.barracks", ">", "enemy.barracks", False),
        ("self.barracks", "==", "enemy.barracks", True),
        ("enemy.wall", ">", 7, False),
        ("enemy.wall", ">", 6, True),
        ("enemy.wall", "==", 7, True),
        (0, "<", "self.ore", True),
    ],
)
def test_if(left: str | int, cmp: str, right: str | int, holds: bool) -> None:
    condition = msgspec.convert({"left": left, "cmp": cmp, "right": right}, Condition)
    effect = If(condition, (Gain("self", "ore", 1),), (Gain("self", "mana", 1),))
    assert run(effect) == (({"ore": 11} if holds else {"mana": 12}), {})


def test_a_condition_is_judged_where_it_stands() -> None:
    higher = If(Condition("self.wall", ">", "enemy.wall"), (Damage("enemy", 1),), ())
    assert run(Gain("self", "wall", 3), higher) == ({"wall": 8}, {"wall": 6})
    assert run(higher, Gain("self", "wall", 3)) == ({"wall": 8}, {})


def test_what_changes_no_number_changes_none() -> None:
    assert run(Draw("self", 1), DiscardChoice("self", 1), PlayAgain()) == ({}, {})


@pytest.mark.parametrize("side", ["self.towers", "wall", "me.wall", "self.", "enemy"])
def test_an_unknown_side_of_a_comparison_is_refused(side: str) -> None:
    with pytest.raises(ValueError, match="side of a comparison"):
        compile_effects((If(Condition(side, "<", 3), (), ()),))
