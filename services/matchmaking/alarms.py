"""Wakes up when something is due: one heap, one timer, no periodic work."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Final

__all__ = ["Alarms"]

# An event loop's timer is not made for months; an early wake-up only sets it anew.
_LONGEST_S: Final = 3600.0


class Alarms:
    """What is due when, by key.

    Args:
        now_ms: the wall clock, UTC ms.
        due: called on the event loop with the keys that are due.
    """

    def __init__(self, now_ms: Callable[[], int], due: Callable[[list[str]], None]) -> None:
        self._now_ms = now_ms
        self._due = due
        self._times: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []
        self._timer: asyncio.TimerHandle | None = None

    def set(self, key: str, at_ms: int | None) -> None:
        """This key is due at this time; None: never. It replaces what was set before."""
        if at_ms is None:
            self._times.pop(key, None)
        elif self._times.get(key) != at_ms:
            self._times[key] = at_ms
            heapq.heappush(self._heap, (at_ms, key))
            self._arm()

    def stop(self) -> None:
        """Wakes for nothing any more."""
        self._times.clear()
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self) -> None:
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._heap:
            delay_s = max(0, self._heap[0][0] - self._now_ms()) / 1000
            self._timer = asyncio.get_running_loop().call_later(min(delay_s, _LONGEST_S), self._ring)

    def _ring(self) -> None:
        now_ms, due = self._now_ms(), []
        while self._heap and self._heap[0][0] <= now_ms:
            at_ms, key = heapq.heappop(self._heap)
            if self._times.get(key) == at_ms:
                del self._times[key]
                due.append(key)
        if due:
            self._due(due)
        self._arm()
