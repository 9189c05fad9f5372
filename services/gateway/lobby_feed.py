"""The lobby, followed once for each language and shown to each caller as far as it concerns it."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

import grpc
import structlog

from grimoire.v1 import lobby_pb2, match_pb2, matchmaking_pb2, matchmaking_pb2_grpc

__all__ = ["LobbyFeed", "LobbyFeeds", "Subscription"]

_log: Final = structlog.stdlib.get_logger(__name__)

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}")
_LANGUAGES: Final = 16
_SETTLE_S: Final = 0.2
"""Changes within so long are told as one."""
_READY_S: Final = 5.0
_LINGER_S: Final = 30.0
_FIRST_PAUSE_S: Final = 0.1
_LAST_PAUSE_S: Final = 2.0
_MATCHES: Final = 200
_OPEN: Final = matchmaking_pb2.CHALLENGE_STATUS_OPEN
_FULL: Final = matchmaking_pb2.CHALLENGE_STATUS_FULL
_MATCHED: Final = matchmaking_pb2.CHALLENGE_STATUS_MATCHED


class Subscription:
    """One caller's view of the lobby, and what it has not been told yet."""

    def __init__(self, feed: LobbyFeed, account_id: str, news: asyncio.Event, only_mine: bool) -> None:
        self._feed = feed
        self._account_id = account_id
        self._news = news
        self._only_mine = only_mine
        self._whole = True
        self._ticks: list[_Tick] = []
        self.own_changes: list[matchmaking_pb2.LobbyMatch] = []
        """Of the last answer: matches of the caller that have begun, or are over."""

    async def take(self) -> lobby_pb2.WatchLobbyResponse | None:
        """What has changed since the last time; None: the lobby is out of reach."""
        if not await self._feed.wait_ready():
            return None
        ticks, self._ticks = self._ticks, []
        whole, self._whole = self._whole, False
        if whole:
            self.own_changes = []
            return self._feed.whole(self._account_id, self._only_mine)
        self.own_changes = [
            m for tick in ticks for m in tick.matches if self._account_id in (*m.account_ids, *m.former)
        ]
        if not ticks or (self._only_mine and not any(self._account_id in tick.people for tick in ticks)):
            return lobby_pb2.WatchLobbyResponse()
        if len(ticks) == 1 and not self._only_mine and self._account_id not in ticks[0].people:
            return ticks[0].for_strangers
        response = lobby_pb2.WatchLobbyResponse()
        for tick in ticks:
            tick.show(response, self._account_id, self._only_mine)
        return response

    def tell(self, tick: _Tick) -> None:
        """There is news."""
        self._ticks.append(tick)
        if len(self._ticks) > 64:
            # It does not keep up: it gets everything anew.
            self.begin_again()
        self._news.set()

    def begin_again(self) -> None:
        """What was told is no longer to be built on."""
        self._ticks.clear()
        self._whole = True
        self._news.set()


class _Tick:
    """What changed within a moment."""

    def __init__(
        self, challenges: list[matchmaking_pb2.LobbyChallenge], matches: list[matchmaking_pb2.LobbyMatch]
    ) -> None:
        self.challenges = challenges
        self.matches = matches
        self.people = {a for c in challenges for a in (*c.account_ids, *c.kept_for)}
        self.people |= {a for m in matches for a in (*m.account_ids, *m.former)}
        self.people.discard("")
        self.for_strangers = lobby_pb2.WatchLobbyResponse()
        self.show(self.for_strangers, "", only_mine=False)

    def show(self, response: lobby_pb2.WatchLobbyResponse, account_id: str, only_mine: bool) -> None:
        """Adds it to a response, as far as it concerns this account."""
        for challenge in self.challenges:
            if _may_see(challenge, account_id) and not (only_mine and account_id not in challenge.account_ids):
                _show_challenge(response, challenge, account_id)
        if only_mine:
            return
        for match in self.matches:
            if match.match.mode == match_pb2.MATCH_MODE_ANALYSIS:
                continue
            if match.match.finished:
                response.ended_match_ids.append(match.match.match_id)
            else:
                response.matches.append(_mine(match, account_id))


class LobbyFeed:
    """The lobby in one language.

    Args:
        language: two or three letters.
        stub: matchmaking, called by the platform itself.
    """

    def __init__(self, language: str, stub: matchmaking_pb2_grpc.MatchmakingServiceAsyncStub) -> None:
        self._language = language
        self._stub = stub
        self._challenges: dict[str, matchmaking_pb2.LobbyChallenge] = {}
        self._matches: OrderedDict[str, matchmaking_pb2.LobbyMatch] = OrderedDict()
        self._changed_challenges: dict[str, matchmaking_pb2.LobbyChallenge] = {}
        self._changed_matches: dict[str, matchmaking_pb2.LobbyMatch] = {}
        self._settling: asyncio.TimerHandle | None = None
        self._subscriptions: set[Subscription] = set()
        self._ready = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._closed = False

    @contextlib.contextmanager
    def subscribe(self, account_id: str, news: asyncio.Event, *, only_mine: bool) -> Iterator[Subscription]:
        """Follows the lobby while the block runs.

        Args:
            account_id: who looks; empty: nobody in particular.
            news: set when there is something to take.
            only_mine: only what the caller sits in.
        """
        subscription = Subscription(self, account_id, news, only_mine)
        self._subscriptions.add(subscription)
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"lobby {self._language}")
        try:
            yield subscription
        finally:
            self._subscriptions.discard(subscription)
            if not self._subscriptions and self._task is not None:
                self._lingering = asyncio.get_running_loop().call_later(_LINGER_S, self._let_go)

    async def wait_ready(self) -> bool:
        """Whether what is known is whole; waits a little for it."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READY_S):
                await self._ready.wait()
        return self._ready.is_set() and not self._closed

    def whole(self, account_id: str, only_mine: bool) -> lobby_pb2.WatchLobbyResponse:
        """Everything an account may see."""
        newest = list(self._matches.values())[-_MATCHES:]
        response = lobby_pb2.WatchLobbyResponse(whole=True)
        _Tick(list(self._challenges.values()), newest).show(response, account_id, only_mine)
        del response.gone[:]
        return response

    async def close(self) -> None:
        """Follows no more."""
        for handle in (self._lingering, self._settling):
            if handle is not None:
                handle.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._closed = True
        self._ready.set()
        for subscription in self._subscriptions:
            subscription.begin_again()

    def _let_go(self) -> None:
        if not self._subscriptions and self._task is not None:
            self._task.cancel()
            self._task = None
            self._ready.clear()

    async def _run(self) -> None:
        pause = _FIRST_PAUSE_S
        while True:
            call = self._stub.FollowLobby(matchmaking_pb2.FollowLobbyRequest(language=self._language))
            try:
                async for response in call:
                    pause = _FIRST_PAUSE_S
                    self._take(response)
            except grpc.aio.AioRpcError as error:
                _log.info("lobby_lost", code=error.code().name)
            except Exception:
                _log.exception("lobby_feed_broken")
            finally:
                call.cancel()
            # What is known stays shown meanwhile; the next answer is whole again.
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE_S)

    def _take(self, response: matchmaking_pb2.FollowLobbyResponse) -> None:
        if response.whole:
            self._challenges = {}
            self._matches.clear()
        for challenge in response.challenges:
            challenge_id = challenge.challenge.challenge_id
            self._changed_challenges[challenge_id] = challenge
            if challenge.challenge.status in (_OPEN, _FULL):
                self._challenges[challenge_id] = challenge
            else:
                self._challenges.pop(challenge_id, None)
        for match in sorted(response.matches, key=lambda m: m.match.created_ms):
            match_id = match.match.match_id
            self._changed_matches[match_id] = match
            if match.match.finished:
                self._matches.pop(match_id, None)
            else:
                self._matches[match_id] = match
                if len(self._matches) > 2 * _MATCHES:
                    self._matches.popitem(last=False)
        if response.whole:
            self._begin_again()
        elif self._settling is None:
            self._settling = asyncio.get_running_loop().call_later(_SETTLE_S, self._settle)

    def _begin_again(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None
        self._changed_challenges, self._changed_matches = {}, {}
        self._ready.set()
        for subscription in self._subscriptions:
            subscription.begin_again()

    def _settle(self) -> None:
        self._settling = None
        tick = _Tick(list(self._changed_challenges.values()), list(self._changed_matches.values()))
        self._changed_challenges, self._changed_matches = {}, {}
        for subscription in self._subscriptions:
            subscription.tell(tick)


class LobbyFeeds:
    """The lobby in all languages that somebody wants.

    Args:
        stub: matchmaking, called by the platform itself; asked for when first needed.
    """

    def __init__(self, stub: Callable[[], matchmaking_pb2_grpc.MatchmakingServiceAsyncStub]) -> None:
        self._stub = stub
        self._feeds: dict[str, LobbyFeed] = {}

    def feed(self, language: str) -> LobbyFeed:
        """The lobby in a language; one that is none is English."""
        code = language[:16].partition("-")[0].lower()
        if not _LANGUAGE.fullmatch(code) or (code not in self._feeds and len(self._feeds) >= _LANGUAGES):
            code = "en"
        if code not in self._feeds:
            self._feeds[code] = LobbyFeed(code, self._stub())
        return self._feeds[code]

    async def close(self) -> None:
        """Follows no more."""
        for feed in self._feeds.values():
            await feed.close()


def _may_see(challenge: matchmaking_pb2.LobbyChallenge, account_id: str) -> bool:
    if account_id and account_id in challenge.account_ids:
        return True
    return not challenge.challenge.by_invitation and (not challenge.kept_for or account_id in challenge.kept_for)


def _show_challenge(
    response: lobby_pb2.WatchLobbyResponse, challenge: matchmaking_pb2.LobbyChallenge, account_id: str
) -> None:
    shown = challenge.challenge
    own = bool(account_id) and account_id in challenge.account_ids
    if shown.status == _OPEN or (shown.status == _FULL and own):
        if not own:
            response.challenges.append(shown)
            return
        copy = response.challenges.add()
        copy.CopyFrom(shown)
        for seat, holder in zip(copy.seats, challenge.account_ids, strict=False):
            seat.mine = holder == account_id
        copy.host = challenge.owner == account_id
        return
    match_id = shown.match_id if own and shown.status == _MATCHED else ""
    response.gone.add(challenge_id=shown.challenge_id, status=shown.status, match_id=match_id)


def _mine(match: matchmaking_pb2.LobbyMatch, account_id: str) -> matchmaking_pb2.MatchSummary:
    if not account_id or account_id not in match.account_ids:
        return match.match
    copy = matchmaking_pb2.MatchSummary()
    copy.CopyFrom(match.match)
    for seat, holder in zip(copy.seats, match.account_ids, strict=False):
        seat.mine = holder == account_id
    return copy
