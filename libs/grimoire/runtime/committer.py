"""Group commit: whatever queued during the last commit goes to disk as one transaction, with no timer."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import structlog

from grimoire.eventstore import Conflict, ConflictKind, EventStore, NewEntry, StoreError, Unavailable
from grimoire.runtime.live import Pending
from grimoire.runtime.metrics import METRICS

__all__ = ["Committer"]

_log: Final = structlog.stdlib.get_logger(__name__)

GROUP: Final = 64
_FIRST_PAUSE_S: Final = 0.02
_LAST_PAUSE_S: Final = 0.5


class Committer:
    """The one writer of a game service.

    Args:
        store: where entries go.
        committed: called with each group that is on disk, in order.
        refused: called with commands that are not on disk and must be judged anew, and the matches whose cached state
            is wrong, with the reason.
        patience_s: how long an unavailable store is tried before its commands are given back.
        group: entries a transaction at most.
    """

    def __init__(
        self,
        store: EventStore,
        committed: Callable[[list[Pending]], None],
        refused: Callable[[list[Pending], dict[str, ConflictKind] | None], None],
        *,
        patience_s: float = 5.0,
        group: int = GROUP,
    ) -> None:
        self._store = store
        self._committed = committed
        self._refused = refused
        self._patience_s = patience_s
        self._group = group
        self._queue: deque[Pending] = deque()
        self._wake = asyncio.Event()
        self._alone = 0
        self._task: asyncio.Task[None] | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def queued(self) -> int:
        """Commands that wait for a transaction."""
        return len(self._queue)

    def start(self) -> None:
        """Begins to write."""
        self._task = asyncio.create_task(self._run(), name="committer")

    def put(self, pending: Pending) -> None:
        """Queues a decided command."""
        self._queue.append(pending)
        self._empty.clear()
        self._wake.set()

    def one_by_one(self, count: int) -> None:
        """The next so many entries go each in a transaction of its own, so that a bad one hurts only itself."""
        self._alone = max(self._alone, count)

    async def drain(self) -> None:
        """Waits until all that was queued is on disk or refused."""
        await self._empty.wait()

    async def stop(self) -> None:
        """Ends the writing; call `drain` first to lose nothing."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _run(self) -> None:
        while True:
            if not self._queue:
                self._empty.set()
                self._wake.clear()
                await self._wake.wait()
            size = 1 if self._alone else self._group
            group = [self._queue.popleft() for _ in range(min(size, len(self._queue)))]
            self._alone = max(0, self._alone - len(group))
            await self._commit(group)

    async def _commit(self, group: list[Pending]) -> None:
        rows = [_row(p) for p in group]
        give_up = time.monotonic() + self._patience_s
        pause = _FIRST_PAUSE_S
        unsure = False  # an append that failed half-way may have been stored all the same
        while True:
            started = time.perf_counter()
            try:
                await self._store.append(rows)
            except Unavailable as error:
                unsure = True
                if time.monotonic() + pause > give_up:
                    _log.error("store_unavailable", reason=str(error), commands=len(group))
                    self._give_back(group, None)
                    return
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LAST_PAUSE_S)
            except Conflict as conflict:
                if unsure and await self._is_stored(group):
                    self._committed(group)
                    return
                _log.warning("append_refused", faults={m: k.value for m, k in conflict.faults.items()})
                self._give_back(group, conflict.faults)
                return
            except StoreError as error:
                _log.error("append_failed", reason=str(error), commands=len(group))
                self._give_back(group, None)
                return
            else:
                METRICS.commit_seconds.labels(group[0].live.game).observe(time.perf_counter() - started)
                self._committed(group)
                return

    async def _is_stored(self, group: list[Pending]) -> bool:
        """Whether the append whose answer was lost had been stored: all of its entries, byte for byte."""
        try:
            for pending in group:
                entry = pending.entry
                stored = await self._store.by_command(entry.match_id, entry.command_id)
                if stored is None or stored.hash != entry.hash:
                    return False
        except Unavailable:
            return False
        return True

    def _give_back(self, group: list[Pending], faults: dict[str, ConflictKind] | None) -> None:
        """Gives back the group and all that was decided after it: it may rest on what was refused."""
        refused = [*group, *self._queue]
        self._queue.clear()
        self._refused(refused, faults)


def _row(pending: Pending) -> NewEntry:
    entry, state = pending.entry, pending.entry.state
    return NewEntry(
        match_id=entry.match_id,
        game=pending.live.game,
        version=entry.version,
        command_id=entry.command_id,
        server_time_ms=entry.server_time_ms,
        header=entry.header,
        public=entry.public,
        digests=entry.stored_digests(),
        hash=entry.hash,
        parts=entry.stored_parts(),
        status=int(state.phase),
        next_deadline_ms=state.next_deadline_ms,
        rules_version=pending.live.rules_version,
        epoch=pending.live.epoch,
    )
