"""An index of the matches that are over, newest first; the truth is in the challenges' logs."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, select

from grimoire.v1 import match_pb2
from matchmaking.challenge import Challenge, Sitter
from matchmaking.database import Database
from matchmaking.tables import ended_matches, ended_seats, ended_substitutes, upsert_into

__all__ = ["Archive", "EndedMatch"]


class EndedMatch(msgspec.Struct, frozen=True):
    """One match that is over.

    Attributes:
        mode: number of `grimoire.v1.MatchMode`.
        created_ms, ended_ms: UTC ms.
        closed: how it ended, a serialised `MatchClosed`.
        sitters: seat and who sat there when it began, in order.
        substituted: seats that somebody else played at the end.
    """

    match_id: str
    challenge_id: str
    game: str
    mode: int
    created_ms: int
    ended_ms: int
    closed: bytes
    sitters: tuple[tuple[int, Sitter], ...]
    substituted: tuple[int, ...] = ()


class Archive:
    """Every method may raise `grimoire.eventstore.Unavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, challenge: Challenge, closed: bytes, ended_ms: int) -> None:
        """Files a match; once filed it stays as it is."""

        def work(connection: Connection) -> None:
            match = {
                "match_id": challenge.match_id,
                "challenge_id": challenge.challenge_id,
                "game": challenge.game,
                "mode": challenge.mode,
                "created_ms": challenge.filled_ms,
                "ended_ms": ended_ms,
                "closed": closed,
            }
            seats = [
                {
                    "match_id": challenge.match_id,
                    "seat": seat,
                    "account_id": sitter.account_id,
                    "bot": sitter.bot,
                    "level": sitter.level,
                    "ended_ms": ended_ms,
                }
                for seat, sitter in enumerate(challenge.started)
                if sitter is not None
            ]
            others = [{"match_id": challenge.match_id, "seat": seat} for seat in challenge.substituted]
            connection.execute(upsert_into(connection, ended_matches).on_conflict_do_nothing(), match)
            connection.execute(upsert_into(connection, ended_seats).on_conflict_do_nothing(), seats)
            if others:
                connection.execute(upsert_into(connection, ended_substitutes).on_conflict_do_nothing(), others)

        await self._database.run(work)

    async def challenge_of(self, match_id: str) -> str | None:
        """The challenge a match came of; None if no such match is filed."""
        statement = select(ended_matches.c.challenge_id).where(ended_matches.c.match_id == match_id)
        return await self._database.read(lambda connection: connection.execute(statement).scalar_one_or_none())

    async def newest(self, *, account_id: str = "", game: str = "", limit: int) -> list[EndedMatch]:
        """Matches that are over, newest first.

        Args:
            account_id: only those this account played in; empty: all but analysis, which is its players' own.
            game: only of this game; empty: all.
            limit: at most so many.
        """
        columns = (
            ended_matches.c.match_id,
            ended_matches.c.challenge_id,
            ended_matches.c.game,
            ended_matches.c.mode,
            ended_matches.c.created_ms,
            ended_matches.c.ended_ms,
            ended_matches.c.closed,
        )
        if account_id:
            # An analysis may have one account on several seats.
            mine = select(ended_seats.c.match_id, ended_seats.c.ended_ms).where(ended_seats.c.account_id == account_id)
            theirs = mine.distinct().subquery()
            both = theirs.join(ended_matches, ended_matches.c.match_id == theirs.c.match_id)
            statement = select(*columns).select_from(both)
            statement = statement.order_by(theirs.c.ended_ms.desc(), theirs.c.match_id.desc())
        else:
            statement = select(*columns).where(ended_matches.c.mode != match_pb2.MATCH_MODE_ANALYSIS)
            statement = statement.order_by(ended_matches.c.ended_ms.desc(), ended_matches.c.match_id.desc())
        if game:
            statement = statement.where(ended_matches.c.game == game)
        statement = statement.limit(limit)

        def work(connection: Connection) -> list[EndedMatch]:
            rows = connection.execute(statement).all()
            sitters: dict[str, list[tuple[int, Sitter]]] = {row.match_id: [] for row in rows}
            seats = select(ended_seats).where(ended_seats.c.match_id.in_(list(sitters))).order_by(ended_seats.c.seat)
            for row in connection.execute(seats) if rows else ():
                sitters[row.match_id].append((row.seat, Sitter(row.account_id, row.bot, row.level)))
            substituted = _substituted(connection, list(sitters))
            return [
                EndedMatch(*row, sitters=tuple(sitters[row.match_id]), substituted=substituted.get(row.match_id, ()))
                for row in rows
            ]

        return await self._database.read(work)


def _substituted(connection: Connection, match_ids: list[str]) -> dict[str, tuple[int, ...]]:
    """By match, the seats that somebody else played at the end."""
    if not match_ids:
        return {}
    others = select(ended_substitutes).where(ended_substitutes.c.match_id.in_(match_ids))
    found: dict[str, tuple[int, ...]] = {}
    for row in connection.execute(others.order_by(ended_substitutes.c.seat)):
        found[row.match_id] = (*found.get(row.match_id, ()), row.seat)
    return found
