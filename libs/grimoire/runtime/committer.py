"""Group commit: whatever queued during the last commit goes to disk as one transaction, with no timer."""

from __future__ import annotations

import asyncio
import enum
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import structlog

from grimoire import tracing
from grimoire.eventstore import Conflict, ConflictKind, EventStore, NewEntry, StoreError, Unavailable
from grimoire.runtime.live import Pending
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.tasks import cancelled

__all__ = ["Committer", "Refused"]

_log: Final = structlog.stdlib.get_logger(__name__)

GROUP: Final = 64
PATIENCE_S: Final = 1.5
_FIRST_PAUSE_S: Final = 0.02
_LAST_PAUSE_S: Final = 0.5


class Refused(enum.Enum):
    """Why commands come back. None of them is on disk."""

    STALE = "stale_epoch"
    """Another instance owns their partition."""
    CONFLICT = "conflict"
    """What is in memory of their matches is wrong: they must be judged anew against what is on disk."""
    SLOW = "slow"
    """The store has not finished the group before them in time; they have not been tried."""
    BROKEN = "broken"
    """The store cannot take them, for a reason that trying again will not mend."""


class Committer:
    """The one writer of a game service.

    A group that was handed to the store stays there until its fate is known, however long the store is away: it may be
    on disk although the answer was lost, so nobody may say that nothing happened. Those queued behind it come back
    after `patience_s`.

    Args:
        store: where entries go.
        game: whose.
        committed: called with each group that is on disk, in order.
        refused: called with commands that are not, the same match's always together and in order, and why.
        patience_s: how long a group may take before the store counts as slow.
        group: entries a transaction at most.
    """

    def __init__(
        self,
        store: EventStore,
        game: str,
        committed: Callable[[list[Pending]], None],
        refused: Callable[[list[Pending], Refused], None],
        *,
        patience_s: float = PATIENCE_S,
        group: int = GROUP,
    ) -> None:
        self._store = store
        self._game = game
        self._commit_seconds = METRICS.commit_seconds.labels(game)
        self._committed = committed
        self._refused = refused
        self._patience_s = patience_s
        self._group = group
        self._queue: deque[Pending] = deque()
        self._flying: list[Pending] = []
        self._wake = asyncio.Event()
        self._alone = 0
        self._task: asyncio.Task[None] | None = None
        self._empty = asyncio.Event()
        self._empty.set()
        self.began_ns = 0
        """When the transaction that is under way, or was last, began (nanoseconds since the epoch); while traced."""
        self.stalled = False
        """The store is slow or away: what is put now would only wait."""

    @property
    def queued(self) -> int:
        """Commands that are not on disk yet."""
        return len(self._queue) + len(self._flying)

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What must not end by itself."""
        return () if self._task is None else (self._task,)

    def start(self) -> None:
        """Begins to write."""
        self._task = asyncio.create_task(self._run(), name="committer")

    def put(self, pending: Pending) -> None:
        """Queues a decided command."""
        self._queue.append(pending)
        self._empty.clear()
        self._wake.set()

    async def drain(self) -> None:
        """Waits until all that was queued is on disk or refused."""
        await self._empty.wait()

    async def stop(self) -> None:
        """Ends the writing; call `drain` first to lose nothing."""
        await cancelled(self._task)
        self._task = None

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            if not self._queue:
                self._empty.set()
                self._wake.clear()
                await self._wake.wait()
            size = 1 if self._alone else self._group
            group = self._flying = [self._queue.popleft() for _ in range(min(size, len(self._queue)))]
            self._alone = max(0, self._alone - len(group))
            patience = loop.call_later(self._patience_s, self._stall)
            try:
                await self._commit(group)
            finally:
                patience.cancel()
                self._flying = []
                if self.stalled:
                    self.stalled = False
                    _log.warning("store_answers_again")

    async def _commit(self, group: list[Pending]) -> None:
        rows = [_row(p) for p in group]
        pause = _FIRST_PAUSE_S
        unsure = False  # an append that failed half-way may have been stored all the same
        started = time.perf_counter()
        if tracing.on():
            self.began_ns = time.time_ns()
        while True:
            try:
                await self._store.append(rows)
            except Unavailable as error:
                if not unsure:
                    _log.warning("append_failed", reason=str(error), commands=len(group))
                unsure = True
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LAST_PAUSE_S)
                continue
            except Conflict as conflict:
                faults = conflict.faults
                if unsure and await self._is_stored(group):
                    self._committed(group)
                    faults = {m: kind for m, kind in faults.items() if kind is ConflictKind.STALE_EPOCH}
                    group = []
                else:
                    _log.warning("append_refused", faults={m: k.value for m, k in faults.items()})
                self._give_back(group, faults)
            except StoreError as error:
                self._isolate(group, error)
            else:
                self._commit_seconds.observe(time.perf_counter() - started)
                self._committed(group)
            return

    async def _is_stored(self, group: list[Pending]) -> bool:
        """Whether the append whose answer was lost had been stored: all of its entries, byte for byte."""
        pause = _FIRST_PAUSE_S
        while True:
            try:
                for pending in group:
                    entry = pending.entry
                    stored = await self._store.by_command(entry.match_id, entry.command_id)
                    if stored is None or stored.hash != entry.hash:
                        return False
            except Unavailable:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LAST_PAUSE_S)
            else:
                return True

    def _give_back(self, group: list[Pending], faults: dict[str, ConflictKind]) -> None:
        """Gives back what belongs to the matches at fault; the rest of the group is as good as before."""
        for kind in {kind.value for kind in faults.values()}:
            METRICS.conflicts.labels(self._game, kind).inc()
        again = [*group, *self._queue]
        self._queue = deque(p for p in again if p.live.match_id not in faults)
        refused = [p for p in again if p.live.match_id in faults]
        stale = [p for p in refused if faults[p.live.match_id] is ConflictKind.STALE_EPOCH]
        if stale:
            self._refused(stale, Refused.STALE)
        conflict = [p for p in refused if faults[p.live.match_id] is not ConflictKind.STALE_EPOCH]
        if conflict:
            self._refused(conflict, Refused.CONFLICT)

    def _isolate(self, group: list[Pending], error: StoreError) -> None:
        """One entry that the store can never take must hurt itself only: each goes alone."""
        if len(group) > 1:
            self._queue.extendleft(reversed(group))
            self._alone = len(group)
            return
        match_id = group[0].live.match_id
        _log.error("entry_not_stored", match_id=match_id, version=group[0].entry.version, reason=str(error))
        self._refused(group, Refused.BROKEN)
        behind = [p for p in self._queue if p.live.match_id == match_id]
        if behind:
            self._queue = deque(p for p in self._queue if p.live.match_id != match_id)
            self._refused(behind, Refused.CONFLICT)

    def _stall(self) -> None:
        """The group takes too long: whoever waits behind it is told to come again."""
        self.stalled = True
        METRICS.store_stalls.labels(self._game).inc()
        _log.warning("store_is_slow", commands=self.queued)
        behind = list(self._queue)
        self._queue.clear()
        if behind:
            self._refused(behind, Refused.SLOW)


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
        next_deadline_ms=pending.due_ms,
        rules_version=pending.live.rules_version,
        epoch=pending.live.epoch,
        dues=pending.dues,
    )
