"""Which matches are in memory: the ones used last, and those in use. The others are folded anew when asked for."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from grimoire.runtime.live import LiveMatch

__all__ = ["MatchCache"]

_LOOKED_AT: Final = 8


class MatchCache:
    """Matches by id, the one touched longest ago first.

    Idle matches leave when there are too many, or when nobody has touched them for long. One timer waits for the
    oldest; there is no periodic work.

    Args:
        limit: matches kept; more only while more are in use.
        idle_s: seconds after which an idle match leaves.
    """

    def __init__(self, limit: int, idle_s: float) -> None:
        self._limit = limit
        self._idle_s = idle_s
        self._matches: OrderedDict[str, LiveMatch] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._matches)

    def get(self, match_id: str) -> LiveMatch | None:
        """A match, touched by this."""
        live = self._matches.get(match_id)
        if live is not None:
            self._touch(live)
        return live

    def holds(self, live: LiveMatch) -> bool:
        """This very object is what is in memory."""
        return self._matches.get(live.match_id) is live

    def put(self, live: LiveMatch) -> None:
        """Keeps a match; others may leave for it."""
        self._matches[live.match_id] = live
        self._touch(live)
        if len(self._matches) > self._limit:
            self._make_room(live)
        if self._timer is None:
            self._timer = self._loop.call_later(self._idle_s, self._sweep)

    def remove(self, live: LiveMatch) -> None:
        """It leaves, if it is this very object."""
        if self.holds(live):
            del self._matches[live.match_id]

    def of(self, partitions: Collection[int]) -> list[LiveMatch]:
        """All matches of some partitions."""
        return [live for live in self._matches.values() if live.partition in partitions]

    def close(self) -> None:
        """Sweeps no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _touch(self, live: LiveMatch) -> None:
        live.touched_s = self._loop.time()
        self._matches.move_to_end(live.match_id)

    def _make_room(self, newest: LiveMatch) -> None:
        # Those in use go to the end of the queue, so that no search is long twice.
        for _ in range(_LOOKED_AT):
            oldest = next(iter(self._matches.values()))
            if oldest.idle and oldest is not newest:
                del self._matches[oldest.match_id]
                if len(self._matches) <= self._limit:
                    return
            else:
                self._touch(oldest)

    def _sweep(self) -> None:
        self._timer = None
        now = self._loop.time()
        for _ in range(len(self._matches)):
            oldest = next(iter(self._matches.values()))
            left_s = oldest.touched_s + self._idle_s - now
            if left_s > 0:
                self._timer = self._loop.call_later(left_s, self._sweep)
                return
            if oldest.idle:
                del self._matches[oldest.match_id]
            else:
                self._touch(oldest)
        if self._matches:
            self._timer = self._loop.call_later(self._idle_s, self._sweep)
