"""The edge as a service: health, reflection, numbers, an orderly stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from grimoire.runtime.metrics import METRICS
from tests.gateway.house import House, house
from tests.gateway.tables import running_table

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_it_says_that_it_serves_and_what(home_house: House) -> None:
    async with grpc.aio.insecure_channel(home_house.address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        for service in ("", "grimoire.v1.PlayService", "grimoire.v1.ReplayService"):
            reply = await health.Check(health_pb2.HealthCheckRequest(service=service))
            assert reply.status == health_pb2.HealthCheckResponse.SERVING
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
        listed = {s.name async for reply in call for s in reply.list_services_response.service}
        assert {f"grimoire.v1.{n}Service" for n in ("Session", "Play", "Matchmaking", "Replay")} <= listed
        assert "grimoire.v1.RulesService" not in listed


def _value(metric: Any, **labels: str) -> float:
    return sum(
        sample.value
        for family in metric.collect()
        for sample in family.samples
        if not sample.name.endswith("_created") and sample.labels == labels
    )


async def test_it_counts_commands_and_watchers(home_house: House) -> None:
    before = {code: _value(METRICS.edge_commands, code=code) for code in ("accepted", "not_a_seat")}
    async with running_table(home_house) as table:
        watchers = _value(METRICS.watchers)
        assert watchers >= 2
        assert _value(METRICS.feeds) >= 2
        await table.move()
        await table.submit(table.command(seat=1))
        assert _value(METRICS.edge_commands, code="accepted") >= before["accepted"] + 1
        assert _value(METRICS.edge_commands, code="not_a_seat") == before["not_a_seat"] + 1


async def test_a_stop_ends_open_streams_and_is_over_soon(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        table = running_table(home)
        open_table = await table.__aenter__()
        frames = open_table.watch(as_public=True)
        await anext(frames)
    # The house is gone, the stream with it.
    with pytest.raises(grpc.aio.AioRpcError) as ended:
        async for _ in frames:
            pass
    assert ended.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    assert not [s.alarm for s in open_table.sessions if s.alarm]
    await table.__aexit__(None, None, None)
