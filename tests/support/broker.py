"""A real broker for a test, and connections that close themselves."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil

from grimoire.bus import Bus, BusLimits, BusSettings, EmbeddedServer, game_role
from grimoire.bus.roles import platform_roles
from grimoire.fairness.secret import Secret

GAME = "two_towers"
OTHER_GAME = "wizards_garden"


class Broker:
    """A running broker that knows all roles of the platform and of two games."""

    def __init__(self, server: EmbeddedServer, passwords: dict[str, Secret]) -> None:
        self.server = server
        self.passwords = passwords
        self.connections: list[Bus] = []

    def settings(self, role: str, limits: BusLimits | None = None) -> BusSettings:
        """How to connect under a role."""
        return BusSettings((self.server.url,), role, self.passwords[role], limits or BusLimits())

    async def connect(self, role: str, limits: BusLimits | None = None) -> Bus:
        """A connection that ends with the broker."""
        bus = await Bus.connect(self.settings(role, limits))
        self.connections.append(bus)
        return bus


def fresh_passwords() -> dict[str, Secret]:
    """One for each role."""
    roles = (*platform_roles(), game_role(GAME), game_role(OTHER_GAME))
    return {role: Secret(secrets.token_bytes(32)) for role in roles}


@asynccontextmanager
async def running_broker(home: Path) -> AsyncIterator[Broker]:
    """Starts a broker below a folder."""
    passwords = fresh_passwords()
    server = await EmbeddedServer.start(passwords, run_dir=home / "run", log_dir=home / "logs")
    broker = Broker(server, passwords)
    try:
        yield broker
    finally:
        for bus in broker.connections:
            await bus.close()
        await server.stop()


async def until(condition: Callable[[], bool], within_s: float = 60.0) -> None:
    """Waits for a condition.

    Raises:
        TimeoutError: if it does not come true.
    """
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.01)


def ended(process: psutil.Process, within_s: float = 60.0) -> bool:
    """Waits for the end of a process that need not be a child; one that nobody has buried yet has ended too.

    Looks at least once, however short the time.
    """
    give_up = time.monotonic() + within_s
    while True:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        if time.monotonic() >= give_up:
            return False
        time.sleep(0.01)
