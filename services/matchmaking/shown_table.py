"""Who sits where in a match, who has left, and what the others say about it: as players see it."""

from __future__ import annotations

from grimoire.v1 import manifest_pb2, match_pb2, matchmaking_pb2
from matchmaking.challenge import Challenge, Stage
from matchmaking.log import Record
from matchmaking.people import People
from matchmaking.shown import show_seat
from matchmaking.sitting import Vacancy
from matchmaking.vacancies import voters

__all__ = ["show_table"]


def show_table(record: Record, people: People, manifest: manifest_pb2.Manifest) -> matchmaking_pb2.Table:
    """A table for one caller.

    Args:
        record: of the match's challenge.
        people: who sits or sat there, as the caller sees them.
        manifest: the game in words.
    """
    challenge = record.challenge
    table = matchmaking_pb2.Table(
        match_id=challenge.match_id,
        game=challenge.game,
        leaving=match_pb2.Leaving.ValueType(challenge.leaving),
        version=record.version,
        over=challenge.stage is Stage.ENDED,
    )
    vacant = {vacancy.seat: vacancy for vacancy in challenge.vacancies}
    for seat, (now, first) in enumerate(zip(challenge.seats, challenge.started, strict=True)):
        shown = table.seats.add(seat=seat, now=show_seat(seat, now, people, manifest))
        if first != now:
            shown.first.CopyFrom(show_seat(seat, first, people, manifest))
        if seat in vacant:
            shown.vacancy.CopyFrom(_vacancy(challenge, vacant[seat], people))
    return table


def _vacancy(challenge: Challenge, vacancy: Vacancy, people: People) -> matchmaking_pb2.SeatVacancy:
    cast = dict(vacancy.votes)
    shown = matchmaking_pb2.SeatVacancy(reason=vacancy.reason, left_ms=vacancy.left_ms, decide_ms=vacancy.decide_ms)
    for account_id in voters(challenge, vacancy):
        vote = shown.votes.add(
            seat=challenge.seat_of(account_id) or 0,
            name=people.name(account_id),
            mine=account_id == people.caller,
            cast=account_id in cast,
        )
        fellow = challenge.seat_of(cast[account_id]) if cast.get(account_id) else None
        if fellow is not None:
            vote.fellow = fellow
    return shown
