"""Wakes whoever waits for news of something: a ticket, a party. A slow reader hears once, not once for each change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator

__all__ = ["Bell", "Bells"]


class Bell:
    """What one waits at."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """There is news."""
        self._rung.set()

    async def wait(self, at_most_s: float) -> None:
        """Returns when there has been news since the last time, or after so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(at_most_s):
                await self._rung.wait()
        self._rung.clear()


class Bells:
    """Bells by key, as long as somebody waits at them."""

    def __init__(self) -> None:
        self._bells: dict[str, set[Bell]] = {}
        self.closed = False
        """Nobody is told anything any more."""

    def ring(self, keys: Iterable[str]) -> None:
        """There is news of these."""
        for key in keys:
            for bell in self._bells.get(key, ()):
                bell.ring()

    @contextlib.contextmanager
    def at(self, key: str) -> Iterator[Bell]:
        """A bell for one key."""
        bell = Bell()
        here = self._bells.setdefault(key, set())
        here.add(bell)
        try:
            yield bell
        finally:
            here.discard(bell)
            if not here and self._bells.get(key) is here:
                del self._bells[key]

    def close(self) -> None:
        """Wakes all for the last time."""
        self.closed = True
        self.ring(list(self._bells))
