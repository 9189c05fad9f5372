"""A running stack says the truth about itself when its parts are taken away."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from grimoire.eventstore import open_store
from grimoire.plugins import game_names
from grimoire.runtime.config import Config
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.rpc import is_serving, open_channel
from grimoire.runtime.stack import Stack
from tests.support.postgres import PostgresServer

GAME = "two_towers"
Told = dict[str, Any]


def fetch(stack: Stack, path: str) -> tuple[int, Told]:
    try:
        with urllib.request.urlopen(f"http://{stack.config.metrics}{path}", timeout=10) as page:
            return page.status, json.loads(page.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


async def ready(stack: Stack, path: str, condition: Callable[[int, Told], bool]) -> Told:
    """Waits until the page is so."""
    status, told = 0, {}
    try:
        async with asyncio.timeout(30):
            while True:
                status, told = await asyncio.to_thread(fetch, stack, path)
                if condition(status, told):
                    return told
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"{path} says {status} {told}") from None


async def serving(stack: Stack, service: str) -> bool:
    async with open_channel(str(stack.config.address(service))) as channel:
        return await is_serving(channel)


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    async with Stack(Config.for_test(tmp_path)) as running:
        yield running


async def test_everything_is_ready_and_says_so(stack: Stack) -> None:
    told = await ready(stack, "/readyz", lambda status, _: status == 200)
    assert told["services"].keys() == {*game_names(), "replay", "matchmaking", "gateway", "bots"}
    assert not any(told["services"].values())
    assert (await asyncio.to_thread(fetch, stack, "/healthz")) == (200, {"alive": True})
    for service in told["services"]:
        assert await serving(stack, service)


async def test_without_its_broker_nothing_is_ready_but_everything_lives(stack: Stack) -> None:
    assert stack._broker is not None
    pid = stack._broker.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        told = await ready(
            stack,
            "/readyz",
            lambda status, told: status == 503 and all("broker" in f for f in told["services"].values()),
        )
        assert told["services"]["gateway"]["broker"] == "the broker does not answer"
        assert (await asyncio.to_thread(fetch, stack, "/healthz"))[0] == 200
        assert not await serving(stack, "gateway")
        # A game that cannot be reached gives no sign of life: others may take its matches.
        await ready(stack, f"/readyz/{GAME}", lambda _, told: "partitions" in told["services"][GAME])
        assert not await serving(stack, GAME)
    finally:
        os.kill(pid, signal.SIGCONT)
    await ready(stack, "/readyz", lambda status, _: status == 200)
    assert await serving(stack, GAME)


async def test_a_game_whose_partitions_others_hold_is_not_ready(stack: Stack) -> None:
    async with await open_store(stack.config.database_url(GAME)) as store:
        # Somebody else holds them all, and goes on to give signs of life for a while.
        later = now_ms() + 3_600_000
        taken = await store.claim_many(GAME, range(64), "somebody else", "127.0.0.1:1", later, 0)
        assert len(taken) == 64
        told = await ready(stack, f"/readyz/{GAME}", lambda status, _: status == 503)
        assert told["services"][GAME] == {"partitions": "no partition is served here"}
        assert not await serving(stack, GAME)
        assert (await asyncio.to_thread(fetch, stack, "/readyz/gateway"))[0] == 200
        await store.release(GAME, "somebody else", range(64), later)
        await ready(stack, "/readyz", lambda status, _: status == 200)
    assert await serving(stack, GAME)


async def test_without_its_store_neither_a_game_nor_the_edge_is_ready(tmp_path: Path) -> None:
    server = PostgresServer()
    try:
        urls = {GAME: server.create_database(), "gateway": server.create_database()}
        config = replace(Config.for_test(tmp_path), database_urls=MappingProxyType(urls))
        async with Stack(config) as stack:
            await ready(stack, "/readyz", lambda status, _: status == 200)
            server.stop()
            told = await ready(stack, f"/readyz/{GAME}", lambda _, told: "store" in told["services"][GAME])
            assert set(told["services"][GAME]) <= {"store", "partitions"}
            assert not await serving(stack, GAME)
            told = await ready(stack, "/readyz/gateway", lambda status, _: status == 503)
            assert set(told["services"]["gateway"]) == {"store"}
            assert not await serving(stack, "gateway")
            assert (await asyncio.to_thread(fetch, stack, "/readyz/replay"))[0] == 200
            server.start()
            await ready(stack, "/readyz", lambda status, _: status == 200)
            assert await serving(stack, GAME)
            assert await serving(stack, "gateway")
    finally:
        server.remove()
