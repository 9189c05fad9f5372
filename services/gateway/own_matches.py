"""What waits for somebody in its own running matches. The public view tells it: who is asked is no secret."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

import grpc
import structlog

from gateway.callers import Caller
from gateway.feeds import Feeds
from gateway.refusals import Refused
from grimoire.engine import PUBLIC, MatchId
from grimoire.runtime.rpc import account_metadata
from grimoire.v1 import frame_pb2, lobby_pb2, matchmaking_pb2, matchmaking_pb2_grpc, play_pb2

__all__ = ["OwnMatches"]

_log: Final = structlog.stdlib.get_logger(__name__)

_ASK_S: Final = 5.0
_LISTED: Final = 200
_FOLLOWED: Final = 30
"""Matches of one caller that are looked into; of further ones only their being there is told."""
_OVER: Final = (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID)


class OwnMatches:
    """Follows people's own matches.

    Args:
        matchmaking: tells which they are.
        feeds: shared streams; the public ones are used.
    """

    def __init__(self, matchmaking: matchmaking_pb2_grpc.MatchmakingServiceAsyncStub, feeds: Feeds) -> None:
        self._matchmaking = matchmaking
        self._feeds = feeds

    @contextlib.asynccontextmanager
    async def follow(self, caller: Caller | None, news: asyncio.Event) -> AsyncIterator[_Own]:
        """Follows a caller's matches while the block runs.

        Args:
            caller: None: nobody has none.
            news: set when something has changed.
        """
        own = _Own(caller, news, self._matchmaking, self._feeds)
        try:
            yield own
        finally:
            await own.close()


class _Own:
    """The running matches of one caller."""

    def __init__(
        self,
        caller: Caller | None,
        news: asyncio.Event,
        matchmaking: matchmaking_pb2_grpc.MatchmakingServiceAsyncStub,
        feeds: Feeds,
    ) -> None:
        self._caller = caller
        self._news = news
        self._matchmaking = matchmaking
        self._feeds = feeds
        self._known: dict[str, lobby_pb2.OwnMatch] = {}
        self._changed: set[str] = set()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def restart(self) -> None:
        """Asks anew which they are, and tells all of them again."""
        if self._caller is None:
            return
        request = matchmaking_pb2.ListMatchesRequest(mine=True, limit=_LISTED)
        try:
            listed = await self._matchmaking.ListMatches(
                request, metadata=account_metadata(self._caller), timeout=_ASK_S
            )
        except grpc.aio.AioRpcError as error:
            _log.info("own_matches_not_listed", code=error.code().name)
            return
        running = {match.match_id: match for match in listed.matches}
        for match_id in self._known.keys() - running.keys():
            self._leave(match_id)
        for match in running.values():
            self._join(match)
        self._changed |= self._known.keys()

    def heed(self, changes: list[matchmaking_pb2.LobbyMatch]) -> None:
        """Matches of the caller that have begun, or are over."""
        if self._caller is None:
            return
        for change in changes:
            if change.match.finished:
                self._leave(change.match.match_id)
                continue
            summary = matchmaking_pb2.MatchSummary()
            summary.CopyFrom(change.match)
            for seat, holder in zip(summary.seats, change.account_ids, strict=False):
                seat.mine = holder == self._caller.account_id
            self._join(summary)

    def add_to(self, response: lobby_pb2.WatchLobbyResponse) -> lobby_pb2.WatchLobbyResponse:
        """The response with what has changed in the caller's matches; others may be given the same one without."""
        if not self._changed:
            return response
        changed, self._changed = self._changed, set()
        personal = lobby_pb2.WatchLobbyResponse()
        personal.CopyFrom(response)
        for match_id in sorted(changed):
            # One that is over is told without a summary.
            over = lobby_pb2.OwnMatch(match_id=match_id, status=frame_pb2.MATCH_STATUS_CLOSED)
            personal.own.append(self._known.get(match_id, over))
        return personal

    async def close(self) -> None:
        """Follows no more."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _join(self, summary: matchmaking_pb2.MatchSummary) -> None:
        match_id = summary.match_id
        known = self._known.get(match_id)
        if known is not None:
            if list(known.summary.seats) == list(summary.seats):
                return
            # Seats have changed hands: who is asked what is to be looked into anew.
            looking = self._tasks.pop(match_id, None)
            if looking is not None:
                looking.cancel()
        self._known[match_id] = lobby_pb2.OwnMatch(match_id=match_id, summary=summary)
        self._changed.add(match_id)
        self._news.set()
        if len(self._tasks) < _FOLLOWED:
            self._tasks[match_id] = asyncio.create_task(self._look_into(summary), name=f"own match {match_id}")

    def _leave(self, match_id: str) -> None:
        if self._known.pop(match_id, None) is None:
            return
        self._changed.add(match_id)
        self._news.set()
        task = self._tasks.pop(match_id, None)
        if task is not None:
            task.cancel()

    async def _look_into(self, summary: matchmaking_pb2.MatchSummary) -> None:
        seats = {seat.seat for seat in summary.seats if seat.mine}
        # A stream that breaks for good leaves what was told last; the match's end comes from the lobby.
        with contextlib.suppress(Refused):
            watching = self._feeds.watch(summary.game, MatchId(summary.match_id), PUBLIC, 0, b"")
            async with contextlib.aclosing(watching) as responses:
                async for response in responses:
                    self._see(summary, seats, response)

    def _see(self, summary: matchmaking_pb2.MatchSummary, seats: set[int], response: play_pb2.WatchResponse) -> None:
        snapshot = _snapshot(response.frame)
        known = self._known.get(summary.match_id)
        if snapshot is None or known is None:
            return
        asked = [prompt for prompt in snapshot.prompts if prompt.seat in seats]
        deadlines = [prompt.deadline_ms for prompt in asked if prompt.required and prompt.deadline_ms]
        current = lobby_pb2.OwnMatch(
            match_id=summary.match_id,
            summary=summary,
            status=snapshot.head.status,
            open_prompts=len(asked),
            required_prompts=sum(prompt.required for prompt in asked),
            deadline_ms=min(deadlines, default=0),
        )
        if snapshot.head.status in _OVER:
            self._leave(summary.match_id)
        elif current != known:
            self._known[summary.match_id] = current
            self._changed.add(summary.match_id)
            self._news.set()


def _snapshot(frame: frame_pb2.Frame) -> frame_pb2.Snapshot | None:
    if frame.HasField("snapshot"):
        return frame.snapshot
    if frame.HasField("delta") and frame.delta.HasField("snapshot"):
        return frame.delta.snapshot
    return None
