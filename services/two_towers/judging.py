"""Victory (TT-1.2, TT-4.8): judged after production and after a card's whole effect list, never in between."""

from __future__ import annotations

from collections.abc import Sequence

from two_towers.fields import MANA, ORE, RECRUITS, TOWER, WALL, Numbers
from two_towers.state import Result

__all__ = ["conditions", "judge", "judge_turn_limit"]


def conditions(own: Numbers, enemy: Numbers, goal_tower: int, goal_resource: int) -> tuple[str, ...]:
    """The victory conditions that a seat meets, in the rules' order.

    >>> conditions([50, 0, 0, 0, 0, 9, 9, 9], [0, 5, 0, 0, 0, 9, 9, 9], 50, 150)
    ('tower_built', 'tower_destroyed')
    """
    met = (
        ("tower_built", own[TOWER] >= goal_tower),
        ("tower_destroyed", enemy[TOWER] == 0),
        ("resource", _largest_stock(own) >= goal_resource),
    )
    return tuple(reason for reason, is_met in met if is_met)


def judge(numbers: Sequence[Numbers], goal_tower: int, goal_resource: int) -> Result | None:
    """Who has won, if anybody (TT-4.8)."""
    zero, one = numbers
    if (
        0 < zero[TOWER] < goal_tower
        and 0 < one[TOWER] < goal_tower
        and _largest_stock(zero) < goal_resource
        and _largest_stock(one) < goal_resource
    ):
        return None  # nearly always
    met = (
        conditions(zero, one, goal_tower, goal_resource),
        conditions(one, zero, goal_tower, goal_resource),
    )
    if not met[1]:
        return Result(0, met[0])
    if not met[0]:
        return Result(1, met[1])
    winner, step = _ladder(numbers)
    if winner is None:
        both = {*met[0], *met[1]}
        return Result(None, tuple(r for r in ("tower_built", "tower_destroyed", "resource") if r in both))
    return Result(winner, met[winner], step)


def judge_turn_limit(numbers: Sequence[Numbers]) -> Result:
    """The ladder alone, when the last turn has ended (TT-4.9)."""
    winner, step = _ladder(numbers)
    return Result(winner, ("turn_limit",), step)


def _ladder(numbers: Sequence[Numbers]) -> tuple[int | None, str]:
    """Higher tower, then higher wall, then higher largest stock; nobody if all are equal."""
    zero, one = numbers
    for step, left, right in (
        ("tower", zero[TOWER], one[TOWER]),
        ("wall", zero[WALL], one[WALL]),
        ("stock", _largest_stock(zero), _largest_stock(one)),
    ):
        if left != right:
            return (0 if left > right else 1), step
    return None, ""


def _largest_stock(numbers: Numbers) -> int:
    return max(numbers[ORE], numbers[MANA], numbers[RECRUITS])
