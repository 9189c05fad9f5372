"""A game's service whose frames are a script: what no good service does, done on a real gRPC server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc

from grimoire.fairness import Secret
from grimoire.runtime.config import Address
from grimoire.runtime.directory import NoOwnerFoundError
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import RpcServer, open_channel
from grimoire.v1 import frame_pb2, match_pb2, replay_pb2, replay_pb2_grpc, rules_pb2, rules_pb2_grpc
from replay.limits import ReplayLimits
from replay.rules import Rules
from replay.servicer import ReplayService
from replay.shelf import Shelf
from replay.transparency.limits import LogLimits
from replay.transparency.log import TransparencyLog
from replay.transparency.proofs import Proofs
from tests.replay.house import Caller
from tests.support.transparency import KEY

MATCH = "scripted"
Script = Callable[[int, int, grpc.aio.ServicerContext], AsyncIterator[list[rules_pb2.ReplayFrame]]]


class ScriptedRules(rules_pb2_grpc.RulesServiceServicer):
    """Answers for one revealed match; `script(first, last, context)` gives the frames of each answer."""

    def __init__(self, versions: int) -> None:
        self.versions = versions
        self.script: Script = whole
        self.calls: list[tuple[int, int]] = []

    def head(self) -> frame_pb2.MatchHead:
        return frame_pb2.MatchHead(
            match_id=MATCH,
            game="toy",
            version=self.versions,
            revealed=True,
            status=frame_pb2.MATCH_STATUS_CLOSED,
            created=match_pb2.MatchCreated(game="toy", seats=[match_pb2.SeatOccupant(seat=0, occupant_id="o0")]),
        )

    async def GetHead(self, request, context):
        return rules_pb2.GetHeadResponse(head=self.head())

    async def GetFrames(self, request, context):
        first = getattr(request, "from")
        self.calls.append((first, request.to))
        async for frames in self.script(first, request.to, context):
            yield rules_pb2.GetFramesResponse(frames=frames)

    async def Redecide(self, requests, context):
        async for _ in requests:
            pass
        await context.abort(grpc.StatusCode.INTERNAL, "a bug")


def frame(version: int, size: int = 10) -> rules_pb2.ReplayFrame:
    mark = rules_pb2.Mark(version=version, kind=rules_pb2.MARK_KIND_TURN)
    return rules_pb2.ReplayFrame(version=version, view=bytes(size), marks=[mark])


async def whole(first: int, last: int, context: grpc.aio.ServicerContext) -> AsyncIterator[list[rules_pb2.ReplayFrame]]:
    """What a good service does."""
    for at in range(first, last + 1, 64):
        yield [frame(version) for version in range(at, min(at + 64, last + 1))]


class OneAddress:
    """A directory of one service; while `away`, nobody owns anything."""

    games = ("toy",)

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub = rules_pb2_grpc.RulesServiceStub(channel)
        self.away = False
        self.forgotten = 0

    async def find(self, match_id):
        stub = await self.stub("toy", match_id)
        return (await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id))).head

    async def stub(self, game, match_id):
        if self.away:
            raise NoOwnerFoundError("away")
        return self._stub

    async def any_stub(self, game):
        return await self.stub(game, MATCH)

    def forget(self, game, match_id):
        self.forgotten += 1


class Stage:
    def __init__(self, rules: ScriptedRules, directory: OneAddress, caller: Caller, service: ReplayService) -> None:
        self.rules = rules
        self.directory = directory
        self.caller = caller
        self.service = service

    def caller_as(self, account: str) -> Caller:
        return Caller(self.caller.stub, account)


@asynccontextmanager
async def stage(folder: Path, versions: int, limits: ReplayLimits | None = None) -> AsyncIterator[Stage]:
    """Replay before a scripted service."""
    limits = limits or ReplayLimits()
    token = Secret(b"the token of this stage")
    async with AsyncExitStack() as cleanup:
        game = RpcServer(Address("127.0.0.1", 0), (), token=None)
        rules = ScriptedRules(versions)
        rules_pb2_grpc.add_RulesServiceServicer_to_server(rules, game.raw)
        address = await game.start()
        cleanup.push_async_callback(game.stop, 0)
        directory = OneAddress(await cleanup.enter_async_context(open_channel(str(address))))

        shelf = Shelf(f"sqlite:///{folder / 'replay.db'}", limits.imports, limits.imports_per_account)
        await shelf.open()
        cleanup.push_async_callback(shelf.close)
        rpc = RpcServer(
            Address("127.0.0.1", 0), (replay_pb2.DESCRIPTOR.services_by_name["ReplayService"],), token=token
        )
        log = TransparencyLog(f"sqlite:///{folder / 'replay.db'}", KEY)
        await log.open()
        cleanup.push_async_callback(log.close)
        keys = KeyRing.load_or_create(folder / "keys")
        service = ReplayService(Rules(directory, limits), shelf, keys, Proofs(log, LogLimits(wait_s=0)), limits)
        cleanup.callback(service.close)
        replay_pb2_grpc.add_ReplayServiceServicer_to_server(service, rpc.raw)
        edge = await cleanup.enter_async_context(open_channel(str(await rpc.start()), token=token))
        cleanup.push_async_callback(rpc.stop, 0)
        yield Stage(rules, directory, Caller(replay_pb2_grpc.ReplayServiceStub(edge), "ada"), service)
