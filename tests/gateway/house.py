"""A small installation for tests of the edge: real broker, the toy's real service, the real gateway, one process."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import replay.service
from gateway.service import Gateway
from grimoire.bus import Bus
from grimoire.client import Client
from grimoire.engine import MatchId
from grimoire.plugins import load_game
from grimoire.runtime.config import Address, Bound, Config
from grimoire.runtime.game_service import GameService
from grimoire.runtime.identity import Identity, mint, new_match_id, occupant_id, verify
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2
from tests.support.table import accepted, broker
from tests.support.toy.install import write_entry_point

GAME = "toy"


@dataclass
class House:
    """What tests hold of a running installation."""

    config: Config
    keys: KeyRing
    host: Bus
    gateway: Gateway
    home: Path
    game: GameRuns

    @property
    def address(self) -> str:
        """Where players connect."""
        return str(self.config.gateway)

    @property
    def web(self) -> str:
        """Where browsers connect."""
        return f"http://{self.config.address('web')}"

    async def client(self, name: str = "", *, token: str | None = None, folder: str = "", **more: Any) -> Client:
        """A connected program; a guest unless it brings a token."""
        keepsakes = self.home / "keepsakes" / (folder or secrets.token_hex(4))
        client = await Client.connect(self.address, token, keepsakes=keepsakes, patience_s=10, **more)
        if token is None:
            await client.guest(name)
        return client

    @asynccontextmanager
    async def no_game(self) -> AsyncIterator[None]:
        """The game's service is gone within the block, and comes back after it at another address."""
        await self.game.stop()
        yield
        await self.game.start()

    @asynccontextmanager
    async def another_edge(self, gateway: Gateway) -> AsyncIterator[str]:
        """A second edge of the same installation; gives where browsers connect to it."""
        anywhere = Address("127.0.0.1", 0)
        config = self.config.with_address("gateway", anywhere).with_address("web", anywhere)
        async with serving(gateway, config) as address:
            yield f"http://{Bound.of(address).others['web']}"

    def identity(self, client: Client) -> Identity:
        """Whom a client's token speaks for."""
        identity = verify(self.keys, client.token or "")
        assert identity is not None
        return identity

    async def head(self, client: Client, match_id: str) -> frame_pb2.MatchHead:
        """The match as it is now."""
        async with await client.open_match(match_id, as_public=True) as session:
            return session.head

    async def create(self, clients: Sequence[Client], **spec: Any) -> str:
        """A match whose seats these clients hold, in order."""
        accounts = [self.identity(client).account_id for client in clients]
        return await self.create_for(accounts, **spec)

    async def create_for(self, accounts: Sequence[str], bots: Sequence[int] = (), **spec: Any) -> str:
        """A match whose seats these accounts hold, in order."""
        match_id = new_match_id()
        options = spec.pop("options", {})
        create = match_pb2.CreateMatch(
            game=GAME,
            mode=spec.pop("mode", match_pb2.MATCH_MODE_CASUAL),
            options=[match_pb2.OptionValue(name=k, value=v) for k, v in options.items()],
            seats=[
                match_pb2.SeatOccupant(
                    seat=seat,
                    occupant_id=occupant_id(self.keys, MatchId(match_id), account),
                    kind=match_pb2.OCCUPANT_KIND_BOT if seat in bots else match_pb2.OCCUPANT_KIND_PERSON,
                )
                for seat, account in enumerate(accounts)
            ],
            **spec,
        )
        command = envelope_pb2.Command(
            command_id=secrets.token_bytes(16),
            match_id=match_id,
            type="create_match",
            payload=create.SerializeToString(),
        )
        submission = envelope_pb2.Submission(command=command, host=True).SerializeToString()
        reply = await self.host.request_command(GAME, match_id, submission)
        accepted(envelope_pb2.CommandReply.FromString(reply))
        return match_id

    async def bind(self, match_id: str, seat: int, account_id: str, *, bot: bool = False) -> int:
        """The host gives a seat to this account; gives the entry's version."""
        message = match_pb2.BindSeat(
            seat=seat,
            occupant_id=occupant_id(self.keys, MatchId(match_id), account_id),
            kind=match_pb2.OCCUPANT_KIND_BOT if bot else match_pb2.OCCUPANT_KIND_PERSON,
            level="random" if bot else "",
            reason="vote",
        )
        command = envelope_pb2.Command(
            command_id=secrets.token_bytes(16),
            match_id=match_id,
            type="bind_seat",
            payload=message.SerializeToString(),
        )
        submission = envelope_pb2.Submission(command=command, host=True).SerializeToString()
        reply = await self.host.request_command(GAME, match_id, submission)
        return accepted(envelope_pb2.CommandReply.FromString(reply)).version

    def token(self, account_id: str, name: str = "Bot", *, bot: bool = True) -> str:
        """A session of any account."""
        return mint(self.keys, account_id, name, bot)


class GameRuns:
    """The toy's service, which can be stopped and started again."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._stack = AsyncExitStack()
        self.address = ""

    async def start(self) -> None:
        self.address = await self._stack.enter_async_context(serving(serve_game, self._config))

    async def stop(self) -> None:
        await self._stack.aclose()


async def serve_game(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    await GameService(GAME)(config, stop=stop, started=started)


Served = Callable[..., Awaitable[None]]


@asynccontextmanager
async def serving(served: Served, config: Config) -> AsyncIterator[str]:
    """A service in this process; gives its address."""
    stop = asyncio.Event()
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.ensure_future(served(config, stop=stop, started=address.set_result))
    try:
        await asyncio.wait((task, address), return_when=asyncio.FIRST_COMPLETED)
        if not address.done():
            await task
        yield await address
    finally:
        stop.set()
        await task


@asynccontextmanager
async def toy_broker(home: Path, plugin: str = "") -> AsyncIterator[tuple[Config, KeyRing]]:
    """A broker, the toy (or what stands in for it) installed, and a configuration in which it is the only game."""
    with pytest.MonkeyPatch.context() as patch:
        site = write_entry_point(home / "site")
        if plugin:
            (site / "toy-1.dist-info" / "entry_points.txt").write_text(f"[grimoire.games]\n{GAME} = {plugin}\n")
        patch.syspath_prepend(site)
        load_game.cache_clear()
        async with broker(home) as (config, keys):
            config.data_dir.mkdir(parents=True, exist_ok=True)
            names = ("web", "gateway", "matchmaking", "replay", "bots", GAME)
            addresses = MappingProxyType({name: Address("127.0.0.1", 0) for name in names})
            yield replace(config, addresses=addresses), keys
    load_game.cache_clear()


@asynccontextmanager
async def house(
    home: Path, gateway: Gateway | None = None, *, beside: Mapping[str, Served] | None = None, plugin: str = ""
) -> AsyncIterator[House]:
    """The installation, until the block ends.

    Args:
        home: for its data.
        gateway: the edge; None: one with the usual limits.
        beside: services by name that run too, e.g. `{"matchmaking": matchmaking.service.serve}`. Replay always does: it
            keeps the log in which every match is promised.
        plugin: `module:NAME` of what is installed as the toy; empty: the toy.
    """
    edge = gateway or Gateway()
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(toy_broker(home, plugin))
        game = GameRuns(config)
        stack.push_async_callback(game.stop)
        await game.start()
        config = config.with_address(GAME, Address.parse(game.address))
        for name, other in {"replay": replay.service.serve, **(beside or {})}.items():
            address = await stack.enter_async_context(serving(other, config))
            config = config.with_address(name, Address.parse(address))
        address = await stack.enter_async_context(serving(edge, config))
        config = config.with_address("gateway", Address.parse(address))
        config = config.with_address("web", Address.parse(Bound.of(address).others["web"]))
        host = await Bus.connect(config.bus_settings(keys, "matchmaking"))
        stack.push_async_callback(host.close)
        yield House(config, keys, host, edge, home, game)
