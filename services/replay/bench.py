"""Where files are read and verified: a few threads of their own, so that a costly file delays other files only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

__all__ = ["Bench"]

P = ParamSpec("P")
T = TypeVar("T")


class Bench:
    """Runs work for the processor beside the event loop.

    Whoever stops waiting does not stop work that has begun, but what waits its turn is then never begun.

    Args:
        threads: how many pieces of work run at once.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="replay-bench")

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of `work`."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: work(*args, **kwargs))

    def close(self) -> None:
        """Takes no more work, and forgets what has not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)
