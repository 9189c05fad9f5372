"""A game's service says, beside its own health, whether the transparency log takes leaves."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from grpc_health.v1 import health_pb2, health_pb2_grpc

import replay.service
from gateway.service import Gateway
from grimoire.bus import Bus
from grimoire.runtime.rpc import open_channel
from tests.gateway.house import GameRuns, House, serving, toy_broker

LOG = "grimoire.v1.TransparencyService"
STATUS = health_pb2.HealthCheckResponse


async def test_a_log_that_goes_away_and_comes_back_is_said_under_its_own_name(tmp_path: Path) -> None:
    async with toy_broker(tmp_path) as (config, keys), AsyncExitStack() as stack:
        game = GameRuns(config)
        log = await stack.enter_async_context(AsyncExitStack())
        await log.enter_async_context(serving(replay.service.serve, config))
        await game.start()
        stack.push_async_callback(game.stop)
        host = await Bus.connect(config.bus_settings(keys, "matchmaking"))
        stack.push_async_callback(host.close)
        home = House(config, keys, host, Gateway(), tmp_path, game)
        channel = await stack.enter_async_context(open_channel(game.address))
        health = health_pb2_grpc.HealthStub(channel)
        said = health.Watch(health_pb2.HealthCheckRequest(service=LOG))

        async def until(status: STATUS.ServingStatus.ValueType) -> None:
            async with asyncio.timeout(30):
                while (await said.read()).status != status:
                    pass

        await until(STATUS.SERVING)
        await log.aclose()
        # Nobody looks after the log while nothing is owed to it; this match owes its promise.
        await home.create_for(["aino", "eino"])
        await until(STATUS.NOT_SERVING)
        own = await health.Check(health_pb2.HealthCheckRequest(service=""))
        assert own.status == STATUS.SERVING, "running matches go on without the log"
        async with serving(replay.service.serve, config):
            await until(STATUS.SERVING)
        said.cancel()
