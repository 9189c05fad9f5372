"""What cards do: the effect vocabulary of TT-2.7, one function per verb.

A card's effects are data. Each verb's function turns one record of the catalogue into a step; the steps of a card run
in order on the two seats' numbers, seen from the acting seat. `draw`, `discard_choice` and `play_again` change no
number: the course of the turn reads them from the card (TT-4.6, TT-4.7).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec

from two_towers.fields import FIELD_INDEX, MANA, ORE, RECRUITS, TOWER, WALL, Field, Resource

__all__ = [
    "ENEMY",
    "SELF",
    "Change",
    "Condition",
    "Damage",
    "DiscardChoice",
    "Draw",
    "Effect",
    "Gain",
    "If",
    "Log",
    "Lose",
    "MatchEnemy",
    "PlayAgain",
    "RaiseBothToMax",
    "Sides",
    "StealHalfUp",
    "StealPart",
    "Step",
    "SwapWalls",
    "TowerDamage",
    "WallDamage",
    "Who",
    "compile_effects",
]

SELF = 0
"""The acting seat, as index into `Sides` and in a `Change`."""
ENEMY = 1

Sides = tuple[list[int], list[int]]
"""The acting seat's eight numbers and the enemy's; steps change them in place."""

Change = tuple[int, int, int, int]
"""Whose (`SELF` or `ENEMY`), which field (index), by how much, and the value after."""

Log = list[Change]
"""Changes in the order they happened; a step appends what it changed, never a zero."""

Step = Callable[[Sides, Log], None]

Who = Literal["self", "enemy", "both"]
_WHO: dict[str, tuple[int, ...]] = {"self": (SELF,), "enemy": (ENEMY,), "both": (SELF, ENEMY)}

Count = Annotated[int, msgspec.Meta(ge=1)]


# ---- the vocabulary as records ---------------------------------------------------------------------------------------


class _Record(msgspec.Struct, frozen=True, tag_field="op", forbid_unknown_fields=True):
    """One effect of the catalogue; its `op` tells the class."""


class Gain(_Record, frozen=True, tag="gain"):
    """Add n."""

    who: Who
    what: Field
    n: Count


class Lose(_Record, frozen=True, tag="lose"):
    """Subtract n, never below 0."""

    who: Who
    what: Field
    n: Count


class Damage(_Record, frozen=True, tag="damage"):
    """The wall first, the rest from the tower."""

    who: Who
    n: Count


class TowerDamage(_Record, frozen=True, tag="tower_damage"):
    """The tower alone; the wall does not protect it."""

    who: Who
    n: Count


class WallDamage(_Record, frozen=True, tag="wall_damage"):
    """The wall alone; nothing carries over."""

    who: Who
    n: Count


class MatchEnemy(_Record, frozen=True, tag="match_enemy"):
    """Rise to the enemy's number, if lower."""

    what: Field


class RaiseBothToMax(_Record, frozen=True, tag="raise_both_to_max"):
    """Both seats get the larger number."""

    what: Field


class SwapWalls(_Record, frozen=True, tag="swap_walls"):
    """The walls exchange values."""


class StealPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Up to n of one stock."""

    what: Resource
    n: Count


class StealHalfUp(_Record, frozen=True, tag="steal_half_up"):
    """The enemy loses, the acting seat gains half of each loss, rounded up."""

    parts: tuple[StealPart, ...]


class Draw(_Record, frozen=True, tag="draw"):
    """Draw one card into the slot the played card left."""

    who: Literal["self"]
    n: Literal[1]


class DiscardChoice(_Record, frozen=True, tag="discard_choice"):
    """Then discard one card of one's choice."""

    who: Literal["self"]
    n: Literal[1]


class PlayAgain(_Record, frozen=True, tag="play_again"):
    """Act again in the same turn."""


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A strict comparison; sides are numbers or `self.<field>` / `enemy.<field>`."""

    left: int | str
    cmp: Literal["<", ">", "=="]
    right: int | str


class If(_Record, frozen=True, tag="if", rename={"otherwise": "else"}):
    """One of two lists, judged at that point."""

    cond: Condition
    then: tuple[Effect, ...]
    otherwise: tuple[Effect, ...]


Effect = (
    Gain
    | Lose
    | Damage
    | TowerDamage
    | WallDamage
    | MatchEnemy
    | RaiseBothToMax
    | SwapWalls
    | StealHalfUp
    | Draw
    | DiscardChoice
    | PlayAgain
    | If
)


# ---- the verbs -------------------------------------------------------------------------------------------------------


def _change(sides: Sides, log: Log, whose: int, what: int, delta: int) -> None:
    numbers = sides[whose]
    before = numbers[what]
    after = before + delta
    if after < 0:
        after = 0
    if after != before:
        numbers[what] = after
        log.append((whose, what, after - before, after))


def _steadily(who: Who, what: int, delta: int) -> Step:
    """The same change for each named seat, the acting seat first."""
    targets = _WHO[who]
    if len(targets) == 1:
        (whose,) = targets
        return lambda sides, log: _change(sides, log, whose, what, delta)

    def both(sides: Sides, log: Log) -> None:
        _change(sides, log, SELF, what, delta)
        _change(sides, log, ENEMY, what, delta)

    return both


def _gain(effect: Gain) -> Step:
    return _steadily(effect.who, FIELD_INDEX[effect.what], effect.n)


def _lose(effect: Lose) -> Step:
    return _steadily(effect.who, FIELD_INDEX[effect.what], -effect.n)


def _damage(effect: Damage) -> Step:
    targets, n = _WHO[effect.who], effect.n

    def damage(sides: Sides, log: Log) -> None:
        for whose in targets:
            beyond = n - sides[whose][WALL]
            _change(sides, log, whose, WALL, -n)
            if beyond > 0:
                _change(sides, log, whose, TOWER, -beyond)

    return damage


def _tower_damage(effect: TowerDamage) -> Step:
    return _steadily(effect.who, TOWER, -effect.n)


def _wall_damage(effect: WallDamage) -> Step:
    return _steadily(effect.who, WALL, -effect.n)


def _match_enemy(effect: MatchEnemy) -> Step:
    what = FIELD_INDEX[effect.what]

    def match_enemy(sides: Sides, log: Log) -> None:
        _change(sides, log, SELF, what, max(0, sides[ENEMY][what] - sides[SELF][what]))

    return match_enemy


def _raise_both_to_max(effect: RaiseBothToMax) -> Step:
    what = FIELD_INDEX[effect.what]

    def raise_both(sides: Sides, log: Log) -> None:
        top = max(sides[SELF][what], sides[ENEMY][what])
        for whose in (SELF, ENEMY):
            _change(sides, log, whose, what, top - sides[whose][what])

    return raise_both


def _swap_walls(_: SwapWalls) -> Step:
    def swap(sides: Sides, log: Log) -> None:
        difference = sides[ENEMY][WALL] - sides[SELF][WALL]
        _change(sides, log, SELF, WALL, difference)
        _change(sides, log, ENEMY, WALL, -difference)

    return swap


def _steal_half_up(effect: StealHalfUp) -> Step:
    stock = {"ore": ORE, "mana": MANA, "recruits": RECRUITS}
    parts = tuple((stock[part.what], part.n) for part in effect.parts)

    def steal(sides: Sides, log: Log) -> None:
        for what, n in parts:
            taken = min(sides[ENEMY][what], n)
            _change(sides, log, ENEMY, what, -taken)
            _change(sides, log, SELF, what, (taken + 1) // 2)

    return steal


def _operand(side: int | str) -> Callable[[Sides], int]:
    if isinstance(side, int):
        return lambda _: side
    owner, dot, field = side.partition(".")
    if not dot or owner not in ("self", "enemy") or field not in FIELD_INDEX:
        raise ValueError(f"{side!r} is no side of a comparison: use a number, self.<field> or enemy.<field>")
    whose, what = (SELF if owner == "self" else ENEMY), FIELD_INDEX[field]
    return lambda sides: sides[whose][what]


def _holds(condition: Condition) -> Callable[[Sides], bool]:
    left, right = _operand(condition.left), _operand(condition.right)
    if condition.cmp == "<":
        return lambda sides: left(sides) < right(sides)
    if condition.cmp == ">":
        return lambda sides: left(sides) > right(sides)
    return lambda sides: left(sides) == right(sides)


def _if(effect: If) -> Step:
    holds = _holds(effect.cond)
    then, otherwise = compile_effects(effect.then), compile_effects(effect.otherwise)

    def choose(sides: Sides, log: Log) -> None:
        (then if holds(sides) else otherwise)(sides, log)

    return choose


_VERBS: dict[type, Callable[..., Step]] = {
    Gain: _gain,
    Lose: _lose,
    Damage: _damage,
    TowerDamage: _tower_damage,
    WallDamage: _wall_damage,
    MatchEnemy: _match_enemy,
    RaiseBothToMax: _raise_both_to_max,
    SwapWalls: _swap_walls,
    StealHalfUp: _steal_half_up,
    If: _if,
}


def compile_effects(effects: tuple[Effect, ...]) -> Step:
    """One step that runs all number-changing effects in order.

    Raises:
        ValueError: if a comparison names something that is no number of a seat.

    >>> ogre = compile_effects((Damage("enemy", 7),))
    >>> own, enemy, log = [20, 5] + [0] * 6, [10, 3] + [0] * 6, []
    >>> ogre((own, enemy), log)
    >>> enemy[:2], log
    ([6, 0], [(1, 1, -3, 0), (1, 0, -4, 6)])
    """
    steps = tuple(_VERBS[type(e)](e) for e in effects if not isinstance(e, Draw | DiscardChoice | PlayAgain))
    if len(steps) == 1:
        return steps[0]

    def run(sides: Sides, log: Log) -> None:
        for step in steps:
            step(sides, log)

    return run
