"""A game becomes a running service: its matches' owner and the gRPC face beside it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

import structlog

from grimoire.bus import Bus, game_role
from grimoire.eventstore import open_store
from grimoire.fairness.commitments import server_seed
from grimoire.fairness.secret import Secret
from grimoire.match import Referee
from grimoire.plugins import load_game
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.owner import Owner, OwnerLimits
from grimoire.runtime.rpc import RpcServer
from grimoire.runtime.rules_service import RulesService
from grimoire.v1 import rules_pb2, rules_pb2_grpc

__all__ = ["GameService", "now_ms"]

_log: Final = structlog.stdlib.get_logger(__name__)

_RULES: Final = rules_pb2.DESCRIPTOR.services_by_name["RulesService"]


def now_ms() -> int:
    """The system's time, UTC ms."""
    return time.time_ns() // 1_000_000


class GameService:
    """Serves one game until it is told to stop.

    Args:
        game: its name; it must be installed.
        limits: bounds of this instance.
    """

    def __init__(self, game: str, limits: OwnerLimits | None = None) -> None:
        self.game = game
        self._limits = limits

    async def __call__(self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Runs until `stop` is set; `started` gets the address of the RulesService once matches are served.

        Raises:
            UnknownGameError, ConfigError, KeyFileError, BusError, StoreError: if it cannot start.
        """
        plugin = load_game(self.game)
        keys = KeyRing.load_or_create(config.keys_dir)
        referee = Referee(plugin.game, _seeds(keys), host_key_id=keys.host_key.key_id, older=plugin.older)
        async with AsyncExitStack() as cleanup:
            store = await cleanup.enter_async_context(await open_store(config.database_url(self.game)))
            bus = await Bus.connect(config.bus_settings(keys, game_role(self.game)))
            cleanup.push_async_callback(bus.close)
            rpc = RpcServer.internal(config, self.game, keys, (_RULES,))
            owner = Owner(referee, store, bus, instance=secrets.token_hex(8), now_ms=now_ms, limits=self._limits)
            rules_pb2_grpc.add_RulesServiceServicer_to_server(RulesService(plugin, owner, now_ms), rpc.raw)
            address = str(await rpc.start())
            cleanup.push_async_callback(rpc.stop)
            cleanup.push_async_callback(owner.stop)
            await owner.start(address)
            await rpc.set_serving(True)
            _log.info("game_started", game=self.game, address=address)
            started(address)
            await _until_stopped(owner, stop)
            await rpc.set_serving(False)
        _log.info("game_stopped", game=self.game)


async def _until_stopped(owner: Owner, stop: asyncio.Event) -> None:
    """Waits for the end that was asked for; one that was not is an error, and whoever watches starts anew."""
    failing = asyncio.create_task(owner.failed())
    asked = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({failing, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            failing.result()
            raise RuntimeError("a part of the owner has ended although nobody asked")
    finally:
        for task in (failing, asked):
            task.cancel()
        await asyncio.gather(failing, asked, return_exceptions=True)


def _seeds(keys: KeyRing) -> Callable[[str, str, str], Secret]:
    """S of a match, from the host key it was created under; never stored."""

    def seed(game: str, match_id: str, key_id: str) -> Secret:
        return server_seed(keys.find_host_key(key_id).key, game, match_id)

    return seed
