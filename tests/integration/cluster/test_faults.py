"""What goes wrong below an owner while matches are played: broker, database, disk, lines. Nothing is lost, or twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import psutil
import pytest
from structlog.testing import capture_logs

from grimoire.eventstore import PARTITIONS, open_store
from grimoire.eventstore.sqlite import SqliteStore
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.owner import OwnerLimits
from grimoire.v1 import match_pb2
from tests.support.crowd import Crowd, until
from tests.support.postgres import PostgresServer
from tests.support.proxy import tcp_proxy, unix_proxy
from tests.support.table import Table, accepted, broker, refused, submission, table
from two_towers.rules import TwoTowers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]

GAME = "two_towers"
PLAYERS = 24


class Scene:
    """A broker, keys and a database; owners come as the test wants them."""

    def __init__(self, config: Config, keys: KeyRing, url: str, stack: AsyncExitStack) -> None:
        self.config = config
        self.keys = keys
        self.url = url
        self._stack = stack

    async def owner(self, *, url: str | None = None, config: Config | None = None, **more: Any) -> Table:
        """One more owner, until the scene ends."""
        return await self._stack.enter_async_context(
            table(config or self.config, self.keys, TwoTowers(), url=url or self.url, **more)
        )

    @asynccontextmanager
    async def playing(self, edge: Table, players: int = PLAYERS) -> AsyncIterator[Crowd]:
        """People play within the block; at its end everything is proved."""
        store = await self._stack.enter_async_context(await open_store(self.url))
        crowd = Crowd(TwoTowers(), self.keys, edge.edge, store)
        crowd.thinking_s = 0.05
        tables = [asyncio.create_task(crowd.play()) for _ in range(players)]
        try:
            await crowd.more(players)
            yield crowd
            crowd.stop()
            await asyncio.gather(*tables)
        finally:
            for task in tables:
                task.cancel()
            await asyncio.gather(*tables, return_exceptions=True)
        await crowd.finish()
        await crowd.prove()


@pytest.fixture
async def scene(tmp_path: Path, database_url: str | None) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))
        yield Scene(config, keys, database_url or config.database_url(GAME), stack)


@asynccontextmanager
async def nobody_can_write(url: str) -> AsyncIterator[None]:
    """Somebody else keeps what a writer needs: SQLite's file, or PostgreSQL's locks of all partitions."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(
            url.removeprefix("sqlite:///"), timeout=30, isolation_level=None, check_same_thread=False
        )
        await asyncio.to_thread(_begin, connection)
        try:
            yield
        finally:
            connection.execute("ROLLBACK")
            connection.close()
        return
    line = await asyncpg.connect(url)
    try:
        async with line.transaction():
            for partition in range(PARTITIONS):
                await line.execute("SELECT pg_advisory_xact_lock(hashtext($1), $2)", GAME, partition)
            yield
    finally:
        await line.close()


def _begin(connection: sqlite3.Connection) -> None:
    while True:
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("BEGIN IMMEDIATE")
            return


async def test_a_database_that_cannot_be_written_is_answered_with_overloaded_and_comes_back(scene: Scene) -> None:
    owner = await scene.owner()
    async with scene.playing(owner) as crowd:
        for _ in range(2):
            async with nobody_can_write(scene.url):
                # Of commands in the store's hands nobody knows: they get no answer, and come again as they are. Those
                # behind them are told to come again later.
                await crowd.turned_away(PLAYERS)
            await crowd.more(PLAYERS)


async def test_a_slow_store_lets_no_queue_grow(scene: Scene) -> None:
    limits = OwnerLimits(queued_instance=32, queued_match=4)
    owner = await scene.owner(limits=limits)
    states = [await owner.begin(f"m{n}") for n in range(8)]
    async with nobody_can_write(scene.url):
        asked = [
            asyncio.create_task(owner.ask(submission(state.match_id, "resign", match_pb2.Resign(), seat=n % 2)))
            for n in range(50)
            for state in states
        ]
        done: set[asyncio.Task[Any]] = set()
        while len(done) < 300:
            done, _ = await asyncio.wait(asked, timeout=0.1)
            assert owner.owner._committer.queued <= limits.queued_instance
            assert len(owner.owner._deferred) <= limits.queued_instance
        replies = [task.result() for task in done]
        assert {refused(reply) for reply in replies} == {"overloaded"}
        assert all(reply.rejection.retry_after_ms > 0 for reply in replies)
    await asyncio.wait(asked, timeout=30)
    ended = [task.result() for task in asked if not task.exception()]
    assert {reply.WhichOneof("result") for reply in ended} == {"accepted", "rejection"}
    for state in states:
        assert (await owner.state(state.match_id)).over


async def test_a_broker_that_is_killed_comes_back_and_play_goes_on(scene: Scene, tmp_path: Path) -> None:
    owner = await scene.owner()
    with capture_logs() as logs:
        async with scene.playing(owner) as crowd:
            for _ in range(2):
                pid = _broker_pid(scene.config)
                os.kill(pid, signal.SIGKILL)
                await until(lambda: not owner.edge.connected)
                await until(lambda: owner.edge.connected)
                await crowd.more(PLAYERS)
    # Nobody is answered on a line that is not there any more.
    assert {line["event"] for line in logs if line["log_level"] == "error"} == {"nats_server_died"}


def _broker_pid(config: Config) -> int:
    port = int((config.nats_url or "").rpartition(":")[2])
    for connection in psutil.net_connections("tcp"):
        if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
            return connection.pid
    raise AssertionError("no broker listens")


async def test_time_without_a_broker_is_given_back(scene: Scene) -> None:
    """Nobody could be served: a longer silence counts as down time, although the database was there."""
    owner = await scene.owner()
    state = await owner.begin("m1", {"turn_time_s": "10"})
    pid = _broker_pid(scene.config)
    os.kill(pid, signal.SIGSTOP)
    await until(lambda: not owner.owner.partitions.sure(owner.clock()))
    await asyncio.sleep(0.5)
    os.kill(pid, signal.SIGCONT)
    await until(lambda: owner.owner.partitions.sure(owner.clock()))
    accepted(await owner.ask(owner.random_command(state, random.Random(1))))
    last = (await owner.store.read("m1"))[-1]
    event = match_pb2.Events.FromString(last.public).events[0]
    assert event.type == "clock_extended"
    assert match_pb2.ClockExtended.FromString(event.body).by_ms >= 2_000


async def test_a_broker_line_that_goes_dead_without_ending(scene: Scene) -> None:
    port = int((scene.config.nats_url or "").rpartition(":")[2])
    async with tcp_proxy(port) as line:
        through = replace(scene.config, nats_url=f"nats://127.0.0.1:{line.port}")
        second = await scene.owner()
        first = await scene.owner(config=through)
        await until(lambda: len(first.owner.partitions.held) == 32 == len(second.owner.partitions.held))
        async with scene.playing(second) as crowd:
            line.pause()
            # It cannot be reached, so it gives no signs of life; the other one takes over.
            await until(lambda: len(second.owner.partitions.held) == PARTITIONS)
            await crowd.more(PLAYERS)
            line.resume()
            await until(lambda: len(first.owner.partitions.held) == 32 == len(second.owner.partitions.held))
            await crowd.more(PLAYERS)


class TestSqlite:
    @pytest.fixture
    def database_url(self) -> None:
        return None

    async def test_a_full_disk(self, scene: Scene) -> None:
        owner = await scene.owner()
        store = owner.store
        assert isinstance(store, SqliteStore)
        async with scene.playing(owner) as crowd:
            pages = await _pragma(store, "page_count")
            await _pragma(store, f"max_page_count = {pages + 20}")
            await crowd.turned_away(PLAYERS)
            await _pragma(store, f"max_page_count = {2**32 - 2}")
            await crowd.more(PLAYERS)


async def _pragma(store: SqliteStore, text: str) -> int:
    def run() -> int:
        with store._transaction() as connection:
            return int(connection.exec_driver_sql(f"PRAGMA {text}").scalar_one())

    return await store._in_writer(run)


class TestPostgres:
    @pytest.fixture
    def server(self) -> AsyncIterator[PostgresServer]:
        own = PostgresServer()
        yield own
        own.remove()

    @pytest.fixture
    def database_url(self, server: PostgresServer) -> str:
        return server.create_database()

    async def test_a_server_that_is_killed_comes_back(self, scene: Scene, server: PostgresServer) -> None:
        owner = await scene.owner()
        async with scene.playing(owner) as crowd:
            for _ in range(2):
                await asyncio.to_thread(server.kill)
                await crowd.turned_away(1)
                await asyncio.to_thread(server.start)
                await crowd.more(PLAYERS)

    async def test_a_full_disk(self, scene: Scene) -> None:
        """What PostgreSQL says then comes from a trigger here: filling its disk is not for every machine."""
        owner = await scene.owner()
        async with scene.playing(owner) as crowd:
            line = await asyncpg.connect(scene.url)
            await line.execute(
                "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
            )
            await line.execute(
                "CREATE TRIGGER full_disk BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION full_disk()"
            )
            await crowd.turned_away(PLAYERS)
            await line.execute("DROP TRIGGER full_disk ON entries")
            await line.close()
            await crowd.more(PLAYERS)

    async def test_a_database_line_that_goes_dead_without_ending(
        self, scene: Scene, server: PostgresServer, tmp_path: Path
    ) -> None:
        folder = Path("/tmp") / f"grimoire-{secrets.token_hex(4)}"  # a socket's path must be short
        folder.mkdir()
        name = ".s.PGSQL.5432"
        try:
            async with unix_proxy(server.folder / name, folder / name) as line:
                second = await scene.owner()
                first = await scene.owner(url=scene.url.replace(str(server.folder), str(folder)))
                await until(lambda: len(first.owner.partitions.held) == 32 == len(second.owner.partitions.held))
                async with scene.playing(second) as crowd:
                    line.pause()
                    await until(lambda: len(second.owner.partitions.held) == PARTITIONS)
                    await crowd.more(PLAYERS)
                    line.resume()
                    await until(lambda: len(first.owner.partitions.held) == 32 == len(second.owner.partitions.held))
                    await crowd.more(PLAYERS)
        finally:
            for left in folder.iterdir():
                left.unlink()
            folder.rmdir()
