"""Who follows a match now: which seats are there, how many watch.

Each instance of the edge counts its own streams and tells the others; who stops telling is forgotten after a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from gateway.news import News
from grimoire.v1 import lobby_pb2

__all__ = ["BELIEVED_S", "Absence", "Presence", "PresenceNews"]

_AWAY_MS: Final = 30_000
"""So long after its last stream a seat is away; then it is gone."""
_SETTLE_S: Final = 0.3
"""Changes within so long are told as one: a thousand watchers may come at once."""
_REPEAT_S: Final = 20.0
BELIEVED_S: Final = 60.0
"""What another instance has told holds for so long, so that one of its repeats may be lost."""
_REMEMBERED: Final = 20_000


class PresenceNews(msgspec.Struct, frozen=True):
    """News: who follows a match at one instance."""

    instance: str
    match_id: str
    seats: tuple[int, ...]
    watchers: int


class Absence(msgspec.Struct, frozen=True):
    """A match that somebody follows through a seat here, and that others have left.

    Attributes:
        online: seats that are followed, here or elsewhere.
        since_ms: by seat that was followed once and is not now: UTC ms, since when.
    """

    match_id: str
    online: frozenset[int]
    since_ms: Mapping[int, int]


class _Match:
    """One match, as far as it is known here."""

    def __init__(self) -> None:
        self.seats: Counter[int] = Counter()
        self.watchers = 0
        self.others: dict[str, tuple[float, PresenceNews]] = {}
        self.since_ms: dict[int, int] = {}
        """By seat: when it came, or left."""
        self.online: frozenset[int] = frozenset()
        self.visited: set[int] = set()
        """Seats that were followed since it was told last: also who goes again at once has been there."""
        self.watching = 0
        """Watchers here and elsewhere, as told."""
        self.followed_ms = 0
        """Since when seats are followed here without a break; 0: none is."""
        self.is_compared = False
        """See `Presence.newcomers`."""
        self.shown = lobby_pb2.Presence()
        self.listeners: set[asyncio.Event] = set()
        self.settling: asyncio.TimerHandle | None = None
        self.told_s = 0.0

    @property
    def is_followed(self) -> bool:
        return bool(self.watchers or self.seats)


class Presence:
    """Presence in all matches.

    Args:
        news: to and from other instances.
        now_ms: the wall clock, UTC ms.
        now: seconds of a clock that never goes back.
    """

    def __init__(self, news: News, now_ms: Callable[[], int], now: Callable[[], float] = time.monotonic) -> None:
        self._news = news
        self.began_ms = now_ms()
        """Since when this instance sees anybody, UTC ms."""
        self._now_ms = now_ms
        self._now = now
        self._instance = secrets.token_hex(8)
        self._matches: OrderedDict[str, _Match] = OrderedDict()
        self._telling: set[asyncio.Task[None]] = set()
        self._closed = False
        news.hear("presence", PresenceNews, self._heard)

    @contextlib.contextmanager
    def follow(self, match_id: str, seat: int | None) -> Iterator[None]:
        """Somebody follows a match while the block runs, through a seat or as a watcher."""
        match = self._match(match_id)
        if seat is not None:
            match.visited.add(seat)
        self._count(match, seat, 1)
        self._changed(match_id, match)
        try:
            yield
        finally:
            self._count(match, seat, -1)
            self._changed(match_id, match)

    async def watch(self, match_id: str, seats: tuple[int, ...]) -> AsyncGenerator[lobby_pb2.Presence, None]:
        """Who is there, and again whenever that has changed.

        Args:
            match_id: of the match.
            seats: all it has.
        """
        match = self._match(match_id)
        news = asyncio.Event()
        match.listeners.add(news)
        told: lobby_pb2.Presence | None = None
        try:
            while not self._closed:
                news.clear()
                current = self._seen(match, seats)
                if current != told:
                    told = current
                    yield current
                    # Time has passed while it was taken: look again.
                    continue
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._until_next(match)):
                        await news.wait()
        finally:
            match.listeners.discard(news)

    def absences(self, before_ms: int) -> list[Absence]:
        """Matches of which a seat is followed here, and another has not been since this time (UTC ms)."""
        found = []
        for match_id, match in self._matches.items():
            if not match.seats:
                continue
            gone = {seat: since_ms for seat, since_ms in match.since_ms.items() if seat not in match.online}
            if any(since_ms <= before_ms for since_ms in gone.values()):
                found.append(Absence(match_id, match.online, gone))
        return found

    def newcomers(self, before_ms: int) -> list[str]:
        """Matches of which a seat is followed here since before this time (UTC ms), each until it has been compared."""
        return [
            match_id
            for match_id, match in self._matches.items()
            if not match.is_compared and 0 < match.followed_ms <= before_ms
        ]

    def compare(self, match_id: str, seats: Iterable[int]) -> None:
        """These seats of a match should be followed if their people are there.

        Who has not come since the match is followed here counts as gone since then: whoever left before this instance
        began was not seen to leave. Where nobody follows it any more, it remains to be compared.
        """
        match = self._match(match_id)
        if not match.followed_ms:
            # Whoever followed it has gone while these seats were found out: there is nothing to compare with.
            return
        match.is_compared = True
        for seat in seats:
            if seat not in match.online and seat not in match.seats:
                match.since_ms.setdefault(seat, match.followed_ms)

    def repeat(self) -> None:
        """Tells the others again what is so here, and forgets who fell silent; to be called every few seconds."""
        now = self._now()
        for match_id, match in list(self._matches.items()):
            silent = [name for name, (heard_s, _) in match.others.items() if now - heard_s > BELIEVED_S]
            for name in silent:
                del match.others[name]
            if silent:
                self._settle(match)
            if match.is_followed and now - match.told_s > _REPEAT_S:
                self._tell(match_id, match)
        while len(self._matches) > _REMEMBERED:
            idle = next((key for key, m in self._matches.items() if not m.is_followed and not m.listeners), None)
            if idle is None:
                break
            del self._matches[idle]

    async def close(self) -> None:
        """Ends all watching."""
        self._closed = True
        for match in self._matches.values():
            if match.settling is not None:
                match.settling.cancel()
            for news in match.listeners:
                news.set()
        await asyncio.gather(*self._telling, return_exceptions=True)

    # ---- counting --------------------------------------------------------------------------------------------------

    def _match(self, match_id: str) -> _Match:
        match = self._matches.get(match_id)
        if match is None:
            match = self._matches[match_id] = _Match()
        self._matches.move_to_end(match_id)
        return match

    def _count(self, match: _Match, seat: int | None, by: int) -> None:
        if seat is None:
            match.watchers += by
            return
        match.seats[seat] += by
        if not match.seats[seat]:
            del match.seats[seat]
        if not match.seats:
            match.followed_ms = 0
        elif not match.followed_ms:
            match.followed_ms = self._now_ms()

    def _changed(self, match_id: str, match: _Match) -> None:
        if match.settling is None and not self._closed:
            loop = asyncio.get_running_loop()
            match.settling = loop.call_later(_SETTLE_S, self._settled, match_id, match)

    def _settled(self, match_id: str, match: _Match) -> None:
        match.settling = None
        self._settle(match)
        self._tell(match_id, match)

    def _settle(self, match: _Match) -> None:
        online = frozenset(match.seats) | {seat for _, told in match.others.values() for seat in told.seats}
        for seat in online ^ match.online:
            match.since_ms[seat] = self._now_ms()
        for seat in match.visited - online:
            match.since_ms.setdefault(seat, self._now_ms())
        match.visited.clear()
        match.online = online
        match.watching = match.watchers + sum(told.watchers for _, told in match.others.values())
        for news in match.listeners:
            news.set()

    # ---- showing ---------------------------------------------------------------------------------------------------

    def _seen(self, match: _Match, seats: tuple[int, ...]) -> lobby_pb2.Presence:
        now_ms = self._now_ms()
        current = lobby_pb2.Presence(
            watchers=match.watching,
            seats=[self._seat(match, seat, now_ms) for seat in seats],
        )
        if current == match.shown:
            # One object for all who look, so that it is put into bytes once.
            return match.shown
        match.shown = current
        return current

    @staticmethod
    def _seat(match: _Match, seat: int, now_ms: int) -> lobby_pb2.SeatPresence:
        since_ms = match.since_ms.get(seat, 0)
        if seat in match.online:
            state = lobby_pb2.PRESENCE_STATE_ONLINE
        elif now_ms - since_ms < _AWAY_MS:
            state = lobby_pb2.PRESENCE_STATE_AWAY
        else:
            state = lobby_pb2.PRESENCE_STATE_GONE
        return lobby_pb2.SeatPresence(seat=seat, state=state, since_ms=since_ms)

    def _until_next(self, match: _Match) -> float | None:
        """Seconds until an absent seat is gone; None: nothing changes by itself."""
        now_ms = self._now_ms()
        left = [
            since_ms + _AWAY_MS - now_ms
            for seat, since_ms in match.since_ms.items()
            if seat not in match.online and now_ms - since_ms < _AWAY_MS
        ]
        return max(min(left), 1) / 1000 if left else None

    # ---- other instances -------------------------------------------------------------------------------------------

    def _tell(self, match_id: str, match: _Match) -> None:
        match.told_s = self._now()
        fact = PresenceNews(self._instance, match_id, tuple(sorted(match.seats)), match.watchers)
        task = asyncio.get_running_loop().create_task(self._news.tell("presence", fact))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    def _heard(self, told: PresenceNews) -> None:
        if told.match_id not in self._matches and not told.seats and not told.watchers:
            return
        match = self._match(told.match_id)
        if told.seats or told.watchers:
            match.others[told.instance] = (self._now(), told)
        else:
            match.others.pop(told.instance, None)
        self._settle(match)
