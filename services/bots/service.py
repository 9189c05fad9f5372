"""The bots as a running service: invitations in, seats played, seats of an instance that is gone taken up."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from typing import Final, TypeAlias

import structlog
from google.protobuf.message import DecodeError

from bots.holding import Holding
from bots.player import BotPlayer, SeatKey
from bots.settings import BotSettings
from bots.thinking import Thinkers
from grimoire.bus import BOTS, Bus, BusError, Message, Subscription, bots_subject
from grimoire.client import Client, UnavailableError
from grimoire.plugins import UnknownGameError, game_names
from grimoire.runtime.config import Config
from grimoire.runtime.identity import mint
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.readiness import broker_check, watched
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.v1 import cluster_pb2, matchmaking_pb2_grpc

__all__ = ["Bots", "serve"]

_log: Final = structlog.stdlib.get_logger(__name__)

_QUEUE: Final = "bots"
_LISTEN_PAUSE_S: Final = 0.2
_CONNECT_S: Final = 5.0


class Bots:
    """Seats bots at matches.

    Args:
        settings: how they behave; None: from the environment.
    """

    def __init__(self, settings: BotSettings | None = None) -> None:
        self._settings = settings or BotSettings.from_env()
        self._instance = secrets.token_hex(8)
        # By match, seat and account: a seat may be left by one bot and later be another's.
        self._playing: dict[_Place, asyncio.Task[None]] = {}
        # Held still, but there is nothing to do: the match is over, or this bot plays it no more.
        self._through: set[_Place] = set()
        self._accepting: set[asyncio.Task[None]] = set()
        self._listening: dict[str, Subscription] = {}
        self._changed = asyncio.Event()

    @property
    def seats(self) -> int:
        """Seats being played now."""
        return len(self._playing)

    async def __call__(self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Runs until `stop` is set; `started` gets the address where its health can be asked.

        Raises:
            ConfigError, KeyFileError, BusError: if it cannot start.
        """
        keys = KeyRing.load_or_create(config.keys_dir)
        async with AsyncExitStack() as cleanup:
            bus = await Bus.connect(config.bus_settings(keys, BOTS))
            cleanup.push_async_callback(bus.close)
            thinkers = Thinkers(self._settings)
            cleanup.callback(thinkers.close)
            client = await _connected(config, stop)
            if client is None:
                return
            cleanup.push_async_callback(client.close)
            channel = dialer(config, keys)(str(config.address("matchmaking")))
            cleanup.push_async_callback(channel.close)
            table = _Table(keys, client, thinkers)
            holding = Holding(
                matchmaking_pb2_grpc.MatchmakingServiceStub(channel),
                self._instance,
                lambda: self._settings.matches + len(self._through),
                lambda held: self._play(held, table),
            )
            # Given back when nobody plays here any more.
            cleanup.push_async_callback(holding.release)
            cleanup.push_async_callback(self._stop_playing)
            server = RpcServer.internal(config, "bots", keys, ())
            address = str(await server.start())
            cleanup.push_async_callback(server.stop)
            tasks = (
                asyncio.create_task(self._listen(bus, holding), name="bots listen"),
                asyncio.create_task(holding.run(), name="bots hold"),
            )
            async with watched(BOTS, server, {"broker": broker_check(bus)}):
                started(address)
                await stop.wait()
            for task in (*tasks, *self._accepting):
                task.cancel()
            await asyncio.gather(*tasks, *self._accepting, return_exceptions=True)
            for subscription in self._listening.values():
                await subscription.stop()
            self._listening.clear()

    # ---- seats ------------------------------------------------------------------------------------------------------

    def _play(self, held: Iterable[SeatKey] | None, table: _Table) -> None:
        """Plays the seats that this instance holds, and no other; None: which ones is not known just now."""
        seats = {_place(seat): seat for seat in held or ()}
        if held is not None:
            self._through &= seats.keys()
        for key, task in self._playing.items():
            # Told once: it may still be putting its papers away.
            if key not in seats and not task.cancelling():
                _log.info("bot_seat_lost", match_id=key[0], seat=key[1])
                task.cancel()
        for key, seat in seats.items():
            if key not in self._playing and key not in self._through:
                self._sit(key, seat, table)

    def _sit(self, key: _Place, seat: SeatKey, table: _Table) -> None:
        try:
            player = table.player(seat, self._settings)
        except UnknownGameError:
            _log.error("bot_cannot_play", match_id=seat.match_id, game=seat.game)
            self._through.add(key)
            return
        task = self._playing[key] = asyncio.create_task(player.play(), name=f"bot {seat.match_id} {seat.seat}")
        task.add_done_callback(lambda done: self._got_up(key, done))
        self._changed.set()
        _log.info("bot_seated", match_id=seat.match_id, seat=seat.seat, game=seat.game, level=seat.level)

    def _got_up(self, key: _Place, task: asyncio.Task[None]) -> None:
        del self._playing[key]
        self._changed.set()
        if task.cancelled():
            return
        # Should another take the seat after a lie or a defect, it would only meet the same.
        self._through.add(key)
        if (error := task.exception()) is not None:
            _log.error("bot_gave_up", match_id=key[0], seat=key[1], exc_info=error)

    async def _stop_playing(self) -> None:
        tasks = list(self._playing.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ---- invitations ------------------------------------------------------------------------------------------------

    async def _listen(self, bus: Bus, holding: Holding) -> None:
        """Listens for invitations while there is room: a full house does not even seem to be there."""
        while True:
            self._changed.clear()
            try:
                if len(self._playing) < self._settings.matches:
                    for game in game_names():
                        if game not in self._listening:
                            self._listening[game] = await bus.serve_async(
                                bots_subject(game), lambda m: self._invited(bus, holding, m), queue=_QUEUE
                            )
                else:
                    for game in list(self._listening):
                        await self._listening.pop(game).stop()
            except BusError as error:
                _log.warning("bots_cannot_listen", error=type(error).__name__)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LISTEN_PAUSE_S):
                        await self._changed.wait()
                continue
            await self._changed.wait()

    async def _invited(self, bus: Bus, holding: Holding, message: Message) -> None:
        try:
            invitation = cluster_pb2.BotInvitation.FromString(message.data)
        except DecodeError:
            _log.warning("invitation_malformed")
            return
        if message.subject != bots_subject(invitation.game):
            _log.warning("invitation_on_wrong_subject", game=invitation.game)
            return
        seat = SeatKey(invitation.match_id, invitation.game, invitation.seat, invitation.account_id, invitation.level)
        # In a task of its own: those that come together are held with one call.
        task = asyncio.create_task(self._accept(bus, holding, message, seat), name=f"accept {seat.match_id}")
        self._accepting.add(task)
        task.add_done_callback(self._accepting.discard)

    async def _accept(self, bus: Bus, holding: Holding, message: Message, seat: SeatKey) -> None:
        """Answers an invitation as soon as the seat is held, for this instance plays it then and nobody else."""
        known = _place(seat) in self._playing.keys() | self._through
        if not known and len(self._playing) + len(holding.invited) >= self._settings.matches:
            return
        if known or await holding.accept(seat):
            try:
                await bus.reply(message, cluster_pb2.BotAccepted(instance=self._instance).SerializeToString())
            except BusError as error:
                _log.info("invitation_not_answered", match_id=seat.match_id, reason=type(error).__name__)


_Place: TypeAlias = tuple[str, int, str]


def _place(seat: SeatKey) -> _Place:
    return seat.match_id, seat.seat, seat.account_id


class _Table:
    """What a player needs to sit down."""

    def __init__(self, keys: KeyRing, client: Client, thinkers: Thinkers) -> None:
        self._keys = keys
        self._client = client
        self._thinkers = thinkers

    def player(self, seat: SeatKey, settings: BotSettings) -> BotPlayer:
        """A player for a seat, signed in as the seat's account."""
        token = mint(self._keys, seat.account_id, f"Bot ({seat.level})", True)
        self._thinkers.load(seat.game)
        return BotPlayer(seat, self._client.signed_in(token), self._thinkers, settings)


async def _connected(config: Config, stop: asyncio.Event) -> Client | None:
    """The line to the edge, as soon as that answers; None if this service is to stop before."""
    keepsakes = config.data_dir / "bots"
    while not stop.is_set():
        with contextlib.suppress(UnavailableError):
            return await Client.connect(str(config.gateway), keepsakes=keepsakes, timeout_s=_CONNECT_S)
    return None


async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """Serves with the settings of the environment; see `Bots`."""
    await Bots()(config, stop=stop, started=started)
