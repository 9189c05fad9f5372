"""The log's one writer: under a lease, in batches, each under one signed checkpoint."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

import msgspec
import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, BusError, Message, Subscription, log_subject
from grimoire.fairness.transparency import LeafKind, parse_leaf
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import cluster_pb2
from replay.transparency.limits import LogLimits
from replay.transparency.log import Batch, LeaseLostError, LogUnavailableError, Refusal, Submitted, TransparencyLog

__all__ = ["LogWriter"]

_log: Final = structlog.stdlib.get_logger(__name__)

_ALARMING: Final = (LeafKind.COMMIT, LeafKind.START)
_STOP_S: Final = 2.0


class _Request(msgspec.Struct, frozen=True):
    """Leaves of one game service that wait for their batch."""

    message: Message
    game: str
    leaves: tuple[bytes, ...]


class LogWriter:
    """Writes while this instance holds the lease, and tries to get it while it does not.

    A request is answered when its leaves are on disk under a signed checkpoint, and not at all by a writer that has
    lost its lease: whoever asked asks again, and the next writer finds what is there already.

    Args:
        log: to write.
        bus: where requests come from.
        holder: this instance's name.
        limits: times and sizes.
    """

    def __init__(self, log: TransparencyLog, bus: Bus, holder: str, limits: LogLimits) -> None:
        self._store = log
        self._bus = bus
        self._holder = holder
        self._limits = limits
        self._epoch: int | None = None
        self._subscription: Subscription | None = None
        self._queue: deque[_Request] = deque()
        self._queued = 0
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def writing(self) -> bool:
        """This instance holds the lease, as far as it knows."""
        return self._epoch is not None

    async def start(self) -> None:
        """Begins to try for the lease, and to write once it has it; the first try is made before this returns."""
        await self._look()
        self._tasks = [
            asyncio.create_task(self._keep_lease(), name="log lease"),
            asyncio.create_task(self._write(), name="log batches"),
        ]

    async def stop(self) -> None:
        """Takes no more, writes what waits, and gives the lease up."""
        # First the lease's: it would listen again. A cancellation may be swallowed on its way (Python 3.11's wait_for).
        self._stopping = True
        await _ended(self._tasks[:1])
        await self._listen_no_more()
        if self.writing:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_S):
                    await self._idle.wait()
        await _ended(self._tasks)
        epoch, self._epoch = self._epoch, None
        METRICS.log_writer.set(0)
        if epoch is not None:
            with contextlib.suppress(LogUnavailableError):
                await self._store.release(self._holder, epoch)

    # ---- the lease -----------------------------------------------------------------------------------------------

    async def _keep_lease(self) -> None:
        while not self._stopping:
            await asyncio.sleep(self._limits.beat_s)
            await self._look()

    async def _look(self) -> None:
        try:
            if self._epoch is None:
                self._epoch = await self._store.claim(self._holder, int(self._limits.stale_s * 1000))
                if self._epoch is not None:
                    _log.info("log_writer", holder=self._holder, epoch=self._epoch)
                    METRICS.log_writer.set(1)
            elif not await self._store.beat(self._holder, self._epoch):
                await self._step_back()
            if self._epoch is not None and self._subscription is None:
                self._subscription = await self._bus.serve_async(log_subject(), self._on_request)
        except (LogUnavailableError, BusError) as error:
            _log.warning("log_lease_unsure", holder=self._holder, reason=str(error))

    async def _step_back(self) -> None:
        _log.warning("log_lease_lost", holder=self._holder, epoch=self._epoch)
        self._epoch = None
        METRICS.log_writer.set(0)
        self._queue.clear()
        self._queued = 0
        await self._listen_no_more()

    async def _listen_no_more(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            await subscription.stop()

    # ---- requests ------------------------------------------------------------------------------------------------

    async def _on_request(self, message: Message) -> None:
        game = message.subject.rpartition(".")[2]
        try:
            leaves = tuple(cluster_pb2.LogAppend.FromString(message.data).leaves)
        except DecodeError:
            _log.warning("log_request_malformed", game=game)
            return
        if not self.writing:
            return
        if len(leaves) > self._limits.request_leaves or self._queued + len(leaves) > self._limits.queued_leaves:
            await _answer(self._bus, message, cluster_pb2.LogAppended())
            return
        self._queue.append(_Request(message, game, leaves))
        self._queued += len(leaves)
        self._idle.clear()
        self._wake.set()

    # ---- batches -------------------------------------------------------------------------------------------------

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        not_before = 0.0
        while True:
            self._wake.clear()
            if not self._queue:
                self._idle.set()
                await self._wake.wait()
            # After a quiet time the first leaf goes at once; under load one batch follows the other at this pace.
            await asyncio.sleep(max(0.0, not_before - loop.time()))
            not_before = loop.time() + self._limits.batch_s
            await self._write_batch(self._take())

    def _take(self) -> list[_Request]:
        taken: list[_Request] = []
        size = 0
        while self._queue and size + len(self._queue[0].leaves) <= self._limits.batch_leaves:
            taken.append(self._queue.popleft())
            size += len(taken[-1].leaves)
        self._queued -= size
        return taken

    async def _write_batch(self, requests: list[_Request]) -> None:
        epoch = self._epoch
        if epoch is None or not requests:
            return
        submitted = [Submitted(request.game, leaf) for request in requests for leaf in request.leaves]
        started = time.perf_counter()
        try:
            batch = await self._store.append(self._holder, epoch, submitted)
        except LeaseLostError:
            if self._epoch == epoch:
                await self._step_back()
            return
        except LogUnavailableError as error:
            _log.warning("log_batch_not_written", leaves=len(submitted), reason=str(error))
            for request in requests:
                await _answer(self._bus, request.message, cluster_pb2.LogAppended())
            return
        METRICS.log_batch_seconds.observe(time.perf_counter() - started)
        METRICS.log_size.set(batch.size)
        self._tell_refusals(submitted, batch)
        results = iter(batch.results)
        for request in requests:
            reply = cluster_pb2.LogAppended(
                size=batch.size, results=[_result(next(results)) for _ in request.leaves], taken=True
            )
            await _answer(self._bus, request.message, reply)

    def _tell_refusals(self, submitted: list[Submitted], batch: Batch) -> None:
        for one, result in zip(submitted, batch.results, strict=True):
            if not isinstance(result, Refusal):
                continue
            METRICS.log_refused.labels(one.game, result.value).inc()
            if result is Refusal.MALFORMED:
                _log.error("log_leaf_malformed", game=one.game, size=len(one.leaf))
                continue
            leaf = parse_leaf(one.leaf)
            _log.error("log_leaf_refused", game=one.game, match_id=leaf.match_id, kind=leaf.kind, why=result.value)
            if result is Refusal.CONFLICT and leaf.kind in _ALARMING:
                # Somebody would have a promise, or a deal, replaced by another. That is what this log is there for.
                METRICS.log_alarms.labels(one.game, leaf.kind.value).inc()
                _log.critical("log_alarm", game=one.game, match_id=leaf.match_id, kind=leaf.kind, second=one.leaf.hex())


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _result(result: int | Refusal) -> cluster_pb2.LogResult:
    if isinstance(result, Refusal):
        return cluster_pb2.LogResult(refused=result.value)
    return cluster_pb2.LogResult(number=result)


async def _answer(bus: Bus, message: Message, reply: cluster_pb2.LogAppended) -> None:
    try:
        await bus.reply(message, reply.SerializeToString())
    except BusError as error:
        _log.warning("log_answer_lost", reason=str(error))
