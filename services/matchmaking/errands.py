"""Work in the background that is done once at a time for each thing it is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Final

import structlog

__all__ = ["Errands"]

_log: Final = structlog.stdlib.get_logger(__name__)


class Errands:
    """Runs coroutines by key: while one runs, another with the same key is not begun."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[None]] = {}
        self._closed = False

    def __len__(self) -> int:
        return len(self._running)

    def send(self, key: Hashable, work: Callable[[], Awaitable[object]]) -> None:
        """Begins the work, unless some with this key is under way; what it raises is logged once."""
        if key in self._running or self._closed:
            return
        task = asyncio.create_task(self._run(key, work))
        self._running[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))

    def recall(self, key: Hashable) -> None:
        """Breaks off the work with this key, if it is under way."""
        task = self._running.get(key)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Breaks off all work and takes no more."""
        self._closed = True
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _run(self, key: Hashable, work: Callable[[], Awaitable[object]]) -> None:
        try:
            await work()
        except Exception:
            _log.exception("errand_failed", errand=str(key))

    def _forget(self, key: Hashable, task: asyncio.Task[None]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
