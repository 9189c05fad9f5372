"""One installation for each test module: starting it takes longer than most tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import RpcServer
from grimoire.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from tests.gateway.house import House, house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with house(tmp_path_factory.mktemp("house")) as running:
        yield running


@pytest.fixture
def serve_matchmaking() -> Callable[[matchmaking_pb2_grpc.MatchmakingServiceServicer], Callable[..., Any]]:
    """A service that answers for matchmaking with what is given."""

    def serving(servicer: matchmaking_pb2_grpc.MatchmakingServiceServicer) -> Callable[..., Any]:
        async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
            keys = KeyRing.load_or_create(config.keys_dir)
            services = (matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"],)
            server = RpcServer.internal(config, "matchmaking", keys, services)
            matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(servicer, server.raw)
            started(str(await server.start()))
            await stop.wait()
            await server.stop(0.1)

        return serve

    return serving
