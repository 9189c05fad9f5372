"""A game becomes a running service: its matches' owner and the gRPC face beside it."""

from __future__ import annotations

import asyncio
import functools
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
from grimoire.runtime.notary import Notary
from grimoire.runtime.owner import Owner, OwnerLimits
from grimoire.runtime.readiness import Check, broker_check, store_check, watched
from grimoire.runtime.rpc import RpcServer
from grimoire.runtime.rules_service import RulesService
from grimoire.v1 import rules_pb2, rules_pb2_grpc, transparency_pb2

__all__ = ["GameService", "now_ms"]

_log: Final = structlog.stdlib.get_logger(__name__)

_SEEDS: Final = 4_096
_RULES: Final = rules_pb2.DESCRIPTOR.services_by_name["RulesService"]
_LOG: Final = transparency_pb2.DESCRIPTOR.services_by_name["TransparencyService"].full_name


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
            notary = Notary(self.game, store, bus, now_ms, tell=_LogHealth(rpc).tell)
            owner = Owner(
                referee, store, bus, instance=secrets.token_hex(8), now_ms=now_ms, limits=self._limits, notary=notary
            )
            rules_pb2_grpc.add_RulesServiceServicer_to_server(RulesService(plugin, owner, now_ms), rpc.raw)
            address = str(await rpc.start())
            cleanup.push_async_callback(rpc.stop)
            cleanup.push_async_callback(owner.stop)
            await owner.start(address)
            checks = {"store": store_check(store), "broker": broker_check(bus), "partitions": _partitions_check(owner)}
            async with watched(self.game, rpc, checks):
                _log.info("game_started", game=self.game, address=address)
                started(address)
                await _until_stopped(owner, stop)
        _log.info("game_stopped", game=self.game)


def _partitions_check(owner: Owner) -> Check:
    """Commands of some matches are judged here, now."""

    async def check() -> str:
        if not any(held.served and not held.leaving for held in owner.partitions.held.values()):
            return "no partition is served here"
        if not owner.partitions.sure(now_ms()):
            return "no sign of life has been written lately; others may have taken over"
        return ""

    return check


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


class _LogHealth:
    """Says by the health service whether the transparency log takes leaves: else new matches wait, others go on.

    It is asked for under the name of the log's own service, and is no part of this service's health.
    """

    def __init__(self, rpc: RpcServer) -> None:
        self._rpc = rpc
        self._telling: set[asyncio.Task[None]] = set()

    def tell(self, taken: bool) -> None:
        """Notes a change."""
        telling = asyncio.create_task(self._rpc.set_serving(taken, _LOG))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)


def _seeds(keys: KeyRing) -> Callable[[str, str, str], Secret]:
    """S of a match, from the host key it was created under; never stored, and kept in memory while it is used."""

    @functools.lru_cache(maxsize=_SEEDS)
    def seed(game: str, match_id: str, key_id: str) -> Secret:
        return server_seed(keys.find_host_key(key_id).key, game, match_id)

    return seed
