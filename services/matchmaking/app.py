"""Puts the lobby together and serves it."""

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
from matchmaking.service import MatchmakingService

__all__ = ["NAME", "Matchmaking"]

_log: Final = structlog.stdlib.get_logger(__name__)

NAME: Final = "matchmaking"
_SERVICE: Final = matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"]


class Matchmaking:
    """Serves the lobby of all games until it is told to stop.

    Args:
        limits: how much one account may ask, and how much the lobby holds.
        check_s: seconds between looks for what was missed.
        others_s: a challenge that another instance filled is left to it for so long.
    """

    def __init__(self, limits: Limits | None = None, *, check_s: float = 60.0, others_s: float = 5.0) -> None:
        self._limits = limits or Limits()
        self._check_s = check_s
        self._others_s = others_s

    async def __call__(self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Runs until `stop` is set; `started` gets the address once calls are answered.

        Raises:
            ConfigError, KeyFileError, BusError, StoreError: if it cannot start.
        """
        keys = KeyRing.load_or_create(config.keys_dir)
        url = config.database_url(NAME)
        async with AsyncExitStack() as cleanup:
            store = await cleanup.enter_async_context(await open_store(url))
            database = await cleanup.enter_async_context(Database(url))
            bus = await Bus.connect(config.bus_settings(keys, MATCHMAKING))
            cleanup.push_async_callback(bus.close)
            directory = RulesDirectory(bus, config, dialer(config, keys))
            cleanup.push_async_callback(directory.close)
            await directory.start()
            archive, games = Archive(database), Games(directory)
            backstage = Backstage(store, archive, games, bus, keys, now_ms, others_s=self._others_s)
            cleanup.push_async_callback(backstage.stop)
            await backstage.start()
            rpc = RpcServer.internal(config, NAME, keys, (_SERVICE,))
            service = self._service(backstage, archive, NameBook(database), games)
            matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(service, rpc.raw)
            address = str(await rpc.start())
            cleanup.push_async_callback(rpc.stop)
            cleanup.callback(service.stop)
            await rpc.set_serving(True)
            _log.info("matchmaking_started", address=address)
            started(address)
            await self._until(stop, backstage)
            await rpc.set_serving(False)
        _log.info("matchmaking_stopped")

    def _service(self, backstage: Backstage, archive: Archive, names: NameBook, games: Games) -> MatchmakingService:
        ledger, watches = backstage.ledger, backstage.watches
        lobby = Lobby(ledger, archive, names, games, watches, backstage.endings, self._limits, now_ms)
        return MatchmakingService(lobby, watches, names, archive, games, backstage.invitations, self._limits)

    async def _until(self, stop: asyncio.Event, backstage: Backstage) -> None:
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._check_s):
                    await stop.wait()
                return
            await backstage.look_round(older_than_ms=int(self._check_s * 1000))
