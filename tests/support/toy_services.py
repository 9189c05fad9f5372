"""Services that do nothing, each in another way. Every one takes its name and gives its `Serve`."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from bots.settings import BotSettings
from bots.thinking import Thinkers
from grimoire.bus import GATEWAY, Bus
from grimoire.runtime.config import Config, ConfigError
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.lifecycle import Serve
from grimoire.runtime.rpc import RpcServer

SEED = b"\x01an open seed that nobody may see"


def note(config: Config, text: str) -> None:
    """Adds a line to what these services have told."""
    with (config.home / "notes").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def notes(home: Path) -> list[str]:
    """What they have told."""
    path = home / "notes"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def well(name: str) -> Serve:
    """Uses keys, broker and gRPC, and stops when told; breaks when a file `break-<name>` appears."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        keys = KeyRing.load_or_create(config.keys_dir)
        bus = await Bus.connect(config.bus_settings(keys, GATEWAY))
        server = RpcServer.internal(config, name, keys, [])
        address = await server.start()
        await server.set_serving(True)
        note(config, f"start {name}")
        started(str(address))
        try:
            while not stop.is_set():
                if (config.home / f"break-{name}").exists():
                    (config.home / f"break-{name}").unlink()
                    raise RuntimeError(f"broken with {SEED!r}")
                await asyncio.wait({asyncio.ensure_future(stop.wait())}, timeout=0.02)
        finally:
            await server.stop(0.1)
            await bus.close()
        note(config, f"stop {name}")

    return serve


def idle(_name: str) -> Serve:
    """Listens nowhere and stops when told."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        started("")
        await stop.wait()

    return serve


def broken(_name: str) -> Serve:
    """Fails before it has started."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        raise RuntimeError(f"broken with {SEED!r}")

    return serve


def misconfigured(name: str) -> Serve:
    """Cannot use a setting."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        raise ConfigError(f"GRIMOIRE_SOMETHING must be else for {name}")

    return serve


def short_lived(_name: str) -> Serve:
    """Starts, and ends at once although nobody asked."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        started("")

    return serve


def stubborn(_name: str) -> Serve:
    """Does not stop when told."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        started("")
        await asyncio.Event().wait()

    return serve


def deaf(_name: str) -> Serve:
    """Does not even hear signals: its loop is blocked."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        started("")
        await asyncio.sleep(0.05)  # the news of its start must get out first
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        signal.pause()

    return serve


def talkative(_name: str) -> Serve:
    """Writes to standard output what is no announcement."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        os.write(1, b"hello\n{}\n[1]\n" + b"x" * 200_000 + b"\n")
        started("")
        os.write(1, b"y" * 200_000 + b"\n")
        await stop.wait()

    return serve


def pondering(_name: str) -> Serve:
    """Has processes of its own that think, as the bots have."""

    async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        thinkers = Thinkers(BotSettings(workers=1))
        worker = await asyncio.wrap_future(thinkers._started().submit(os.getpid))
        note(config, f"thinks {worker}")
        started("")
        await stop.wait()
        thinkers.close()

    return serve
