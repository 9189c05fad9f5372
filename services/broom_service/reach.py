"""What an open step allows (BS-6 to BS-8): the fault of one choice, or every choice without a fault."""

from __future__ import annotations

from collections.abc import Iterator

from broom_service.boards import BOARDS, WATER, vat_at
from broom_service.catalogue import TowerRecord
from broom_service.clouds import CLOUDS
from broom_service.resources import INDEX, WAND
from broom_service.state import NO_ONE, Fields, Step, StepKind
from broom_service.tiles import VAT

__all__ = [
    "charmable",
    "circles_free",
    "clouded",
    "deliver_fault",
    "destinations",
    "dispel_fault",
    "move_fault",
    "possible",
    "ride_fault",
    "servable",
    "storm_vp",
    "tile_at",
    "tower_called",
    "towers_at",
]

_PAWNS = range(2)


def tile_at(fields: Fields, region: str) -> str:
    """The landscape tile that lies there; empty: none."""
    return next((tile for at, tile in fields.tiles if at == region), "")


def clouded(fields: Fields) -> frozenset[str]:
    """Regions with one or more clouds (BS-7.4)."""
    regions = BOARDS[fields.terms.board].spaces.values()
    return frozenset(region for region, cloud in zip(regions, fields.clouds, strict=False) if cloud)


# ---- moves (BS-8.1) --------------------------------------------------------------------------------------------------


def move_fault(fields: Fields, seat: int, step: Step, pawn: int, to: str) -> str:
    """Why this pawn cannot fly there in this step, in the order of BS-11.1."""
    if pawn not in _PAWNS:
        return "bad_pawn"
    board = BOARDS[fields.terms.board]
    if to not in board.adjacent[fields.pawns[seat][pawn]]:
        return "not_adjacent"
    terrain = board.terrain[to]
    if terrain == WATER:
        return "water"
    if step.terrains and terrain not in step.terrains:
        return "wrong_terrain"
    return "clouded" if to in clouded(fields) else ""


def destinations(fields: Fields, seat: int, step: Step, pawn: int) -> tuple[str, ...]:
    """Where this pawn can fly, in the order of the regions."""
    board = BOARDS[fields.terms.board]
    near = board.adjacent[fields.pawns[seat][pawn]]
    full = clouded(fields)
    terrains = step.terrains
    return tuple(
        region
        for region, terrain in board.terrain.items()
        if region in near and region not in full and terrain != WATER and (not terrains or terrain in terrains)
    )


# ---- the turbo broom (BS-8.3) ----------------------------------------------------------------------------------------


def circles_free(fields: Fields, step: Step) -> tuple[str, ...]:
    """Circles of the tile whose region has no cloud."""
    circles = BOARDS[fields.terms.board].circles
    full = clouded(fields)
    return tuple(circle for circle in step.circles if circles[circle] not in full)


def ride_fault(fields: Fields, step: Step, circle: str) -> str:
    """Why the broom does not lead there."""
    return "" if circle in circles_free(fields, step) else "bad_circle"


# ---- deliveries (BS-7.1 to BS-7.3) -----------------------------------------------------------------------------------


def tower_called(fields: Fields, tower: str) -> TowerRecord | None:
    """The tower of this id, covered or not; None: it is not on this board. The vat is one where it lies (BS-8.3)."""
    if tower == VAT:
        return next((vat_at(region) for region, tile in fields.tiles if tile == VAT), None)
    return BOARDS[fields.terms.board].towers.get(tower)


def towers_at(fields: Fields, region: str) -> Iterator[TowerRecord]:
    """Towers that touch this region, covered and occupied ones too."""
    board = BOARDS[fields.terms.board]
    for tower in board.towers_at[region]:
        yield board.towers[tower]
    if tile_at(fields, region) == VAT:
        yield vat_at(region)


def _pawn_fault(fields: Fields, seat: int, step: Step, pawn: int) -> str:
    if pawn not in _PAWNS:
        return "bad_pawn"
    region = fields.pawns[seat][pawn]
    if step.pawn != NO_ONE and (pawn != step.pawn or region != step.region):  # BS-7.3, BS-8.5
        return "bad_pawn"
    if step.terrains and BOARDS[fields.terms.board].terrain[region] not in step.terrains:  # BS-7.3
        return "wrong_terrain"
    return ""


def _tower_fault(fields: Fields, seat: int, region: str, tower: TowerRecord) -> str:
    if tower.id in fields.covered:  # BS-3.5
        return "tower_covered"
    if region not in tower.touches:
        return "tower_not_here"
    if tower.id in fields.occupied:  # only round ones ever are (BS-7.2)
        return "tower_occupied"
    return "" if fields.resources[seat][INDEX[tower.colour]] else "no_potion"


def deliver_fault(fields: Fields, seat: int, step: Step, pawn: int, tower_id: str, wands: int | None) -> str:
    """Why this pawn cannot deliver there in this step, in the order of BS-11.1.

    Args:
        wands: to take; None: all of the tower's.
    """
    fault = _pawn_fault(fields, seat, step, pawn)
    if fault:
        return fault
    tower = tower_called(fields, tower_id)
    if tower is None:
        return "unknown_tower"
    fault = _tower_fault(fields, seat, fields.pawns[seat][pawn], tower)
    if fault:
        return fault
    return "bad_wands" if wands is not None and wands > tower.wands else ""


def servable(fields: Fields, seat: int, step: Step, pawn: int) -> tuple[TowerRecord, ...]:
    """Towers to which this pawn can deliver in this step."""
    if _pawn_fault(fields, seat, step, pawn):
        return ()
    region = fields.pawns[seat][pawn]
    return tuple(tower for tower in towers_at(fields, region) if not _tower_fault(fields, seat, region, tower))


def storm_vp(fields: Fields, region: str) -> int:
    """What the power clouds around a region add to a delivery from it (BS-7.2)."""
    board = BOARDS[fields.terms.board]
    near = board.adjacent[region]
    placed = zip(board.spaces.values(), fields.clouds, strict=False)
    return sum(CLOUDS[cloud].params.vp_per_delivery for at, cloud in placed if cloud and at in near)


# ---- clouds (BS-7.5) -------------------------------------------------------------------------------------------------


def dispel_fault(fields: Fields, seat: int, space: str) -> str:
    """Why the cloud on this space cannot be charmed, in the order of BS-11.1."""
    board = BOARDS[fields.terms.board]
    placed = dict(zip(board.spaces, fields.clouds, strict=False))
    cloud = placed.get(space, "")
    if not cloud:
        return "no_cloud"
    if not any(board.spaces[space] in board.adjacent[region] for region in fields.pawns[seat]):
        return "cloud_not_near"
    return "not_enough_wands" if fields.resources[seat][WAND] < CLOUDS[cloud].stars else ""


def charmable(fields: Fields, seat: int) -> tuple[str, ...]:
    """Spaces whose cloud the seat can charm, in the order of the spaces."""
    wands = fields.resources[seat][WAND]
    board = BOARDS[fields.terms.board]
    first, second = fields.pawns[seat]
    near = board.adjacent[first] | board.adjacent[second]
    placed = zip(board.spaces.items(), fields.clouds, strict=False)
    return tuple(
        space for (space, region), cloud in placed if cloud and region in near and CLOUDS[cloud].stars <= wands
    )


def possible(fields: Fields, seat: int, step: Step) -> bool:
    """Whether the step has a legal command beside giving it up (BS-6.4)."""
    if step.kind is StepKind.GATHER:
        return True
    if step.kind is StepKind.DISPEL:
        return bool(charmable(fields, seat))
    if step.kind is StepKind.TURBO:
        return bool(circles_free(fields, step))
    if step.kind is StepKind.MOVE:
        return any(destinations(fields, seat, step, pawn) for pawn in _PAWNS)
    return any(servable(fields, seat, step, pawn) for pawn in _PAWNS)
