"""Tricks: leading, following, brave and cowardly (BS-5)."""

from __future__ import annotations

from broom_service.carrying_out import carry_out
from broom_service.catalogue import DATA
from broom_service.course import Course
from broom_service.resources import INDEX, only
from broom_service.roles import (
    BLACK_DISTILLERY,
    BLACK_MARKET,
    BRAVE,
    BRAVE_HEART,
    COWARDLY,
    EVENT,
    EVENTS,
    ROLES,
    STANCES,
)
from broom_service.state import NO_ONE, Fields, Stage
from broom_service.tiles import FOREST_TILES, TILES
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = [
    "act_brave",
    "end_trick",
    "follow",
    "instead_offered",
    "is_spent",
    "play_role",
    "start_trick",
    "tiles_usable",
]

BEWITCHED = "bewitched"
FIVE_POINTS = "five_points"


def is_spent(fields: Fields, role: str) -> bool:
    """Whether the role was led in an earlier trick of this round (BS-5.9)."""
    trick = 0
    for play in fields.plays:
        if play.trick_no != trick:
            trick = play.trick_no
            if trick != fields.trick_no and play.role == role:
                return True
    return False


def instead_offered(fields: Fields) -> str:
    """The event that a cowardly seat may use in place of its action (BS-9.2); empty: none."""
    return fields.event if fields.event in (BLACK_MARKET, BLACK_DISTILLERY) else ""


def tiles_usable(fields: Fields, seat: int) -> tuple[str, ...]:
    """The seat's forest tiles that can go with a cowardly card (BS-8.7)."""
    return tuple(tile for tile in fields.forest_tiles[seat] if _goes_with_card(tile))


def _goes_with_card(tile: str) -> bool:
    return TILES[tile].effect != "extra_role"


# ---- a card is played (BS-5.1, BS-5.2) -------------------------------------------------------------------------------


def play_role(course: Course, seat: int, command: pb.PlayRole) -> str:
    """Leads, or follows."""
    fault = _play_fault(course.draft, seat, command)
    if fault:
        return fault
    _lay_down(course, seat, command.role, command.stance, command.instead)
    if command.stance == COWARDLY:
        _act_cowardly(course, seat, command)
    return ""


def _play_fault(draft: Fields, seat: int, command: pb.PlayRole) -> str:
    """In the order of BS-11.1."""
    if command.role not in ROLES:
        return "unknown_role"
    if command.role not in draft.hands[seat]:
        return "role_not_in_hand"
    leads = draft.asked is Stage.LEAD
    if not leads and command.role != draft.led_role:
        return "must_follow"
    if leads and is_spent(draft, command.role):  # BS-5.9
        if command.stance:
            return "bad_stance"
    elif command.stance not in STANCES:
        return "bad_stance"
    elif leads and draft.event == BRAVE_HEART and command.stance != BRAVE:  # BS-9.3
        return "must_be_brave"
    return _instead_fault(draft, seat, command)


def _instead_fault(draft: Fields, seat: int, command: pb.PlayRole) -> str:
    """BS-8.7, BS-9.2."""
    instead, resource = command.instead, command.resource
    distils = instead == EVENT and draft.event == BLACK_DISTILLERY
    if distils != bool(resource) or (resource and resource not in INDEX):
        return "bad_instead"
    if not instead:
        return ""
    if command.stance != COWARDLY or (instead == EVENT and not instead_offered(draft)):
        return "bad_instead"
    if instead == EVENT:
        return ""
    if instead not in FOREST_TILES:
        return "bad_instead"
    if instead not in draft.forest_tiles[seat]:
        return "tile_not_held"
    return "" if _goes_with_card(instead) else "tile_not_usable"


def _lay_down(course: Course, seat: int, role: str, stance: str, instead: str = "") -> None:
    draft = course.draft
    outdone = draft.brave
    played = pb.RolePlayed(
        seat=seat,
        role=role,
        stance=stance,
        instead=instead,
        spent_role=not stance,
        cards_left=len(draft.hands[seat]) - 1,
    )
    course.tell(played)
    if role in draft.bewitched:  # BS-5.8: whatever comes of the card
        course.change_vp(seat, -DATA.constants.bewitched_penalty, BEWITCHED)
    if stance == BRAVE and outdone != NO_ONE:  # BS-5.3
        course.tell(pb.BraveOutdone(seat=outdone, by=seat))


def _act_cowardly(course: Course, seat: int, command: pb.PlayRole) -> None:
    """At once, before the next seat follows (BS-5.4)."""
    if not command.instead:
        carry_out(course, seat, command.role, brave=False)
    elif command.instead == EVENT:  # BS-9.2
        offered = EVENTS[course.draft.event].params.instead_of_cowardly
        course.change_vp(seat, offered.vp, course.draft.event)
        if command.resource:
            course.change_resources(seat, only(command.resource, offered.any_resource), course.draft.event)
    else:  # BS-8.7
        course.tell(pb.ForestTileSpent(seat=seat, tile=command.instead))
        tile = TILES[command.instead]
        if tile.effect == "brave_action":
            carry_out(course, seat, command.role, brave=True)
        else:
            course.change_vp(seat, tile.params.vp, FIVE_POINTS)


# ---- the course of a trick -------------------------------------------------------------------------------------------


def start_trick(course: Course, number: int) -> bool:
    """The leader, or the next seat clockwise that has a card, leads (BS-5.1); false: nobody has one."""
    draft = course.draft
    for seat in course.clockwise_from(draft.leader):
        if draft.hands[seat]:
            course.tell(pb.TrickStarted(trick_no=number, leader=seat))
            return True
    return False


def follow(course: Course) -> bool:
    """The next seat follows; false: it is asked."""
    draft = course.draft
    led = draft.trick_plays[0]
    seat = draft.follower
    if led.role not in draft.hands[seat]:  # BS-5.2
        course.tell(pb.SeatPassed(seat=seat, role=led.role))
        return True
    if led.spent_role:  # BS-5.9: it is laid down without a choice
        _lay_down(course, seat, led.role, "")
        return True
    return False


def act_brave(course: Course) -> bool:
    """The brave seat of the trick carries out its action, once (BS-5.5); false: there is none, or it has."""
    draft = course.draft
    if draft.brave in (NO_ONE, draft.acting):  # a brave seat carries out nothing before
        return False
    carry_out(course, draft.brave, draft.led_role, brave=True)
    return True


def end_trick(course: Course) -> None:
    """Who was brave leads next, else the leader again (BS-5.7)."""
    brave = course.draft.brave
    if brave == NO_ONE:
        course.tell(pb.TrickEnded(next_leader=course.draft.leader))
    else:
        course.tell(pb.TrickEnded(brave_seat=brave, next_leader=brave))
