"""The lobby over gRPC. Internal: the gateway says in metadata on whose behalf it calls."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final

import grpc
import msgspec

from grimoire.engine import Illegal
from grimoire.eventstore import Unavailable
from grimoire.runtime.identity import Identity
from grimoire.v1 import matchmaking_pb2
from matchmaking.analysis import AnalysisWish
from matchmaking.archive import EndedMatch
from matchmaking.calls import (
    REJECTION_KEY,
    Context,
    abort,
    caller_of,
    judged,
    language_of,
    limit_of,
    no_caller,
    option_pairs,
    unavailable,
)
from matchmaking.challenge import Challenge, Sitter
from matchmaking.desk import Desk
from matchmaking.lobby import Row, Wish
from matchmaking.lobby_calls import LobbyCalls
from matchmaking.log import Record
from matchmaking.people import People
from matchmaking.quick_calls import QuickPlayCalls
from matchmaking.rating_calls import RatingCalls
from matchmaking.shown import show_challenge, show_ended, show_running
from matchmaking.table_calls import TableCalls
from matchmaking.texts import DEFAULT_LANGUAGE, illegal, rejection

__all__ = ["REJECTION_KEY", "MatchmakingService"]

_CHALLENGES: Final = (200, 500)
_MATCHES: Final = (50, 200)


class MatchmakingService(LobbyCalls, TableCalls, QuickPlayCalls, RatingCalls):
    """Answers the gateway for players, and other services for themselves.

    Args:
        desk: the parts it works with.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    # ---- challenges ------------------------------------------------------------------------------------------------

    async def CreateChallenge(
        self, request: matchmaking_pb2.CreateChallengeRequest, context: Context
    ) -> matchmaking_pb2.CreateChallengeResponse:
        """Opens a challenge."""
        caller, language = await caller_of(context), language_of(request.language)
        wish = Wish(
            game=request.game,
            options=option_pairs(request.options),
            seats=request.seats,
            bots=tuple(request.bots),
            request_id=request.request_id,
            mode=request.mode,
            language=language,
            spectator_delay_s=request.spectator_delay_s,
            rows=tuple(Row(row.kind, row.level) for row in request.rows),
            by_invitation=request.by_invitation,
            grace_s=request.grace_s,
        )
        party_id = request.party_id
        shown, refusal = await self._answer(caller, language, lambda: self._create(caller, wish, party_id))
        return matchmaking_pb2.CreateChallengeResponse(challenge=shown, rejection=refusal)

    async def _create(self, caller: Identity, wish: Wish, party_id: str) -> Record | Illegal:
        if not party_id:
            return await self._desk.lobby.create(caller, wish)
        friends = await self._desk.friends.company(caller, party_id, wish.game)
        if isinstance(friends, Illegal):
            return friends
        return await self._desk.lobby.create(caller, msgspec.structs.replace(wish, friends=friends, party_id=party_id))

    async def PlayBot(
        self, request: matchmaking_pb2.PlayBotRequest, context: Context
    ) -> matchmaking_pb2.PlayBotResponse:
        """A match against bots of one level, at once."""
        caller, language = await caller_of(context), language_of(request.language)
        wish = Wish(
            game=request.game,
            options=option_pairs(request.options),
            seats=request.seats,
            bots=(request.level,),
            all_bots=True,
            request_id=request.request_id,
            language=language,
        )
        shown, refusal = await self._answer(caller, language, lambda: self._desk.lobby.create(caller, wish))
        return matchmaking_pb2.PlayBotResponse(challenge=shown, rejection=refusal)

    async def JoinChallenge(
        self, request: matchmaking_pb2.JoinChallengeRequest, context: Context
    ) -> matchmaking_pb2.JoinChallengeResponse:
        """Takes a seat."""
        caller, language = await caller_of(context), language_of(request.language)
        shown, refusal = await self._answer(
            caller, language, lambda: self._desk.lobby.join(caller, request.challenge_id, tuple(request.seats))
        )
        return matchmaking_pb2.JoinChallengeResponse(challenge=shown, rejection=refusal)

    async def LeaveChallenge(
        self, request: matchmaking_pb2.LeaveChallengeRequest, context: Context
    ) -> matchmaking_pb2.LeaveChallengeResponse:
        """Gets up again."""
        caller, language = await caller_of(context), language_of(request.language)
        challenge_id = request.challenge_id
        shown, refusal = await self._answer(caller, language, lambda: self._desk.lobby.leave(caller, challenge_id))
        return matchmaking_pb2.LeaveChallengeResponse(challenge=shown, rejection=refusal)

    async def FillChallenge(
        self, request: matchmaking_pb2.FillChallengeRequest, context: Context
    ) -> matchmaking_pb2.FillChallengeResponse:
        """Bots for all open seats of one's own table."""
        caller, language = await caller_of(context), language_of(request.language)
        shown, refusal = await self._answer(
            caller,
            language,
            lambda: self._desk.lobby.fill(caller, request.challenge_id, request.level, language),
        )
        return matchmaking_pb2.FillChallengeResponse(challenge=shown, rejection=refusal)

    async def CancelChallenge(
        self, request: matchmaking_pb2.CancelChallengeRequest, context: Context
    ) -> matchmaking_pb2.CancelChallengeResponse:
        """Withdraws one's own."""
        caller = await caller_of(context)
        answer = await judged(lambda: self._desk.lobby.cancel(caller, request.challenge_id))
        return matchmaking_pb2.CancelChallengeResponse(
            rejection=rejection(answer) if isinstance(answer, Illegal) else None
        )

    async def Rematch(
        self, request: matchmaking_pb2.RematchRequest, context: Context
    ) -> matchmaking_pb2.RematchResponse:
        """Offers or accepts another match."""
        caller, language = await caller_of(context), language_of(request.language)
        shown, refusal = await self._answer(
            caller, language, lambda: self._desk.lobby.rematch(caller, request.match_id)
        )
        return matchmaking_pb2.RematchResponse(challenge=shown, rejection=refusal)

    async def GetChallenge(
        self, request: matchmaking_pb2.GetChallengeRequest, context: Context
    ) -> matchmaking_pb2.GetChallengeResponse:
        """One challenge as it is."""
        caller, language = await caller_of(context), language_of(request.language)
        shown, refusal = await self._answer(caller, language, lambda: self._desk.lobby.look(request.challenge_id))
        return matchmaking_pb2.GetChallengeResponse(challenge=shown, rejection=refusal)

    async def ListChallenges(
        self, request: matchmaking_pb2.ListChallengesRequest, context: Context
    ) -> matchmaking_pb2.ListChallengesResponse:
        """Open challenges, one's own first."""
        caller, language = await caller_of(context), language_of(request.language)
        challenges = self._desk.lobby.challenges(caller, request.game, limit_of(request.limit, _CHALLENGES))
        try:
            people = await self._people(caller, language, [(c.game, c.sitters) for c in challenges])
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        shown = [
            show_challenge(c, people[c.game], await self._desk.faces.manifest(c.game, language), language)
            for c in challenges
        ]
        return matchmaking_pb2.ListChallengesResponse(challenges=shown)

    async def WatchChallenge(
        self, request: matchmaking_pb2.WatchChallengeRequest, context: Context
    ) -> AsyncIterator[matchmaking_pb2.WatchChallengeResponse]:
        """A challenge as it is and whenever it has changed, until it is matched or gone."""
        caller, language = await caller_of(context), language_of(request.language)
        shown = 0
        with self._desk.streams.enter(caller) as refusal:
            if refusal is not None:
                await abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, refusal, language)
            try:
                async with contextlib.aclosing(self._desk.watches.follow(request.challenge_id)) as following:
                    async for record in following:
                        shown += 1
                        yield matchmaking_pb2.WatchChallengeResponse(
                            challenge=await self._shown(record.challenge, caller, language)
                        )
            except Unavailable:
                await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        if self._desk.watches.closed:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        if not shown:
            await abort(context, grpc.StatusCode.NOT_FOUND, illegal("unknown_challenge"), language)

    async def CreateAnalysis(
        self, request: matchmaking_pb2.CreateAnalysisRequest, context: Context
    ) -> matchmaking_pb2.CreateAnalysisResponse:
        """An unrated match from a position."""
        caller, language = await caller_of(context), language_of(request.language)
        wish = AnalysisWish(
            match_id=request.branch.match_id,
            version=request.branch.version,
            game=request.game,
            position=request.position_json if request.HasField("position_json") else request.position,
            options=option_pairs(request.options),
            seats=request.seats,
            partners=request.partners or matchmaking_pb2.ANALYSIS_PARTNERS_NONE,
            level=request.level,
            seat=request.seat if request.HasField("seat") else None,
            request_id=request.request_id,
            language=language,
        )
        shown, refusal = await self._answer(caller, language, lambda: self._desk.analyses.create(caller, wish))
        return matchmaking_pb2.CreateAnalysisResponse(challenge=shown, rejection=refusal)

    # ---- matches ---------------------------------------------------------------------------------------------------

    async def ListMatches(
        self, request: matchmaking_pb2.ListMatchesRequest, context: Context
    ) -> matchmaking_pb2.ListMatchesResponse:
        """Matches, newest first."""
        caller, limit = await caller_of(context), limit_of(request.limit, _MATCHES)
        try:
            if request.game and request.game not in self._desk.games.known:
                shown = []
            elif request.finished:
                account_id = caller.account_id if request.mine else ""
                ended = await self._desk.archive.newest(account_id=account_id, game=request.game, limit=limit)
                shown = await self._ended(caller, ended)
            else:
                running = self._desk.lobby.running(caller, mine=request.mine, game=request.game, limit=limit)
                people = await self._people(caller, DEFAULT_LANGUAGE, [(c.game, c.sitters) for c in running])
                shown = [
                    show_running(c, people[c.game], await self._desk.faces.manifest(c.game, DEFAULT_LANGUAGE))
                    for c in running
                ]
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        return matchmaking_pb2.ListMatchesResponse(matches=shown)

    async def _ended(self, caller: Identity, ended: list[EndedMatch]) -> list[matchmaking_pb2.MatchSummary]:
        people = await self._people(caller, DEFAULT_LANGUAGE, [(match.game, match.sitters) for match in ended])
        changes = await self._desk.ratings.changes_of([match.match_id for match in ended])
        return [
            show_ended(
                match,
                people[match.game],
                await self._desk.faces.manifest(match.game, DEFAULT_LANGUAGE),
                changes.get(match.match_id, ()),
            )
            for match in ended
        ]

    # ---- between services ------------------------------------------------------------------------------------------

    async def ListBotSeats(
        self, request: matchmaking_pb2.ListBotSeatsRequest, context: Context
    ) -> matchmaking_pb2.ListBotSeatsResponse:
        """Seats of bots in matches that are not over; for an instance of bots those that it holds from now on."""
        await no_caller(context)
        running, held = self._desk.invitations.seats(), self._desk.bot_seats
        if not request.instance:
            return matchmaking_pb2.ListBotSeatsResponse(seats=running)
        try:
            if not request.most:
                await held.release(request.instance)
                return matchmaking_pb2.ListBotSeatsResponse()
            able = [seat for seat in running if seat.game in request.games]
            seats = await held.hold(request.instance, request.most, request.invited, able)
            # While that was written, a match may have ended: its seats are given to nobody again.
            over = {seat.match_id for seat in able} - {seat.match_id for seat in self._desk.invitations.seats()}
            if over:
                await held.forget(over)
                seats = [seat for seat in seats if seat.match_id not in over]
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        return matchmaking_pb2.ListBotSeatsResponse(seats=seats, held_ms=held.held_ms)

    async def ForgetAccount(
        self, request: matchmaking_pb2.ForgetAccountRequest, context: Context
    ) -> matchmaking_pb2.ForgetAccountResponse:
        """Erases an account's name and ratings."""
        await no_caller(context)
        try:
            await self._desk.names.forget(request.account_id)
            await self._desk.ratings.forget(request.account_id)
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable())
        return matchmaking_pb2.ForgetAccountResponse()

    # ---- helpers ---------------------------------------------------------------------------------------------------

    async def _answer(
        self, caller: Identity, language: str, asked: Callable[[], Awaitable[Record | Illegal]]
    ) -> tuple[matchmaking_pb2.Challenge | None, Any]:
        """The challenge shown to the caller, or the rejection."""
        answer = await judged(asked)
        if isinstance(answer, Illegal):
            return None, rejection(answer, language)
        try:
            return await self._shown(answer.challenge, caller, language), None
        except Unavailable:
            return None, rejection(unavailable(), language)

    async def _shown(self, challenge: Challenge, caller: Identity, language: str) -> matchmaking_pb2.Challenge:
        people = await self._people(caller, language, [(challenge.game, challenge.sitters)])
        manifest = await self._desk.faces.manifest(challenge.game, language)
        return show_challenge(challenge, people[challenge.game], manifest, language)

    async def _people(
        self, caller: Identity, language: str, seated: Iterable[tuple[str, Iterable[tuple[int, Sitter]]]]
    ) -> dict[str, People]:
        """Everybody who sits there, by game, as the caller sees them."""
        accounts: dict[str, set[str]] = {}
        for game, sitters in seated:
            accounts.setdefault(game, set()).update(sitter.account_id for _, sitter in sitters if not sitter.level)
        faces = self._desk.faces
        return {
            game: await faces.people(caller.account_id, game, theirs, language) for game, theirs in accounts.items()
        }
