"""The edge as a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

import structlog

from gateway.catalogue import Catalogue
from gateway.endpoints import endpoints
from gateway.feeds import FeedLimits, Feeds
from gateway.grpc_edge import handlers
from gateway.matches import Matches
from gateway.play import Play, PlayLimits
from gateway.proxy import FORWARDED_METHODS, Proxy
from gateway.sessions import Sessions
from grimoire.bus import GATEWAY, Bus, partition_of
from grimoire.engine import MatchId
from grimoire.runtime.config import Config
from grimoire.runtime.directory import RulesDirectory
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.readiness import broker_check, watched
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import play_pb2

__all__ = ["Gateway", "serve"]

_log: Final = structlog.stdlib.get_logger(__name__)

_SERVICES: Final = (
    play_pb2.DESCRIPTOR.services_by_name["SessionService"],
    play_pb2.DESCRIPTOR.services_by_name["PlayService"],
    *(service for service, _ in FORWARDED_METHODS.values()),
)


class Gateway:
    """Where players' programs connect: sessions, commands, streams; challenges and replays are forwarded.

    Args:
        play_limits: what one caller may ask.
        feed_limits: sizes and times of shared streams.
    """

    def __init__(self, play_limits: PlayLimits | None = None, feed_limits: FeedLimits | None = None) -> None:
        self._play_limits = play_limits
        self._feed_limits = feed_limits
        self.feeds: Feeds | None = None
        """The shared streams, while it runs."""

    async def __call__(self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Runs until `stop` is set; `started` gets the address once calls are answered.

        Raises:
            ConfigError, KeyFileError, BusError: if it cannot start.
        """
        keys = KeyRing.load_or_create(config.keys_dir)
        dial = dialer(config, keys)
        async with AsyncExitStack() as cleanup:
            bus = await Bus.connect(config.bus_settings(keys, GATEWAY))
            cleanup.push_async_callback(bus.close)
            directory = RulesDirectory(bus, config, dial)
            await directory.start()
            cleanup.push_async_callback(directory.close)
            matches = Matches(directory, keys)
            feeds = self.feeds = Feeds(directory, self._feed_limits, matches.forget)
            directory.on_moved(lambda game, partition: feeds.moved(_lies_on(game, partition)))
            play = Play(matches, bus, directory, feeds, Catalogue(directory), self._play_limits)
            proxy = Proxy(config, dial)
            cleanup.push_async_callback(proxy.close)
            server = RpcServer(config.gateway, _SERVICES, token=None)
            server.raw.add_generic_rpc_handlers(handlers(keys, endpoints(Sessions(keys), play), proxy.methods()))
            address = str(await server.start())
            cleanup.push_async_callback(server.stop, 0.5)
            cleanup.push_async_callback(feeds.close)
            async with watched(GATEWAY, server, {"broker": broker_check(bus)}):
                _log.info("gateway_started", address=address)
                started(address)
                await stop.wait()
        self.feeds = None
        _log.info("gateway_stopped")


def _lies_on(game: str, partition: int) -> Callable[[str, MatchId], bool]:
    return lambda of_game, match_id: of_game == game and partition_of(match_id) == partition


async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serves with the limits that are meant for everybody; see `Gateway`."""
    await Gateway()(config, stop=stop, started=started)
