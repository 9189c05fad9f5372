"""Which partitions this instance owns: signs of life, fair shares, take-over, hand-over."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection
from typing import Final, Protocol

import msgspec
import structlog

from grimoire.bus import BusError
from grimoire.eventstore import EventStore, Muster, StoreError, Unavailable
from grimoire.match.clock import merged
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.shares import Shares, shares
from grimoire.runtime.tasks import cancelled

__all__ = ["Held", "Partitions", "Tenant"]

_log: Final = structlog.stdlib.get_logger(__name__)

BEAT_S: Final = 0.5
STALE_MS: Final = 2_000
DRAIN_S: Final = 2.0
_SHORTEST_S: Final = 0.02


class Held(msgspec.Struct):
    """A partition we own.

    Attributes:
        epoch: under which we write.
        down: when nobody served it, (from, to) in UTC ms, in order and without overlap.
        served: its commands are judged. Not yet, while it is being taken.
        leaving: it is being handed over: no new commands.
    """

    epoch: int
    down: list[tuple[int, int]] = []
    served: bool = False
    leaving: bool = False


class Tenant(Protocol):
    """Whoever serves the partitions."""

    async def reachable(self) -> bool:
        """Whether commands reach us at all. If not, we give no signs of life, and others take over."""
        ...

    async def listen(self, taken: dict[int, Held]) -> None:
        """Begins to listen to their commands; they are judged once this partition is served."""
        ...

    async def wind(self, taken: dict[int, Held]) -> None:
        """Sets the clocks of their matches, down time given back; once more after a silence of our own."""
        ...

    async def drain(self, partitions: Collection[int]) -> None:
        """Listens to their commands no more, and waits until those that came are on disk."""
        ...

    def forget(self, partitions: Collection[int]) -> None:
        """They are no longer ours: nothing that is known of them counts any more."""
        ...

    async def offer(self, partitions: Collection[int]) -> None:
        """Tells the other instances that these are free."""
        ...

    def certain(self) -> None:
        """A sign of life got through: what waited for certainty can go on."""
        ...

    def uncertain(self) -> None:
        """None got through: what waits for certainty should not wait any longer."""
        ...


class Partitions:
    """Keeps our fair share of a game's partitions, and knows at every moment whether we may act for them.

    The store's fence is the final guard: an append under a stale epoch fails. This only keeps the time short in which
    an instance that was stopped believes it still owns something.

    Args:
        store: where ownership is written down.
        game: whose partitions.
        instance: our name in this run.
        now_ms: the time, UTC ms.
        tenant: serves them.
        beat_s: seconds between two signs of life.
        stale_ms: after a silence of so long others may take over.
    """

    def __init__(
        self,
        store: EventStore,
        game: str,
        instance: str,
        now_ms: Callable[[], int],
        tenant: Tenant,
        *,
        beat_s: float = BEAT_S,
        stale_ms: int = STALE_MS,
    ) -> None:
        self.held: dict[int, Held] = {}
        self._store = store
        self._game = game
        self._instance = instance
        self._address = ""
        self._now_ms = now_ms
        self._tenant = tenant
        self._beat_s = beat_s
        self._stale_ms = stale_ms
        self._sure_until_ms = 0
        self._took_ms = 0
        self._next_s = beat_s
        self._silent = False
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._moving: asyncio.Task[None] | None = None

    def sure(self, now_ms: int) -> bool:
        """Whether our last sign of life is recent enough that nobody can have taken over.

        False after the process was suspended: whoever asks must wait for the next beat (`hurry`).
        """
        return now_ms < self._sure_until_ms

    def hurry(self) -> None:
        """Beats now."""
        self._hurry.set()

    async def start(self, address: str) -> None:
        """Takes what is ours by now, and begins to beat.

        Args:
            address: where our RulesService answers.

        Raises:
            Unavailable, StoreError: if the store does not answer.
        """
        self._address = address
        await self._beat()
        if self._moving is not None:
            await self._moving
            self._tenant.certain()
        self._task = asyncio.create_task(self._run(), name="partitions")

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What must not end by itself."""
        return () if self._task is None else (self._task,)

    async def stop(self) -> None:
        """Hands everything over, so that the next owner need not wait."""
        await cancelled(self._task)
        self._task = None
        if self._moving is not None:
            await asyncio.gather(self._moving, return_exceptions=True)
        with contextlib.suppress(StoreError):
            await self._store.leave(self._game, self._instance)
        await self._hand_over(set(self.held))

    def lose(self, partition: int, epoch: int) -> None:
        """An append under this epoch told us that somebody else owns the partition."""
        held = self.held.get(partition)
        if held is not None and held.epoch == epoch:
            _log.warning("partitions_lost", partitions=[partition])
            self._count("lost", 1)
            self._drop({partition})
            self.hurry()

    # ---- signs of life -------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._pause()
            try:
                async with asyncio.timeout(self._stale_ms / 1000):
                    await self._beat()
            except (StoreError, TimeoutError) as error:
                METRICS.heartbeat_failures.labels(self._game).inc()
                # Told once for each outage, however long it lasts.
                if not self._silent:
                    _log.warning("heartbeat_failed", reason=str(error) or "the store is slow")
                self._silent = True
                self._next_s = self._beat_s
                self._tenant.uncertain()

    async def _pause(self) -> None:
        # Whoever is in a hurry cannot make us do nothing else.
        await asyncio.sleep(_SHORTEST_S)
        # Not wait_for: it may swallow a cancellation that comes together with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, self._next_s - _SHORTEST_S)):
                await self._hurry.wait()
        self._hurry.clear()

    async def _beat(self) -> None:
        if not await self._tenant.reachable():
            raise Unavailable("the broker does not answer")
        # Only now: while the broker was silent we gave no sign of life either.
        began_ms, began = self._now_ms(), time.monotonic()
        serving = {p: held for p, held in self.held.items() if held.served and not held.leaving}
        muster = await self._store.muster(self._game, self._instance, serving, began_ms, self._stale_ms)
        gone = {p for p, held in serving.items() if p not in muster.kept and self.held.get(p) is held}
        if gone:
            _log.warning("partitions_lost", partitions=sorted(gone))
            self._count("lost", len(gone))
            self._drop(gone)
        kept = {p: held for p, held in serving.items() if self.held.get(p) is held}
        if kept and not self.sure(began_ms):
            _log.warning("was_silent", silent_ms=began_ms - self._sure_until_ms + self._stale_ms)
            await self._note_down(kept)
        self._sure_until_ms = began_ms + self._stale_ms
        self._took_ms = int((time.monotonic() - began) * 1000)
        self._silent = False
        self._share(muster, began_ms)
        self._tenant.certain()

    def _count(self, what: str, count: int) -> None:
        METRICS.partition_moves.labels(self._game, what).inc(count)

    def _drop(self, partitions: set[int]) -> None:
        for partition in partitions:
            del self.held[partition]
        self._tenant.forget(partitions)

    async def _note_down(self, held: dict[int, Held]) -> None:
        """Reads when they were down, and sets their clocks by it."""
        down = await self._store.owed_downtime(self._game, held)
        for partition, one in held.items():
            one.down = merged(down.get(partition, ()))
        await self._tenant.wind(held)

    # ---- shares --------------------------------------------------------------------------------------------------

    def _share(self, muster: Muster, now_ms: int) -> None:
        """Begins to claim or release what is not as it should be, unless that is under way."""
        plan = shares(
            muster.owners,
            muster.instances,
            self._instance,
            self.held,
            now_ms,
            stale_after_ms=self._patience_ms(),
            silent_after_ms=int(self._beat_s * 2_500),
        )
        self._next_s = self._beat_s
        if plan.soonest_ms is not None:
            # Somebody has fallen silent: look at the very moment when others may take over.
            self._next_s = min(self._beat_s, max(0, plan.soonest_ms - now_ms) / 1000)
        moving = self._moving is not None and not self._moving.done()
        if not moving and (plan.claim or plan.release):
            self._moving = asyncio.create_task(self._move(plan), name="partitions moving")

    def _patience_ms(self) -> int:
        """When the store is slow for us it is so for others: their silence tells less."""
        return self._stale_ms + 2 * self._took_ms

    async def _move(self, plan: Shares) -> None:
        try:
            if plan.release:
                await self._hand_over(set(plan.release) & self.held.keys())
            if plan.claim:
                await self._claim(plan.claim)
        except (StoreError, BusError, TimeoutError) as error:
            _log.warning("partitions_not_moved", reason=str(error) or type(error).__name__)
        except Exception:
            _log.exception("partitions_not_moved")
        else:
            # What came for the new ones waits for the next sign of life, and so does the next move.
            self.hurry()

    async def _claim(self, free: Collection[int]) -> None:
        claims = await self._store.claim_many(
            self._game, free, self._instance, self._address, self._now_ms(), self._patience_ms()
        )
        taken = {p: Held(claim.epoch) for p, claim in claims.items() if p not in self.held}
        if not taken:
            return
        self.held.update(taken)
        try:
            async with asyncio.timeout(self._stale_ms / 1000):
                await self._take(taken)
        except BaseException:
            # Claimed but not served would be worse than free. Unserved, they get no signs of life either.
            self._drop({p for p, held in taken.items() if self.held.get(p) is held})
            with contextlib.suppress(StoreError):
                await self._store.release(self._game, self._instance, taken, self._now_ms())
            raise
        _log.info("partitions_taken", count=len(taken), held=len(self.held))
        self._count("taken", len(taken))

    async def _take(self, taken: dict[int, Held]) -> None:
        await self._tenant.listen(taken)
        # From the last sign of life to the claim is written down as down time; from there to here, now.
        kept = await self._store.heartbeat(self._game, self._instance, taken, self._now_ms(), 1)
        self._drop({p for p, held in taken.items() if p not in kept and self.held.get(p) is held})
        served = {p: held for p, held in taken.items() if self.held.get(p) is held}
        await self._note_down(served)
        for held in served.values():
            held.served = True

    async def _hand_over(self, partitions: set[int]) -> None:
        """Gives partitions up: no new commands, those that came are committed, then they are free for others."""
        if not partitions:
            return
        for partition in partitions:
            self.held[partition].leaving = True
        until_ms = self._now_ms()
        try:
            async with asyncio.timeout(DRAIN_S):
                await self._tenant.drain(partitions)
        except TimeoutError:
            _log.warning("partitions_not_drained", count=len(partitions))
        self._drop(partitions & self.held.keys())
        try:
            await self._store.release(self._game, self._instance, partitions, until_ms)
        except StoreError as error:
            # Our silence frees them.
            _log.warning("partitions_not_released", reason=str(error))
            return
        _log.info("partitions_released", count=len(partitions), held=len(self.held))
        self._count("released", len(partitions))
        with contextlib.suppress(BusError):
            await self._tenant.offer(partitions)
