"""Who waits for news of a challenge. A slow reader gets the newest state, never a queue of old ones."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator

from matchmaking.challenge import Challenge
from matchmaking.ledger import Ledger
from matchmaking.log import Record

__all__ = ["Watches"]


class _Follower:
    """One who follows all challenges, and what it has not been told yet."""

    def __init__(self) -> None:
        self.changed: dict[str, Record] = {}
        self.news = asyncio.Event()


class Watches:
    """Follows challenges.

    Args:
        ledger: the challenges; its news wake those who wait.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._followers: set[_Follower] = set()
        self.closed = False
        """Nobody is told anything any more."""
        ledger.on_change(self._heed)

    def close(self) -> None:
        """Ends all following; what is followed may be followed elsewhere."""
        self.closed = True
        for waiting in self._waiting.values():
            for news in waiting:
                news.set()
        for follower in self._followers:
            follower.news.set()

    @contextlib.contextmanager
    def follow_all(self) -> Iterator[Callable[[], AsyncGenerator[list[Record], None]]]:
        """Everything that changes from now on: each batch holds the newest record of each challenge that did.

        A slow reader gets larger batches, never older records.
        """
        follower = _Follower()
        self._followers.add(follower)

        async def batches() -> AsyncGenerator[list[Record], None]:
            while not self.closed:
                await follower.news.wait()
                follower.news.clear()
                changed, follower.changed = list(follower.changed.values()), {}
                if changed:
                    yield changed

        try:
            yield batches
        finally:
            self._followers.discard(follower)

    async def follow(self, challenge_id: str, *, until_over: bool = False) -> AsyncGenerator[Record, None]:
        """The challenge as it is, and again whenever it has changed, until nobody waits for it any more.

        With `until_over` until its match is over too.

        Close the iterator (`contextlib.aclosing`). Nothing comes for an unknown one.

        Raises:
            Unavailable: the store does not answer.
        """
        seen = 0
        with self._news_of(challenge_id) as news:
            while not self.closed:
                news.clear()
                record = await self._ledger.get(challenge_id)
                if record is None:
                    return
                if record.version > seen:
                    seen = record.version
                    yield record
                stage = record.challenge.stage
                if not stage.live or (stage.settled and not until_over):
                    return
                await news.wait()

    async def settled(self, record: Record, within_s: float) -> Record:
        """The challenge once nobody waits for it any more, or as it is after so many seconds."""
        return await self.until(record, within_s, lambda challenge: challenge.stage.settled)

    async def until(self, record: Record, within_s: float, reached: Callable[[Challenge], bool]) -> Record:
        """The challenge once this holds, or as it is after so many seconds."""
        newest = record
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                following = self.follow(record.challenge.challenge_id, until_over=True)
                async with contextlib.aclosing(following) as records:
                    async for now in records:
                        newest = now
                        if reached(now.challenge):
                            break
        return newest

    def _heed(self, record: Record, _own: bool) -> None:
        for news in self._waiting.get(record.challenge.challenge_id, ()):
            news.set()
        for follower in self._followers:
            follower.changed[record.challenge.challenge_id] = record
            follower.news.set()

    @contextlib.contextmanager
    def _news_of(self, challenge_id: str) -> Iterator[asyncio.Event]:
        news = asyncio.Event()
        waiting = self._waiting.setdefault(challenge_id, set())
        waiting.add(news)
        try:
            yield news
        finally:
            waiting.discard(news)
            if not waiting and self._waiting.get(challenge_id) is waiting:
                del self._waiting[challenge_id]
