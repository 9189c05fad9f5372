"""Matchmaking as a running service."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

import structlog

from grimoire.bus import MATCHMAKING, Bus
from grimoire.eventstore import open_store
from grimoire.runtime.config import Config
from grimoire.runtime.directory import RulesDirectory
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from matchmaking.archive import Archive
from matchmaking.backstage import Backstage
from matchmaking.database import Database
from matchmaking.games import Games
from matchmaking.limits import Limits
from matchmaking.lobby import Lobby
from matchmaking.names import NameBook
from matchmaking.servicer import MatchmakingService

__all__ = ["serve"]

_log: Final = structlog.stdlib.get_logger(__name__)

_NAME: Final = "matchmaking"
_SERVICE: Final = matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"]


async def serve(
    config: Config, *, stop: asyncio.Event, started: Callable[[str], None], limits: Limits | None = None
) -> None:
    """Serves the lobby of all games until it is told to stop.

    Args:
        config: of this installation.
        stop: set when it shall end.
        started: gets the address once calls are answered.
        limits: of this instance; None: the defaults.

    Raises:
        ConfigError, KeyFileError, BusError, StoreError: if it cannot start.
    """
    limits = limits or Limits()
    keys = KeyRing.load_or_create(config.keys_dir)
    url = config.database_url(_NAME)
    async with AsyncExitStack() as cleanup:
        store = await cleanup.enter_async_context(await open_store(url))
        database = await cleanup.enter_async_context(Database(url))
        bus = await Bus.connect(config.bus_settings(keys, MATCHMAKING))
        cleanup.push_async_callback(bus.close)
        directory = RulesDirectory(bus, config, dialer(config, keys))
        cleanup.push_async_callback(directory.close)
        await directory.start()
        archive, games = Archive(database), Games(directory)
        backstage = Backstage(store, archive, games, bus, keys, now_ms, others_s=limits.others_s)
        cleanup.push_async_callback(backstage.stop)
        await backstage.start()
        rpc = RpcServer.internal(config, _NAME, keys, (_SERVICE,))
        servicer = _servicer(backstage, archive, NameBook(database), games, limits)
        matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(servicer, rpc.raw)
        address = str(await rpc.start())
        cleanup.push_async_callback(rpc.stop)
        cleanup.callback(backstage.watches.close)
        await rpc.set_serving(True)
        _log.info("matchmaking_started", address=address)
        started(address)
        await _look_round_until(stop, backstage, limits.look_round_s)
        await rpc.set_serving(False)
    _log.info("matchmaking_stopped")


def _servicer(
    backstage: Backstage, archive: Archive, names: NameBook, games: Games, limits: Limits
) -> MatchmakingService:
    ledger, watches, endings = backstage.ledger, backstage.watches, backstage.endings
    lobby = Lobby(ledger, archive, names, games, watches, endings, limits, now_ms)
    return MatchmakingService(lobby, watches, names, archive, games, backstage.invitations, limits)


async def _look_round_until(stop: asyncio.Event, backstage: Backstage, every_s: float) -> None:
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(every_s):
                await stop.wait()
            return
        await backstage.look_round(older_than_ms=int(every_s * 1000))
