"""What a position is worth to a seat, in VP (BS-17.1)."""

from __future__ import annotations

import functools
import heapq
from typing import Final

from broom_service.boards import BOARDS, WATER, vat_at
from broom_service.clouds import CLOUDS
from broom_service.resources import INDEX, WAND, Holding
from broom_service.roles import (
    EMPTY_HANDED,
    EVENTS,
    FLOCK_TOGETHER,
    PERILOUS_PLACES,
    PROTECTED_PLACES,
    THE_UPPER_HAND,
    THE_WORKS,
)
from broom_service.scoring import amulets_vp, lightning_vp, sets_in
from broom_service.sketch import Ground, Sketch
from broom_service.tiles import TILE_SITE, TILES, VAT

__all__ = ["Appraisal", "event_vp", "tile_worth"]

_POTIONS: Final = (0.0, 1.6, 3.2, 4.2, 4.8, 5.2, 5.5)
"""By number, of one colour; each further one little more."""
_WANDS: Final = (0.0, 1.5, 3.0, 4.4, 5.2, 5.8, 6.2)
_FURTHER: Final = 0.2

_BEST_TOWER: Final = 0.3
_NEXT_TOWERS: Final = 0.16
_TOWERS: Final = 4
_A_MOVE: Final = 0.7
"""What a tower is worth one move further away."""
_A_CLOUD: Final = 0.8
"""Moves that a cloud in the way counts for."""
_PRINTED_WAND: Final = 1.1
_WITHOUT_POTION: Final = 0.65
_AMULET: Final = 5.0
_FULL: Final = 1.5
"""So many rounds before the end what may come of things is worth less."""
_LIGHTNING_SHARE: Final = 0.75
"""How much of the lightning that is left all seats together take."""

_AS_IT_IS: Final = 0.6
"""How much of what a round's event would bring now will be so at its end."""
_RESOURCES_AS_THEY_ARE: Final = 0.7
_A_SET: Final = 0.5
_AN_OFFER: Final = 0.25
_BY_POSITION: Final = (EMPTY_HANDED, PERILOUS_PLACES, PROTECTED_PLACES, FLOCK_TOGETHER)

Outlook = tuple[tuple[float, str, int], ...]
"""Towers by what they are worth from a region: that, the tower (or the site of an amulet), index of its colour."""


class Appraisal:
    """Weighs sketches of one seat.

    Args:
        ground: what does not change.
        left: rounds that are left, the share of the running one included.
    """

    def __init__(self, ground: Ground, left: float) -> None:
        self._ground = ground
        self._left = left
        self._fade = min(1.0, left / _FULL)
        self._held = functools.cache(self._held_worth)
        self._worths: dict[Sketch, float] = {}

    def worth(self, sketch: Sketch) -> float:
        """In VP."""
        known = self._worths.get(sketch)
        if known is None:
            known = self._worths[sketch] = self._appraise(sketch)
        return known

    def _appraise(self, sketch: Sketch) -> float:
        first, second = sketch.pawns
        value = sketch.vp + self._held(sketch.held) + self._bolts(sketch) + amulets_vp(len(sketch.amulets))
        if self._fade:
            value += self._fade * (self._pawn(sketch, first) + self._pawn(sketch, second))
        for tile in sketch.forest:
            value += tile_worth(tile, self._left)
        likely = _RESOURCES_AS_THEY_ARE if self._ground.event == EMPTY_HANDED else _AS_IT_IS
        return value + likely * event_vp(self._ground, sketch)

    # ---- resources ---------------------------------------------------------------------------------------------------

    def _held_worth(self, held: Holding) -> float:
        useful = sum(_of(_POTIONS, amount) for amount in held[:WAND]) + _of(_WANDS, held[WAND])
        value = self._fade * useful + (1.0 - self._fade) * sets_in(held).vp
        event = self._ground.event
        if event == THE_WORKS:
            kinds = sum(1 for amount in held if amount)
            value += _A_SET * EVENTS[event].params.set_vp.get(str(kinds), 0)
        elif event == THE_UPPER_HAND:
            value += _AN_OFFER * min(5, sum(held))
        return value

    # ---- lightning ---------------------------------------------------------------------------------------------------

    def _bolts(self, sketch: Sketch) -> float:
        """With what is likely to come, since more is worth more than in proportion (BS-2.9)."""
        rest = sum(CLOUDS[cloud].lightning for cloud in sketch.clouds if cloud)
        share = rest * _LIGHTNING_SHARE / self._ground.seats * min(1.0, self._left / 3)
        return _lightning(sketch.bolts + share) - _lightning(share)

    # ---- pawns -------------------------------------------------------------------------------------------------------

    def _pawn(self, sketch: Sketch, region: str) -> float:
        value, found = 0.0, 0
        held = sketch.held
        for worth, tower, colour in _outlook(
            self._ground.board, region, sketch.clouds, sketch.tiles, self._ground.covered
        ):
            if colour < 0:
                if tower in sketch.amulets:
                    continue
            elif tower in sketch.occupied:
                continue
            elif not held[colour]:
                worth *= _WITHOUT_POTION
            value += worth * (_NEXT_TOWERS if found else _BEST_TOWER)
            found += 1
            if found == _TOWERS:
                break
        return value


def event_vp(ground: Ground, sketch: Sketch) -> int:
    """What the round's event would bring now at its end, where nobody is asked (BS-9.4)."""
    event = ground.event
    if event not in _BY_POSITION:
        return 0
    params = EVENTS[event].params
    if event == EMPTY_HANDED:
        return params.vp_per_resource * sum(sketch.held)
    terrain = BOARDS[ground.board].terrain
    first, second = (terrain[region] for region in sketch.pawns)
    if event == FLOCK_TOGETHER:
        return params.vp_if_same_terrain if first == second else 0
    per_pawn = {str(kind): vp for kind, vp in params.vp_per_pawn.items()}
    return per_pawn[first] + per_pawn[second]


def _of(worths: tuple[float, ...], amount: int) -> float:
    beyond = max(0, amount - len(worths) + 1)
    return worths[amount - beyond] + _FURTHER * beyond


@functools.lru_cache(maxsize=2048)
def _lightning(bolts: float) -> float:
    """Between two numbers of bolts, in proportion."""
    whole = int(bolts)
    low = lightning_vp(whole)
    return low + (bolts - whole) * (lightning_vp(whole + 1) - low)


def tile_worth(tile: str, left: float) -> float:
    """What it is worth to hold a forest tile.

    >>> tile_worth("f_five_1", 3.0) > tile_worth("f_five_1", 0.1)
    True
    """
    worth = 3.5 if TILES[tile].effect == "five_points" else 3.0
    return worth * min(1.0, left / 2)


# ---- towers from afar ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=20_000)
def _outlook(
    board: str, region: str, clouds: tuple[str, ...], tiles: tuple[tuple[str, str], ...], covered: frozenset[str]
) -> Outlook:
    side = BOARDS[board]
    reach = _reach(board, region, clouds, tiles)
    found: list[tuple[float, str, int]] = []
    towers = [tower for tower in side.towers.values() if tower.id not in covered]
    towers += [vat_at(at) for at, tile in tiles if tile == VAT]
    for tower in towers:
        moves = min((reach[at] for at in tower.touches if at in reach), default=None)
        if moves is not None:
            worth = (tower.vp + _PRINTED_WAND * tower.wands) * _A_MOVE**moves
            found.append((worth, tower.id, INDEX[tower.colour]))
    for at, tile in tiles:
        if at in reach and TILE_SITE[tile] == "mountain":
            found.append((_AMULET * _A_MOVE ** reach[at], at, -1))
        elif at in reach and TILE_SITE[tile] == "forest":
            found.append((3.0 * _A_MOVE ** reach[at], at, -1))
    found.sort(reverse=True)
    return tuple(found[:24])


@functools.lru_cache(maxsize=20_000)
def _reach(board: str, region: str, clouds: tuple[str, ...], tiles: tuple[tuple[str, str], ...]) -> dict[str, float]:
    """How many moves each land region is away, clouds in the way counted too (Dijkstra 1959)."""
    side = BOARDS[board]
    lying = dict.fromkeys(side.terrain, 0)
    for at, cloud in zip(side.spaces.values(), clouds, strict=True):
        if cloud:
            lying[at] += 1
    leads = {at: [side.circles[circle] for circle in TILES[tile].params.circles] for at, tile in tiles}
    best: dict[str, float] = {}
    queue = [(0.0, region)]
    while queue:
        moves, at = heapq.heappop(queue)
        if at in best:
            continue
        best[at] = moves
        for to in side.adjacent[at]:
            if side.terrain[to] != WATER:
                cost = moves + 1.0 + _A_CLOUD * lying[to]
                for end in leads.get(to) or (to,):
                    if end not in best:
                        heapq.heappush(queue, (cost, end))
    return best
