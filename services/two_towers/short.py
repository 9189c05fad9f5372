"""A card's effects in one short line, made from the effect vocabulary: `tower +8 · wall +20`, `enemy tower −5`."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Final

from two_towers.cards import CARDS
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
    SwapWalls,
    TowerDamage,
    WallDamage,
)
from two_towers.words import Words, words_in

__all__ = ["short_text", "signed"]

_DOT: Final = " · "
_STRUCTURES: Final = ("tower", "wall")
_WHO: Final = {"self": "own", "enemy": "enemy", "both": "both"}


def signed(n: int) -> str:
    """A change with its sign.

    >>> signed(5), signed(-3)
    ('+5', '−3')
    """
    return f"+{n}" if n >= 0 else f"−{-n}"


@functools.cache
def short_text(card: str, language: str) -> str:
    """The short line of a card.

    >>> short_text("dragons_heart", "en"), short_text("gem_spear", "fi")
    ('wall +20 · tower +8', 'vih. torni −5')
    >>> short_text("mother_lode", "en")
    'fewer mines: mines +2, else +1'
    """
    return _DOT.join(_lines(CARDS[card].effects, words_in(language)))


def _lines(effects: Sequence[Effect], words: Words) -> list[str]:
    """One text for each effect; what happens to both seats alike is drawn together (`both: ore, mana −5`)."""
    return [_line([*run], words) for _, run in itertools.groupby(effects, key=_group)]


def _group(effect: Effect) -> object:
    if isinstance(effect, Gain | Lose) and effect.who == "both":
        return type(effect), effect.n
    return "draw and discard" if isinstance(effect, Draw | DiscardChoice) else effect


def _line(run: Sequence[Effect], words: Words) -> str:
    effect, short, terms = run[0], words.short, words.terms
    match effect:
        case Gain() | Lose():
            names = ", ".join(terms[e.what] for e in run if isinstance(e, Gain | Lose))
            n = effect.n if isinstance(effect, Gain) else -effect.n
            return short[_WHO[effect.who]].format(what=names, n=signed(n))
        case TowerDamage() | WallDamage():
            what = terms["tower" if isinstance(effect, TowerDamage) else "wall"]
            return short[_WHO[effect.who]].format(what=what, n=signed(-effect.n))
        case Damage():
            return short[f"damage_{effect.who}"].format(n=effect.n)
        case MatchEnemy() | RaiseBothToMax():
            key = "match_enemy" if isinstance(effect, MatchEnemy) else "raise_both_to_max"
            return short[key].format(what=terms[effect.what])
        case SwapWalls():
            return short["swap_walls"]
        case StealHalfUp():
            return short["steal_half_up"].format(parts=", ".join(f"{p.n} {terms[p.what]}" for p in effect.parts))
        case Draw() | DiscardChoice():
            return short["draw_discard"]
        case PlayAgain():
            return short["play_again"]
        case If():
            return _if(effect, words)


def _if(effect: If, words: Words) -> str:
    short = words.short
    then = _DOT.join(_lines(effect.then, words))
    if _is_whose_lower(effect):
        field = str(effect.cond.left).partition(".")[2]
        return short["whose_lower"].format(what=words.terms[field], then=then)
    condition = _condition(effect.cond, words)
    if not effect.otherwise:
        return short["if"].format(condition=condition, then=then)
    otherwise = _DOT.join(_lines(effect.otherwise, words))
    if len(effect.then) == len(effect.otherwise) == 1:
        otherwise = _without_common_words(then, otherwise)
    return short["if_else"].format(condition=condition, then=then, otherwise=otherwise)


def _is_whose_lower(effect: If) -> bool:
    """Whether one thing happens to whichever seat is lower, as with `flood_water`."""
    if len(effect.otherwise) != 1 or not isinstance(effect.otherwise[0], If):
        return False
    first, second = effect.cond, effect.otherwise[0].cond
    return first.cmp == second.cmp == "<" and (first.left, first.right) == (second.right, second.left)


def _without_common_words(then: str, otherwise: str) -> str:
    """`mines +2` and `mines +1` give `+1`."""
    same, _, figure = otherwise.rpartition(" ")
    return figure if then.rpartition(" ")[0] == same else otherwise


def _condition(condition: Condition, words: Words) -> str:
    short, terms = words.short, words.terms
    left_owner, _, left = str(condition.left).partition(".")
    right_owner, _, right = str(condition.right).partition(".")
    if (left_owner, right_owner) == ("self", "enemy") and left == right:
        keys = ("lower", "higher") if left in _STRUCTURES else ("fewer", "more")
        return short[keys[condition.cmp == ">"]].format(what=terms[left])
    if condition.cmp == "==" and condition.right == 0:
        return short["none" if left_owner == "self" else "none_enemy"].format(what=terms[left])
    sides = (_operand(side, words) for side in (condition.left, condition.right))
    return f" {condition.cmp} ".join(sides)


def _operand(side: int | str, words: Words) -> str:
    owner, dot, field = str(side).partition(".")
    if not dot:
        return owner
    return words.short["own_operand" if owner == "self" else "enemy_operand"].format(what=words.terms[field])
