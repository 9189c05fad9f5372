"""What a process says about itself: that it lives, and what its services lack."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import pytest

from grimoire.bus import GATEWAY
from grimoire.runtime.config import Address
from grimoire.runtime.health import STANDSTILL_S, Health
from grimoire.runtime.metrics import METRICS, Metrics, MetricsServer
from grimoire.runtime.readiness import broker_check, watched
from grimoire.runtime.rpc import RpcServer, is_serving, open_channel
from tests.support.broker import running_broker, until


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Needs:
    """Something a service needs, which can be taken away."""

    def __init__(self) -> None:
        self.fault = ""
        self.looks = 0

    async def __call__(self) -> str:
        self.looks += 1
        if self.fault == "raises":
            raise RuntimeError("the hidden card is ruby")
        if self.fault == "hangs":
            await asyncio.sleep(60)
        return self.fault


def get(server: MetricsServer, path: str) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://{server.address}{path}", timeout=10) as page:
            return page.status, json.loads(page.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.fixture
async def pages() -> AsyncIterator[tuple[Health, MetricsServer]]:
    health = Health()
    server = MetricsServer.start(Address("127.0.0.1", 0), Metrics(), health)
    yield health, server
    await server.close()


async def test_pages_say_what_each_service_lacks(pages: tuple[Health, MetricsServer]) -> None:
    health, server = pages
    assert await asyncio.to_thread(get, server, "/readyz") == (503, {"ready": False, "services": {}})
    health.note(1, "game", {})
    health.note(2, "replay", {"store": "it is gone"})
    services = {"game": {}, "replay": {"store": "it is gone"}}
    assert await asyncio.to_thread(get, server, "/readyz") == (503, {"ready": False, "services": services})
    assert await asyncio.to_thread(get, server, "/readyz/game") == (200, {"ready": True, "services": {"game": {}}})
    assert (await asyncio.to_thread(get, server, "/readyz/replay"))[0] == 503
    assert (await asyncio.to_thread(get, server, "/readyz/nobody"))[0] == 404
    assert (await asyncio.to_thread(get, server, "/elsewhere"))[0] == 404
    health.note(2, "replay", {})
    assert (await asyncio.to_thread(get, server, "/readyz"))[0] == 200
    assert await asyncio.to_thread(get, server, "/healthz") == (200, {"alive": True})


def test_two_runs_of_one_service_are_ready_together() -> None:
    health = Health()
    health.note(1, "game", {})
    health.note(2, "game", {"partitions": "none"})
    assert health.faults() == {"game": {"partitions": "none"}}
    health.forget(2)
    assert health.faults() == {"game": {}}
    assert health.faults("other") is None


async def test_a_loop_that_stands_still_is_not_alive() -> None:
    clock = Clock()
    health = Health(clock)
    server = MetricsServer.start(Address("127.0.0.1", 0), Metrics(), health)
    try:
        clock.now_s += 1000
        # Before any service runs there is no loop to stand still.
        assert (await asyncio.to_thread(get, server, "/healthz"))[0] == 200
        health.beat()
        health.note(1, "game", {})
        clock.now_s += STANDSTILL_S - 1
        assert (await asyncio.to_thread(get, server, "/healthz"))[0] == 200
        clock.now_s += 1
        assert await asyncio.to_thread(get, server, "/healthz") == (503, {"alive": False})
        status, told = await asyncio.to_thread(get, server, "/readyz")
        assert (status, told["services"]) == (503, {"game": {"loop": "it stands still"}})
    finally:
        await server.close()


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("it is gone", "it is gone"),
        ("raises", "it fails (RuntimeError)"),
        ("hangs", "no answer within 1.5 s"),
    ],
)
async def test_health_follows_what_a_service_needs(fault: str, told: str) -> None:
    health, needs = Health(), Needs()
    rpc = RpcServer(Address("127.0.0.1", 0), [], token=None)
    address = await rpc.start()
    async with open_channel(str(address)) as channel:
        assert not await is_serving(channel)
        async with watched("tried", rpc, {"need": needs}, health=health, every_s=0.01):
            assert await is_serving(channel)
            assert METRICS.registry.get_sample_value("grimoire_ready", {"service": "tried"}) == 1
            needs.fault = fault
            await until(lambda: health.faults() == {"tried": {"need": told}})
            assert not await is_serving(channel)
            assert METRICS.registry.get_sample_value("grimoire_ready", {"service": "tried"}) == 0
            needs.fault = ""
            await until(lambda: health.faults() == {"tried": {}})
            assert await is_serving(channel)
        assert health.faults() == {}
        assert not await is_serving(channel)
    await rpc.stop(0)


async def test_a_service_that_lacks_something_from_the_start_is_not_ready() -> None:
    health, needs = Health(), Needs()
    needs.fault = "not there yet"
    async with watched("tried", None, {"need": needs}, health=health, every_s=0.01):
        assert health.faults() == {"tried": {"need": "not there yet"}}
        needs.fault = ""
        await until(lambda: health.faults() == {"tried": {}})


async def test_the_broker_is_asked_itself(tmp_path) -> None:
    async with running_broker(tmp_path) as broker:
        bus = await broker.connect(GATEWAY)
        check = broker_check(bus)
        assert await check() == ""
        await broker.server.stop()
        await until(lambda: not bus.connected)
        assert await check() == "the broker does not answer"
