"""What happens by itself until a seat is asked: the state machine of a round (BS-4)."""

from __future__ import annotations

from broom_service.catalogue import DATA
from broom_service.choosing import after_choice, after_extra, start_round
from broom_service.course import Course
from broom_service.endings import SCORED, after_offers, end_match, end_round
from broom_service.state import Stage
from broom_service.tricks import act_brave, end_trick, follow, start_trick
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["go_on"]


def go_on(course: Course) -> None:
    """Until a seat is asked, or the match is over."""
    while not course.over and not course.draft.steps and _advance(course):
        pass


def _advance(course: Course) -> bool:
    """One thing that happens by itself; false: the match waits."""
    draft = course.draft
    stage = draft.stage
    if draft.waiting:
        return False
    if stage is Stage.LEAD:
        return _play_on(course)
    if stage is Stage.CHOOSE:
        if not after_choice(course):
            _lead_trick(course, 1)
    elif stage is Stage.EXTRA:
        after_extra(course)
        _lead_trick(course, 1)
    elif stage is Stage.OFFER:
        after_offers(course)
        _end_round(course)
    else:
        _end_round(course)
    return True


def _play_on(course: Course) -> bool:
    """The tricks of a round (BS-5)."""
    draft = course.draft
    plays = len(draft.trick_plays)
    if not plays:
        if draft.hands[draft.leader]:
            return False
        _lead_trick(course, draft.trick_no)  # the leader has just left: the next one leads in its place (BS-12.4)
    elif plays < draft.terms.seats:
        return follow(course)
    elif not act_brave(course):
        end_trick(course)
        _lead_trick(course, draft.trick_no + 1)
    return True


def _lead_trick(course: Course, number: int) -> None:
    """BS-4.7: tricks are played until no seat has a card left."""
    if start_trick(course, number):
        return
    if not end_round(course):
        _end_round(course)


def _end_round(course: Course) -> None:
    """BS-4.8."""
    draft = course.draft
    course.tell(pb.RoundEnded(round=draft.round))
    if draft.round < DATA.constants.rounds:
        start_round(course)
    else:
        end_match(course, SCORED)
