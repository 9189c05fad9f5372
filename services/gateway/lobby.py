"""The lobby and everything else a screen follows, over one stream: the handlers of `LobbyService`."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Final, TypeAlias

import structlog

from gateway.callers import Caller, address_of_call, unauthenticated
from gateway.chat import Chat
from gateway.lobby_feed import LobbyFeeds
from gateway.matches import Matches
from gateway.own_matches import OwnMatches
from gateway.play import Play
from gateway.presence import Presence
from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from grimoire.v1 import chat_pb2, envelope_pb2, lobby_pb2, play_pb2

__all__ = ["LobbyStreams"]

_log: Final = structlog.stdlib.get_logger(__name__)

_HEARTBEAT_S: Final = 10.0
_MATCHES: Final = 4
_PER_CALLER: Final = 16
_QUEUE: Final = 64
_END: Final = None
"""Stands in a queue for the end of one source."""

_Put: TypeAlias = Callable[[lobby_pb2.FollowResponse], Awaitable[None]]


class LobbyStreams:
    """Streams of what changes.

    Args:
        feeds: the lobby, once for each language.
        own: what waits for somebody in its own matches.
        play: frames of matches.
        matches: who sits where.
        chat, presence: of matches.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        feeds: LobbyFeeds,
        own: OwnMatches,
        play: Play,
        matches: Matches,
        chat: Chat,
        presence: Presence,
        now_ms: Callable[[], int],
    ) -> None:
        self._feeds = feeds
        self._own = own
        self._play = play
        self._matches = matches
        self._chat = chat
        self._presence = presence
        self._now_ms = now_ms
        self._open: Counter[str] = Counter()

    # ---- the lobby -------------------------------------------------------------------------------------------------

    async def watch(
        self, caller: Caller | None, request: lobby_pb2.WatchLobbyRequest
    ) -> AsyncGenerator[lobby_pb2.WatchLobbyResponse, None]:
        """The lobby and one's own matches; first whole, then what changes.

        Raises:
            Refused: `too_many_streams`, unavailable.
        """
        with self._counted(caller):
            async with contextlib.aclosing(self._lobby(caller, request)) as responses:
                async for response in responses:
                    yield response

    async def _lobby(
        self, caller: Caller | None, request: lobby_pb2.WatchLobbyRequest
    ) -> AsyncGenerator[lobby_pb2.WatchLobbyResponse, None]:
        account_id = caller.account_id if caller is not None else ""
        feed = self._feeds.feed(request.language)
        news = asyncio.Event()
        with feed.subscribe(account_id, news, only_mine=request.only_mine) as subscription:
            async with self._own.follow(caller, news) as own:
                while True:
                    news.clear()
                    response = await subscription.take()
                    if response is None:
                        raise unavailable("The lobby cannot be reached now; connect again.")
                    if response.whole:
                        await own.restart()
                    own.heed(subscription.own_changes)
                    response = own.add_to(response)
                    if response.whole or response.ByteSize():
                        yield response
                    try:
                        async with asyncio.timeout(_HEARTBEAT_S):
                            await news.wait()
                    except TimeoutError:
                        yield lobby_pb2.WatchLobbyResponse(server_time_ms=self._now_ms())

    # ---- several things at once ------------------------------------------------------------------------------------

    async def follow(
        self, caller: Caller | None, request: lobby_pb2.FollowRequest
    ) -> AsyncGenerator[lobby_pb2.FollowResponse, None]:
        """Matches with who is there and what is said, and the lobby, in one stream.

        Raises:
            Refused: `too_many_streams`; what cannot be followed of a match is said in the stream.
        """
        if len(request.matches) > _MATCHES:
            sentence = f"At most {_MATCHES} matches can be followed over one stream."
            raise Refused(RefusalKind.MALFORMED, rejection("malformed", sentence, field="matches"))
        with self._counted(caller):
            async with contextlib.aclosing(self._merged(caller, request)) as responses:
                async for response in responses:
                    yield response

    async def _merged(
        self, caller: Caller | None, request: lobby_pb2.FollowRequest
    ) -> AsyncGenerator[lobby_pb2.FollowResponse, None]:
        # A reader that does not keep up holds its sources up; these then drop it by their own rules.
        queue: asyncio.Queue[lobby_pb2.FollowResponse | Refused | None] = asyncio.Queue(_QUEUE)

        async def run(source: Callable[[], Awaitable[None]]) -> None:
            try:
                await source()
            except Refused as refused:
                await queue.put(refused)
            except Exception:
                _log.exception("follow_source_failed")
                await queue.put(unavailable("This cannot be followed now; connect again."))
            await queue.put(_END)

        tasks = [asyncio.create_task(run(s), name="follow") for s in self._sources(caller, request, queue.put)]
        left = len(tasks)
        try:
            while left:
                news = await queue.get()
                if isinstance(news, Refused):
                    raise news
                if news is _END:
                    left -= 1
                else:
                    yield news
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _sources(
        self, caller: Caller | None, request: lobby_pb2.FollowRequest, put: _Put
    ) -> Iterator[Callable[[], Awaitable[None]]]:
        if request.HasField("lobby"):
            yield lambda: self._follow_lobby(caller, request.lobby, put)
        for watch in request.matches:
            if caller is None:
                yield lambda watch=watch: put(_ended(watch.match_id, unauthenticated().rejection))  # type: ignore[misc]
                continue
            yield lambda watch=watch: self._follow_frames(caller, watch, put)  # type: ignore[misc]
            if request.presence:
                yield lambda watch=watch: self._follow_presence(caller, watch, put)  # type: ignore[misc]
            if request.chat:
                yield lambda watch=watch: self._follow_chat(caller, watch, put)  # type: ignore[misc]

    async def _follow_lobby(self, caller: Caller | None, request: lobby_pb2.WatchLobbyRequest, put: _Put) -> None:
        async with contextlib.aclosing(self._lobby(caller, request)) as responses:
            async for response in responses:
                await put(lobby_pb2.FollowResponse(lobby=response))

    async def _follow_frames(self, caller: Caller, request: play_pb2.WatchRequest, put: _Put) -> None:
        try:
            async with contextlib.aclosing(self._play.watch(caller, request)) as responses:
                async for response in responses:
                    await put(_framed(request.match_id, response))
        except Refused as refused:
            await put(_ended(request.match_id, refused.rejection))
        else:
            await put(_ended(request.match_id, envelope_pb2.Rejection()))

    async def _follow_presence(self, caller: Caller, request: play_pb2.WatchRequest, put: _Put) -> None:
        del caller  # who is there is no secret
        with contextlib.suppress(Refused):
            facts = await self._matches.facts(request.match_id)
            seats = tuple(sorted(seat for seat, _ in facts.occupants))
            async with contextlib.aclosing(self._presence.watch(facts.match_id, seats)) as changes:
                async for presence in changes:
                    news = lobby_pb2.MatchNews(match_id=request.match_id, presence=presence)
                    await put(lobby_pb2.FollowResponse(match=news))

    async def _follow_chat(self, caller: Caller, request: play_pb2.WatchRequest, put: _Put) -> None:
        asked = chat_pb2.WatchChatRequest(match_id=request.match_id)
        with contextlib.suppress(Refused):
            async with contextlib.aclosing(self._chat.watch(caller, asked)) as changes:
                async for said in changes:
                    news = lobby_pb2.MatchNews(match_id=request.match_id, chat=said)
                    await put(lobby_pb2.FollowResponse(match=news))

    @contextlib.contextmanager
    def _counted(self, caller: Caller | None) -> Iterator[None]:
        """Counts an open stream of an account, or of an address where nobody is signed in."""
        key = caller.account_id if caller is not None else f"address {address_of_call()}"
        if self._open[key] >= _PER_CALLER:
            sentence = f"At most {_PER_CALLER} such streams may be open at once; close one first."
            raise Refused(RefusalKind.BUSY, rejection("too_many_streams", sentence))
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]


class _Wrapped:
    """The last frame put into a response: many watchers get the same one, one after the other."""

    response: play_pb2.WatchResponse | None = None
    match_id = ""
    news = lobby_pb2.FollowResponse()


def _framed(match_id: str, response: play_pb2.WatchResponse) -> lobby_pb2.FollowResponse:
    if _Wrapped.response is not response or _Wrapped.match_id != match_id:
        _Wrapped.response, _Wrapped.match_id = response, match_id
        _Wrapped.news = lobby_pb2.FollowResponse(match=lobby_pb2.MatchNews(match_id=match_id, frame=response.frame))
    return _Wrapped.news


def _ended(match_id: str, why: envelope_pb2.Rejection) -> lobby_pb2.FollowResponse:
    return lobby_pb2.FollowResponse(match=lobby_pb2.MatchNews(match_id=match_id, ended=why))
