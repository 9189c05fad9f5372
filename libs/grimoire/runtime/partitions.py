"""Which partitions this instance owns: claims, heartbeats, take-over, release."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from grimoire.eventstore import PARTITIONS, Claim, EventStore, Unavailable

__all__ = ["Held", "Partitions"]

_log: Final = structlog.stdlib.get_logger(__name__)

BEAT_S: Final = 0.5
STALE_MS: Final = 2_000


class Held(msgspec.Struct):
    """A partition we own.

    Attributes:
        epoch: under which we write.
        down: when nobody served it, (from, to) in UTC ms.
    """

    epoch: int
    down: list[tuple[int, int]]


class Partitions:
    """Keeps as many partitions as are free, and knows at every moment whether it may act for them.

    The store's fence is the final guard: an append under a stale epoch fails. This only keeps the time short in which
    an instance that was stopped believes it still owns something.

    Args:
        store: where ownership is written down.
        game: whose partitions.
        instance: our name in this run.
        now_ms: the time, UTC ms.
        taken: called with what became ours; it is served only after this returns.
        lost: called with what is no longer ours.
        beaten: called after each sign of life: what waited for certainty can go on.
    """

    def __init__(
        self,
        store: EventStore,
        game: str,
        instance: str,
        now_ms: Callable[[], int],
        taken: Callable[[dict[int, Held]], Awaitable[None]],
        lost: Callable[[set[int]], Awaitable[None]],
        beaten: Callable[[], None],
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
        self._taken = taken
        self._lost = lost
        self._beaten = beaten
        self._beat_s = beat_s
        self._stale_ms = stale_ms
        self._sure_until_ms = 0
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def sure(self, now_ms: int) -> bool:
        """Whether our last sign of life is recent enough that nobody can have taken over.

        False after the process was suspended: whoever asks must wait for the next beat (`hurry`).
        """
        return now_ms < self._sure_until_ms

    def hurry(self) -> None:
        """Beats now."""
        self._hurry.set()

    async def start(self, address: str) -> None:
        """Claims what is free and begins to beat.

        Args:
            address: where our RulesService answers.
        """
        self._address = address
        await self._beat()
        self._task = asyncio.create_task(self._run(), name="partitions")

    async def stop(self) -> None:
        """Releases everything, so that the next owner need not wait."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        held, self.held = self.held, {}
        with contextlib.suppress(Unavailable):
            await self._store.release(self._game, self._instance, list(held), self._now_ms())

    async def lose(self, partition: int, epoch: int) -> None:
        """An append under this epoch told us that somebody else owns the partition."""
        held = self.held.get(partition)
        if held is not None and held.epoch == epoch:
            del self.held[partition]
            await self._lost({partition})

    async def _run(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), self._beat_s)
            self._hurry.clear()
            try:
                await self._beat()
            except Unavailable as error:
                _log.warning("heartbeat_failed", reason=str(error))

    async def _beat(self) -> None:
        now = self._now_ms()
        held = set(self.held)
        suspended = bool(held) and now >= self._sure_until_ms
        still = held
        if held:
            still = await self._store.heartbeat(self._game, self._instance, held, now, self._stale_ms)
            if suspended and still:
                _log.warning("was_silent", silent_ms=now - self._sure_until_ms + self._stale_ms)
                await self._reload_down(still)
        gone = held - still
        if gone:
            _log.warning("partitions_lost", partitions=sorted(gone))
            for partition in gone:
                self.held.pop(partition, None)
            await self._lost(gone)
        self._sure_until_ms = now + self._stale_ms
        free = [p for p in range(PARTITIONS) if p not in self.held]
        if free:
            await self._claim(free, now)
        self._beaten()

    async def _claim(self, free: list[int], now: int) -> None:
        claims: dict[int, Claim] = await self._store.claim_many(
            self._game, free, self._instance, self._address, now, self._stale_ms
        )
        if not claims:
            return
        taken = {p: Held(claim.epoch, await self._store.downtime(self._game, p)) for p, claim in claims.items()}
        _log.info("partitions_taken", count=len(taken))
        self.held.update(taken)
        await self._taken(taken)

    async def _reload_down(self, partitions: set[int]) -> None:
        for partition in partitions:
            self.held[partition].down = await self._store.downtime(self._game, partition)
