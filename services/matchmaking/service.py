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
from grimoire.runtime.readiness import broker_check, store_check, watched
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from matchmaking.analysis import Analyses
from matchmaking.backstage import Backstage
from matchmaking.bounds import Bounds
from matchmaking.branches import Branches
from matchmaking.calls import Streams
from matchmaking.database import Database
from matchmaking.desk import Desk
from matchmaking.friends import Friends
from matchmaking.games import Games
from matchmaking.limits import Limits
from matchmaking.lobby import Lobby
from matchmaking.names import NameBook
from matchmaking.people import Faces
from matchmaking.quick_play import QuickPlay
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
        dial = dialer(config, keys)
        directory = RulesDirectory(bus, config, dial)
        cleanup.push_async_callback(directory.close)
        await directory.start()
        games = Games(directory)
        branches = Branches(directory, lambda: dial(str(config.address("replay"))))
        cleanup.push_async_callback(branches.close)
        backstage = Backstage(store, database, games, bus, keys, limits, now_ms)
        cleanup.push_async_callback(backstage.stop)
        await backstage.start()
        rpc = RpcServer.internal(config, _NAME, keys, (_SERVICE,))
        servicer = MatchmakingService(_desk(backstage, NameBook(database), games, branches, keys, limits))
        matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(servicer, rpc.raw)
        address = str(await rpc.start())
        cleanup.push_async_callback(rpc.stop)
        cleanup.callback(backstage.watches.close)
        cleanup.callback(backstage.bells.close)
        async with watched(_NAME, rpc, {"store": store_check(store), "broker": broker_check(bus)}):
            _log.info("matchmaking_started", address=address)
            started(address)
            await _look_round_until(stop, backstage, limits.look_round_s)
    _log.info("matchmaking_stopped")


def _desk(
    backstage: Backstage, names: NameBook, games: Games, branches: Branches, keys: KeyRing, limits: Limits
) -> Desk:
    ledger, watches, bells = backstage.ledger, backstage.watches, backstage.bells
    bounds = Bounds(ledger, limits)
    lobby = Lobby(
        ledger,
        backstage.archive,
        names,
        games,
        watches,
        backstage.endings,
        backstage.partings,
        bounds,
        limits,
        now_ms,
    )
    quick_play = QuickPlay(
        backstage.tickets,
        backstage.ready,
        backstage.parties,
        backstage.ratings,
        names,
        games,
        backstage.assigner,
        backstage.withdrawals,
        bells,
        bounds,
        backstage.tell_tickets,
        limits,
        now_ms,
    )
    return Desk(
        lobby=lobby,
        analyses=Analyses(branches, games, ledger, lobby, bounds, keys, limits, now_ms),
        quick_play=quick_play,
        friends=Friends(
            backstage.parties,
            backstage.tickets,
            quick_play,
            names,
            games,
            bells,
            bounds,
            backstage.tell_party,
            limits,
            now_ms,
        ),
        ratings=backstage.ratings,
        faces=Faces(names, backstage.ratings, games),
        names=names,
        archive=backstage.archive,
        games=games,
        ledger=ledger,
        watches=watches,
        invitations=backstage.invitations,
        bot_seats=backstage.bot_seats,
        streams=Streams(limits.watches_per_account),
        limits=limits,
        now_ms=now_ms,
    )


async def _look_round_until(stop: asyncio.Event, backstage: Backstage, every_s: float) -> None:
    while True:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(every_s):
                await stop.wait()
            return
        await backstage.look_round(older_than_ms=int(every_s * 1000))
