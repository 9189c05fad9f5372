"""Nonsense on everything the edge answers, over gRPC and Connect: typed answers, no trace in any log, nobody harmed."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
import pytest_asyncio
from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from structlog.testing import capture_logs

import matchmaking.service
from gateway.accounts import AccountLimits
from gateway.chat import ChatLimits
from gateway.play import PlayLimits
from gateway.service import Gateway
from gateway.web_settings import WebLimits, WebSettings
from grimoire.client import Client
from grimoire.v1 import (
    account_pb2,
    chat_pb2,
    lobby_pb2,
    matchmaking_pb2,
    play_pb2,
    replay_pb2,
    transparency_pb2,
)
from tests.gateway.house import House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

OVER_GRPC, OVER_CONNECT, AT_ONCE = 1_500, 1_000, 25
MODULES = (account_pb2, chat_pb2, lobby_pb2, matchmaking_pb2, play_pb2, replay_pb2, transparency_pb2)
# These would end the session that the nonsense is sent with, or cost a password's hash each.
LEFT_OUT = {"DeleteAccount", "SignOut", "RevokeSession", "SignUp", "SignIn", "ChangePassword"}
METHODS: tuple[MethodDescriptor, ...] = tuple(
    method
    for module in MODULES
    for service in module.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if method.name not in LEFT_OUT
)
NEVER = {"INTERNAL", "UNKNOWN", "DATA_LOSS", "DEADLINE_EXCEEDED"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    edge = Gateway(
        PlayLimits(commands_per_s=1e6, reads_per_s=1e6, owner_s=0.5),
        account_limits=AccountLimits(guests_per_s=1e6),
        chat_limits=ChatLimits(per_s=1e6, reports_per_s=1e6),
        web=WebSettings(limits=WebLimits(requests_per_s=1e6)),
    )
    folder: Path = tmp_path_factory.mktemp("house")
    async with house(folder, edge, beside={"matchmaking": matchmaking.service.serve}) as running:
        yield running


class Fuzzer:
    """Requests, from nearly right to mere noise.

    Args:
        rng: decides.
        names: that mean something here, such as ids of matches.
    """

    def __init__(self, rng: random.Random, names: list[str]) -> None:
        self.rng = rng
        self._texts = [
            *names * 4, "", "0" * 26, "a" * 26, "ä" * 26, "a\0b", "x" * 5_000, "%00", "../x", "' OR 1=1 --", "\u202e",
            "import-" + "a" * 20, "en", "fi", "-1", "9" * 30, "NaN", "{}", "[" * 900, '{"a":' * 900, "\n", "🂡" * 9,
        ]  # fmt: skip
        self._scalars: dict[int, Callable[[], Any]] = {
            FieldDescriptor.CPPTYPE_STRING: lambda: rng.choice(self._texts),
            FieldDescriptor.CPPTYPE_BOOL: lambda: rng.random() < 0.5,
            FieldDescriptor.CPPTYPE_ENUM: lambda: rng.choice((0, 1, 2, 3, 99, -1, 2**31 - 1)),
            FieldDescriptor.CPPTYPE_INT32: lambda: rng.choice((0, 1, -1, 2**31 - 1, -(2**31))),
            FieldDescriptor.CPPTYPE_UINT32: lambda: rng.choice((0, 1, 2, 64, 2**31, 2**32 - 1)),
            FieldDescriptor.CPPTYPE_INT64: lambda: rng.choice((0, 1, -1, 2**53, 2**63 - 1, -(2**63))),
            FieldDescriptor.CPPTYPE_UINT64: lambda: rng.choice((0, 1, 2, 6, 2**32, 2**63 - 1, 2**63, 2**64 - 1)),
            FieldDescriptor.CPPTYPE_DOUBLE: lambda: rng.choice((0.0, -1.0, 1e300, float("nan"), float("inf"))),
            FieldDescriptor.CPPTYPE_FLOAT: lambda: rng.choice((0.0, float("nan"))),
        }

    def message(self, kind: Descriptor, depth: int = 0) -> Message:
        """One of the right kind, with anything in it."""
        made = GetMessageClass(kind)()
        for field in kind.fields:
            if self.rng.random() < 0.3 or (field.message_type is not None and depth > 3):
                continue
            value: Any
            for _ in range(self.rng.choice((0, 1, 2, 300)) if field.is_repeated else 1):
                if field.message_type is not None:
                    value = self.message(field.message_type, depth + 1)
                elif field.type == FieldDescriptor.TYPE_BYTES:
                    value = self.rng.randbytes(self.rng.choice((0, 1, 16, 32, 900)))
                else:
                    value = self._scalars[field.cpp_type]()
                if field.is_repeated:
                    getattr(made, field.name).append(value)
                elif isinstance(value, Message):
                    getattr(made, field.name).CopyFrom(value)
                else:
                    setattr(made, field.name, value)
        return made

    def data(self, kind: Descriptor) -> bytes:
        """Bytes for a method that takes this kind."""
        chance = self.rng.random()
        if chance < 0.5:
            return self.message(kind).SerializeToString()
        if chance < 0.7:
            return self.damaged(self.message(kind).SerializeToString())
        if chance < 0.9:
            return self.rng.randbytes(self.rng.choice((0, 1, 7, 60, 900, 9_000, 70_000)))
        deep = b""
        while len(deep) < self.rng.choice((20, 400, 7_000)):
            deep = b"\x0a" + (bytes([len(deep)]) if len(deep) < 128 else _varint(len(deep))) + deep
        return deep

    def json(self, kind: Descriptor) -> bytes:
        """The same in JSON."""
        chance = self.rng.random()
        if chance < 0.1:
            return b'{"a":' * 4_000
        whole = MessageToJson(self.message(kind)).encode()
        return whole if chance < 0.7 else self.damaged(whole)

    def damaged(self, data: bytes) -> bytes:
        """With some bytes changed, and often cut off."""
        changed = bytearray(data)
        for _ in range(self.rng.choice((1, 2, 8))):
            if changed:
                changed[self.rng.randrange(len(changed))] = self.rng.randrange(256)
        return bytes(changed[: self.rng.randrange(len(changed) + 1)] if self.rng.random() < 0.3 else changed)


def _varint(number: int) -> bytes:
    return bytes((number & 127 | 128, number >> 7))


async def begin(home: House) -> tuple[Client, list[str]]:
    """Somebody who plays, and names that mean something: a finished match, a running one, an open challenge."""
    client, other = await home.client("Aino"), await home.client("Eino")
    matches = [await home.create([client, other]) for _ in range(2)]
    for match_id, ends in zip(matches, (True, False), strict=True):
        async with await client.open_match(match_id) as one, await other.open_match(match_id) as two:
            await asyncio.gather(one.started(timeout_s=20), two.started(timeout_s=20))
            if ends:
                await one.resign()
                await one.wait_finished(timeout_s=20)
    challenge = await client.create("toy")
    await other.close()
    return client, [*matches, challenge.challenge_id, "toy"]


async def prove_unharmed(home: House) -> None:
    """Two newcomers still meet and play."""
    _, names = await begin(home)
    assert len(names) == 4


def complaints(logs: list[Any], caplog: pytest.LogCaptureFixture) -> list[Any]:
    """What somebody would be woken for."""
    loud = [line for line in logs if line["log_level"] in ("error", "critical")]
    return loud + [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]


async def test_over_grpc(home: House, caplog: pytest.LogCaptureFixture) -> None:
    client, names = await begin(home)
    fuzzer, codes = Fuzzer(random.Random(1), names), Counter[str]()
    channel = grpc.aio.insecure_channel(home.address)
    mine = (("authorization", f"Bearer {client.token}"),)
    odd: list[str] = []

    async def ask() -> None:
        method = fuzzer.rng.choice(METHODS)
        path = f"/{method.containing_service.full_name}/{method.name}"
        strange = (
            ("authorization", fuzzer.rng.choice(("", "Bearer", "Bearer x", "Basic eDp5", "Bearer " + "a" * 900))),
        )
        metadata = mine if fuzzer.rng.random() < 0.97 else strange
        try:
            if method.client_streaming:
                await channel.stream_unary(path)(iter([fuzzer.data(method.input_type)]), metadata=metadata, timeout=20)
            elif method.server_streaming:
                call = channel.unary_stream(path)(fuzzer.data(method.input_type), metadata=metadata)
                try:
                    async with asyncio.timeout(0.05):
                        await call.read()
                except TimeoutError:
                    codes["QUIET"] += 1
                finally:
                    call.cancel()
            else:
                await channel.unary_unary(path)(fuzzer.data(method.input_type), metadata=metadata, timeout=20)
            codes["OK"] += 1
        except grpc.aio.AioRpcError as error:
            codes[error.code().name] += 1
            if error.code().name in NEVER:
                odd.append(f"{path} {error.code().name} {error.details()}")

    with capture_logs() as logs:
        for _ in range(OVER_GRPC // AT_ONCE):
            await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
    assert odd == []
    assert complaints(logs, caplog) == []
    assert min(codes["OK"], codes["INVALID_ARGUMENT"], codes["NOT_FOUND"], codes["UNAUTHENTICATED"]) > 10, codes
    await prove_unharmed(home)
    await channel.close()
    await client.close()


async def test_over_connect(home: House, caplog: pytest.LogCaptureFixture) -> None:
    client, names = await begin(home)
    fuzzer, codes = Fuzzer(random.Random(2), names), Counter[int]()
    token = {"authorization": f"Bearer {client.token}", "connect-protocol-version": "1"}
    asked = [method for method in METHODS if not method.client_streaming]
    odd: list[str] = []

    async def ask(http: httpx.AsyncClient) -> None:
        method = fuzzer.rng.choice(asked)
        path = f"/{method.containing_service.full_name}/{method.name}"
        codec = fuzzer.rng.choice(("proto", "json"))
        data = fuzzer.data(method.input_type) if codec == "proto" else fuzzer.json(method.input_type)
        content_type = f"application/{codec}"
        if method.server_streaming:
            content_type = f"application/connect+{codec}"
            whole = b"\0" + len(data).to_bytes(4, "big") + data
            data = whole if fuzzer.rng.random() < 0.7 else fuzzer.damaged(whole)
        headers = {**token, "content-type": content_type}
        async with http.stream("POST", path, content=data, headers=headers) as response:
            codes[response.status_code] += 1
            if response.status_code >= 500 and response.status_code != 503:
                odd.append(f"{path} {content_type} {response.status_code} {(await response.aread())[:200]!r}")

    with capture_logs() as logs:
        async with httpx.AsyncClient(base_url=home.web, timeout=20) as http:
            for _ in range(OVER_CONNECT // AT_ONCE):
                await asyncio.gather(*(ask(http) for _ in range(AT_ONCE)))
    assert odd == []
    assert complaints(logs, caplog) == []
    assert min(codes[200], codes[400]) > 50, codes
    await prove_unharmed(home)
    await client.close()
