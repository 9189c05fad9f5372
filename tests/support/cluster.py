"""Several instances of a game's service as processes of their own, over one broker and one store."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from grimoire.bus import Bus, EmbeddedServer, game_role
from grimoire.bus.roles import platform_roles
from grimoire.eventstore import EventStore, Owner, open_store
from grimoire.runtime.config import Address, Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.lifecycle import PARENT_VARIABLE
from tests.support.transparency import kept_log

ROOT = Path(__file__).parents[2]
GAME = "two_towers"
_SERVE = (
    "import sys; from grimoire.runtime.lifecycle import main; "
    "main(sys.argv[1], 'grimoire.runtime.game_service:GameService', sys.argv[1])"
)


class Service:
    """One instance: a process."""

    def __init__(self, name: str, process: Process, log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log
        self.address = ""

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def up(self) -> None:
        """Returns when it serves."""
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), 60)
        assert line, f"{self.name} did not start:\n{self.log.read_text()}"
        self.address = json.loads(line)["address"]

    async def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        await self.process.wait()

    async def drain(self) -> None:
        """SIGTERM, until it is gone."""
        self.process.terminate()
        assert await asyncio.wait_for(self.process.wait(), 60) == 0, self.log.read_text()[-4000:]

    def pause(self) -> None:
        """SIGSTOP."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """SIGCONT."""
        self.process.send_signal(signal.SIGCONT)

    def lines(self) -> list[dict[str, Any]]:
        """What it has logged."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


class Cluster:
    """Broker, store and instances; use `cluster(...)`."""

    def __init__(self, config: Config, keys: KeyRing, broker: EmbeddedServer, edge: Bus, store: EventStore) -> None:
        self.config = config
        self.keys = keys
        self.broker = broker
        self.edge = edge
        self.store = store
        self.services: list[Service] = []

    async def add(self, environment: Mapping[str, str] | None = None) -> Service:
        """Starts one more instance and waits until it is up."""
        name = f"instance-{len(self.services)}"
        log = self.config.home / f"{name}.log"
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _SERVE, GAME),
                stdin=PIPE,
                stdout=PIPE,
                stderr=output,
                cwd=ROOT,
                env={
                    **os.environ,
                    **self.config.to_env(),
                    PARENT_VARIABLE: str(os.getpid()),
                    **(environment or {}),
                },
            )
        service = Service(name, process, log)
        self.services.append(service)
        await service.up()
        return service

    async def owners(self) -> list[Owner]:
        """Who holds what."""
        return await self.store.owners(GAME)

    async def until(self, condition: Callable[[dict[str, int]], bool], within_s: float = 60.0) -> dict[str, int]:
        """Waits until the numbers of partitions by holder's address are as they should be."""
        counts: dict[str, int] = {}
        async with asyncio.timeout(within_s):
            while True:
                counts = {}
                for owner in await self.owners():
                    if owner.instance is not None:
                        counts[owner.address] = counts.get(owner.address, 0) + 1
                if condition(counts):
                    return counts
                await asyncio.sleep(0.05)

    async def until_balanced(self, *services: Service, within_s: float = 60.0) -> dict[str, int]:
        """Waits until exactly these hold all partitions, none two more than another."""
        names = {service.address for service in services}

        def balanced(counts: dict[str, int]) -> bool:
            return (
                set(counts) == names and sum(counts.values()) == 64 and max(counts.values()) - min(counts.values()) <= 1
            )

        return await self.until(balanced, within_s)

    def complaints(self, *allowed: str) -> list[dict[str, Any]]:
        """What instances have logged as an error, these events excepted."""
        return [
            line
            for service in self.services
            for line in service.lines()
            if line.get("level") in ("error", "critical") and line.get("event") not in allowed
        ]

    async def close(self) -> None:
        for service in self.services:
            if service.alive:
                service.resume()
                with contextlib.suppress(ProcessLookupError):
                    service.process.kill()
                await service.process.wait()
            if service.process.stdin is not None:
                service.process.stdin.close()


@asynccontextmanager
async def cluster(home: Path, database_url: str | None = None) -> AsyncIterator[Cluster]:
    """A broker and a store without any instance yet.

    Args:
        home: for keys, logs and the SQLite file.
        database_url: PostgreSQL; None: SQLite.
    """
    config = Config.for_test(home)
    keys = KeyRing.load_or_create(config.keys_dir)
    config.data_dir.mkdir(parents=True, exist_ok=True)
    roles = (*platform_roles(), game_role(GAME), game_role("toy"))
    broker = await EmbeddedServer.start(
        {role: keys.nats_password(role) for role in roles}, run_dir=home / "run", log_dir=home / "logs"
    )
    config = replace(config, nats_url=broker.url, shared_database_url=database_url).with_address(
        GAME, Address("127.0.0.1", 0)
    )
    edge = await Bus.connect(config.bus_settings(keys, "gateway"))
    store = await open_store(config.database_url(GAME))
    running = Cluster(config, keys, broker, edge, store)
    try:
        async with kept_log(config, keys):
            yield running
            await running.close()
    finally:
        await running.close()
        await edge.close()
        await store.close()
        await broker.stop()
