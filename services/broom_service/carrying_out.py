"""How actions are carried out: groups of steps, flights, deliveries, clouds, tiles (BS-6 to BS-8).

Commands are judged here; each function gives the code of the rejection, or an empty text and has done it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from broom_service.clouds import CLOUDS
from broom_service.course import Course
from broom_service.reach import (
    circles_free,
    deliver_fault,
    dispel_fault,
    move_fault,
    possible,
    ride_fault,
    storm_vp,
    tile_at,
    tower_called,
)
from broom_service.resources import INDEX, NOTHING, Holding, amounts_of, less, more, only
from broom_service.roles import ROLES
from broom_service.state import Step, StepKind
from broom_service.tiles import TILE_SITE, TILES
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = [
    "carry_out",
    "chosen_amounts",
    "deliver",
    "dispel",
    "gather",
    "give_up_all",
    "move_pawn",
    "ride",
    "settle",
    "skip_step",
]

DONE: Final = "done"
SKIPPED: Final = "skipped"
IMPOSSIBLE: Final = "impossible"

# ---- openings (BS-6.6) -----------------------------------------------------------------------------------------------


def carry_out(course: Course, seat: int, role: str, *, brave: bool) -> None:
    """The role's action opens its group."""
    course.open_group(seat, [_opening(role, brave=brave)], begins=True)
    settle(course)


def _opening(role_id: str, *, brave: bool) -> Step:
    role = ROLES[role_id]
    if role.kind == "gatherer":  # BS-6.7
        if brave:
            return Step(StepKind.GATHER, role_id, take=amounts_of((*role.brave.take.items(),)))
        one_each = amounts_of([(resource, 1) for resource in role.cowardly.take_one_of])
        return Step(StepKind.GATHER, role_id, take=one_each, one=True)
    if role.kind == "witch":  # the delivery opens on arrival (BS-8.5)
        return Step(StepKind.MOVE, role_id, moves=1, terrains=role.terrains, delivers=brave)
    bonus = role.brave.bonus_vp if brave else 0
    if role.kind == "druid":
        return Step(StepKind.DELIVER, role_id, terrains=role.terrains, bonus=bonus)
    return Step(StepKind.DISPEL, role_id, bonus=bonus)


def settle(course: Course) -> None:
    """Groups without a legal command close, from the top (BS-6.4)."""
    draft = course.draft
    while draft.steps:
        top = draft.top_steps
        if any(possible(draft, draft.acting, step) for step in top):
            return
        for step in top:
            course.close_step(step, IMPOSSIBLE)


def give_up_all(course: Course, seat: int) -> None:
    """A seat that leaves: its steps close; a turbo broom that waits is ridden (BS-12.4)."""
    draft = course.draft
    for step in reversed(draft.steps):
        free = circles_free(draft, step) if step.kind is StepKind.TURBO else ()
        if free:
            _fly(course, seat, step.pawn, course.board.circles[free[0]], "turbo")
        course.close_step(step, SKIPPED)


def _open_step(course: Course, number: int, kind: StepKind) -> Step | str:
    """The step of the top group; or the fault."""
    step = next((step for step in course.draft.top_steps if step.number == number), None)
    if step is None:
        return "unknown_step"
    return step if step.kind is kind else "wrong_step_kind"


def skip_step(course: Course, _seat: int, command: pb.SkipStep) -> str:
    """BS-6.3."""
    step = next((step for step in course.draft.top_steps if step.number == command.step), None)
    if step is None:
        return "unknown_step"
    if step.kind is StepKind.TURBO:
        return "cannot_skip"
    course.close_step(step, SKIPPED)
    settle(course)
    return ""


# ---- gathering (BS-6.7, BS-8.5) --------------------------------------------------------------------------------------


def gather(course: Course, seat: int, command: pb.Gather) -> str:
    """One potion or wand, or any part of what the step gives."""
    step = _open_step(course, command.step, StepKind.GATHER)
    if isinstance(step, str):
        return step
    taken = chosen_amounts(command.resources)
    if taken is None or taken == NOTHING:
        return "bad_resources"
    if any(amount > most for amount, most in zip(taken, step.take, strict=True)):
        return "bad_resources"
    if step.one and sum(taken) != 1:
        return "bad_resources"
    course.change_resources(seat, taken, "gather")
    course.close_step(step, DONE)
    settle(course)
    return ""


def chosen_amounts(amounts: Iterable[pb.Amount]) -> Holding | None:
    """What was named, each resource at most once; None: something unknown, or twice."""
    chosen: dict[str, int] = {}
    for each in amounts:
        if each.resource not in INDEX or each.resource in chosen:
            return None
        chosen[each.resource] = each.amount
    return amounts_of(chosen)


# ---- flights (BS-8) --------------------------------------------------------------------------------------------------


def move_pawn(course: Course, seat: int, command: pb.MovePawn) -> str:
    """BS-8.1."""
    step = _open_step(course, command.step, StepKind.MOVE)
    if isinstance(step, str):
        return step
    fault = move_fault(course.draft, seat, step, command.pawn, command.to)
    if fault:
        return fault
    _fly(course, seat, command.pawn, command.to, _flight_of(step.cause))
    if step.moves > 1:
        course.tell(pb.StepUsed(step=step.number, moves_left=step.moves - 1))
    else:
        course.close_step(step, DONE)
    _arrive(course, seat, command.pawn, step)
    settle(course)
    return ""


def _flight_of(cause: str) -> str:
    """BS-11.2: `role`, `gust`, or the tile."""
    if cause in ROLES:
        return "role"
    return cause if cause in TILES else "gust"


def _fly(course: Course, seat: int, pawn: int, to: str, cause: str) -> None:
    origin = course.draft.pawns[seat][pawn]
    course.tell(pb.PawnMoved(seat=seat, pawn=pawn, to=to, cause=cause, **{"from": origin}))


def ride(course: Course, seat: int, command: pb.Ride) -> str:
    """BS-8.3."""
    step = _open_step(course, command.step, StepKind.TURBO)
    if isinstance(step, str):
        return step
    fault = ride_fault(course.draft, step, command.circle)
    if fault:
        return fault
    _fly(course, seat, step.pawn, course.board.circles[command.circle], "turbo")
    course.close_step(step, DONE)
    _arrive(course, seat, step.pawn, step)
    settle(course)
    return ""


def _arrive(course: Course, seat: int, pawn: int, by: Step) -> None:
    """What happens where a pawn arrives, in the order of BS-8.2."""
    draft = course.draft
    region = draft.pawns[seat][pawn]
    tile = tile_at(draft, region)
    site = TILE_SITE.get(tile, "")
    if site == "hill" and TILES[tile].effect == "turbo":  # BS-8.3
        turbo = Step(
            StepKind.TURBO,
            tile,
            delivers=by.delivers,
            pawn=pawn,
            region=region,
            circles=TILES[tile].params.circles,
        )
        if circles_free(draft, turbo):
            course.open_group(seat, [turbo])
            return
    if site == "forest":  # BS-8.4
        course.tell(pb.ForestTileTaken(seat=seat, tile=tile, region=region))
    group: list[Step] = []  # BS-8.5
    if site == "mountain" and region not in draft.amulets[seat]:  # BS-8.6, BS-8.8
        course.tell(pb.AmuletTaken(seat=seat, region=region, tile=tile))
        group.append(_mountain_step(tile))
    if by.delivers:
        group.append(Step(StepKind.DELIVER, _role_of(course, seat), pawn=pawn, region=region))
    course.open_group(seat, group)


def _role_of(course: Course, seat: int) -> str:
    """The role that the seat laid down in this trick."""
    return next(play.role for play in course.draft.trick_plays if play.seat == seat)


def _mountain_step(tile: str) -> Step:
    """What the tile allows once, now or never (BS-8.5)."""
    record = TILES[tile]
    params = record.params
    if record.effect == "take":
        take = params.orange, params.green, params.purple, params.wand
        return Step(StepKind.GATHER, tile, take=take)
    if record.effect == "moves":
        return Step(StepKind.MOVE, tile, moves=params.moves)
    return Step(StepKind.DELIVER if record.effect == "deliver" else StepKind.DISPEL, tile)


# ---- deliveries (BS-7.1, BS-7.2) -------------------------------------------------------------------------------------


def deliver(course: Course, seat: int, command: pb.Deliver) -> str:
    """One potion goes to a tower."""
    step = _open_step(course, command.step, StepKind.DELIVER)
    if isinstance(step, str):
        return step
    draft = course.draft
    wands = command.take_wands if command.HasField("take_wands") else None
    fault = deliver_fault(draft, seat, step, command.pawn, command.tower, wands)
    tower = tower_called(draft, command.tower)
    if fault or tower is None:
        return fault
    region = draft.pawns[seat][command.pawn]
    delivered = pb.PotionDelivered(
        seat=seat,
        pawn=command.pawn,
        region=region,
        tower=tower.id,
        colour=tower.colour,
        vp_tower=tower.vp,
        vp_bonus=step.bonus,
        vp_storm=storm_vp(draft, region),
        wands=tower.wands if wands is None else wands,
        occupies=tower.shape == "round",
    )
    course.tell(delivered)
    gone, come = less(only(tower.colour)), only("wand", delivered.wands)
    course.change_resources(seat, more(gone, come), "delivery")
    total = delivered.vp_tower + delivered.vp_bonus + delivered.vp_storm
    course.change_vp(seat, total, "delivery")  # one change (BS-11.3)
    course.close_step(step, DONE)
    settle(course)
    return ""


# ---- clouds (BS-7.5, BS-7.6) -----------------------------------------------------------------------------------------


def dispel(course: Course, seat: int, command: pb.Dispel) -> str:
    """One cloud is charmed for the wands that it asks."""
    step = _open_step(course, command.step, StepKind.DISPEL)
    if isinstance(step, str):
        return step
    draft = course.draft
    fault = dispel_fault(draft, seat, command.space)
    if fault:
        return fault
    cloud = CLOUDS[dict(zip(course.board.spaces, draft.clouds, strict=True))[command.space]]
    charmed = pb.CloudCharmed(
        seat=seat,
        space=command.space,
        cloud=cloud.id,
        stars=cloud.stars,
        lightning=cloud.lightning,
        vp_bonus=step.bonus,
    )
    course.tell(charmed)
    course.change_resources(seat, less(only("wand", cloud.stars)), "charm")
    course.change_vp(seat, step.bonus, "charm")
    course.close_step(step, DONE)
    if cloud.kind == "show":
        enough = cloud.params.colour and draft.resources[seat][INDEX[cloud.params.colour]] >= cloud.params.at_least
        course.change_vp(seat, cloud.params.vp if enough else 0, "show")
    elif cloud.kind == "gust":
        course.open_group(seat, [Step(StepKind.MOVE, cloud.id, moves=cloud.params.moves)])
    elif cloud.kind == "courier":
        course.open_group(seat, [Step(StepKind.DELIVER, cloud.id)])
    settle(course)
    return ""
