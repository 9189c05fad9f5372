"""The part of a game's gRPC face that gives positions to play from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from grimoire.engine import PUBLIC, Illegal
from grimoire.eventstore import Unavailable
from grimoire.fairness.secret import Secret
from grimoire.match import FrameFold, MatchState, Referee, reject
from grimoire.match.branch import arrange, position_at
from grimoire.match.codes import reject_illegal
from grimoire.plugins import GamePlugin
from grimoire.runtime.owner import BrokenMatchError, Owner
from grimoire.v1 import frame_pb2, match_pb2, rules_pb2

__all__ = ["Branching"]

_MAX_LOG_BYTES: Final = 16 * 1024 * 1024
_MAX_ENTRIES: Final = 50_000

_Entry = tuple[bytes, bytes, Mapping[str, bytes], bytes]
_Context = grpc.aio.ServicerContext[Any, Any]


class Branching:
    """Answers `Arrange` and `BranchPosition`.

    Args:
        plugin: the game.
        owner: the matches this instance decides.
        walks: how many logs may be folded at once.
    """

    def __init__(self, plugin: GamePlugin, owner: Owner, walks: asyncio.Semaphore) -> None:
        self._plugin = plugin
        self._owner = owner
        self._walks = walks

    async def arrange(self, request: rules_pb2.ArrangeRequest) -> rules_pb2.ArrangeResponse:
        """Judges a position."""
        position = request.json if request.HasField("json") else request.message
        options = {option.name: option.value for option in request.options}
        async with self._walks:
            answer = await asyncio.to_thread(arrange, self._plugin, position, options, request.seats)
        if isinstance(answer, Illegal):
            return rules_pb2.ArrangeResponse(rejection=reject_illegal(answer, 0))
        chosen = [match_pb2.OptionValue(name=name, value=value) for name, value in answer.options]
        return rules_pb2.ArrangeResponse(position=answer.position, options=chosen)

    async def branch(
        self, requests: AsyncIterator[rules_pb2.BranchPositionRequest], context: _Context
    ) -> rules_pb2.BranchPositionResponse:
        """The position of a revealed log at one version."""
        start, entries = await _received(requests, context)
        if start.match_id:
            return await self._of_stored(start, context)
        seed = _seed_of(entries)
        if seed is None:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "this log is not revealed")
        referee: Referee[Any] = Referee(self._plugin.game, lambda *_: seed, older=self._plugin.older)
        log = [(e.header, e.public, {p.audience: p.body for p in e.parts}, e.hash) for e in entries]
        return await self._position(referee, log, start.version, len(entries))

    async def _of_stored(self, start: rules_pb2.BranchStart, context: _Context) -> rules_pb2.BranchPositionResponse:
        try:
            state = await self._owner.state(start.match_id)
            if state is None:
                await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
            if not state.revealed:
                await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "this match is not revealed")
            stored = await self._owner.store.read(start.match_id, 1, min(start.version, state.version), parts=True)
        except BrokenMatchError:
            await context.abort(grpc.StatusCode.DATA_LOSS, reject("match_broken").message)
        except Unavailable:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "overloaded")
        log = [
            (e.header, e.public, {p.audience: p.body for p in match_pb2.Parts.FromString(e.parts or b"").parts}, e.hash)
            for e in stored
        ]
        return await self._position(self._owner.referee, log, start.version, state.version)

    async def _position(
        self, referee: Referee[Any], log: Sequence[_Entry], version: int, last: int
    ) -> rules_pb2.BranchPositionResponse:
        if not 1 <= version <= last:
            sentence = f"This match has the versions 1 to {last}."
            refusal = Illegal("no_position", "", sentence, field="version")
            return rules_pb2.BranchPositionResponse(rejection=reject_illegal(refusal, 0))
        async with self._walks:
            state = await asyncio.to_thread(_folded, referee, log[:version])
            if state is None:
                return rules_pb2.BranchPositionResponse(rejection=reject("match_broken"))
            answer = await asyncio.to_thread(position_at, self._plugin, state)
        if isinstance(answer, Illegal):
            return rules_pb2.BranchPositionResponse(rejection=reject_illegal(answer, 0))
        created = match_pb2.MatchCreated.FromString(state.created)
        return rules_pb2.BranchPositionResponse(position=answer, options=created.options, seats=created.seats)


def _folded(referee: Referee[Any], log: Sequence[_Entry]) -> MatchState[Any] | None:
    """The match after these entries; None if they do not fold: a log from a file may be anybody's."""
    fold = FrameFold(referee, PUBLIC)
    try:
        for entry in log:
            fold.advance(*entry)
    except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError):
        return None
    return fold.state


def _seed_of(entries: Sequence[frame_pb2.ViewerEntry]) -> Secret | None:
    try:
        for event in match_pb2.Events.FromString(entries[-1].public).events if entries else ():
            if event.type == "fairness_revealed":
                return Secret(match_pb2.FairnessRevealed.FromString(event.body).server_seed)
    except DecodeError:
        return None
    return None


async def _received(
    requests: AsyncIterator[rules_pb2.BranchPositionRequest], context: _Context
) -> tuple[rules_pb2.BranchStart, list[frame_pb2.ViewerEntry]]:
    start = rules_pb2.BranchStart()
    entries: list[frame_pb2.ViewerEntry] = []
    size = 0
    async for request in requests:
        size += request.ByteSize()
        if size > _MAX_LOG_BYTES or len(entries) >= _MAX_ENTRIES:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "this log is too large")
        if request.HasField("start"):
            start = request.start
        else:
            entries.append(request.entry)
    return start, entries
