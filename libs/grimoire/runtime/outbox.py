"""Replies and publications leave in the order in which their commands were committed, without a task each."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable
from typing import Final

import structlog

from grimoire.bus import Bus, BusError, Message
from grimoire.runtime.command_trace import CommandTrace
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.tasks import cancelled

__all__ = ["Outbox"]

_log: Final = structlog.stdlib.get_logger(__name__)

_INBOX: Final = "_INBOX_"
_FLUSH_S: Final = 1.0


class Outbox:
    """What is to be sent over the bus.

    It never waits for the broker: what cannot be sent is dropped, and told once until sending works again. Whoever
    misses a reply asks again, and readers see gaps by version.

    Args:
        bus: the connection.
        game: whose events are published.
    """

    def __init__(self, bus: Bus, game: str) -> None:
        self._bus = bus
        self._game = game
        self._queue: deque[tuple[Message | None, str, bytes | None, CommandTrace | None]] = deque()
        self._since = 0.0
        self._lag = METRICS.publication_lag.labels(game)
        self._failing = False
        self._wake = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What must not end by itself."""
        return () if self._task is None else (self._task,)

    def start(self) -> None:
        """Begins to send."""
        self._task = asyncio.create_task(self._run(), name="outbox")

    def reply(self, request: Message, data: bytes | None) -> None:
        """Answers a request; None: whoever owns the match now is to be asked.

        Only inboxes are answered: a request that names another subject wants us to speak in its place. Without a broker
        nobody is: whoever asked will ask again, and the answer would be refused on another line.
        """
        if request.reply.startswith(_INBOX) and self._bus.connected:
            self._put(request, "", data)

    def publish(self, match_id: str, data: bytes, way: CommandTrace | None = None) -> None:
        """Publishes a committed entry. It may be lost with the connection: readers see gaps by version and ask.

        Args:
            match_id: of its match.
            data: the entry as anybody may see it.
            way: of the command behind it, if that is traced.
        """
        self._put(None, match_id, data, way)

    async def stop(self) -> None:
        """Sends what waits, then stops."""
        try:
            async with asyncio.timeout(_FLUSH_S):
                await self._empty.wait()
        except TimeoutError:
            _log.warning("outbox_not_emptied", messages=len(self._queue))
        await cancelled(self._task)
        self._task = None

    def _put(self, request: Message | None, match_id: str, data: bytes | None, way: CommandTrace | None = None) -> None:
        if not self._queue:
            self._since = time.perf_counter()
            self._empty.clear()
            self._wake.set()
        self._queue.append((request, match_id, data, way))

    async def _run(self) -> None:
        while True:
            while self._queue:
                request, match_id, data, way = self._queue.popleft()
                try:
                    await self._send(request, match_id, data, way)
                except BusError as error:
                    if not self._failing:
                        _log.warning("outbox_drops", reason=str(error))
                    self._failing = True
                else:
                    self._failing = False
                    if way is not None:
                        way.published()
            self._lag.observe(time.perf_counter() - self._since)
            self._empty.set()
            self._wake.clear()
            await self._wake.wait()

    def _send(
        self, request: Message | None, match_id: str, data: bytes | None, way: CommandTrace | None
    ) -> Awaitable[None]:
        if request is None:
            headers = None if way is None else {"traceparent": way.traceparent}
            return self._bus.publish_event(self._game, match_id, data or b"", headers)
        return self._bus.decline(request) if data is None else self._bus.reply(request, data)
