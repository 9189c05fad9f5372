"""Quick play over gRPC: tickets, ready checks, queues and parties."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc

from grimoire.engine import Illegal
from grimoire.eventstore import Unavailable
from grimoire.runtime.identity import Identity
from grimoire.v1 import manifest_pb2, match_pb2, matchmaking_pb2_grpc, quickplay_pb2
from matchmaking.calls import Context, abort, caller_of, judged, language_of, option_pairs, unavailable
from matchmaking.challenge import Stage
from matchmaking.desk import Desk
from matchmaking.parties import Party
from matchmaking.quick_play import QueueWish, queue_of, quick_seats
from matchmaking.shown_tickets import show_party, show_policy, show_queue, show_ticket
from matchmaking.texts import illegal, rejection
from matchmaking.tickets import Ticket, TicketStage

__all__ = ["QuickPlayCalls"]

_FINAL = frozenset(stage for stage in TicketStage if not stage.live) - {TicketStage.MATCHED}


class QuickPlayCalls(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """The part of the service that waits and matches."""

    _desk: Desk

    # ---- tickets ---------------------------------------------------------------------------------------------------

    async def EnterQueue(
        self, request: quickplay_pb2.EnterQueueRequest, context: Context
    ) -> quickplay_pb2.EnterQueueResponse:
        """Enters a queue."""
        caller, language = await caller_of(context), language_of(request.language)
        wish = QueueWish(
            game=request.game,
            preset=request.preset,
            options=option_pairs(request.options),
            seats=request.seats,
            mode=request.mode,
            party_id=request.party_id,
            request_id=request.request_id,
            language=language,
        )
        answer = await judged(lambda: self._desk.quick_play.enter(caller, wish))
        shown, refusal = await self._ticket(answer, caller, language)
        return quickplay_pb2.EnterQueueResponse(ticket=shown, rejection=refusal)

    async def GetTicket(
        self, request: quickplay_pb2.GetTicketRequest, context: Context
    ) -> quickplay_pb2.GetTicketResponse:
        """A ticket of one's own."""
        caller, language = await caller_of(context), language_of(request.language)
        answer = await judged(lambda: self._desk.quick_play.look(caller, request.ticket_id))
        shown, refusal = await self._ticket(answer, caller, language)
        return quickplay_pb2.GetTicketResponse(ticket=shown, rejection=refusal)

    async def WatchTicket(
        self, request: quickplay_pb2.WatchTicketRequest, context: Context
    ) -> AsyncIterator[quickplay_pb2.WatchTicketResponse]:
        """A ticket as it is and whenever it looks different, until its match is created or it is gone."""
        caller, language = await caller_of(context), language_of(request.language)
        last = None
        with self._desk.streams.enter(caller) as refusal:
            if refusal is not None:
                await abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, refusal, language)
            try:
                async with contextlib.aclosing(self._desk.quick_play.follow(caller, request.ticket_id)) as following:
                    async for ticket in following:
                        shown, over = await self._shown_ticket(ticket, caller, language)
                        if shown != last:
                            last = shown
                            yield quickplay_pb2.WatchTicketResponse(ticket=shown)
                        if over:
                            return
            except Unavailable:
                await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        if last is None:
            await abort(context, grpc.StatusCode.NOT_FOUND, illegal("unknown_ticket"), language)
        # Told to nobody any more here; the reader resumes elsewhere.
        await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)

    async def LeaveQueue(
        self, request: quickplay_pb2.LeaveQueueRequest, context: Context
    ) -> quickplay_pb2.LeaveQueueResponse:
        """Withdraws a ticket of one's own."""
        caller = await caller_of(context)
        answer = await judged(lambda: self._desk.quick_play.leave(caller, request.ticket_id))
        return quickplay_pb2.LeaveQueueResponse(rejection=rejection(answer) if isinstance(answer, Illegal) else None)

    async def AnswerReadyCheck(
        self, request: quickplay_pb2.AnswerReadyCheckRequest, context: Context
    ) -> quickplay_pb2.AnswerReadyCheckResponse:
        """Says that one is ready, or not."""
        caller, language = await caller_of(context), language_of(request.language)
        answer = await judged(lambda: self._desk.quick_play.answer(caller, request.check_id, ready=request.ready))
        shown, refusal = await self._ticket(answer, caller, language)
        return quickplay_pb2.AnswerReadyCheckResponse(ticket=shown, rejection=refusal)

    async def _ticket(
        self, answer: Ticket | Illegal, caller: Identity, language: str
    ) -> tuple[quickplay_pb2.Ticket | None, Any]:
        if isinstance(answer, Illegal):
            return None, rejection(answer, language)
        try:
            return (await self._shown_ticket(answer, caller, language))[0], None
        except Unavailable:
            return None, rejection(unavailable(), language)

    async def _shown_ticket(self, ticket: Ticket, caller: Identity, language: str) -> tuple[quickplay_pb2.Ticket, bool]:
        """A ticket for the caller, and whether nothing more will come of it."""
        desk, game = self._desk, ticket.queue.game
        accounts = {*ticket.members, *(seat.account_id for seat in (ticket.check.seats if ticket.check else ()))}
        people = await desk.faces.people(caller.account_id, game, accounts, language)
        record = await desk.ledger.get(ticket.challenge_id) if ticket.challenge_id else None
        settled = record is not None and record.challenge.stage.settled
        created = record is not None and record.challenge.stage in (Stage.MATCHED, Stage.ENDED)
        shown = show_ticket(
            ticket,
            people,
            await desk.faces.manifest(game, language),
            language,
            now_ms=desk.now_ms(),
            policy=desk.limits.policy,
            match_id=record.challenge.match_id if record is not None and created else "",
        )
        if settled and not created:
            # All were ready, and the game refused the match for good.
            shown.status = quickplay_pb2.TICKET_STATUS_CANCELLED
        return shown, ticket.stage in _FINAL or settled

    # ---- queues ----------------------------------------------------------------------------------------------------

    async def ListQueues(
        self, request: quickplay_pb2.ListQueuesRequest, context: Context
    ) -> quickplay_pb2.ListQueuesResponse:
        """What can be waited for, who waits, and by which numbers they are matched."""
        await caller_of(context)
        language = language_of(request.language)
        games = [game for game in self._desk.games.known if request.game in ("", game)]
        response = quickplay_pb2.ListQueuesResponse(policy=show_policy(self._desk.limits.policy))
        for game in games:
            try:
                response.queues.extend(await self._queues(game, language))
            except Unavailable:
                # The other games' queues are there all the same.
                continue
        return response

    async def _queues(self, game: str, language: str) -> list[quickplay_pb2.Queue]:
        manifest = await self._desk.games.manifest(game, language)
        crowds = dict(await self._desk.quick_play.crowds(game))
        presets = await self._desk.games.presets(game)
        rows = [
            (queue_of(game, checked.options, seats, match_pb2.MATCH_MODE_RATED), preset)
            for preset in manifest.presets
            if (checked := presets.get(preset.preset)) is not None
            for seats in quick_seats(manifest, preset, checked)
        ]
        named = {queue for queue, _ in rows}
        rows += [(queue, manifest_pb2.Preset()) for queue in crowds if queue not in named]
        return [show_queue(queue, preset, crowds.get(queue, 0), manifest, language) for queue, preset in rows]

    # ---- parties ---------------------------------------------------------------------------------------------------

    async def CreateParty(
        self, request: quickplay_pb2.CreatePartyRequest, context: Context
    ) -> quickplay_pb2.CreatePartyResponse:
        """A party of one."""
        caller, language = await caller_of(context), language_of(request.language)
        answer = await judged(lambda: self._desk.friends.make(caller, request.game, request.request_id))
        shown, refusal = await self._party(answer, caller, language)
        return quickplay_pb2.CreatePartyResponse(party=shown, rejection=refusal)

    async def JoinParty(
        self, request: quickplay_pb2.JoinPartyRequest, context: Context
    ) -> quickplay_pb2.JoinPartyResponse:
        """Joins a friend's."""
        caller, language = await caller_of(context), language_of(request.language)
        answer = await judged(lambda: self._desk.friends.join(caller, request.party_id))
        shown, refusal = await self._party(answer, caller, language)
        return quickplay_pb2.JoinPartyResponse(party=shown, rejection=refusal)

    async def LeaveParty(
        self, request: quickplay_pb2.LeavePartyRequest, context: Context
    ) -> quickplay_pb2.LeavePartyResponse:
        """Leaves one."""
        caller = await caller_of(context)
        answer = await judged(lambda: self._desk.friends.leave(caller, request.party_id))
        return quickplay_pb2.LeavePartyResponse(rejection=rejection(answer) if isinstance(answer, Illegal) else None)

    async def WatchParty(
        self, request: quickplay_pb2.WatchPartyRequest, context: Context
    ) -> AsyncIterator[quickplay_pb2.WatchPartyResponse]:
        """A party as it is and whenever it looks different, until it is gone."""
        caller, language = await caller_of(context), language_of(request.language)
        last = None
        with self._desk.streams.enter(caller) as refusal:
            if refusal is not None:
                await abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, refusal, language)
            try:
                async with contextlib.aclosing(self._desk.friends.follow(request.party_id)) as following:
                    async for party in following:
                        shown = await self._shown_party(party, caller, language)
                        if shown != last:
                            last = shown
                            yield quickplay_pb2.WatchPartyResponse(party=shown)
                gone = isinstance(await self._desk.friends.look(request.party_id), Illegal)
            except Unavailable:
                await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        if last is None:
            await abort(context, grpc.StatusCode.NOT_FOUND, illegal("unknown_party"), language)
        if not gone:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        yield quickplay_pb2.WatchPartyResponse(party=quickplay_pb2.Party(party_id=request.party_id, gone=True))

    async def _party(
        self, answer: Party | Illegal, caller: Identity, language: str
    ) -> tuple[quickplay_pb2.Party | None, Any]:
        if isinstance(answer, Illegal):
            return None, rejection(answer, language)
        try:
            return await self._shown_party(answer, caller, language), None
        except Unavailable:
            return None, rejection(unavailable(), language)

    async def _shown_party(self, party: Party, caller: Identity, language: str) -> quickplay_pb2.Party:
        people = await self._desk.faces.people(caller.account_id, party.game, party.members, language)
        ticket = await self._desk.friends.ticket_of(party)
        return show_party(party, people, ticket.ticket_id if ticket is not None else "")
