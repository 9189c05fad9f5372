"""Deadlines of all matches of an instance: one heap, one timer, no periodic work."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Iterable
from typing import Final

__all__ = ["Clockwork"]

AT_ONCE: Final = 64
STALL_MS: Final = 50
GRACE_MS: Final = 40
CREDIT_MS: Final = 1_000


class Clockwork:
    """Wakes its owner when a match's next deadline comes.

    When the event loop stood still while a deadline passed (it was busy, or the process was suspended for a moment),
    commands that came in that time lie unread in the socket. They are read first: for `GRACE_MS` nothing rings, and
    `received` counts what is read then as if it had come just before, for at most `CREDIT_MS`.

    Args:
        now_ms: the time, UTC ms.
        due: called on the event loop with (partition, match id) of what is due, `AT_ONCE` at a time.
    """

    def __init__(self, now_ms: Callable[[], int], due: Callable[[list[tuple[int, str]]], None]) -> None:
        self._now_ms = now_ms
        self._due = due
        self._heap: list[tuple[int, int, str]] = []
        self._next: dict[int, dict[str, int]] = {}
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._armed_ms = 0
        self._stalled_ms = 0
        self._grace_until_ms = 0
        self._graced = False

    def __len__(self) -> int:
        return self._count

    def received(self, now_ms: int) -> int:
        """When something that is read now counts as received."""
        if now_ms >= self._grace_until_ms:
            return now_ms
        return min(now_ms, max(self._stalled_ms, now_ms - CREDIT_MS))

    def set(self, partition: int, match_id: str, deadline_ms: int | None) -> None:
        """The match's next deadline is now this one; None: it has none."""
        if self._note(partition, match_id, deadline_ms):
            heapq.heappush(self._heap, (deadline_ms or 0, partition, match_id))
            if len(self._heap) > 64 and len(self._heap) > 4 * self._count:
                self._rebuild()
            self._arm()

    def set_many(self, partition: int, deadlines: Iterable[tuple[str, int]]) -> None:
        """The same for many matches of a partition, in one go."""
        for match_id, deadline_ms in deadlines:
            if self._note(partition, match_id, deadline_ms):
                self._heap.append((deadline_ms, partition, match_id))
        heapq.heapify(self._heap)
        self._arm()

    def drop(self, partition: int) -> None:
        """The matches of this partition are no longer ours."""
        self._count -= len(self._next.pop(partition, ()))
        if len(self._heap) > 64 and len(self._heap) > 4 * self._count:
            self._rebuild()

    def stop(self) -> None:
        """Wakes nobody any more."""
        self._next.clear()
        self._heap.clear()
        self._count = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _note(self, partition: int, match_id: str, deadline_ms: int | None) -> bool:
        """Whether this is news that belongs into the heap."""
        known = self._next.get(partition)
        if known is None:
            known = self._next[partition] = {}
        before = known.get(match_id)
        if before == deadline_ms:
            return False
        if deadline_ms is None:
            del known[match_id]
            self._count -= 1
            return False
        known[match_id] = deadline_ms
        self._count += before is None
        return True

    def _rebuild(self) -> None:
        """Drops superseded deadlines: most commands move one, so they pile up."""
        self._heap = [
            (deadline_ms, partition, match_id)
            for partition, known in self._next.items()
            for match_id, deadline_ms in known.items()
        ]
        heapq.heapify(self._heap)

    def _is_current(self, entry: tuple[int, int, str]) -> bool:
        deadline_ms, partition, match_id = entry
        known = self._next.get(partition)
        return known is not None and known.get(match_id) == deadline_ms

    def _arm(self) -> None:
        heap = self._heap
        while heap and not self._is_current(heap[0]):
            heapq.heappop(heap)
        if not heap:
            return
        soonest_ms = max(heap[0][0], self._grace_until_ms)
        if self._timer is not None:
            if self._timer_ms == soonest_ms:
                return
            self._timer.cancel()
        self._timer_ms = soonest_ms
        self._armed_ms = self._now_ms()
        delay_s = max(0, soonest_ms - self._armed_ms) / 1000
        # An event loop's timer is not made for months; an early wake-up only arms it anew.
        self._timer = asyncio.get_running_loop().call_later(min(delay_s, 3600.0), self._ring)

    def _ring(self) -> None:
        self._timer = None
        now_ms = self._now_ms()
        meant_ms = max(self._timer_ms, self._armed_ms)
        self._graced = now_ms - meant_ms > STALL_MS and not self._graced
        if self._graced:
            self._stalled_ms = meant_ms - 1
            self._grace_until_ms = now_ms + GRACE_MS
            self._arm()
            return
        due: list[tuple[int, str]] = []
        while self._heap and self._heap[0][0] <= now_ms and len(due) < AT_ONCE:
            entry = heapq.heappop(self._heap)
            if self._is_current(entry):
                _, partition, match_id = entry
                del self._next[partition][match_id]
                self._count -= 1
                due.append((partition, match_id))
        if due:
            self._due(due)
        self._arm()
