"""A failure is forced at every layer of the shell, with secrets in its hands; then all that was said is searched."""

from __future__ import annotations

import asyncio
import base64
import io
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
import sqlalchemy
import structlog

from grimoire.bus import (
    GATEWAY,
    Bus,
    BusError,
    EmbeddedServer,
    Message,
    UnreachableError,
    command_subject,
    event_subject,
    game_role,
)
from grimoire.bus.roles import platform_roles
from grimoire.fairness.secret import Secret
from grimoire.runtime.config import Address, Config, LogFormat
from grimoire.runtime.keys import KeyFileError, KeyRing
from grimoire.runtime.lifecycle import Service
from grimoire.runtime.metrics import Metrics
from grimoire.runtime.rpc import RpcServer, open_channel
from grimoire.runtime.stack import Stack
from grimoire.v1 import play_pb2, play_pb2_grpc
from tests.support.broker import GAME, Broker, running_broker, until
from tests.support.process_logging import captured_logging

SEED = bytes(range(200, 232))
NONCE = bytes(range(32))
HAND = b"the crystal ball and the ruby, the last of its kind"
SECRETS = (SEED, NONCE, HAND)


class LeakError(RuntimeError):
    """Shows in its text what no text may show."""

    def __init__(self) -> None:
        seed, nonce = SEED, NONCE.hex()
        super().__init__(f"broken with {seed!r}, {nonce} and {HAND!r}")


def forms(secret: bytes) -> set[str]:
    """How bytes could stand in a line of text."""
    return {
        repr(secret)[2:-1],
        secret.hex(),
        secret.hex().upper(),
        base64.b64encode(secret).decode().rstrip("="),
        base64.urlsafe_b64encode(secret).decode().rstrip("="),
        repr(list(secret)),
        secret.decode("latin-1"),
    }


def leaks(text: str, *more: Secret) -> set[str]:
    plain = text.replace("\\\\", "\\")
    wanted = set().union(*(forms(secret) for secret in (*SECRETS, *(key.open() for key in more))))
    return {form for form in wanted if form in text or form in plain}


def test_the_search_finds_what_it_is_for(config: Config, log: io.StringIO) -> None:
    for form in forms(SEED) | forms(HAND):
        assert leaks(f"x {form} y")
    print_unredacted = f"{LeakError()}"
    assert leaks(print_unredacted)


async def test_on_the_bus(tmp_path: Path, log: io.StringIO) -> None:
    async with running_broker(tmp_path) as broker:
        await fail_on_the_bus(broker)
        passwords = [*broker.passwords.values()]
    assert log.getvalue().count("bus_handler_failed") == 3
    assert "bus_not_permitted" in log.getvalue()
    assert leaks(log.getvalue(), *passwords) == set()


async def fail_on_the_bus(broker: Broker) -> None:
    game, edge = await broker.connect(game_role(GAME)), await broker.connect(GATEWAY)
    failed: list[bytes] = []

    def plain(message: Message) -> None:
        failed.append(message.data)
        raise LeakError

    async def later(message: Message) -> None:
        failed.append(message.data)
        raise LeakError

    def echoing(message: Message) -> None:
        failed.append(message.data)
        raise ValueError(message.data, message)

    await edge.serve(event_subject(GAME), plain)
    await edge.serve_async(event_subject(GAME), later)
    await edge.serve(event_subject(GAME), echoing)
    await game.publish_event(GAME, "m1", HAND)
    await game.publish(command_subject(GAME, "m1"), HAND)
    await until(lambda: len(failed) == 3)
    await game.flush()
    with pytest.raises(UnreachableError):
        await Bus.connect(replace(broker.settings(GATEWAY), password=Secret(SEED)))
    with pytest.raises(BusError):
        await edge.request(event_subject(GAME), HAND, reply_s=0.01)


async def test_in_grpc(keys: KeyRing, log: io.StringIO) -> None:
    class Leaky(play_pb2_grpc.PlayServiceServicer):
        async def ListGames(self, request: play_pb2.ListGamesRequest, context: grpc.aio.ServicerContext):
            raise LeakError

        async def Watch(self, request: play_pb2.WatchRequest, context: grpc.aio.ServicerContext):
            yield play_pb2.WatchResponse()
            raise ValueError(request)

    server = RpcServer(Address("127.0.0.1", 0), [], token=keys.service_token, metrics=Metrics())
    play_pb2_grpc.add_PlayServiceServicer_to_server(Leaky(), server.raw)
    address = str(await server.start())
    told = ""
    for token in (keys.service_token, Secret(SEED)):
        channel = open_channel(address, token=token)
        stub = play_pb2_grpc.PlayServiceStub(channel)
        watch = stub.Watch(play_pb2.WatchRequest(match_id="m1", since_hash=NONCE), timeout=20)
        for call in (stub.ListGames(play_pb2.ListGamesRequest(), timeout=20), reading(watch)):
            with pytest.raises(grpc.aio.AioRpcError) as failed:
                await call
            told += str(failed.value)
        await channel.close()
    await server.stop(0)
    assert log.getvalue().count("rpc_failed") == 2
    assert leaks(told + log.getvalue(), keys.service_token) == set()


async def reading(call: grpc.aio.UnaryStreamCall) -> None:
    async for _ in call:
        pass


async def test_in_a_service_that_breaks(config: Config, log: io.StringIO) -> None:
    async with Stack(config, [Service("replay", "tests.support.toy_services:well", "replay")]):
        (config.home / "break-replay").touch()
        await until(lambda: "service_failed" in log.getvalue())
    keys = KeyRing.load_or_create(config.keys_dir)
    passwords = [keys.nats_password(role) for role in (*platform_roles(), game_role(GAME))]
    hidden = (keys.host_key.key, keys.session_key, keys.occupant_key, keys.service_token, *passwords)
    assert "an open seed" not in log.getvalue()
    assert leaks(log.getvalue(), *hidden) == set()


async def test_in_tasks_and_threads_that_nobody_awaits(config: Config) -> None:
    with captured_logging(config, LogFormat.JSON) as log:
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "lost", "exception": LeakError(), "nonce": NONCE})
        structlog.stdlib.get_logger("grimoire").error("thread", thread=threading.current_thread().name, seed=SEED)
        assert "lost" in log.getvalue()
        assert leaks(log.getvalue()) == set()


@pytest.mark.parametrize("write", [logging.getLogger("sqlalchemy").error, logging.getLogger("nats.aio").error])
def test_in_libraries_that_log_what_they_were_given(log: io.StringIO, write: Callable[..., None]) -> None:
    try:
        raise LeakError
    except LeakError:
        write("failed with %s and %r", NONCE.hex(), HAND, exc_info=True)
    assert log.getvalue()
    assert leaks(log.getvalue()) == set()


def test_in_a_database_error_that_quotes_its_parameters(log: io.StringIO) -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as connection:
        try:
            connection.execute(sqlalchemy.text("insert into nowhere values (:seed)"), {"seed": SEED})
        except sqlalchemy.exc.OperationalError:
            structlog.stdlib.get_logger("grimoire.eventstore").exception("append_failed")
    engine.dispose()
    assert "nowhere" in log.getvalue()
    assert leaks(log.getvalue()) == set()


def test_in_a_key_file_that_cannot_be_used(config: Config, log: io.StringIO) -> None:
    KeyRing.load_or_create(config.keys_dir)
    (config.keys_dir / "session.key").write_text(SEED.hex() + "00")
    try:
        KeyRing.load_or_create(config.keys_dir)
    except KeyFileError:
        structlog.stdlib.get_logger("grimoire").exception("keys_unusable")
    assert "keys_unusable" in log.getvalue()
    assert leaks(log.getvalue()) == set()


async def test_in_a_broker_that_cannot_start(tmp_path: Path, log: io.StringIO) -> None:
    passwords = {GATEWAY: Secret(SEED)}
    server = await EmbeddedServer.start(passwords, run_dir=tmp_path / "run", log_dir=tmp_path / "logs")
    try:
        pid = server.pid
        assert pid is not None
        os.kill(pid, 9)
        await until(lambda: "nats_server_restarted" in log.getvalue())
    finally:
        await server.stop()
    told = log.getvalue() + (tmp_path / "logs" / "nats.log").read_text()
    assert leaks(told) == set()
