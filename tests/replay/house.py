"""A whole house for replays: broker, game services and replay, as they run in an installation; and callers."""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import grpc

from grimoire.bus import Bus
from grimoire.engine import MatchId, Viewer
from grimoire.match.frames import viewer_message, viewer_of
from grimoire.plugins import load_game
from grimoire.runtime.config import Address, Config
from grimoire.runtime.game_service import GameService
from grimoire.runtime.identity import Identity, new_match_id, occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.lifecycle import Serve
from grimoire.runtime.rpc import account_metadata, open_channel
from grimoire.v1 import (
    audit_pb2,
    envelope_pb2,
    replay_pb2,
    replay_pb2_grpc,
    rules_pb2,
)
from replay.limits import ReplayLimits
from replay.refusals import REJECTION_KEY
from replay.service import serve
from tests.replay.logs import GAME, Moves
from tests.support.table import accepted, broker
from tests.support.transparency import once_logged


class Refusal(Exception):  # noqa: N818 - the answer to a call, as a value that pytest can catch
    """What a caller sees of a refused call."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        super().__init__(f"{error.code().name}: {error.details()}")
        self.status = error.code()
        self.sentence = error.details() or ""
        found = [v for k, v in error.trailing_metadata() or () if k == REJECTION_KEY]
        self.rejection = envelope_pb2.Rejection.FromString(found[0]) if found else None
        self.code = self.rejection.code if self.rejection else ""


class Caller:
    """Replay as one account sees it through the edge."""

    def __init__(self, stub: replay_pb2_grpc.ReplayServiceAsyncStub, account: str) -> None:
        self.stub = stub
        self.metadata = account_metadata(Identity(account, account.title())) if account else ()

    async def get(self, match_id: str) -> replay_pb2.GetMatchResponse:
        return await _called(self.stub.GetMatch(replay_pb2.GetMatchRequest(match_id=match_id), metadata=self.metadata))

    async def viewers(self, match_id: str) -> list[str]:
        return [str(viewer_of(v)) for v in (await self.get(match_id)).viewers]

    async def chunks(
        self, match_id: str, viewer: Viewer, first: int = 0, last: int = 0
    ) -> list[replay_pb2.StreamFramesResponse]:
        request = replay_pb2.StreamFramesRequest(
            match_id=match_id, viewer=viewer_message(viewer), **{"from": first, "to": last}
        )
        return await _called(_all(self.stub.StreamFrames(request, metadata=self.metadata)))

    async def frames(self, match_id: str, viewer: Viewer, first: int = 0, last: int = 0) -> list[rules_pb2.ReplayFrame]:
        return [f for chunk in await self.chunks(match_id, viewer, first, last) for f in chunk.frames]

    async def marks(self, match_id: str) -> list[rules_pb2.Mark]:
        request = replay_pb2.GetMarksRequest(match_id=match_id)
        return list((await _called(self.stub.GetMarks(request, metadata=self.metadata))).marks)

    async def export(self, match_id: str) -> bytes:
        request = replay_pb2.ExportRequest(match_id=match_id)
        return b"".join(r.chunk for r in await _called(_all(self.stub.Export(request, metadata=self.metadata))))

    async def bring(self, file: bytes | Iterable[bytes], size: int = 4096) -> replay_pb2.ImportResponse:
        pieces = [file[n : n + size] for n in range(0, len(file), size)] if isinstance(file, bytes) else file
        requests = (replay_pb2.ImportRequest(chunk=piece) for piece in pieces)
        return await _called(self.stub.Import(requests, metadata=self.metadata))

    async def audit(self, match_id: str) -> audit_pb2.AuditReport:
        request = replay_pb2.AuditRequest(match_id=match_id)
        return (await _called(self.stub.Audit(request, metadata=self.metadata))).report


async def _called(call):
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise Refusal(error) from None


async def _all(call):
    return [response async for response in call]


class House:
    """Everything that runs, and who calls."""

    def __init__(self, config: Config, keys: KeyRing, edge: Bus) -> None:
        self.config = config
        self.keys = keys
        self.edge = edge
        self._services: dict[str, _Running] = {}
        self._moves: dict[str, Moves] = {}
        self._games: dict[str, str] = {}
        self.channel: grpc.aio.Channel | None = None

    async def start(self, name: str, service: Serve) -> None:
        """Starts a service, on any free port: one it had before may be taken by now."""
        running = self._services[name] = _Running(service)
        address = await running.start(self.config.with_address(name, Address("127.0.0.1", 0)))
        await self.moved(name, address)

    async def moved(self, name: str, address: str) -> None:
        """A service listens elsewhere."""
        self.config = self.config.with_address(name, Address.parse(address))
        if name == "replay" and self.channel is not None:
            await self.channel.close()
            self.channel = None

    async def stop(self, name: str) -> None:
        await self._services.pop(name).stop()

    def service(self, game: str) -> Serve:
        return GameService(game)

    async def close(self) -> None:
        if self.channel is not None:
            await self.channel.close()
        for running in reversed(self._services.values()):
            await running.stop()

    def caller(self, account: str) -> Caller:
        if self.channel is None:
            self.channel = open_channel(str(self.config.address("replay")), token=self.keys.service_token)
        return Caller(replay_pb2_grpc.ReplayServiceStub(self.channel), account)

    def occupant(self, match_id: str, account: str) -> str:
        return occupant_id(self.keys, MatchId(match_id), account)

    async def play(
        self,
        accounts: Sequence[str] = ("ada", "bo"),
        *,
        entries: int = 10_000,
        seed: int = 1,
        game: str = GAME,
        level: str = "random",
        **options: str,
    ) -> str:
        """Plays a match over the broker, to its end or for so many entries; returns its id."""
        match_id = new_match_id()
        occupants = [self.occupant(match_id, account) for account in accounts]
        plugin = load_game(game)
        self._moves[match_id] = Moves(
            match_id, occupants, seed, options, self.keys.host_key.key, game=plugin.game, bot=plugin.bot, level=level
        )
        self._games[match_id] = game
        await self.go_on(match_id, entries)
        return match_id

    async def go_on(self, match_id: str, entries: int = 10_000) -> None:
        """Plays on, to the end or for so many more entries."""
        for submission in itertools.islice(self._moves[match_id], entries):
            game, data = self._games[match_id], submission.SerializeToString()

            async def ask(game: str = game, data: bytes = data) -> envelope_pb2.CommandReply:
                return envelope_pb2.CommandReply.FromString(await self.edge.request_command(game, match_id, data))

            accepted(await once_logged(ask))


class _Running:
    def __init__(self, service: Serve) -> None:
        self._service = service
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self, config: Config) -> str:
        address = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._service(config, stop=self._stop, started=address.set_result))
        await asyncio.wait((self._task, address), return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            self._task.result()
        return await address

    async def stop(self) -> None:
        self._stop.set()
        if self._task is not None:
            await self._task


def replay_service(limits: ReplayLimits | None = None) -> Serve:
    return functools.partial(serve, limits=limits)


@asynccontextmanager
async def house(
    home: Path, limits: ReplayLimits | None = None, games: Sequence[str] = (GAME,), **settings: object
) -> AsyncIterator[House]:
    """The games must be installed before."""
    async with AsyncExitStack() as cleanup:
        config, keys = await cleanup.enter_async_context(broker(home))
        # Only what runs here: a game that does not answer might know any match.
        addresses = {name: address for name, address in config.addresses.items() if name in (*games, "replay")}
        config = replace(config, addresses=addresses, **settings)
        edge = await Bus.connect(config.bus_settings(keys, "gateway"))
        cleanup.push_async_callback(edge.close)
        whole = House(config, keys, edge)
        cleanup.push_async_callback(whole.close)
        for game in games:
            await whole.start(game, whole.service(game))
        await whole.start("replay", replay_service(limits))
        yield whole
