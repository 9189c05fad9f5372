"""The lobby over gRPC. Internal: the gateway says in metadata on whose behalf it calls."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final, NoReturn

import grpc
import grpc.aio
import structlog

from grimoire.engine import Illegal
from grimoire.eventstore import Unavailable
from grimoire.runtime.identity import Identity
from grimoire.runtime.rpc import account_of
from grimoire.v1 import manifest_pb2, match_pb2, matchmaking_pb2, matchmaking_pb2_grpc
from matchmaking.archive import Archive
from matchmaking.challenge import Challenge, Sitter
from matchmaking.games import Games
from matchmaking.invitations import Invitations
from matchmaking.limits import Limits
from matchmaking.lobby import Lobby, Wish
from matchmaking.log import Record
from matchmaking.meters import REFUSALS
from matchmaking.names import NameBook
from matchmaking.shown import show_challenge, show_ended, show_running
from matchmaking.texts import DEFAULT_LANGUAGE, illegal, rejection
from matchmaking.watches import Watches

__all__ = ["REJECTION_KEY", "MatchmakingService"]

_log: Final = structlog.stdlib.get_logger(__name__)

_CHALLENGES: Final = (200, 500)
_MATCHES: Final = (50, 200)
_RETRY_MS: Final = 1_000

REJECTION_KEY: Final = "grimoire-rejection-bin"
"""Trailing metadata of a refused call: a serialised `Rejection`."""

_Context = grpc.aio.ServicerContext[Any, Any]


class MatchmakingService(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """Answers the gateway for players, and other services for themselves.

    Args:
        lobby: what players can do.
        watches, names, archive, games, invitations: what is shown.
        limits: how much one account may ask.
    """

    def __init__(
        self,
        lobby: Lobby,
        watches: Watches,
        names: NameBook,
        archive: Archive,
        games: Games,
        invitations: Invitations,
        limits: Limits,
    ) -> None:
        self._lobby = lobby
        self._watches = watches
        self._names = names
        self._archive = archive
        self._games = games
        self._invitations = invitations
        self._limits = limits
        self._watching: Counter[str] = Counter()

    # ---- challenges ------------------------------------------------------------------------------------------------

    async def CreateChallenge(
        self, request: matchmaking_pb2.CreateChallengeRequest, context: _Context
    ) -> matchmaking_pb2.CreateChallengeResponse:
        """Opens a challenge."""
        caller, language = await _caller(context), _language(request.language)
        wish = Wish(
            game=request.game,
            options=_pairs(request.options),
            seats=request.seats,
            bots=tuple(request.bots),
            request_id=request.request_id,
            language=language,
        )
        shown, refusal = await self._answer(caller, language, lambda: self._lobby.create(caller, wish))
        return matchmaking_pb2.CreateChallengeResponse(challenge=shown, rejection=refusal)

    async def PlayBot(
        self, request: matchmaking_pb2.PlayBotRequest, context: _Context
    ) -> matchmaking_pb2.PlayBotResponse:
        """A match against bots of one level, at once."""
        caller, language = await _caller(context), _language(request.language)
        wish = Wish(
            game=request.game,
            options=_pairs(request.options),
            bots=(request.level,),
            all_bots=True,
            request_id=request.request_id,
            language=language,
        )
        shown, refusal = await self._answer(caller, language, lambda: self._lobby.create(caller, wish))
        return matchmaking_pb2.PlayBotResponse(challenge=shown, rejection=refusal)

    async def JoinChallenge(
        self, request: matchmaking_pb2.JoinChallengeRequest, context: _Context
    ) -> matchmaking_pb2.JoinChallengeResponse:
        """Takes a seat."""
        caller, language = await _caller(context), _language(request.language)
        shown, refusal = await self._answer(caller, language, lambda: self._lobby.join(caller, request.challenge_id))
        return matchmaking_pb2.JoinChallengeResponse(challenge=shown, rejection=refusal)

    async def CancelChallenge(
        self, request: matchmaking_pb2.CancelChallengeRequest, context: _Context
    ) -> matchmaking_pb2.CancelChallengeResponse:
        """Withdraws one's own."""
        caller = await _caller(context)
        answer = await _judged(lambda: self._lobby.cancel(caller, request.challenge_id))
        return matchmaking_pb2.CancelChallengeResponse(
            rejection=rejection(answer) if isinstance(answer, Illegal) else None
        )

    async def Rematch(
        self, request: matchmaking_pb2.RematchRequest, context: _Context
    ) -> matchmaking_pb2.RematchResponse:
        """Offers or accepts another match."""
        caller, language = await _caller(context), _language(request.language)
        shown, refusal = await self._answer(caller, language, lambda: self._lobby.rematch(caller, request.match_id))
        return matchmaking_pb2.RematchResponse(challenge=shown, rejection=refusal)

    async def GetChallenge(
        self, request: matchmaking_pb2.GetChallengeRequest, context: _Context
    ) -> matchmaking_pb2.GetChallengeResponse:
        """One challenge as it is."""
        caller, language = await _caller(context), _language(request.language)
        shown, refusal = await self._answer(caller, language, lambda: self._lobby.look(request.challenge_id))
        return matchmaking_pb2.GetChallengeResponse(challenge=shown, rejection=refusal)

    async def ListChallenges(
        self, request: matchmaking_pb2.ListChallengesRequest, context: _Context
    ) -> matchmaking_pb2.ListChallengesResponse:
        """Open challenges, one's own first."""
        caller, language = await _caller(context), _language(request.language)
        challenges = self._lobby.challenges(caller, request.game, _limit(request.limit, _CHALLENGES))
        try:
            names = await self._names_of(sitter for c in challenges for _, sitter in c.sitters)
        except Unavailable:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, _unavailable())
        shown = [
            show_challenge(c, caller.account_id, names, await self._manifest(c.game, language), language)
            for c in challenges
        ]
        return matchmaking_pb2.ListChallengesResponse(challenges=shown)

    async def WatchChallenge(
        self, request: matchmaking_pb2.WatchChallengeRequest, context: _Context
    ) -> AsyncIterator[matchmaking_pb2.WatchChallengeResponse]:
        """A challenge as it is and whenever it has changed, until it is matched or gone."""
        caller, language = await _caller(context), _language(request.language)
        if self._watching[caller.account_id] >= self._limits.watches_per_account:
            refusal = illegal("too_many_streams", limit=self._limits.watches_per_account)
            await _abort(context, grpc.StatusCode.RESOURCE_EXHAUSTED, refusal, language)
        self._watching[caller.account_id] += 1
        shown = 0
        try:
            async with contextlib.aclosing(self._watches.follow(request.challenge_id)) as following:
                async for record in following:
                    shown += 1
                    yield matchmaking_pb2.WatchChallengeResponse(
                        challenge=await self._shown(record.challenge, caller, language)
                    )
        except Unavailable:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, _unavailable())
        finally:
            self._watching[caller.account_id] -= 1
            if not self._watching[caller.account_id]:
                del self._watching[caller.account_id]
        if self._watches.closed:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, _unavailable(), language)
        if not shown:
            await _abort(context, grpc.StatusCode.NOT_FOUND, illegal("unknown_challenge"), language)

    # ---- matches ---------------------------------------------------------------------------------------------------

    async def ListMatches(
        self, request: matchmaking_pb2.ListMatchesRequest, context: _Context
    ) -> matchmaking_pb2.ListMatchesResponse:
        """Matches, newest first."""
        caller, limit = await _caller(context), _limit(request.limit, _MATCHES)
        try:
            if request.game and request.game not in self._games.known:
                shown = []
            elif request.finished:
                account_id = caller.account_id if request.mine else ""
                ended = await self._archive.newest(account_id=account_id, game=request.game, limit=limit)
                names = await self._names_of(sitter for match in ended for _, sitter in match.sitters)
                shown = [
                    show_ended(m, caller.account_id, names, await self._manifest(m.game, DEFAULT_LANGUAGE))
                    for m in ended
                ]
            else:
                running = self._lobby.running(caller, mine=request.mine, game=request.game, limit=limit)
                names = await self._names_of(sitter for c in running for _, sitter in c.sitters)
                shown = [
                    show_running(c, caller.account_id, names, await self._manifest(c.game, DEFAULT_LANGUAGE))
                    for c in running
                ]
        except Unavailable:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, _unavailable())
        return matchmaking_pb2.ListMatchesResponse(matches=shown)

    # ---- between services ------------------------------------------------------------------------------------------

    async def ListBotSeats(
        self,
        request: matchmaking_pb2.ListBotSeatsRequest,  # noqa: ARG002 - the schema's signature
        context: _Context,
    ) -> matchmaking_pb2.ListBotSeatsResponse:
        """Seats that bots hold in matches that are not over."""
        await _no_caller(context)
        return matchmaking_pb2.ListBotSeatsResponse(seats=self._invitations.seats())

    async def ForgetAccount(
        self, request: matchmaking_pb2.ForgetAccountRequest, context: _Context
    ) -> matchmaking_pb2.ForgetAccountResponse:
        """Erases an account's name."""
        await _no_caller(context)
        try:
            await self._names.forget(request.account_id)
        except Unavailable:
            await _abort(context, grpc.StatusCode.UNAVAILABLE, _unavailable())
        return matchmaking_pb2.ForgetAccountResponse()

    # ---- helpers ---------------------------------------------------------------------------------------------------

    async def _answer(
        self, caller: Identity, language: str, asked: Callable[[], Awaitable[Record | Illegal]]
    ) -> tuple[matchmaking_pb2.Challenge | None, Any]:
        """The challenge shown to the caller, or the rejection."""
        answer = await _judged(asked)
        if isinstance(answer, Illegal):
            return None, rejection(answer, language)
        try:
            return await self._shown(answer.challenge, caller, language), None
        except Unavailable:
            return None, rejection(_unavailable(), language)

    async def _shown(self, challenge: Challenge, caller: Identity, language: str) -> matchmaking_pb2.Challenge:
        names = await self._names_of(sitter for _, sitter in challenge.sitters)
        manifest = await self._manifest(challenge.game, language)
        return show_challenge(challenge, caller.account_id, names, manifest, language)

    async def _names_of(self, sitters: Iterable[Sitter]) -> dict[str, str]:
        return await self._names.of({sitter.account_id for sitter in sitters if not sitter.level})

    async def _manifest(self, game: str, language: str) -> manifest_pb2.Manifest:
        try:
            return await self._games.manifest(game, language)
        except Unavailable:
            # A list with plain names is better than none.
            return manifest_pb2.Manifest(game=game)


async def _judged(asked: Callable[[], Awaitable[Record | Illegal]]) -> Record | Illegal:
    try:
        answer = await asked()
    except Unavailable as error:
        _log.warning("lobby_unavailable", reason=str(error))
        answer = _unavailable()
    if isinstance(answer, Illegal):
        REFUSALS.labels(answer.code).inc()
    return answer


async def _abort(
    context: _Context, status: grpc.StatusCode, refusal: Illegal, language: str = DEFAULT_LANGUAGE
) -> NoReturn:
    """Ends a call that has no room for a rejection in its answer: the rejection travels in trailing metadata."""
    worded = rejection(refusal, language)
    await context.abort(status, worded.message, ((REJECTION_KEY, worded.SerializeToString()),))


def _unavailable() -> Illegal:
    return illegal("unavailable", retry_after_ms=_RETRY_MS)


async def _caller(context: _Context) -> Identity:
    caller = account_of(context)
    if caller is None:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "this call must speak for an account")
    return caller


async def _no_caller(context: _Context) -> None:
    if account_of(context) is not None:
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, "only services of the platform may ask this")


def _pairs(options: Iterable[match_pb2.OptionValue]) -> tuple[tuple[str, str], ...]:
    return tuple((option.name, option.value) for option in options)


def _language(asked: str) -> str:
    """The language proper of a tag: `fi` of `fi-FI` (RFC 5646); empty: English."""
    return asked[:16].partition("-")[0].lower() or DEFAULT_LANGUAGE


def _limit(asked: int, bounds: tuple[int, int]) -> int:
    """How many are listed: the default where nothing was asked, never more than the most."""
    default, most = bounds
    return min(asked, most) if asked else default
