"""The part of a client that plays on: from a version of a finished match, or from an arranged position."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Final

from grimoire.client.connection import Connection
from grimoire.client.errors import Rejected
from grimoire.client.texts import sends_text
from grimoire.v1 import match_pb2, matchmaking_pb2

__all__ = ["Analysis"]

_AGAIN_S: Final = 0.25


@sends_text
class Analysis:
    """Methods of `Client`; what they raise is said there. The matches they make are never rated.

    Example:
        >>> async def main(client: Analysis, match_id: str) -> None:
        ...     challenge = await client.play_on(match_id, 12, level="searching")
        ...     print(challenge.match_id)
    """

    _connection: Connection
    _language: str

    async def play_on(
        self,
        match_id: str,
        version: int,
        *,
        level: str = "",
        invite: bool = False,
        seat: int | None = None,
        options: Mapping[str, str] | None = None,
    ) -> matchmaking_pb2.Challenge:
        """A new match from a version of one that is over, also of an imported one; that one stays as it is.

        Args:
            match_id: of the match that is over.
            version: any at which somebody was to act.
            level: bots of this level play the other seats.
            invite: whoever is told the challenge's id may take the other seat; neither: one plays all seats.
            seat: one's own; None: the one that one had in that match, or 0.
            options: changes to that match's options, e.g. more time.

        Returns:
            The challenge; its `match_id` is the new match (empty while it waits for a guest), and its `position` what
            was arranged, with all that is hidden from the others.

        Raises:
            Rejected: `unknown_match`, `match_not_revealed` (it still runs), `no_position` (nothing to play on from).
        """
        request = matchmaking_pb2.CreateAnalysisRequest(
            branch=matchmaking_pb2.Branch(match_id=match_id, version=version)
        )
        return await self._analyse(request, level, invite, seat, options)

    async def play_position(
        self,
        game: str,
        position: Mapping[str, object] | bytes,
        *,
        level: str = "",
        invite: bool = False,
        seat: int = 0,
        options: Mapping[str, str] | None = None,
        seats: int = 0,
    ) -> matchmaking_pb2.Challenge:
        """A match from an arranged position.

        Args:
            game: code name.
            position: as the game's README describes it; or the game's `PositionArranged`, serialised.
            level, invite, seat, options: as for `play_on`.
            seats: 0: the game's default number.

        Raises:
            Rejected: `bad_position`, `bad_option`.
        """
        request = matchmaking_pb2.CreateAnalysisRequest(game=game, seats=seats)
        if isinstance(position, bytes):
            request.position = position
        else:
            request.position_json = json.dumps(position)
        return await self._analyse(request, level, invite, seat, options)

    async def _analyse(
        self,
        request: matchmaking_pb2.CreateAnalysisRequest,
        level: str,
        invite: bool,
        seat: int | None,
        options: Mapping[str, str] | None,
    ) -> matchmaking_pb2.Challenge:
        if level and invite:
            raise ValueError("bots or a guest: choose one of them")
        request.partners = matchmaking_pb2.ANALYSIS_PARTNERS_NONE
        if level:
            request.partners = matchmaking_pb2.ANALYSIS_PARTNERS_BOTS
        elif invite:
            request.partners = matchmaking_pb2.ANALYSIS_PARTNERS_INVITED
        request.level = level
        if seat is not None:
            request.seat = seat
        request.options.extend(match_pb2.OptionValue(name=name, value=value) for name, value in (options or {}).items())
        request.language = self._language
        request.request_id = secrets.token_bytes(16)
        reply = await self._connection.ask(self._connection.matchmaking.CreateAnalysis, request)
        if reply.HasField("rejection"):
            raise Rejected(reply.rejection)
        return reply.challenge if invite else await self._created(reply.challenge)

    async def _created(self, challenge: matchmaking_pb2.Challenge) -> matchmaking_pb2.Challenge:
        """The challenge once its match exists; nearly always it does by now."""
        while challenge.status == matchmaking_pb2.CHALLENGE_STATUS_FULL:
            await asyncio.sleep(_AGAIN_S)
            request = matchmaking_pb2.GetChallengeRequest(challenge_id=challenge.challenge_id, language=self._language)
            challenge = (await self._connection.ask(self._connection.matchmaking.GetChallenge, request)).challenge
        return challenge
