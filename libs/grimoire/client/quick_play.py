"""The part of a client that waits for a match in a queue, with friends or alone, and asks how strong people are."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Final, TypeVar

from google.protobuf.message import Message

from grimoire.client.connection import Connection
from grimoire.client.errors import Rejected, UnavailableError
from grimoire.client.texts import sends_text
from grimoire.v1 import envelope_pb2, match_pb2, quickplay_pb2, rating_pb2

__all__ = ["QuickPlay", "mode_of"]

_OVER: Final = (
    quickplay_pb2.TICKET_STATUS_CANCELLED,
    quickplay_pb2.TICKET_STATUS_EXPIRED,
    quickplay_pb2.TICKET_STATUS_NOT_READY,
)

M = TypeVar("M", bound=Message)


@sends_text
class QuickPlay:
    """Methods of `Client`; what they raise is said there.

    Example:
        >>> async def main(client: QuickPlay) -> None:
        ...     ticket = await client.find_match("two_towers", preset="short")
        ...     print(ticket.match_id or "nobody was there")
    """

    _connection: Connection
    _language: str

    # ---- queues -----------------------------------------------------------------------------------------------------

    async def queues(self, game: str = "") -> quickplay_pb2.ListQueuesResponse:
        """What can be waited for, how many wait there, and the numbers by which they are matched."""
        request = quickplay_pb2.ListQueuesRequest(game=game, language=self._language)
        return await self._connection.ask(self._connection.matchmaking.ListQueues, request)

    async def enter_queue(
        self,
        game: str,
        *,
        preset: str = "",
        options: Mapping[str, str] | None = None,
        seats: int = 0,
        rated: bool | None = None,
        party_id: str = "",
    ) -> quickplay_pb2.Ticket:
        """Enters a queue; whoever waits there already goes on waiting with the same ticket.

        Args:
            game: code name.
            preset: one of the game's (`describe(game).presets`); empty: its defaults, changed by `options`.
            options: by name.
            seats: 0: the preset's, or the game's default number.
            rated: None: rated alone, not rated with a party.
            party_id: queue with these friends; only who made the party may.

        Raises:
            Rejected: e.g. `already_searching`, `bad_option`, `people_only` (programs open challenges instead).
        """
        request = quickplay_pb2.EnterQueueRequest(
            game=game,
            preset=preset,
            options=[match_pb2.OptionValue(name=name, value=value) for name, value in (options or {}).items()],
            seats=seats,
            mode=mode_of(rated),
            party_id=party_id,
            language=self._language,
            request_id=secrets.token_bytes(16),
        )
        reply = await self._connection.ask(self._connection.matchmaking.EnterQueue, request)
        return _agreed(reply.ticket, reply.rejection if reply.HasField("rejection") else None)

    async def ticket(self, ticket_id: str = "") -> quickplay_pb2.Ticket:
        """A ticket of one's own as it is; without an id the one that one waits with now.

        Raises:
            Rejected: `not_searching`, `unknown_ticket`.
        """
        request = quickplay_pb2.GetTicketRequest(ticket_id=ticket_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.GetTicket, request)
        return _agreed(reply.ticket, reply.rejection if reply.HasField("rejection") else None)

    async def watch_ticket(self, ticket_id: str) -> AsyncGenerator[quickplay_pb2.Ticket, None]:
        """A ticket now and whenever it looks different, until its match is created or it is gone."""
        request = quickplay_pb2.WatchTicketRequest(ticket_id=ticket_id, language=self._language)
        stream = self._connection.stream(self._connection.matchmaking.WatchTicket, request)
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                yield response.ticket

    async def leave_queue(self, ticket_id: str) -> None:
        """Withdraws a ticket; during a ready check that declines it."""
        request = quickplay_pb2.LeaveQueueRequest(ticket_id=ticket_id)
        reply = await self._connection.ask(self._connection.matchmaking.LeaveQueue, request)
        if reply.HasField("rejection"):
            raise Rejected(reply.rejection)

    async def answer_ready_check(self, check_id: str, ready: bool) -> quickplay_pb2.Ticket:
        """Says that one is ready, or not (then one's ticket is gone).

        Raises:
            Rejected: `ready_check_over`: somebody else declined or did not answer; the ticket waits on.
        """
        request = quickplay_pb2.AnswerReadyCheckRequest(check_id=check_id, ready=ready, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.AnswerReadyCheck, request)
        return _agreed(reply.ticket, reply.rejection if reply.HasField("rejection") else None)

    async def find_match(
        self,
        game: str,
        *,
        preset: str = "",
        options: Mapping[str, str] | None = None,
        seats: int = 0,
        rated: bool | None = None,
        party_id: str = "",
        ready: Callable[[quickplay_pb2.Ticket], Awaitable[bool]] | None = None,
        on_change: Callable[[quickplay_pb2.Ticket], None] | None = None,
    ) -> quickplay_pb2.Ticket:
        """Enters a queue and waits for what comes of it. Breaking it off (cancelling the task) leaves the queue.

        Args:
            game, preset, options, seats, rated, party_id: as for `enter_queue`.
            ready: asked in each ready check; None: always ready.
            on_change: called back with each state of the ticket.

        Returns:
            The ticket at its end: with a `match_id`, or cancelled, expired, not ready.
        """
        ticket = await self.enter_queue(
            game, preset=preset, options=options, seats=seats, rated=rated, party_id=party_id
        )
        try:
            return await self._followed(ticket.ticket_id, ready, on_change)
        except BaseException:
            with contextlib.suppress(Rejected, UnavailableError):
                await self.leave_queue(ticket.ticket_id)
            raise

    async def _followed(
        self,
        ticket_id: str,
        ready: Callable[[quickplay_pb2.Ticket], Awaitable[bool]] | None,
        on_change: Callable[[quickplay_pb2.Ticket], None] | None,
    ) -> quickplay_pb2.Ticket:
        answered = ""
        while True:
            with contextlib.suppress(UnavailableError):
                async with contextlib.aclosing(self.watch_ticket(ticket_id)) as changes:
                    async for ticket in changes:
                        if on_change is not None:
                            on_change(ticket)
                        if ticket.match_id or ticket.status in _OVER:
                            return ticket
                        check_id = ticket.ready_check.check_id
                        if check_id and check_id != answered:
                            answered = check_id
                            await self._answer(ticket, ready)
            # The stream broke.
            ticket = await self.ticket(ticket_id)
            if ticket.match_id or ticket.status in _OVER:
                return ticket

    async def _answer(
        self, ticket: quickplay_pb2.Ticket, ready: Callable[[quickplay_pb2.Ticket], Awaitable[bool]] | None
    ) -> None:
        agreed = ready is None or await ready(ticket)
        with contextlib.suppress(Rejected):
            # Somebody else may have declined meanwhile; the stream tells.
            await self.answer_ready_check(ticket.ready_check.check_id, agreed)

    # ---- parties ----------------------------------------------------------------------------------------------------

    async def make_party(self, game: str) -> quickplay_pb2.Party:
        """A party of one; friends join it by its id. A party one was in is left."""
        request = quickplay_pb2.CreatePartyRequest(
            game=game, language=self._language, request_id=secrets.token_bytes(16)
        )
        reply = await self._connection.ask(self._connection.matchmaking.CreateParty, request)
        return _agreed(reply.party, reply.rejection if reply.HasField("rejection") else None)

    async def join_party(self, party_id: str) -> quickplay_pb2.Party:
        """Joins a friend's party."""
        request = quickplay_pb2.JoinPartyRequest(party_id=party_id, language=self._language)
        reply = await self._connection.ask(self._connection.matchmaking.JoinParty, request)
        return _agreed(reply.party, reply.rejection if reply.HasField("rejection") else None)

    async def leave_party(self, party_id: str) -> None:
        """Leaves a party, and its queue; if it is one's own, it is broken up."""
        request = quickplay_pb2.LeavePartyRequest(party_id=party_id)
        reply = await self._connection.ask(self._connection.matchmaking.LeaveParty, request)
        if reply.HasField("rejection"):
            raise Rejected(reply.rejection)

    async def watch_party(self, party_id: str) -> AsyncGenerator[quickplay_pb2.Party, None]:
        """A party now and whenever it looks different, until it is gone; its `ticket_id` is what all wait with."""
        request = quickplay_pb2.WatchPartyRequest(party_id=party_id, language=self._language)
        stream = self._connection.stream(self._connection.matchmaking.WatchParty, request)
        async with contextlib.aclosing(stream) as responses:
            async for response in responses:
                yield response.party

    # ---- ratings ----------------------------------------------------------------------------------------------------

    async def ratings(self) -> dict[str, rating_pb2.Rating]:
        """One's own, by game; games without a rated match are missing."""
        reply = await self._connection.ask(self._connection.matchmaking.GetRatings, rating_pb2.GetRatingsRequest())
        return {row.game: row.rating for row in reply.ratings}

    async def rating_changes(self, game: str, limit: int = 0) -> list[rating_pb2.RatingChange]:
        """One's own history in a game, newest first."""
        request = rating_pb2.ListRatingChangesRequest(game=game, limit=limit)
        return list((await self._connection.ask(self._connection.matchmaking.ListRatingChanges, request)).changes)

    async def leaderboard(self, game: str, limit: int = 0) -> list[rating_pb2.LeaderboardRow]:
        """The best of a game; who is still provisional is not on it."""
        request = rating_pb2.GetLeaderboardRequest(game=game, limit=limit, language=self._language)
        return list((await self._connection.ask(self._connection.matchmaking.GetLeaderboard, request)).rows)


def mode_of(rated: bool | None) -> match_pb2.MatchMode.ValueType:
    """Rated, casual, or (None) whatever the server takes for granted."""
    if rated is None:
        return match_pb2.MATCH_MODE_UNSPECIFIED
    return match_pb2.MATCH_MODE_RATED if rated else match_pb2.MATCH_MODE_CASUAL


def _agreed(answer: M, rejection: envelope_pb2.Rejection | None) -> M:
    if rejection is not None:
        raise Rejected(rejection)
    return answer
