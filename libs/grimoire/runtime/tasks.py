"""Ending tasks."""

from __future__ import annotations

import asyncio
from typing import Any, Final

__all__ = ["cancelled"]

_AGAIN_S: Final = 0.1


async def cancelled(task: asyncio.Task[Any] | None) -> None:
    """Cancels a task and waits for its end, whatever that is.

    Once is not always enough: `asyncio.wait_for`, which libraries use, may swallow a cancellation that comes together
    with what it waits for.
    """
    while task is not None and not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN_S)
    if task is not None and not task.cancelled():
        task.exception()
