"""The lobby as the edge follows it: once for everybody, who sits where beside what is shown."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Final

import grpc

from grimoire.eventstore import Unavailable
from grimoire.v1 import match_pb2, matchmaking_pb2, matchmaking_pb2_grpc
from matchmaking.calls import Context, abort, language_of, no_caller, unavailable
from matchmaking.challenge import Challenge, Stage
from matchmaking.desk import Desk
from matchmaking.people import People
from matchmaking.shown import show_challenge, show_running

__all__ = ["LobbyCalls"]

_CHALLENGES: Final = 500
_MATCHES: Final = 200
_NOBODY: Final = ""


class LobbyCalls(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    """The part of the service that the edge follows for all its people."""

    _desk: Desk

    async def FollowLobby(
        self, request: matchmaking_pb2.FollowLobbyRequest, context: Context
    ) -> AsyncIterator[matchmaking_pb2.FollowLobbyResponse]:
        """The lobby as it is, then what changes."""
        await no_caller(context)
        language = language_of(request.language)
        try:
            # Following comes first: what changes while the beginning is put into words comes again.
            with self._desk.watches.follow_all() as changes:
                whole = await self._lobby_of(self._beginning(), language)
                whole.whole = True
                yield whole
                async for records in changes():
                    yield await self._lobby_of([record.challenge for record in records], language)
        except Unavailable:
            await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)
        await abort(context, grpc.StatusCode.UNAVAILABLE, unavailable(), language)

    def _beginning(self) -> list[Challenge]:
        now_ms = self._desk.now_ms()
        live = list(self._desk.ledger.live)
        waiting = [c for c in live if c.is_open(now_ms) or c.stage is Stage.FULL]
        waiting.sort(key=lambda c: (-c.created_ms, c.challenge_id))
        running = [c for c in live if c.stage is Stage.MATCHED and c.mode != match_pb2.MATCH_MODE_ANALYSIS]
        running.sort(key=lambda c: (-c.filled_ms, c.match_id))
        return [*waiting[:_CHALLENGES], *running[:_MATCHES]]

    async def _lobby_of(self, challenges: Iterable[Challenge], language: str) -> matchmaking_pb2.FollowLobbyResponse:
        found = list(challenges)
        accounts: dict[str, set[str]] = {}
        for challenge in found:
            theirs = (sitter.account_id for _, sitter in challenge.sitters if not sitter.level)
            accounts.setdefault(challenge.game, set()).update(theirs)
        faces = self._desk.faces
        people = {game: await faces.people(_NOBODY, game, theirs, language) for game, theirs in accounts.items()}
        response = matchmaking_pb2.FollowLobbyResponse()
        for challenge in found:
            await self._show(response, challenge, people[challenge.game], language)
        return response

    async def _show(
        self,
        response: matchmaking_pb2.FollowLobbyResponse,
        challenge: Challenge,
        people: People,
        language: str,
    ) -> None:
        manifest = await self._desk.faces.manifest(challenge.game, language)
        account_ids = [sitter.account_id if sitter is not None else "" for sitter in challenge.seats]
        if challenge.stage is not Stage.ENDED:
            shown = show_challenge(challenge, people, manifest, language)
            kept_for = filter(None, challenge.kept_for)
            response.challenges.add(challenge=shown, account_ids=account_ids, kept_for=kept_for, owner=challenge.owner)
        if challenge.stage in (Stage.MATCHED, Stage.ENDED):
            match = show_running(challenge, people, manifest)
            if challenge.stage is Stage.ENDED:
                match.finished = True
                match.closed.ParseFromString(challenge.closed)
            former = challenge.members - {*account_ids}
            response.matches.add(match=match, account_ids=account_ids, former=sorted(former))
