"""Time that runs out, and seats that leave (BS-12)."""

from __future__ import annotations

from typing import Final

from broom_service.carrying_out import give_up_all
from broom_service.course import Course
from broom_service.endings import OTHERS_LEFT, end_match
from broom_service.flow import go_on
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["RESIGNED", "TIMEOUTS", "clear_timeouts", "count_timeout", "retire"]

RESIGNED: Final = "resigned"
TIMEOUTS: Final = "timeouts"


def clear_timeouts(course: Course, seat: int) -> None:
    """The seat answers by itself (BS-12.3)."""
    if course.draft.timeouts[seat]:
        course.tell(pb.TimeoutsCleared(seat=seat))


def count_timeout(course: Course, seat: int) -> bool:
    """A decision ran out; true: one too many, and the seat retires instead of the default (BS-12.3)."""
    consecutive = course.draft.timeouts[seat] + 1
    course.tell(pb.DecisionTimedOut(seat=seat, consecutive=consecutive))
    if consecutive < course.draft.terms.timeout_limit:
        return False
    retire(course, seat, TIMEOUTS)
    return True


def retire(course: Course, seat: int, reason: str) -> None:
    """The seat's cards leave unseen, and it is asked nothing more (BS-12.4)."""
    draft = course.draft
    course.tell(pb.SeatRetired(seat=seat, reason=reason))
    if draft.steps and draft.acting == seat:
        give_up_all(course, seat)
    if len(course.staying) == 1:
        end_match(course, OTHERS_LEFT)  # BS-12.5
    else:
        go_on(course)
