"""Looks at what a service needs, once a second, and tells whether it is ready: see `grimoire.runtime.health`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Final, Protocol

import structlog

from grimoire.bus import Bus
from grimoire.eventstore import EventStore
from grimoire.runtime.health import HEALTH, Health
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.tasks import cancelled

__all__ = ["Check", "Serving", "broker_check", "store_check", "watched"]

_log: Final = structlog.stdlib.get_logger(__name__)

EVERY_S: Final = 1.0
CHECK_S: Final = 1.5

Check = Callable[[], Awaitable[str]]
"""Looks at one thing a service needs; gives what is wrong with it in words, or nothing."""


class Serving(Protocol):
    """Whoever tells others by gRPC health (`grimoire.runtime.rpc.RpcServer`)."""

    async def set_serving(self, serving: bool, service: str | None = None) -> None:
        """Whether calls will be answered."""


def broker_check(bus: Bus) -> Check:
    """The broker answers."""

    async def check() -> str:
        return "" if await bus.alive(1.0) else "the broker does not answer"

    return check


def store_check(store: EventStore) -> Check:
    """The event store can be read."""

    async def check() -> str:
        await store.head("readiness")
        return ""

    return check


@contextlib.asynccontextmanager
async def watched(
    service: str, rpc: Serving | None, checks: Mapping[str, Check], *, health: Health = HEALTH, every_s: float = EVERY_S
) -> AsyncIterator[None]:
    """Looks at what a service needs while the block runs, and tells whether it is ready. Outside of it, it is not.

    Args:
        service: its name.
        rpc: where others ask; None: nobody does.
        checks: by name. One that raises or takes too long counts as failed.
        health: of the process.
        every_s: seconds between two looks.
    """
    watch = _Watch(service, rpc, checks, health)
    await watch.look()
    task = asyncio.create_task(watch.run(every_s), name=f"health of {service}")
    try:
        yield
    finally:
        await cancelled(task)
        await watch.close()


class _Watch:
    def __init__(self, service: str, rpc: Serving | None, checks: Mapping[str, Check], health: Health) -> None:
        self._service = service
        self._rpc = rpc
        self._checks = checks
        self._health = health
        self._faults: dict[str, str] | None = None
        self._gauge = METRICS.ready.labels(service)

    async def run(self, every_s: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + every_s
            await asyncio.sleep(every_s)
            METRICS.loop_lag.observe(max(0.0, loop.time() - due))
            await self.look()

    async def look(self) -> None:
        """Asks every check, and tells what has changed."""
        names = list(self._checks)
        answers = await asyncio.gather(*(self._ask(self._checks[name]) for name in names))
        faults = {name: answer for name, answer in zip(names, answers, strict=True) if answer}
        self._health.beat()
        self._health.note(self, self._service, faults)
        self._gauge.set(not faults)
        before, self._faults = self._faults, faults
        if before is not None and before.keys() == faults.keys():
            return
        if before is None or bool(before) is not bool(faults):
            await self._tell(not faults)
        if faults:
            _log.warning("not_ready", service=self._service, faults=faults)
        elif before:
            _log.info("ready_again", service=self._service)

    async def close(self) -> None:
        self._health.forget(self)
        self._gauge.set(0)
        await self._tell(False)

    async def _tell(self, ready: bool) -> None:
        if self._rpc is not None:
            await self._rpc.set_serving(ready)

    async def _ask(self, check: Check) -> str:
        try:
            async with asyncio.timeout(CHECK_S):
                return await check()
        except TimeoutError:
            return f"no answer within {CHECK_S:g} s"
        except Exception as error:
            # Its words may quote what it worked on.
            return f"it fails ({type(error).__name__})"
