"""The heuristic player (TT-13.1): looks one card ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from two_towers.cards import CARDS, Card
from two_towers.effects import Sides
from two_towers.fields import MANA, ORE, PRODUCERS, RECRUITS, STOCKS, TOWER, WALL, Numbers
from two_towers.judging import judge
from two_towers.state import EMPTY
from two_towers.worst import worst_slot

__all__ = ["WIN", "choose", "forced_discard", "score"]

WIN: Final = 1_000_000.0
_AGAIN: Final = 3.0
_PATIENCE: Final = 1.0
"""A play may leave the position so much worse and is still better than a discard."""


def score(own: Numbers, enemy: Numbers, goal_tower: int, goal_resource: int) -> float:
    """How good a position is for its owner."""
    return _side(own, goal_tower, goal_resource) - _side(enemy, goal_tower, goal_resource)


def _side(numbers: Numbers, goal_tower: int, goal_resource: int) -> float:
    tower = numbers[TOWER]
    value = tower + min(numbers[WALL], 40) / 2
    for kind in PRODUCERS:
        count = numbers[kind]
        value += 4 * min(count, 6) + 2 * max(count - 6, 0)
    for stock in STOCKS:
        value += 0.12 * min(numbers[stock], 60)
    largest = max(numbers[ORE], numbers[MANA], numbers[RECRUITS])
    return value + 30 * (tower / goal_tower) ** 2 + 30 * (largest / goal_resource) ** 2 - 180 / (1 + tower)


def after_play(own: Numbers, enemy: Numbers, card: Card) -> Sides:
    """Both seats' numbers once the card is paid for and its effects have run."""
    sides = ([*own], [*enemy])
    sides[0][card.stock] -= card.cost
    card.apply(sides, [])
    return sides


def choose(hand: Sequence[str], own: Numbers, enemy: Numbers, goal_tower: int, goal_resource: int) -> tuple[bool, int]:
    """Whether to play (otherwise to discard), and which slot."""
    best, best_slot = score(own, enemy, goal_tower, goal_resource) - _PATIENCE, -1
    for slot, card_id in enumerate(hand):
        if card_id == EMPTY:
            continue
        card = CARDS[card_id]
        if card.cost > own[card.stock]:
            continue
        value = _value(card, own, enemy, goal_tower, goal_resource)
        # Equal scores go to the lowest slot; a play that is just good enough beats the discard.
        if value > best or (best_slot < 0 and value == best):
            best, best_slot = value, slot
    if best_slot < 0:
        return False, worst_slot(hand, own)
    return True, best_slot


def forced_discard(hand: Sequence[str], own: Numbers) -> int:
    """The slot to give up (TT-4.6)."""
    return worst_slot(hand, own)


def _value(card: Card, own: Numbers, enemy: Numbers, goal_tower: int, goal_resource: int) -> float:
    sides = after_play(own, enemy, card)
    value = score(*sides, goal_tower, goal_resource)
    result = judge(sides, goal_tower, goal_resource)
    if result is not None and result.winner is not None:
        value += WIN if result.winner == 0 else -WIN
    return value + (_AGAIN if card.play_again else 0.0)
