"""A server that lies in the middle of a match: the session notices, keeps the evidence, and does not play on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio

from grimoire.client import Alarm, Client, MatchSession
from grimoire.v1 import frame_pb2, play_pb2
from tests.gateway.house import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

Lie = Callable[[frame_pb2.Frame], None]
PLAY = "grimoire.v1.PlayService"


class LyingEdge:
    """Passes everything on to the true edge, and lies in the frames, or in answers, once it is told to."""

    def __init__(self, true_edge: str) -> None:
        self.lie: Lie | None = None
        self.alter: Callable[[str, bytes], bytes] | None = None
        self._channel = grpc.aio.insecure_channel(true_edge)
        self._server = grpc.aio.server()
        self._server.add_generic_rpc_handlers((self,))
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def service(self, details: Any) -> Any:
        token = [(k, v) for k, v in details.invocation_metadata if k == "authorization"]
        if details.method == f"/{PLAY}/Watch":

            async def watch(data: bytes, context: Any) -> AsyncIterator[bytes]:
                call = self._channel.unary_stream(details.method)(data, metadata=token)
                async for message in call:
                    response = play_pb2.WatchResponse.FromString(message)
                    if self.lie is not None and response.frame.WhichOneof("kind") == "delta":
                        self.lie(response.frame)
                    yield response.SerializeToString()

            return grpc.unary_stream_rpc_method_handler(watch)

        async def answer(data: bytes, context: Any) -> bytes:
            try:
                reply: bytes = await self._channel.unary_unary(details.method)(data, metadata=token)
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "", tuple(error.trailing_metadata() or ()))
            return reply if self.alter is None else self.alter(details.method.rpartition("/")[2], reply)

        return grpc.unary_unary_rpc_method_handler(answer)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop(None)
        await self._channel.close()


@asynccontextmanager
async def deceived(home: House, name: str) -> AsyncIterator[tuple[LyingEdge, MatchSession, MatchSession]]:
    """A started match: seat 0 is connected by the liar, seat 1 truly."""
    liar = LyingEdge(home.address)
    await liar.start()
    victim = await Client.connect(liar.address, keepsakes=home.home / name, patience_s=5)
    await victim.guest("Aino")
    other = await home.client("Eino")
    match_id = await home.create([victim, other])
    async with await victim.open_match(match_id) as one, await other.open_match(match_id) as two:
        await asyncio.gather(one.started(timeout_s=60), two.started(timeout_s=10))
        yield liar, one, two
    await victim.close()
    await other.close()
    await liar.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with house(tmp_path_factory.mktemp("house")) as running:
        yield running


def _change_public(frame: frame_pb2.Frame) -> None:
    frame.delta.entries[0].public += b"\x0a\x00"


def _change_hash(frame: frame_pb2.Frame) -> None:
    frame.delta.entries[-1].hash = bytes(32)


def _change_time(frame: frame_pb2.Frame) -> None:
    frame.delta.entries[0].header = frame.delta.entries[0].header[:-1]


def _other_view(frame: frame_pb2.Frame) -> None:
    frame.delta.snapshot.head.hash = bytes(32)


def _leave_out(frame: frame_pb2.Frame) -> None:
    entry = frame.delta.entries[0]
    frame.delta.entries.insert(0, entry)
    frame.delta.to += 1


@pytest.mark.parametrize("lie", [_change_public, _change_hash, _change_time, _other_view, _leave_out])
async def test_a_lie_raises_an_alarm_and_ends_the_play(home: House, lie: Lie) -> None:
    async with deceived(home, lie.__name__) as (liar, victim, other):
        updates = victim.updates()
        await anext(updates)
        liar.lie = lie
        await other.submit("set_stance")
        with pytest.raises(Alarm):
            async for _ in updates:
                pass
        assert victim.alarm is not None
        assert victim.alarm.match_id == victim.match_id
        for refused in (victim.submit("set_stance"), victim.wait_finished(), victim.reached(10_000)):
            with pytest.raises(Alarm):
                await refused
        assert victim.keepsake_path is not None
        evidence = victim.keepsake_path.with_suffix(".evidence")
        assert frame_pb2.Frame.FromString(evidence.read_bytes()).HasField("delta")
        assert victim.keepsake_path.exists()


async def test_another_history_instead_of_the_missing_entries_raises_an_alarm(home: House) -> None:
    async with deceived(home, "snapshot") as (liar, victim, other):

        def lie(frame: frame_pb2.Frame) -> None:
            snapshot = frame_pb2.Snapshot()
            snapshot.CopyFrom(frame.delta.snapshot)
            frame.snapshot.CopyFrom(snapshot)

        liar.lie = lie
        await other.submit("set_stance")
        with pytest.raises(Alarm, match="history"):
            await victim.reached(other.version)


async def test_frames_seen_already_are_passed_over_and_a_gap_is_asked_for(home: House, tmp_path: Path) -> None:
    async with deceived(home, "twice") as (liar, victim, other):
        kept: list[frame_pb2.Frame] = []

        def repeat(frame: frame_pb2.Frame) -> None:
            # Every second frame is replaced by the one before it: old news, and then a gap.
            copy = frame_pb2.Frame()
            copy.CopyFrom(frame)
            if kept:
                frame.CopyFrom(kept.pop())
            else:
                kept.append(copy)

        liar.lie = repeat
        for _ in range(6):
            await other.submit("set_stance")
        liar.lie = None
        await other.submit("set_stance")
        await victim.reached(other.version, timeout_s=60)
        assert victim.alarm is None
        assert victim.head.hash == other.head.hash
