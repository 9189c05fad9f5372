"""The heuristic player (TT-13.1): looks one card ahead."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from two_towers.cards import CARDS, Card
from two_towers.effects import Sides
from two_towers.fields import Numbers
from two_towers.judging import judge
from two_towers.worst import worst_slot

__all__ = ["Heuristic", "after_play", "heuristic_for"]

_WIN: Final = 1_000_000.0
_AGAIN: Final = 3.0
_PATIENCE: Final = 1.0
"""A play may leave the position so much worse and is still better than a discard."""
_SAME: Final = 1e-9
"""Scores this near are equal: the same sum, added in another order, differs in its last digits."""


class Heuristic:
    """The player for one pair of goals.

    Its score is looked up in tables, because the searching player asks it some ten thousand times a decision.
    """

    def __init__(self, goal_tower: int, goal_resource: int) -> None:
        self._goals = goal_tower, goal_resource
        stocks = range(goal_resource + 1)
        self._tower = [self._tower_score(tower) for tower in range(goal_tower + 1)]
        self._wall = [_wall_score(wall) for wall in range(200)]
        self._producer = [_producer_score(count) for count in range(100)]
        self._stock = [_stock_score(stock) for stock in stocks]
        self._largest = [self._largest_score(stock) for stock in stocks]

    def _tower_score(self, tower: int) -> float:
        return tower + 30 * (tower / self._goals[0]) ** 2 - 180 / (1 + tower)

    def _largest_score(self, stock: int) -> float:
        return 30 * (stock / self._goals[1]) ** 2

    def score(self, own: Numbers, enemy: Numbers) -> float:
        """How good a position is for its owner."""
        return self._side(own) - self._side(enemy)

    def _side(self, numbers: Numbers) -> float:
        tower, wall, mines, monasteries, barracks, ore, mana, recruits = numbers
        largest = ore
        if mana > largest:
            largest = mana
        if recruits > largest:
            largest = recruits
        producer, stock = self._producer, self._stock
        try:
            return (
                self._tower[tower]
                + self._wall[wall]
                + producer[mines]
                + producer[monasteries]
                + producer[barracks]
                + stock[ore]
                + stock[mana]
                + stock[recruits]
                + self._largest[largest]
            )
        except IndexError:  # a goal is passed, or an arranged position is out of the ordinary
            return (
                self._tower_score(tower)
                + _wall_score(wall)
                + sum(map(_producer_score, (mines, monasteries, barracks)))
                + sum(map(_stock_score, (ore, mana, recruits)))
                + self._largest_score(largest)
            )

    def choose(self, hand: Sequence[str], own: Numbers, enemy: Numbers) -> tuple[bool, int]:
        """Whether to play (otherwise to discard), and which slot. Equal plays go to the lowest slot."""
        best, best_slot = self.score(own, enemy) - _PATIENCE - 2 * _SAME, -1
        for slot, card_id in enumerate(hand):
            if not card_id:
                continue
            card = CARDS[card_id]
            if card.cost <= own[card.stock]:
                value = self._value(card, own, enemy)
                if value > best + _SAME:
                    best, best_slot = value, slot
        if best_slot < 0:
            return False, worst_slot(hand, own)
        return True, best_slot

    def _value(self, card: Card, own: Numbers, enemy: Numbers) -> float:
        sides = after_play(own, enemy, card)
        value = self.score(*sides)
        result = judge(sides, *self._goals)
        if result is not None and result.winner is not None:
            value += _WIN if result.winner == 0 else -_WIN
        return value + _AGAIN if card.play_again else value


def _wall_score(wall: int) -> float:
    return min(wall, 40) / 2


def _producer_score(count: int) -> float:
    return 4 * min(count, 6) + 2 * max(count - 6, 0)


def _stock_score(stock: int) -> float:
    return 0.12 * min(stock, 60)


@functools.lru_cache(maxsize=32)
def heuristic_for(goal_tower: int, goal_resource: int) -> Heuristic:
    """The player for these goals."""
    return Heuristic(goal_tower, goal_resource)


def after_play(own: Numbers, enemy: Numbers, card: Card) -> Sides:
    """Both seats' numbers once the card is paid for and its effects have run."""
    sides = ([*own], [*enemy])
    sides[0][card.stock] -= card.cost
    card.apply(sides, [])
    return sides
