"""Replay as a running service."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack

import structlog

from grimoire.bus import REPLAY, Bus
from grimoire.runtime.config import Config
from grimoire.runtime.directory import RulesDirectory
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.readiness import Check, broker_check, watched
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import replay_pb2, replay_pb2_grpc, transparency_pb2, transparency_pb2_grpc
from replay.limits import ReplayLimits
from replay.rules import Rules
from replay.servicer import ReplayService
from replay.shelf import Shelf
from replay.transparency.census import Census
from replay.transparency.limits import LogLimits
from replay.transparency.log import TransparencyLog, signing_key
from replay.transparency.proofs import Proofs
from replay.transparency.servicer import TransparencyService
from replay.transparency.writer import LogWriter

__all__ = ["serve"]

_log = structlog.stdlib.get_logger(__name__)

_NAME = "replay"
_SERVICES = (
    replay_pb2.DESCRIPTOR.services_by_name["ReplayService"],
    transparency_pb2.DESCRIPTOR.services_by_name["TransparencyService"],
)


async def serve(
    config: Config,
    *,
    stop: asyncio.Event,
    started: Callable[[str], None],
    limits: ReplayLimits | None = None,
    log_limits: LogLimits | None = None,
) -> None:
    """Serves replays and the transparency log until it is told to stop.

    Args:
        config: of this installation.
        stop: set when it shall end; what is running may finish.
        started: gets the address once calls are answered.
        limits: of this instance; None: the defaults.
        log_limits: of its transparency log; None: the defaults.

    Raises:
        ConfigError, KeyFileError, BusError, ShelfUnavailableError, LogUnavailableError, KeyChangedError: if it cannot
            start.
    """
    limits = limits or ReplayLimits()
    log_limits = log_limits or LogLimits()
    keys = KeyRing.load_or_create(config.keys_dir)
    async with AsyncExitStack() as cleanup:
        shelf = Shelf(config.database_url(_NAME), limits.imports, limits.imports_per_account)
        cleanup.push_async_callback(shelf.close)
        await shelf.open()
        log = TransparencyLog(config.database_url(_NAME), signing_key(keys.log_key))
        cleanup.push_async_callback(log.close)
        await log.open()
        bus = await Bus.connect(config.bus_settings(keys, REPLAY))
        cleanup.push_async_callback(bus.close)
        directory = RulesDirectory(bus, config, dialer(config, keys))
        cleanup.push_async_callback(directory.close)
        await directory.start()
        writer = LogWriter(log, bus, secrets.token_hex(8), log_limits)
        cleanup.push_async_callback(writer.stop)
        await writer.start()
        rpc = RpcServer.internal(config, _NAME, keys, _SERVICES)
        rules = Rules(directory, limits)
        service = ReplayService(rules, shelf, keys, Proofs(log, log_limits), limits)
        cleanup.callback(service.close)
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(service, rpc.raw)
        census = Census(log, rules.head, _now_ms, log_limits)
        transparency_pb2_grpc.add_TransparencyServiceServicer_to_server(
            TransparencyService(log, census, log_limits), rpc.raw
        )
        address = str(await rpc.start())
        cleanup.push_async_callback(rpc.stop)
        async with watched(_NAME, rpc, {"store": _shelf_check(shelf), "broker": broker_check(bus)}):
            _log.info("replay_started", address=address, log_key=log.key)
            started(address)
            await stop.wait()
    _log.info("replay_stopped")


def _shelf_check(shelf: Shelf) -> Check:
    """The database can be read."""

    async def check() -> str:
        await shelf.head("readiness")
        return ""

    return check


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
