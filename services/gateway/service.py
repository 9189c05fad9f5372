"""The edge as a running service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Final

import structlog
from sqlalchemy import Connection, select

from gateway.absences import Absences
from gateway.accounts import AccountLimits, Accounts
from gateway.catalogue import Catalogue
from gateway.chat import Chat, ChatLimits
from gateway.chat_store import ChatStore
from gateway.connect_edge import FILES_WITH_CALLS, connect_apps
from gateway.database import Database
from gateway.endpoints import Endpoint, endpoints
from gateway.feeds import FeedLimits, Feeds
from gateway.files import Files
from gateway.grpc_edge import handlers
from gateway.guard import Guard
from gateway.housekeeping import Housekeeping
from gateway.http_server import HttpServer
from gateway.lobby import LobbyStreams
from gateway.lobby_feed import LobbyFeeds
from gateway.matches import Matches
from gateway.news import NewsDesk
from gateway.own_matches import OwnMatches
from gateway.passwords import HashCost, Passwords
from gateway.people import People
from gateway.play import Play, PlayLimits
from gateway.presence import Presence
from gateway.proxy import FORWARDED_METHODS, Proxy
from gateway.sessions import Sessions
from gateway.tables import settings
from gateway.web_settings import WebSettings
from grimoire.bus import GATEWAY, Bus, partition_of
from grimoire.engine import MatchId
from grimoire.runtime.config import Bound, Config
from grimoire.runtime.directory import RulesDirectory
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.readiness import Check, broker_check, watched
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import account_pb2, chat_pb2, lobby_pb2, matchmaking_pb2_grpc, play_pb2

__all__ = ["Gateway", "serve"]

_log: Final = structlog.stdlib.get_logger(__name__)

_NAME: Final = "gateway"
_WEB: Final = "web"
_SERVICES: Final = (
    play_pb2.DESCRIPTOR.services_by_name["SessionService"],
    play_pb2.DESCRIPTOR.services_by_name["PlayService"],
    account_pb2.DESCRIPTOR.services_by_name["AccountService"],
    chat_pb2.DESCRIPTOR.services_by_name["ChatService"],
    lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"],
    *(service for service, _ in FORWARDED_METHODS.values()),
)


class Gateway:
    """Where players' programs and browsers connect: accounts, commands, streams, chat; the rest is forwarded.

    Args:
        play_limits: what one caller may ask.
        feed_limits: sizes and times of shared streams.
        account_limits: how often accounts are made and passwords tried.
        chat_limits: how much may be said.
        web: how browsers are served; None: from the environment.
        hash_cost: of a password.
    """

    def __init__(
        self,
        play_limits: PlayLimits | None = None,
        feed_limits: FeedLimits | None = None,
        *,
        account_limits: AccountLimits | None = None,
        chat_limits: ChatLimits | None = None,
        web: WebSettings | None = None,
        hash_cost: HashCost | None = None,
    ) -> None:
        self._play_limits = play_limits
        self._feed_limits = feed_limits
        self._account_limits = account_limits
        self._chat_limits = chat_limits
        self._web = web
        self._hash_cost = hash_cost
        self.feeds: Feeds | None = None
        """The shared streams, while it runs."""
        self.housekeeping: Housekeeping | None = None
        """What it does unasked, while it runs."""

    async def __call__(self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Runs until `stop` is set; `started` gets the addresses once calls are answered.

        Raises:
            ConfigError, KeyFileError, BusError, DatabaseError: if it cannot start.
        """
        web = self._web or WebSettings.from_env()
        keys = KeyRing.load_or_create(config.keys_dir)
        async with AsyncExitStack() as cleanup:
            bus = await Bus.connect(config.bus_settings(keys, GATEWAY))
            cleanup.push_async_callback(bus.close)
            database = await cleanup.enter_async_context(Database(config.database_url(_NAME)))
            parts = await self._parts(config, keys, bus, database, cleanup)
            proxy, sessions, answered, end_streams = parts
            server = RpcServer(config.gateway, _SERVICES, token=None)
            server.raw.add_generic_rpc_handlers(handlers(sessions, answered, proxy.methods()))
            bound = Bound(str(await server.start()))
            cleanup.push_async_callback(server.stop, 0.5)
            if _WEB in config.addresses:
                http = HttpServer(_browsers(sessions, answered, proxy, web), config.address(_WEB), web)
                bound = Bound(bound, web=str(await http.start()))
                cleanup.push_async_callback(http.stop)
            # What lasts ends first, with a word to whoever follows it.
            cleanup.push_async_callback(end_streams)
            async with watched(GATEWAY, server, {"store": _database_check(database), "broker": broker_check(bus)}):
                _log.info("gateway_started", address=str(bound), web=bound.others.get(_WEB, ""))
                started(bound)
                await stop.wait()
        self.feeds = self.housekeeping = None
        _log.info("gateway_stopped")

    async def _parts(
        self, config: Config, keys: KeyRing, bus: Bus, database: Database, cleanup: AsyncExitStack
    ) -> tuple[Proxy, Sessions, tuple[Endpoint, ...], Callable[[], Awaitable[None]]]:
        """Everything that answers, started; and what ends all lasting streams."""
        dial = dialer(config, keys)
        news = NewsDesk(bus)
        cleanup.push_async_callback(news.close)
        directory = RulesDirectory(bus, config, dial)
        await directory.start()
        cleanup.push_async_callback(directory.close)
        proxy = Proxy(config, dial)
        cleanup.push_async_callback(proxy.close)
        matchmaking = matchmaking_pb2_grpc.MatchmakingServiceStub(proxy.channel("matchmaking"))

        people = People(database)
        sessions = Sessions(keys, people, news, now_ms)
        cleanup.push_async_callback(sessions.close)
        matches = Matches(directory, keys)
        chat = Chat(ChatStore(database), people, matches, sessions, news, now_ms, self._chat_limits)
        passwords = Passwords(self._hash_cost)
        cleanup.callback(passwords.close)
        accounts = Accounts(people, sessions, passwords, chat, now_ms, self._account_limits)

        feeds = self.feeds = Feeds(directory, self._feed_limits, matches.forget)
        directory.on_moved(lambda game, partition: feeds.moved(_lies_on(game, partition)))
        presence = Presence(news, now_ms)
        play = Play(matches, bus, directory, feeds, Catalogue(directory), presence, self._play_limits)
        lobby_feeds = LobbyFeeds(lambda: matchmaking)
        lobby = LobbyStreams(lobby_feeds, OwnMatches(matchmaking, feeds), play, matches, chat, presence, now_ms)
        await news.start()
        self.housekeeping = Housekeeping(accounts, people, chat, presence, matchmaking, now_ms)
        cleanup.push_async_callback(self.housekeeping.stop)
        self.housekeeping.start()
        absences = Absences(presence, matches, bus, now_ms)
        cleanup.push_async_callback(absences.stop)
        absences.start()

        async def end_streams() -> None:
            chat.close()
            await presence.close()
            await lobby_feeds.close()
            await feeds.close()

        return proxy, sessions, endpoints(accounts, play, chat, lobby, proxy.import_file), end_streams


def _browsers(sessions: Sessions, answered: tuple[Endpoint, ...], proxy: Proxy, web: WebSettings) -> Guard:
    limits = web.limits
    calls = connect_apps(sessions, answered, proxy.methods(), limits.body_bytes, limits.file_bytes)
    return Guard(dict(calls), Files(web.dist), web, FILES_WITH_CALLS)


def _database_check(database: Database) -> Check:
    """The database can be read."""

    def look(connection: Connection) -> None:
        connection.execute(select(settings.c.account_id).limit(1))

    async def check() -> str:
        await database.read(look)
        return ""

    return check


def _lies_on(game: str, partition: int) -> Callable[[str, MatchId], bool]:
    return lambda of_game, match_id: of_game == game and partition_of(match_id) == partition


async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serves with the limits that are meant for everybody; see `Gateway`."""
    await Gateway()(config, stop=stop, started=started)
