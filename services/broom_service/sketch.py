"""An action in pencil: what a seat's steps lead to, without events and without the other seats (BS-6 to BS-8).

The players try many actions for a decision, so that this says the rules of carrying out once more, in brief. What it
leaves out never harms: of what is gathered everything is taken, and a delivery takes all wands.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final, NamedTuple

from broom_service.boards import BOARDS, WATER, vat_at
from broom_service.catalogue import TileRecord, TowerRecord
from broom_service.clouds import CLOUDS
from broom_service.resources import INDEX, RESOURCE_IDS, WAND, Holding, more
from broom_service.roles import ROLES
from broom_service.state import NO_ONE, Step, StepKind
from broom_service.tiles import TILE_SITE, TILES, VAT

__all__ = ["Choice", "Ground", "Sketch", "Steps", "choices", "opening", "top_of"]

Steps = tuple[Step, ...]
"""Open steps; the top group is last."""

_PAWNS: Final = range(2)


class Ground(NamedTuple):
    """What does not change in a round.

    Attributes:
        covered: towers that do not exist in this match (BS-3.5).
    """

    board: str
    seats: int
    round: int
    event: str
    covered: frozenset[str]


class Sketch(NamedTuple):
    """A seat and what it shares with the others.

    Attributes:
        vp: as it is, or as an action leaves it.
        amulets: sites where the seat's amulet was taken.
        clouds: by cloud space; empty: none.
        tiles: region and tile.
    """

    pawns: tuple[str, str]
    held: Holding
    vp: int
    bolts: int
    amulets: frozenset[str]
    forest: tuple[str, ...]
    clouds: tuple[str, ...]
    occupied: frozenset[str]
    tiles: tuple[tuple[str, str], ...]

    def beside(self, other: Sketch) -> Sketch:
        """This seat on the table that another one leaves behind."""
        return self._replace(clouds=other.clouds, occupied=other.occupied, tiles=other.tiles)


class Choice(NamedTuple):
    """A command of the top group, and what it leads to.

    Attributes:
        kind: of the command: `gather`, `move_pawn`, `ride`, `deliver`, `dispel`, `skip_step`.
        step: its number.
        what: the region, circle, tower, space or resource; empty: all resources.
    """

    kind: str
    step: int
    pawn: int
    what: str
    sketch: Sketch
    steps: Steps


# ---- the board -------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def _clouded(board: str, clouds: tuple[str, ...]) -> frozenset[str]:
    return frozenset(region for region, cloud in zip(BOARDS[board].spaces.values(), clouds, strict=True) if cloud)


@functools.lru_cache(maxsize=4096)
def _near(board: str, region: str, clouds: tuple[str, ...]) -> tuple[str, ...]:
    """Where a pawn can fly from there, over any land (BS-8.1)."""
    side = BOARDS[board]
    full = _clouded(board, clouds)
    return tuple(to for to in sorted(side.adjacent[region]) if side.terrain[to] != WATER and to not in full)


@functools.lru_cache(maxsize=4096)
def _storm_vp(board: str, region: str, clouds: tuple[str, ...]) -> int:
    """BS-7.2."""
    side = BOARDS[board]
    near = side.adjacent[region]
    placed = zip(side.spaces.values(), clouds, strict=True)
    return sum(CLOUDS[cloud].params.vp_per_delivery for at, cloud in placed if cloud and at in near)


@functools.lru_cache(maxsize=1024)
def _towers(board: str, region: str, covered: frozenset[str], *, vat: bool) -> tuple[TowerRecord, ...]:
    side = BOARDS[board]
    here = tuple(side.towers[tower] for tower in side.towers_at[region] if tower not in covered)
    return (*here, vat_at(region)) if vat else here


# ---- steps -----------------------------------------------------------------------------------------------------------


@functools.cache
def opening(role_id: str, *, brave: bool) -> Steps:
    """What a role's action begins with (BS-6.6)."""
    role = ROLES[role_id]
    if role.kind == "gatherer":
        taken = role.brave.take if brave else dict.fromkeys(role.cowardly.take_one_of, 1)
        orange, green, purple, wand = (taken.get(resource, 0) for resource in RESOURCE_IDS)
        step = Step(StepKind.GATHER, role_id, take=(orange, green, purple, wand), one=not brave)
    elif role.kind == "witch":
        step = Step(StepKind.MOVE, role_id, moves=1, terrains=role.terrains, delivers=brave)
    else:
        kind = StepKind.DELIVER if role.kind == "druid" else StepKind.DISPEL
        step = Step(kind, role_id, terrains=role.terrains, bonus=role.brave.bonus_vp if brave else 0)
    return (step,)


@functools.cache
def _by_amulet(tile: str) -> Step:
    """What a mountain tile allows (BS-8.5)."""
    record: TileRecord = TILES[tile]
    params = record.params
    if record.effect == "take":
        return Step(StepKind.GATHER, tile, take=(params.orange, params.green, params.purple, params.wand))
    if record.effect == "moves":
        return Step(StepKind.MOVE, tile, moves=params.moves)
    return Step(StepKind.DELIVER if record.effect == "deliver" else StepKind.DISPEL, tile)


def top_of(steps: Steps) -> Steps:
    """The group that can be acted on (BS-6.1)."""
    group = steps[-1].group
    return tuple([step for step in steps if step.group == group])


def choices(ground: Ground, sketch: Sketch, steps: Steps) -> list[Choice]:
    """Every command of the top group that is worth a thought; none: the group closes by itself (BS-6.4)."""
    found: list[Choice] = []
    top = top_of(steps)
    for step in top:
        rest = tuple([each for each in steps if each is not step])
        found += _LISTERS[step.kind](ground, sketch, step, rest)
    if found:
        for step in top:
            if step.kind is not StepKind.TURBO:
                rest = tuple([each for each in steps if each is not step])
                found.append(Choice("skip_step", step.number, 0, "", sketch, rest))
    return found


def _gather(_ground: Ground, sketch: Sketch, step: Step, rest: Steps) -> Iterator[Choice]:
    if not step.one:
        yield Choice("gather", step.number, 0, "", sketch._replace(held=more(sketch.held, step.take)), rest)
        return
    for resource, index in INDEX.items():
        if step.take[index]:
            yield Choice("gather", step.number, 0, resource, sketch._replace(held=_changed(sketch, index, 1)), rest)


def _changed(sketch: Sketch, index: int, by: int) -> Holding:
    held = [*sketch.held]
    held[index] += by
    return held[0], held[1], held[2], held[3]


# ---- flights (BS-8) --------------------------------------------------------------------------------------------------


def _move(ground: Ground, sketch: Sketch, step: Step, rest: Steps) -> Iterator[Choice]:
    terrain = BOARDS[ground.board].terrain
    if step.moves > 1:
        rest = (*rest, _with_moves(step, step.moves - 1))
    for pawn in _PAWNS:
        for to in _near(ground.board, sketch.pawns[pawn], sketch.clouds):
            if not step.terrains or terrain[to] in step.terrains:
                yield Choice("move_pawn", step.number, pawn, to, *_arrived(sketch, pawn, to, step, rest))


def _with_moves(step: Step, moves: int) -> Step:
    return Step(step.kind, step.cause, step.number, step.group, moves=moves, terrains=step.terrains)


def _ride(ground: Ground, sketch: Sketch, step: Step, rest: Steps) -> Iterator[Choice]:
    circles = BOARDS[ground.board].circles
    for circle in step.circles:
        if circles[circle] not in _clouded(ground.board, sketch.clouds):
            yield Choice(
                "ride",
                step.number,
                step.pawn,
                circle,
                *_arrived(sketch, step.pawn, circles[circle], step, rest),
            )


def _arrived(sketch: Sketch, pawn: int, to: str, by: Step, rest: Steps) -> tuple[Sketch, Steps]:
    """What happens where a pawn arrives (BS-8.2)."""
    pawns = (to, sketch.pawns[1]) if pawn == 0 else (sketch.pawns[0], to)
    tile = next((tile for region, tile in sketch.tiles if region == to), "") if sketch.tiles else ""
    if not tile:
        flown = sketch._replace(pawns=pawns)
    else:
        site = TILE_SITE[tile]
        if site == "hill" and tile != VAT:
            turbo = Step(
                StepKind.TURBO, tile, delivers=by.delivers, pawn=pawn, region=to, circles=TILES[tile].params.circles
            )
            return sketch._replace(pawns=pawns), _stacked(rest, turbo)
        if site == "forest":
            left = tuple(placed for placed in sketch.tiles if placed[0] != to)
            flown = sketch._replace(pawns=pawns, forest=(*sketch.forest, tile), tiles=left)
        elif site == "mountain" and to not in sketch.amulets:
            flown = sketch._replace(pawns=pawns, amulets=sketch.amulets | {to})
            opened = [_by_amulet(tile)]
            if by.delivers:
                opened.append(Step(StepKind.DELIVER, by.cause, pawn=pawn, region=to))
            return flown, _stacked(rest, *opened)
        else:
            flown = sketch._replace(pawns=pawns)
    if by.delivers:
        return flown, _stacked(rest, Step(StepKind.DELIVER, by.cause, pawn=pawn, region=to))
    return flown, rest


def _stacked(rest: Steps, *opened: Step) -> Steps:
    """A new group on top (BS-6.5); what opens in pencil has no number."""
    group = rest[-1].group + 1 if rest else 1
    return (*rest, *[_grouped(step, group) for step in opened])


@functools.lru_cache(maxsize=4096)
def _grouped(step: Step, group: int) -> Step:
    return Step(
        step.kind,
        step.cause,
        0,
        group,
        step.take,
        step.one,
        step.moves,
        step.terrains,
        step.delivers,
        step.pawn,
        step.region,
        step.bonus,
        step.circles,
    )


# ---- deliveries and clouds (BS-7) ------------------------------------------------------------------------------------


def _deliver(ground: Ground, sketch: Sketch, step: Step, rest: Steps) -> Iterator[Choice]:
    terrain = BOARDS[ground.board].terrain
    for pawn in _PAWNS:
        at = sketch.pawns[pawn]
        if step.pawn != NO_ONE and (pawn != step.pawn or at != step.region):
            continue
        if (step.terrains and terrain[at] not in step.terrains) or (
            pawn and step.pawn == NO_ONE and at == sketch.pawns[0]
        ):
            continue
        storm = _storm_vp(ground.board, at, sketch.clouds)
        for tower in _towers(ground.board, at, ground.covered, vat=(at, VAT) in sketch.tiles):
            index = INDEX[tower.colour]
            if tower.id in sketch.occupied or not sketch.held[index]:
                continue
            held = [*sketch.held]
            held[index] -= 1
            held[WAND] += tower.wands
            after = sketch._replace(
                held=(held[0], held[1], held[2], held[3]),
                vp=sketch.vp + tower.vp + step.bonus + storm,
                occupied=sketch.occupied | {tower.id} if tower.shape == "round" else sketch.occupied,
            )
            yield Choice("deliver", step.number, pawn, tower.id, after, rest)


def _dispel(ground: Ground, sketch: Sketch, step: Step, rest: Steps) -> Iterator[Choice]:
    side = BOARDS[ground.board]
    near = side.adjacent[sketch.pawns[0]] | side.adjacent[sketch.pawns[1]]
    wands = sketch.held[WAND]
    for place, (space, region) in enumerate(side.spaces.items()):
        cloud_id = sketch.clouds[place]
        if not cloud_id or region not in near or CLOUDS[cloud_id].stars > wands:
            continue
        cloud = CLOUDS[cloud_id]
        after = sketch._replace(
            held=_changed(sketch, WAND, -cloud.stars),
            vp=sketch.vp + step.bonus,
            bolts=sketch.bolts + cloud.lightning,
            clouds=(*sketch.clouds[:place], "", *sketch.clouds[place + 1 :]),
        )
        opened = rest
        params = cloud.params
        if cloud.kind == "show" and params.colour and after.held[INDEX[params.colour]] >= params.at_least:
            after = after._replace(vp=after.vp + params.vp)
        elif cloud.kind == "gust":
            opened = _stacked(rest, Step(StepKind.MOVE, cloud_id, moves=params.moves))
        elif cloud.kind == "courier":
            opened = _stacked(rest, Step(StepKind.DELIVER, cloud_id))
        yield Choice("dispel", step.number, 0, space, after, opened)


_LISTERS: Final = {
    StepKind.GATHER: _gather,
    StepKind.MOVE: _move,
    StepKind.TURBO: _ride,
    StepKind.DELIVER: _deliver,
    StepKind.DISPEL: _dispel,
}
