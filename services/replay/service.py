"""Replay as a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import structlog

from grimoire.bus import REPLAY, Bus
from grimoire.runtime.config import Config
from grimoire.runtime.directory import RulesDirectory
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import replay_pb2, replay_pb2_grpc
from replay.limits import ReplayLimits
from replay.rules import Rules
from replay.servicer import ReplayService
from replay.shelf import Shelf

__all__ = ["serve"]

_log = structlog.stdlib.get_logger(__name__)

_NAME = "replay"
_SERVICE = replay_pb2.DESCRIPTOR.services_by_name["ReplayService"]


async def serve(
    config: Config, *, stop: asyncio.Event, started: Callable[[str], None], limits: ReplayLimits | None = None
) -> None:
    """Serves replays until it is told to stop.

    Args:
        config: of this installation.
        stop: set when it shall end; what is running may finish.
        started: gets the address once calls are answered.
        limits: of this instance; None: the defaults.

    Raises:
        ConfigError, KeyFileError, BusError, ShelfUnavailableError: if it cannot start.
    """
    limits = limits or ReplayLimits()
    keys = KeyRing.load_or_create(config.keys_dir)
    async with AsyncExitStack() as cleanup:
        shelf = Shelf(config.database_url(_NAME), limits.imports, limits.imports_per_account)
        cleanup.push_async_callback(shelf.close)
        await shelf.open()
        bus = await Bus.connect(config.bus_settings(keys, REPLAY))
        cleanup.push_async_callback(bus.close)
        directory = RulesDirectory(bus, config, dialer(config, keys))
        cleanup.push_async_callback(directory.close)
        await directory.start()
        rpc = RpcServer.internal(config, _NAME, keys, (_SERVICE,))
        service = ReplayService(Rules(directory, limits), shelf, keys, limits)
        cleanup.callback(service.close)
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(service, rpc.raw)
        address = str(await rpc.start())
        cleanup.push_async_callback(rpc.stop)
        await rpc.set_serving(True)
        _log.info("replay_started", address=address)
        started(address)
        await stop.wait()
        await rpc.set_serving(False)
    _log.info("replay_stopped")
