"""Replies and publications leave in the order in which their commands were committed, without a task each."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Final

import structlog

from grimoire.bus import Bus, BusError, Message

__all__ = ["Outbox"]

_log: Final = structlog.stdlib.get_logger(__name__)


class Outbox:
    """What is to be sent over the bus.

    Args:
        bus: the connection.
        game: whose events are published.
    """

    def __init__(self, bus: Bus, game: str) -> None:
        self._bus = bus
        self._game = game
        self._queue: deque[tuple[Message | None, str, bytes]] = deque()
        self._wake = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to send."""
        self._task = asyncio.create_task(self._run(), name="outbox")

    def reply(self, request: Message, data: bytes) -> None:
        """Answers a request."""
        self._put(request, "", data)

    def publish(self, match_id: str, data: bytes) -> None:
        """Publishes a committed entry. It may be lost with the connection: readers see gaps by version and ask."""
        self._put(None, match_id, data)

    async def stop(self) -> None:
        """Sends what waits, then stops."""
        await self._empty.wait()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def _put(self, request: Message | None, match_id: str, data: bytes) -> None:
        self._queue.append((request, match_id, data))
        self._empty.clear()
        self._wake.set()

    async def _run(self) -> None:
        while True:
            while self._queue:
                request, match_id, data = self._queue.popleft()
                try:
                    if request is not None:
                        await self._bus.reply(request, data)
                    else:
                        await self._bus.publish_event(self._game, match_id, data)
                except BusError as error:
                    _log.warning("outbox_dropped", match_id=match_id, reason=str(error))
            self._empty.set()
            self._wake.clear()
            await self._wake.wait()
