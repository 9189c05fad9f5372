"""Deadlines of all matches of an instance: one heap, one timer, no periodic work."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable

__all__ = ["Clockwork"]


class Clockwork:
    """Wakes its owner when a match's next deadline comes.

    Args:
        now_ms: the time, UTC ms.
        due: called with the match ids that are due, on the event loop.
    """

    def __init__(self, now_ms: Callable[[], int], due: Callable[[list[str]], None]) -> None:
        self._now_ms = now_ms
        self._due = due
        self._heap: list[tuple[int, str]] = []
        self._next: dict[str, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0

    def __len__(self) -> int:
        return len(self._next)

    def set(self, match_id: str, deadline_ms: int | None) -> None:
        """The match's next deadline is now this one; None: it has none."""
        if deadline_ms is None:
            self._next.pop(match_id, None)
            return
        if self._next.get(match_id) == deadline_ms:
            return
        self._next[match_id] = deadline_ms
        heapq.heappush(self._heap, (deadline_ms, match_id))
        if len(self._heap) > 64 and len(self._heap) > 4 * len(self._next):
            self._rebuild()
        self._arm()

    def forget(self, match_ids: list[str]) -> None:
        """These matches are no longer ours."""
        for match_id in match_ids:
            self._next.pop(match_id, None)

    def known(self) -> list[str]:
        """All matches with a deadline."""
        return list(self._next)

    def stop(self) -> None:
        """Wakes nobody any more."""
        self._next.clear()
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _rebuild(self) -> None:
        """Drops superseded deadlines: most commands move one, so they pile up."""
        self._heap = [(deadline, match_id) for match_id, deadline in self._next.items()]
        heapq.heapify(self._heap)

    def _arm(self) -> None:
        while self._heap and self._next.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        if not self._heap:
            return
        soonest = self._heap[0][0]
        if self._timer is not None:
            if self._timer_ms == soonest:
                return
            self._timer.cancel()
        self._timer_ms = soonest
        delay_s = max(0, soonest - self._now_ms()) / 1000
        # An event loop's timer is not made for months; an early wake-up only arms it anew.
        self._timer = asyncio.get_running_loop().call_later(min(delay_s, 3600.0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        now = self._now_ms()
        due: list[str] = []
        while self._heap and self._heap[0][0] <= now:
            deadline, match_id = heapq.heappop(self._heap)
            if self._next.get(match_id) == deadline:
                del self._next[match_id]
                due.append(match_id)
        if due:
            self._due(due)
        self._arm()
