"""The beginning of a round: its event, its bewitched roles, the choice of roles (BS-4.1 to BS-4.5)."""

from __future__ import annotations

from broom_service.catalogue import DATA
from broom_service.course import Course
from broom_service.draft import Draft
from broom_service.roles import BRAVE, EVENTS, MORE_OR_LESS, ROLE_IDS, ROLES, in_order, roles_to_choose
from broom_service.state import Stage
from broom_service.tiles import EXTRA_ROLE_TILES
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["add_role", "after_choice", "after_extra", "choose_roles", "decline_extra", "start_round"]


def start_round(course: Course) -> None:
    """The next event opens, bewitched roles open, everybody chooses (BS-4.1)."""
    draft = course.draft
    course.tell(pb.RoundStarted(round=draft.round + 1, event=draft.events_to_come[0], leader=_first_leader(draft)))
    _reveal_bewitched(course, DATA.constants.seats_plus_bewitched - draft.terms.seats)
    course.tell(pb.SeatsAsked(stage=Stage.CHOOSE, seats=course.staying))


def _first_leader(draft: Draft) -> int:
    """Who would lead after the last trick that was played, before seats without cards are skipped (BS-4.6)."""
    if draft.trick_plays or not draft.plays:
        return draft.leader
    # A trick was begun by a seat that left before it led, and nobody had a card any more: it was none.
    last = [play for play in draft.plays if play.trick_no == draft.plays[-1].trick_no]
    brave = (play.seat for play in last if play.stance == BRAVE and not play.outdone and not draft.retired[play.seat])
    return next(brave, last[0].seat)


def _reveal_bewitched(course: Course, count: int) -> None:
    """BS-4.2."""
    draft = course.draft
    missing = count
    while missing:
        if not draft.bewitched_stack:
            number = draft.bewitched_shuffles + 1
            left = [role for role in ROLE_IDS if role not in draft.bewitched]
            order = course.draws.shuffle(f"bewitched/{number}", left)
            course.tell(pb.BewitchedShuffled(n=number, count=len(order), roles=order))
        opened = draft.bewitched_stack[:missing]
        course.tell(pb.BewitchedRevealed(roles=opened))
        missing -= len(opened)


# ---- the choice (BS-4.3, BS-4.4) -------------------------------------------------------------------------------------


def choose_roles(course: Course, seat: int, command: pb.ChooseRoles) -> str:
    """A choice is final, and nobody else sees it."""
    roles = [*command.roles]
    if any(role not in ROLES for role in roles):
        return "unknown_role"
    if len({*roles}) < len(roles):
        return "duplicate_role"
    least, most = roles_to_choose(course.draft.event)
    if not least <= len(roles) <= most:
        return "wrong_count"
    course.tell(pb.RolesChosen(seat=seat, roles=in_order(roles)))
    return ""


def after_choice(course: Course) -> bool:
    """All have chosen; whether seats are asked for one more role."""
    draft = course.draft
    if draft.event == MORE_OR_LESS:  # BS-4.4, BS-9.1
        counts = [len(hand) for hand in draft.hands]
        course.tell(pb.CountsRevealed(counts=counts))
        for seat in course.staying:
            vp = EVENTS[MORE_OR_LESS].params.vp_by_count[str(counts[seat])]
            course.change_vp(seat, vp, MORE_OR_LESS)
    holders = [seat for seat in course.staying if not EXTRA_ROLE_TILES.isdisjoint(draft.forest_tiles[seat])]
    if holders:
        course.tell(pb.SeatsAsked(stage=Stage.EXTRA, seats=holders))
    return bool(holders)


# ---- one more role (BS-4.5) ------------------------------------------------------------------------------------------


def add_role(course: Course, seat: int, command: pb.AddRole) -> str:
    """At most one tile a round: a seat is asked once."""
    draft = course.draft
    if command.tile not in EXTRA_ROLE_TILES or command.tile not in draft.forest_tiles[seat]:
        return "tile_not_held"
    if command.role not in ROLES:
        return "unknown_role"
    if command.role in draft.hands[seat]:
        return "duplicate_role"
    course.tell(pb.ExtraAnswered(seat=seat, used=True, tile=command.tile, role=command.role))
    return ""


def decline_extra(course: Course, seat: int, _command: pb.DeclineExtra) -> str:
    """Sealed like the other answer."""
    course.tell(pb.ExtraAnswered(seat=seat))
    return ""


def after_extra(course: Course) -> None:
    """All have answered: who used a tile is shown, not for which role."""
    used = [pb.ExtraUsed(seat=seat, tile=extra.tile) for seat, extra in enumerate(course.draft.extras) if extra]
    course.tell(pb.ExtrasRevealed(extras=used))
    for each in used:
        course.tell(pb.ForestTileSpent(seat=each.seat, tile=each.tile))
