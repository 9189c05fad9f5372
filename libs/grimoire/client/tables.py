"""Tables of several seats: opening and filling them, and seats that change hands while a match runs."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from grimoire.client.connection import Connection
from grimoire.client.errors import Rejected
from grimoire.client.quick_play import mode_of
from grimoire.client.texts import sends_text
from grimoire.v1 import match_pb2, matchmaking_pb2

__all__ = ["FRIEND", "MINE", "OPEN", "Row", "Tables", "bot"]


class Row(msgspec.Struct, frozen=True):
    """Who shall sit on one seat of a new table.

    Attributes:
        kind: number of `grimoire.v1.SeatRowKind`.
        level: of a bot.
    """

    kind: int
    level: str = ""


OPEN: Final = Row(matchmaking_pb2.SEAT_ROW_KIND_OPEN)
"""Whoever comes."""
MINE: Final = Row(matchmaking_pb2.SEAT_ROW_KIND_MINE)
"""One's own; there may be several, but not in a rated match."""
FRIEND: Final = Row(matchmaking_pb2.SEAT_ROW_KIND_FRIEND)
"""The next member of one's party."""


def bot(level: str) -> Row:
    """A bot of this level.

    >>> bot("heuristic").level
    'heuristic'
    """
    return Row(matchmaking_pb2.SEAT_ROW_KIND_BOT, level)


@sends_text
class Tables:
    """Methods of `Client`; what they raise is said there.

    Example:
        >>> async def main(client: Tables) -> None:
        ...     table = await client.open_table("spellbound", [MINE, OPEN, bot("heuristic")])
        ...     print(table.challenge_id)
    """

    _connection: Connection
    _language: str

    async def open_table(
        self,
        game: str,
        rows: Sequence[Row],
        options: Mapping[str, str] | None = None,
        *,
        rated: bool | None = None,
        by_invitation: bool = False,
        party_id: str = "",
        grace_s: int = 0,
        spectator_delay_s: int = 0,
    ) -> matchmaking_pb2.Challenge:
        """Opens a table with these seats; if none is open, its match is created at once.

        Args:
            game: code name.
            rows: who shall sit where, from seat 0, e.g. `[MINE, OPEN, bot("heuristic")]`; one of them is one's own.
            options: by name; what is not named takes its default.
            rated: None: rated if every seat has a person of its own.
            by_invitation: stands in no list; whoever knows the id may join.
            party_id: a party that one has made, for rows of friends.
            grace_s: so long a seat waits for its person before another plays on; 0: the default (60 s).
            spectator_delay_s: who holds no seat sees the match so much later.

        Raises:
            Rejected: with the field at fault.
        """
        request = matchmaking_pb2.CreateChallengeRequest(
            game=game,
            options=[match_pb2.OptionValue(name=name, value=value) for name, value in (options or {}).items()],
            mode=mode_of(rated),
            language=self._language,
            request_id=secrets.token_bytes(16),
            rows=[
                matchmaking_pb2.SeatRow(kind=matchmaking_pb2.SeatRowKind.ValueType(row.kind), level=row.level)
                for row in rows
            ],
            by_invitation=by_invitation,
            party_id=party_id,
            grace_s=grace_s,
            spectator_delay_s=spectator_delay_s,
        )
        reply = await self._connection.ask(self._connection.matchmaking.CreateChallenge, request)
        _agreed(reply)
        return reply.challenge

    async def take_seats(self, challenge_id: str, seats: Sequence[int]) -> matchmaking_pb2.Challenge:
        """Sits down on these open seats; several only where the match is not rated."""
        request = matchmaking_pb2.JoinChallengeRequest(challenge_id=challenge_id, language=self._language, seats=seats)
        reply = await self._connection.ask(self._connection.matchmaking.JoinChallenge, request)
        _agreed(reply)
        return reply.challenge

    async def get_up(self, challenge_id: str) -> matchmaking_pb2.Challenge:
        """Leaves somebody else's open table."""
        request = matchmaking_pb2.LeaveChallengeRequest(challenge_id=challenge_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.LeaveChallenge, request)
        _agreed(reply)
        return reply.challenge

    async def fill(self, challenge_id: str, level: str) -> matchmaking_pb2.Challenge:
        """Lets bots take all open seats of one's own table."""
        request = matchmaking_pb2.FillChallengeRequest(challenge_id=challenge_id, level=level, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.FillChallenge, request)
        _agreed(reply)
        return reply.challenge

    # ---- while the match runs --------------------------------------------------------------------------------------

    async def table(self, match_id: str) -> matchmaking_pb2.Table:
        """Who sits where in a match, who has left, and what the others say about it."""
        request = matchmaking_pb2.GetTableRequest(match_id=match_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.GetTable, request)
        _agreed(reply)
        return reply.table

    async def watch_table(self, match_id: str) -> AsyncGenerator[matchmaking_pb2.Table, None]:
        """The same now and after each change, until the match is over."""
        request = matchmaking_pb2.WatchTableRequest(match_id=match_id, language=self._language)
        stream = self._connection.stream(self._connection.matchmaking.WatchTable, request)
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                yield response.table

    async def vote(self, match_id: str, seat: int, fellow: int | None = None) -> matchmaking_pb2.Table:
        """Says who shall play on a seat whose person has left; the last word counts until it is decided.

        Args:
            match_id: of the match.
            seat: the one that was left.
            fellow: whoever holds this seat; None: a bot.
        """
        request = matchmaking_pb2.VoteOnSeatRequest(
            match_id=match_id, seat=seat, fellow=fellow, language=self._language
        )
        reply = await self._connection.ask(self._connection.matchmaking.VoteOnSeat, request)
        _agreed(reply)
        return reply.table

    async def return_to_seat(self, match_id: str) -> matchmaking_pb2.Table:
        """Takes the seats that one sat down on back from whoever plays them; then the match can be opened anew."""
        request = matchmaking_pb2.ReturnToSeatRequest(match_id=match_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.ReturnToSeat, request)
        _agreed(reply)
        return reply.table


_Answer: TypeAlias = (
    matchmaking_pb2.CreateChallengeResponse
    | matchmaking_pb2.JoinChallengeResponse
    | matchmaking_pb2.LeaveChallengeResponse
    | matchmaking_pb2.FillChallengeResponse
    | matchmaking_pb2.GetTableResponse
    | matchmaking_pb2.VoteOnSeatResponse
    | matchmaking_pb2.ReturnToSeatResponse
)


def _agreed(reply: _Answer) -> None:
    if reply.HasField("rejection"):
        raise Rejected(reply.rejection)
