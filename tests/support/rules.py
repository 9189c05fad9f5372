"""The gRPC face of a table's game, and a way to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from grimoire.plugins import GamePlugin
from grimoire.runtime.config import Config
from grimoire.runtime.rpc import RpcServer, dialer
from grimoire.runtime.rules_service import RulesService
from grimoire.v1 import frame_pb2, rules_pb2, rules_pb2_grpc
from tests.support.table import Table

PUBLIC = frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_PUBLIC)


@asynccontextmanager
async def rules_of(running: Table, plugin: GamePlugin, config: Config, **more: Any) -> AsyncIterator[Any]:
    """A stub of the RulesService over this table's owner."""
    service = rules_pb2.DESCRIPTOR.services_by_name["RulesService"]
    server = RpcServer.internal(config, plugin.game.id, running.keys, (service,))
    rules_pb2_grpc.add_RulesServiceServicer_to_server(
        RulesService(plugin, running.owner, running.clock, **more), server.raw
    )
    address = await server.start()
    channel = dialer(config, running.keys)(str(address))
    try:
        yield rules_pb2_grpc.RulesServiceStub(channel)
    finally:
        await channel.close()
        await server.stop(0.1)
