"""Seats of running matches over gRPC: who sits where, votes, coming back."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc

from grimoire.engine import Illegal
from grimoire.eventstore import Unavailable
from grimoire.runtime.identity import Identity
from grimoire.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from matchmaking.calls import Context, abort, caller_of, judged, language_of, unavailable
from matchmaking.challenge import Stage
from matchmaking.desk import Desk
from matchmaking.log import Record
from matchmaking.shown_table import show_table
from matchmaking.texts import illegal, rejection
from matchmaking.vacancies import Move, Return, Vote

__all__ = ["TableCalls"]


class TableCalls(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """The part of the service that knows of seats which change hands."""

    _desk: Desk

    async def GetTable(
        self, request: matchmaking_pb2.GetTableRequest, context: Context
    ) -> matchmaking_pb2.GetTableResponse:
        """Who sits where."""
        caller, language = await caller_of(context), language_of(request.language)
        answer = await judged(lambda: self._of_match(request.match_id))
        shown, refusal = await self._table(answer, caller, language)
        return matchmaking_pb2.GetTableResponse(table=shown, rejection=refusal)

    async def WatchTable(
        self, request: matchmaking_pb2.WatchTableRequest, context: Context
    ) -> AsyncIterator[matchmaking_pb2.WatchTableResponse]:
        """Who sits where, and again whenever that or the votes have changed, until the match is over."""
        caller, language = await caller_of(context), language_of(request.language)
        over = False
        with self._desk.streams.enter(caller) as refusal:
            if refusal is not None:
                await abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, refusal, language)
            try:
                found = await self._of_match(request.match_id)
                if isinstance(found, Illegal):
                    await abort(context, grpc.StatusCode.NOT_FOUND, found, language)
                following = self._desk.watches.follow(found.challenge.challenge_id, until_over=True)
                async with contextlib.aclosing(following) as records:
                    async for record in records:
                        over = not record.challenge.stage.live
                        yield matchmaking_pb2.WatchTableResponse(
                            table=await self._shown_table(record, caller, language)
                        )
            except Unavailable:
                await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        if not over:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)

    async def VoteOnSeat(
        self, request: matchmaking_pb2.VoteOnSeatRequest, context: Context
    ) -> matchmaking_pb2.VoteOnSeatResponse:
        """Who shall play on."""
        caller, language = await caller_of(context), language_of(request.language)
        choice = request.fellow if request.HasField("fellow") else None
        vote = Vote(caller.account_id, request.seat, choice)
        answer = await judged(lambda: self._act(caller, request.match_id, vote))
        shown, refusal = await self._table(answer, caller, language)
        return matchmaking_pb2.VoteOnSeatResponse(table=shown, rejection=refusal)

    async def ReturnToSeat(
        self, request: matchmaking_pb2.ReturnToSeatRequest, context: Context
    ) -> matchmaking_pb2.ReturnToSeatResponse:
        """The caller is back; answered as soon as the match knows it, or after some seconds."""
        caller, language = await caller_of(context), language_of(request.language)
        answer = await judged(lambda: self._come_back(caller, request.match_id))
        shown, refusal = await self._table(answer, caller, language)
        return matchmaking_pb2.ReturnToSeatResponse(table=shown, rejection=refusal)

    # ---- helpers ---------------------------------------------------------------------------------------------------

    async def _of_match(self, match_id: str) -> Record | Illegal:
        """The challenge a match came of."""
        running = self._desk.ledger.of_match(match_id)
        challenge_id = running.challenge_id if running is not None else await self._desk.lobby.archived(match_id)
        record = await self._desk.ledger.get(challenge_id) if challenge_id else None
        known = record is not None and record.challenge.stage in (Stage.MATCHED, Stage.ENDED)
        return record if record is not None and known else illegal("unknown_match", field="match_id")

    async def _act(self, caller: Identity, match_id: str, move: Move) -> Record | Illegal:
        refusal = self._desk.lobby.too_fast(caller)
        if refusal is not None:
            return refusal
        found = await self._of_match(match_id)
        if isinstance(found, Illegal):
            return found
        return await self._desk.ledger.act(found.challenge.challenge_id, move)

    async def _come_back(self, caller: Identity, match_id: str) -> Record | Illegal:
        answer = await self._act(caller, match_id, Return(caller.account_id))
        if isinstance(answer, Illegal):
            return answer
        return await self._desk.watches.until(
            answer, self._desk.limits.created_s, lambda challenge: not challenge.gifts or not challenge.stage.live
        )

    async def _table(
        self, answer: Record | Illegal, caller: Identity, language: str
    ) -> tuple[matchmaking_pb2.Table | None, Any]:
        if isinstance(answer, Illegal):
            return None, rejection(answer, language)
        try:
            return await self._shown_table(answer, caller, language), None
        except Unavailable:
            return None, rejection(unavailable(), language)

    async def _shown_table(self, record: Record, caller: Identity, language: str) -> matchmaking_pb2.Table:
        challenge, faces = record.challenge, self._desk.faces
        accounts = {s.account_id for s in (*challenge.seats, *challenge.started) if s is not None and not s.level}
        people = await faces.people(caller.account_id, challenge.game, accounts, language)
        return show_table(record, people, await faces.manifest(challenge.game, language))
