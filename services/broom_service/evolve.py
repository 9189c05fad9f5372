"""Events into changes of the state: no rules, no randomness. `decide` changes its draft in the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from google.protobuf.message import Message
from msgspec.structs import replace

from broom_service.draft import Draft
from broom_service.messages import play_of, score_of, step_of
from broom_service.resources import more, read
from broom_service.roles import in_order
from broom_service.state import NO_ONE, Extra, Play, Result, Stage, State
from grimoire.engine.tuples import put, without
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["apply", "evolve", "fold"]

# ---- the start -------------------------------------------------------------------------------------------------------


def _stacks_ordered(draft: Draft, event: pb.StacksOrdered) -> None:
    draft.events_to_come = (*event.events,)
    draft.events_out = (*event.events_out,)
    draft.bewitched_stack = (*event.bewitched,)
    draft.bewitched_shuffles = 1 if event.bewitched else 0


def _begin(draft: Draft, seats: int) -> None:
    draft.hands = draft.charmed = draft.amulets = draft.forest_tiles = ((),) * seats
    draft.extras = draft.offers = (None,) * seats
    draft.timeouts = (0,) * seats
    draft.retired = (False,) * seats


def _table_laid(draft: Draft, event: pb.TableLaid) -> None:
    _begin(draft, len(event.seats))
    draft.first_seat = draft.leader = event.first_seat  # BS-4.6
    draft.vp = tuple(seat.vp for seat in event.seats)
    draft.resources = tuple(read(seat.resources) for seat in event.seats)
    draft.pawns = tuple((seat.pawns[0], seat.pawns[1]) for seat in event.seats)
    draft.clouds = tuple(placed.cloud for placed in event.clouds)
    draft.tiles = tuple((placed.region, placed.tile) for placed in event.tiles)
    draft.covered = (*event.covered_towers,)


# ---- rounds ----------------------------------------------------------------------------------------------------------


def _round_started(draft: Draft, event: pb.RoundStarted) -> None:
    draft.round = event.round
    draft.event = event.event
    draft.events_to_come = draft.events_to_come[1:]
    draft.leader = event.leader
    draft.bewitched = draft.plays = ()
    draft.trick_no = 0
    draft.brave = draft.acting = NO_ONE


def _bewitched_shuffled(draft: Draft, event: pb.BewitchedShuffled) -> None:
    draft.bewitched_shuffles = event.n
    draft.bewitched_stack = (*event.roles,)


def _bewitched_revealed(draft: Draft, event: pb.BewitchedRevealed) -> None:
    draft.bewitched += (*event.roles,)
    draft.bewitched_stack = draft.bewitched_stack[len(event.roles) :]


def _seats_asked(draft: Draft, event: pb.SeatsAsked) -> None:
    draft.stage = Stage(event.stage)
    draft.waiting = (*event.seats,)


def _answered(draft: Draft, seat: int) -> None:
    draft.waiting = without(draft.waiting, seat)


def _roles_chosen(draft: Draft, event: pb.RolesChosen) -> None:
    draft.hands = put(draft.hands, event.seat, (*event.roles,))
    _answered(draft, event.seat)


def _counts_revealed(draft: Draft, event: pb.CountsRevealed) -> None:
    """What follows from the counts comes as changes of VP."""


def _extra_answered(draft: Draft, event: pb.ExtraAnswered) -> None:
    if event.used:
        draft.extras = put(draft.extras, event.seat, Extra(event.tile, event.role))
    _answered(draft, event.seat)


def _extras_revealed(draft: Draft, event: pb.ExtrasRevealed) -> None:
    for used in event.extras:
        extra = draft.extras[used.seat]
        if extra is not None:
            draft.hands = put(draft.hands, used.seat, in_order((*draft.hands[used.seat], extra.role)))
    draft.extras = (None,) * len(draft.extras)


def _round_ended(draft: Draft, event: pb.RoundEnded) -> None:
    """The next round's start says what changes."""


# ---- tricks ----------------------------------------------------------------------------------------------------------


def _trick_started(draft: Draft, event: pb.TrickStarted) -> None:
    draft.stage = Stage.LEAD
    draft.trick_no = event.trick_no
    draft.leader = event.leader
    draft.brave = draft.acting = NO_ONE


def _role_played(draft: Draft, event: pb.RolePlayed) -> None:
    seat = event.seat
    played = Play(draft.trick_no, seat, event.role, event.stance, event.instead, spent_role=event.spent_role)
    draft.plays += (played,)
    draft.hands = put(draft.hands, seat, without(draft.hands[seat], event.role))
    if event.stance == "brave":
        draft.brave = seat


def _seat_passed(draft: Draft, event: pb.SeatPassed) -> None:
    draft.plays += (Play(draft.trick_no, event.seat, event.role, passed=True),)


def _brave_outdone(draft: Draft, event: pb.BraveOutdone) -> None:
    trick = draft.trick_no
    draft.plays = tuple(
        replace(play, outdone=True) if play.trick_no == trick and play.seat == event.seat else play
        for play in draft.plays
    )


def _trick_ended(draft: Draft, event: pb.TrickEnded) -> None:
    draft.leader = event.next_leader
    draft.brave = NO_ONE


# ---- steps -----------------------------------------------------------------------------------------------------------


def _step_opened(draft: Draft, event: pb.StepOpened) -> None:
    step = step_of(event.step)
    draft.steps += (step,)
    draft.acting = event.seat
    draft.last_step, draft.last_group = step.number, step.group
    draft.step_facts += 1


def _step_used(draft: Draft, event: pb.StepUsed) -> None:
    draft.steps = tuple(
        replace(step, moves=event.moves_left) if step.number == event.step else step for step in draft.steps
    )
    draft.step_facts += 1


def _step_closed(draft: Draft, event: pb.StepClosed) -> None:
    draft.steps = tuple(step for step in draft.steps if step.number != event.step)
    draft.step_facts += 1


def _resources_changed(draft: Draft, event: pb.ResourcesChanged) -> None:
    held = more(draft.resources[event.seat], read(event.deltas))
    draft.resources = put(draft.resources, event.seat, held)


def _vp_changed(draft: Draft, event: pb.VpChanged) -> None:
    draft.vp = put(draft.vp, event.seat, event.vp)


def _pawn_moved(draft: Draft, event: pb.PawnMoved) -> None:
    first, second = draft.pawns[event.seat]
    pawns = (first, event.to) if event.pawn else (event.to, second)
    draft.pawns = put(draft.pawns, event.seat, pawns)


def _potion_delivered(draft: Draft, event: pb.PotionDelivered) -> None:
    if event.occupies:
        draft.occupied += (event.tower,)


def _cloud_charmed(draft: Draft, event: pb.CloudCharmed) -> None:
    draft.clouds = tuple("" if cloud == event.cloud else cloud for cloud in draft.clouds)
    draft.charmed = put(draft.charmed, event.seat, (*draft.charmed[event.seat], event.cloud))


def _amulet_taken(draft: Draft, event: pb.AmuletTaken) -> None:
    draft.amulets = put(draft.amulets, event.seat, (*draft.amulets[event.seat], event.region))


def _forest_tile_taken(draft: Draft, event: pb.ForestTileTaken) -> None:
    draft.tiles = without(draft.tiles, (event.region, event.tile))
    draft.forest_tiles = put(draft.forest_tiles, event.seat, (*draft.forest_tiles[event.seat], event.tile))


def _forest_tile_spent(draft: Draft, event: pb.ForestTileSpent) -> None:
    left = without(draft.forest_tiles[event.seat], event.tile)
    draft.forest_tiles = put(draft.forest_tiles, event.seat, left)


# ---- the end of a round ----------------------------------------------------------------------------------------------


def _offer_made(draft: Draft, event: pb.OfferMade) -> None:
    draft.offers = put(draft.offers, event.seat, read(event.resources))
    _answered(draft, event.seat)


def _offers_revealed(draft: Draft, _event: pb.OffersRevealed) -> None:
    draft.offers = (None,) * len(draft.offers)


def _set_handed_in(draft: Draft, event: pb.SetHandedIn) -> None:
    _answered(draft, event.seat)


def _set_declined(draft: Draft, event: pb.SetDeclined) -> None:
    _answered(draft, event.seat)


# ---- clock, leaving, end ---------------------------------------------------------------------------------------------


def _decision_timed_out(draft: Draft, event: pb.DecisionTimedOut) -> None:
    draft.timeouts = put(draft.timeouts, event.seat, event.consecutive)


def _timeouts_cleared(draft: Draft, event: pb.TimeoutsCleared) -> None:
    draft.timeouts = put(draft.timeouts, event.seat, 0)


def _seat_retired(draft: Draft, event: pb.SeatRetired) -> None:
    seat = event.seat
    draft.retired = put(draft.retired, seat, True)
    draft.hands = put(draft.hands, seat, ())
    draft.extras = put(draft.extras, seat, None)
    draft.offers = put(draft.offers, seat, None)
    draft.waiting = tuple(each for each in draft.waiting if each != seat)
    if draft.brave == seat:
        draft.brave = NO_ONE


def _match_ended(draft: Draft, event: pb.MatchEnded) -> None:
    scores = tuple(score_of(score) for score in event.scores)
    draft.vp = tuple(score.vp for score in scores)
    draft.result = Result(scores, (*event.winners,), event.reason)
    draft.steps = draft.waiting = ()


# ---- arranged positions ----------------------------------------------------------------------------------------------


def _position_arranged(draft: Draft, event: pb.PositionArranged) -> None:
    seats = len(event.seats)
    _begin(draft, seats)
    draft.terms = replace(draft.terms, arranged=True)
    draft.first_seat = event.first_seat
    draft.round, draft.event = event.round, event.event
    draft.events_to_come, draft.events_out = (*event.events_to_come,), (*event.events_out,)
    draft.bewitched, draft.bewitched_stack = (*event.bewitched,), (*event.bewitched_stack,)
    draft.bewitched_shuffles = event.bewitched_shuffles
    stage = Stage(event.stage)
    draft.stage = Stage.LEAD if stage in (Stage.FOLLOW, Stage.STEPS) else stage
    draft.waiting = (*event.waiting,)
    draft.leader, draft.trick_no = event.leader, event.trick_no
    draft.plays = tuple(play_of(play) for play in event.plays)
    draft.brave = event.brave_seat if event.HasField("brave_seat") else NO_ONE
    draft.vp = tuple(seat.vp for seat in event.seats)
    draft.resources = tuple(read(seat.resources) for seat in event.seats)
    draft.pawns = tuple((seat.pawns[0], seat.pawns[1]) for seat in event.seats)
    draft.charmed = tuple((*seat.clouds,) for seat in event.seats)
    draft.amulets = tuple((*seat.amulets,) for seat in event.seats)
    draft.forest_tiles = tuple((*seat.forest_tiles,) for seat in event.seats)
    draft.timeouts = tuple(seat.timeouts for seat in event.seats)
    draft.retired = tuple(seat.retired for seat in event.seats)
    draft.tiles = tuple((placed.region, placed.tile) for placed in event.tiles)
    draft.covered, draft.occupied = (*event.covered_towers,), (*event.occupied_towers,)
    draft.clouds = tuple(placed.cloud for placed in event.clouds)
    draft.steps = tuple(step_of(step) for step in event.steps)
    draft.acting = event.acting_seat if event.HasField("acting_seat") else NO_ONE
    draft.last_step, draft.last_group = event.last_step, event.last_group
    for hand in event.hands:
        draft.hands = put(draft.hands, hand.seat, (*hand.roles,))
        if hand.extra_tile:
            draft.extras = put(draft.extras, hand.seat, Extra(hand.extra_tile, hand.extra_role))
        if hand.HasField("offer"):
            draft.offers = put(draft.offers, hand.seat, read(hand.offer))


_HANDLERS: Final[dict[type[Message], Callable[[Draft, Any], None]]] = {
    pb.StacksOrdered: _stacks_ordered,
    pb.TableLaid: _table_laid,
    pb.RoundStarted: _round_started,
    pb.BewitchedShuffled: _bewitched_shuffled,
    pb.BewitchedRevealed: _bewitched_revealed,
    pb.SeatsAsked: _seats_asked,
    pb.RolesChosen: _roles_chosen,
    pb.CountsRevealed: _counts_revealed,
    pb.ExtraAnswered: _extra_answered,
    pb.ExtrasRevealed: _extras_revealed,
    pb.RoundEnded: _round_ended,
    pb.TrickStarted: _trick_started,
    pb.RolePlayed: _role_played,
    pb.SeatPassed: _seat_passed,
    pb.BraveOutdone: _brave_outdone,
    pb.TrickEnded: _trick_ended,
    pb.StepOpened: _step_opened,
    pb.StepUsed: _step_used,
    pb.StepClosed: _step_closed,
    pb.ResourcesChanged: _resources_changed,
    pb.VpChanged: _vp_changed,
    pb.PawnMoved: _pawn_moved,
    pb.PotionDelivered: _potion_delivered,
    pb.CloudCharmed: _cloud_charmed,
    pb.AmuletTaken: _amulet_taken,
    pb.ForestTileTaken: _forest_tile_taken,
    pb.ForestTileSpent: _forest_tile_spent,
    pb.OfferMade: _offer_made,
    pb.OffersRevealed: _offers_revealed,
    pb.SetHandedIn: _set_handed_in,
    pb.SetDeclined: _set_declined,
    pb.DecisionTimedOut: _decision_timed_out,
    pb.TimeoutsCleared: _timeouts_cleared,
    pb.SeatRetired: _seat_retired,
    pb.MatchEnded: _match_ended,
    pb.PositionArranged: _position_arranged,
}


def apply(draft: Draft, event: Message) -> None:
    """Changes the draft as the event says."""
    _HANDLERS[type(event)](draft, event)


def evolve(state: State, event: Message) -> State:
    """The state after one event."""
    return fold(state, (event,))


def fold(state: State, events: Iterable[Message]) -> State:
    """The state after these events, thawed and frozen once."""
    draft = Draft.of(state)
    for event in events:
        apply(draft, event)
    return draft.freeze()
