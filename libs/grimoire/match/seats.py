"""Seats that change hands while a match runs: who has left, who is back, who is bound. Pure.

A seat that its person has left goes on being the person's until the host binds another to it: its prompts run into
their defaults, and one command is enough to be back. All of it stands in the log, so whoever folds it knows who held
which seat at every version. Where `MatchCreated.leaving` is absent none of it ever happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Leaving
from grimoire.match.codes import reject
from grimoire.match.state import MatchState, Occupant
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2

__all__ = [
    "GRACE_S",
    "MAX_GRACE_S",
    "MISSED_IN_A_ROW",
    "acted",
    "apply",
    "away_refusal",
    "back",
    "bind_refusal",
    "bound",
    "expired",
    "leaves_by_resigning",
    "left",
    "occupants_of",
    "returned",
    "seats_left_by",
    "timed_out",
]

S = TypeVar("S")

GRACE_S: Final = 60
"""How long a seat waits for its person unless the table says otherwise."""
MAX_GRACE_S: Final = 3600
MISSED_IN_A_ROW: Final = 2
"""So many prompts that a person lets run out one after the other make the seat left."""
_MAX_ID: Final = 128


def occupants_of(head: frame_pb2.MatchHead) -> Mapping[int, match_pb2.SeatOccupant]:
    """Who sits where now, by seat.

    >>> ada = match_pb2.SeatOccupant(seat=0, occupant_id="ada")
    >>> bo = match_pb2.SeatOccupant(seat=0, occupant_id="bo")
    >>> created = match_pb2.MatchCreated(seats=[ada])
    >>> occupants_of(frame_pb2.MatchHead(created=created))[0].occupant_id
    'ada'
    >>> occupants_of(frame_pb2.MatchHead(created=created, seats=[bo]))[0].occupant_id
    'bo'
    """
    return {seat.seat: seat for seat in (head.seats or head.created.seats)}


def _seats_of(state: MatchState[Any], occupant_id: str) -> tuple[int, ...]:
    return tuple(n for n, occupant in enumerate(state.occupants) if occupant.occupant_id == occupant_id)


# ---- what a command does to it --------------------------------------------------------------------------------------


def leaves_by_resigning(state: MatchState[Any], seat: int) -> bool:
    """Whether `resign` leaves the seat to somebody else, instead of being the game's to judge.

    In a co-operative match the last person there does not leave: it gives up for all.
    """
    if state.leaving == Leaving.REPLACED:
        return True
    mine = state.occupants[seat].occupant_id
    return state.leaving == Leaving.VOTED and any(
        occupant.kind == match_pb2.OCCUPANT_KIND_PERSON and occupant.occupant_id != mine and n not in state.away
        for n, occupant in enumerate(state.occupants)
    )


def seats_left_by(
    state: MatchState[Any], seat: int, reason: str, out: frozenset[int] = frozenset()
) -> tuple[match_pb2.SeatLeft, ...]:
    """What is written when the holder of a seat leaves: all its seats that it has not left yet and that play on.

    Args:
        out: seats that are out for good; see `grimoire.engine.Retiring`.
    """
    mine = _seats_of(state, state.occupants[seat].occupant_id)
    return tuple(match_pb2.SeatLeft(seat=n, reason=reason) for n in mine if n not in state.away and n not in out)


def away_refusal(state: MatchState[Any], seat: int) -> envelope_pb2.Rejection | None:
    """Why it cannot be said that this seat's person is away."""
    if not state.leaving:
        return reject("seats_are_kept", version=state.version)
    if seat >= len(state.occupants):
        return reject("malformed", version=state.version, detail="the match has no such seat", field="seat")
    if state.occupants[seat].kind != match_pb2.OCCUPANT_KIND_PERSON:
        return reject("malformed", version=state.version, detail="no person sits there", field="seat")
    return None


def back(state: MatchState[Any], seat: int) -> tuple[match_pb2.SeatBack, ...]:
    """What is written when the holder of a seat acts: the seats it had left."""
    if not state.away:
        return ()
    mine = _seats_of(state, state.occupants[seat].occupant_id)
    return tuple(match_pb2.SeatBack(seat=n) for n in mine if n in state.away)


def timed_out(state: MatchState[Any], seat: int, out: frozenset[int] = frozenset()) -> tuple[match_pb2.SeatLeft, ...]:
    """What is written when a prompt of this seat has run out; `state` has counted it already."""
    if seat in out:
        return ()
    is_person = state.occupants[seat].kind == match_pb2.OCCUPANT_KIND_PERSON
    if not state.missed or state.missed[seat] < MISSED_IN_A_ROW or seat in state.away or not is_person:
        return ()
    return (match_pb2.SeatLeft(seat=seat, reason="timed_out"),)


def bind_refusal(
    state: MatchState[Any], message: match_pb2.BindSeat, out: frozenset[int] = frozenset()
) -> envelope_pb2.Rejection | None:
    """Why this occupant cannot be bound to that seat."""
    if not state.leaving:
        return reject("seats_are_kept", version=state.version)
    kinds = (match_pb2.OCCUPANT_KIND_PERSON, match_pb2.OCCUPANT_KIND_BOT)
    is_bot = message.kind == match_pb2.OCCUPANT_KIND_BOT
    if message.seat >= len(state.occupants):
        detail, field = "the match has no such seat", "seat"
    elif not 0 < len(message.occupant_id) <= _MAX_ID:
        detail, field = "it names no occupant", "occupant_id"
    elif message.kind not in kinds:
        detail, field = "an occupant is a person or a bot", "kind"
    elif message.level and not is_bot:
        detail, field = "only bots have a level", "level"
    elif _would_hold_two(state, message):
        detail, field = "in a rated match each seat has a player of its own", "occupant_id"
    elif message.if_left and (message.seat not in state.away or message.seat in out):
        return reject("not_left", version=state.version)
    else:
        return None
    return reject("malformed", version=state.version, detail=detail, field=field)


def _would_hold_two(state: MatchState[Any], message: match_pb2.BindSeat) -> bool:
    """Who plays against the others for ratings holds one seat; who plays with them may help out."""
    others = (o.occupant_id for n, o in enumerate(state.occupants) if n != message.seat)
    competes = state.mode == match_pb2.MATCH_MODE_RATED and state.leaving != Leaving.VOTED
    return competes and message.occupant_id in others


# ---- folds ----------------------------------------------------------------------------------------------------------


def acted(state: MatchState[S], seat: int) -> MatchState[S]:
    """After a command of this seat: its holder is there."""
    if not any(state.missed):
        return state
    mine = _seats_of(state, state.occupants[seat].occupant_id)
    return replace(state, missed=tuple(0 if n in mine else count for n, count in enumerate(state.missed)))


def expired(state: MatchState[S], seat: int) -> MatchState[S]:
    """After a prompt of this seat has run out."""
    if not state.missed:
        return state
    return replace(state, missed=tuple(count + (n == seat) for n, count in enumerate(state.missed)))


def left(state: MatchState[S], seat: int) -> MatchState[S]:
    """After `seat_left`."""
    return replace(state, away=state.away | {seat})


def returned(state: MatchState[S], seat: int) -> MatchState[S]:
    """After `seat_back`."""
    return replace(state, away=state.away - {seat})


def bound(state: MatchState[S], event: match_pb2.SeatBound) -> MatchState[S]:
    """After `seat_bound`."""
    occupant = Occupant(event.occupant_id, event.kind, event.level)
    return replace(
        state,
        occupants=tuple(occupant if n == event.seat else o for n, o in enumerate(state.occupants)),
        missed=tuple(0 if n == event.seat else count for n, count in enumerate(state.missed)),
        away=state.away - {event.seat},
    )


def apply(state: MatchState[S], events: tuple[Message, ...]) -> MatchState[S]:
    """After some of the events above."""
    for event in events:
        if isinstance(event, match_pb2.SeatLeft):
            state = left(state, event.seat)
        elif isinstance(event, match_pb2.SeatBack):
            state = returned(state, event.seat)
        elif isinstance(event, match_pb2.SeatBound):
            state = bound(state, event)
    return state
