"""The end of a round: events of kind `end`, offers, sets, and the end of the match (BS-4.8, BS-9, BS-10)."""

from __future__ import annotations

from typing import Final

from broom_service.boards import BOARDS
from broom_service.carrying_out import chosen_amounts
from broom_service.course import Course
from broom_service.messages import score_message
from broom_service.resources import INDEX, NOTHING, amounts_of, as_message, kinds_in, less
from broom_service.roles import EMPTY_HANDED, EVENTS, FLOCK_TOGETHER, THE_UPPER_HAND, THE_WORKS
from broom_service.scoring import scores
from broom_service.state import Fields, Stage
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["OTHERS_LEFT", "SCORED", "after_offers", "decline_set", "end_match", "end_round", "hand_in", "offer"]

SCORED: Final = "scored"
OTHERS_LEFT: Final = "others_left"

_SET_SIZES: Final = tuple(sorted(int(size) for size in EVENTS[THE_WORKS].params.set_vp))


def end_round(course: Course) -> bool:
    """The round's event is carried out, where it belongs to the end (BS-4.8); whether seats are asked for it."""
    draft = course.draft
    event = draft.event
    if event == THE_UPPER_HAND:
        asked = [seat for seat in course.staying if draft.resources[seat] != NOTHING]  # BS-9.6
        return _ask(course, Stage.OFFER, asked)
    if event == THE_WORKS:
        asked = [seat for seat in course.staying if kinds_in(draft.resources[seat]) >= _SET_SIZES[0]]  # BS-9.8
        return _ask(course, Stage.HAND_IN, asked)
    if EVENTS[event].when == "end":
        for seat in range(draft.terms.seats):
            course.change_vp(seat, _automatic_vp(draft, seat), event)
    return False


def _ask(course: Course, stage: Stage, seats: list[int]) -> bool:
    if seats:
        course.tell(pb.SeatsAsked(stage=stage, seats=seats))
    return bool(seats)


def _automatic_vp(fields: Fields, seat: int) -> int:
    """What the event brings by position and resources (BS-9.4); retired seats too (BS-12.4)."""
    params = EVENTS[fields.event].params
    terrain = BOARDS[fields.terms.board].terrain
    first, second = (terrain[region] for region in fields.pawns[seat])
    if fields.event == EMPTY_HANDED:
        return params.vp_per_resource * sum(fields.resources[seat])
    if fields.event == FLOCK_TOGETHER:
        return params.vp_if_same_terrain if first == second else 0
    per_pawn = {str(kind): vp for kind, vp in params.vp_per_pawn.items()}
    return per_pawn[first] + per_pawn[second]


# ---- The Upper Hand (BS-9.6, BS-9.7) ---------------------------------------------------------------------------------


def offer(course: Course, seat: int, command: pb.Offer) -> str:
    """Secret until all have offered."""
    offered = chosen_amounts(command.resources)
    if offered is None:
        return "bad_resources"
    if any(amount > held for amount, held in zip(offered, course.draft.resources[seat], strict=True)):
        return "not_enough_resources"
    course.tell(pb.OfferMade(seat=seat, resources=as_message(offered)))
    return ""


def after_offers(course: Course) -> None:
    """Offers open together, and everything offered is gone."""
    draft = course.draft
    offers = [each or NOTHING for each in draft.offers]
    revealed = [pb.SeatOffer(seat=seat, resources=as_message(each)) for seat, each in enumerate(offers)]
    course.tell(pb.OffersRevealed(offers=revealed))
    for seat, each in enumerate(offers):
        course.change_resources(seat, less(each), THE_UPPER_HAND)
    sizes = [sum(each) for each in offers]
    for seat, vp in enumerate(_upper_hand_vp(sizes)):
        course.change_vp(seat, vp, THE_UPPER_HAND)


def _upper_hand_vp(sizes: list[int]) -> list[int]:
    """By seat.

    >>> _upper_hand_vp([4, 3, 3, 1, 0]), _upper_hand_vp([3, 3, 2, 0, 1]), _upper_hand_vp([2, 1])
    ([6, 3, 3, 0, 0], [6, 6, 0, 0, 0], [6, 0])
    """
    params = EVENTS[THE_UPPER_HAND].params
    largest = max(sizes)
    vp = [params.first_vp if size == largest and size else 0 for size in sizes]
    if sizes.count(largest) == 1 and len(sizes) >= params.second_from_seats:
        second = max(size for size in sizes if size != largest)
        vp = [params.second_vp if size == second and size else won for size, won in zip(sizes, vp, strict=True)]
    return vp


# ---- The Works! (BS-9.8) ---------------------------------------------------------------------------------------------


def hand_in(course: Course, seat: int, command: pb.HandIn) -> str:
    """At most one set; it takes effect at once, since it touches nobody else."""
    size, resources = command.size, [*command.resources]
    known = all(resource in INDEX for resource in resources)
    if size not in _SET_SIZES or not known or len(resources) != size or len({*resources}) != size:
        return "bad_resources"
    handed = amounts_of([(resource, 1) for resource in resources])
    if any(amount > held for amount, held in zip(handed, course.draft.resources[seat], strict=True)):
        return "not_enough_resources"
    vp = EVENTS[THE_WORKS].params.set_vp[str(size)]
    course.tell(pb.SetHandedIn(seat=seat, size=size, resources=resources, vp=vp))
    course.change_resources(seat, less(handed), THE_WORKS)
    course.change_vp(seat, vp, THE_WORKS)
    return ""


def decline_set(course: Course, seat: int, _command: pb.DeclineSet) -> str:
    """The seat keeps what it has."""
    course.tell(pb.SetDeclined(seat=seat))
    return ""


# ---- the end of the match (BS-10, BS-12.5) ---------------------------------------------------------------------------


def end_match(course: Course, reason: str) -> None:
    """Final scoring, unless the others left; who has the most wins, with all equals (BS-10.5)."""
    lines = scores(course.draft, final=reason == SCORED)
    ended = pb.MatchEnded(
        scores=[score_message(line) for line in lines],
        winners=[line.seat for line in lines if line.rank == 1],
        reason=reason,
    )
    course.tell(ended)
