"""A running match of two people at the edge, with the raw calls beside the client library."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from grimoire.client import Client, MatchSession
from grimoire.v1 import envelope_pb2, frame_pb2, play_pb2, play_pb2_grpc
from tests.gateway.house import House


class Table:
    """A running match of two people, and the raw way to the edge."""

    def __init__(self, home: House, clients: list[Client], sessions: list[MatchSession]) -> None:
        self.house = home
        self.clients = clients
        self.sessions = sessions
        self.match_id = sessions[0].match_id
        self.channel = grpc.aio.insecure_channel(home.address)
        self.play = play_pb2_grpc.PlayServiceStub(self.channel)

    def metadata(self, seat: int = 0) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.clients[seat].token}"),)

    def command(self, **fields: Any) -> envelope_pb2.Command:
        """Seat 0 changes its stance: a standing command of the toy that is always allowed."""
        whole = {
            "command_id": secrets.token_bytes(16),
            "match_id": self.match_id,
            "seat": 0,
            "type": "set_stance",
            "payload": b"",
        } | fields
        return envelope_pb2.Command(**{k: v for k, v in whole.items() if v is not None})

    async def submit(self, command: envelope_pb2.Command, seat: int = 0) -> envelope_pb2.CommandReply:
        request = play_pb2.SubmitRequest(command=command)
        return (await self.play.Submit(request, metadata=self.metadata(seat))).reply

    async def move(self, seat: int = 0) -> int:
        """One accepted command; gives its version."""
        while True:
            reply = await self.submit(self.command(seat=seat), seat)
            if reply.rejection.code != "not_logged_yet":
                break
            # The first turn waits until what was promised of the match is in the public log.
            await asyncio.sleep(0.02)
        assert reply.HasField("accepted"), reply
        return reply.accepted.version

    async def watch(self, metadata: Any = None, **request: Any) -> AsyncIterator[frame_pb2.Frame]:
        """Raw frames."""
        call = self.play.Watch(
            play_pb2.WatchRequest(match_id=self.match_id, **request), metadata=metadata or self.metadata()
        )
        try:
            async for response in call:
                yield response.frame
        finally:
            call.cancel()

    async def close(self) -> None:
        for session in self.sessions:
            await session.close()
        for client in self.clients:
            await client.close()
        await self.channel.close()


async def open_table(
    home: House, options: dict[str, str] | None = None, names: tuple[str, ...] = ("Aino", "Väinö")
) -> Table:
    """A match that has started."""
    clients = [await home.client(name) for name in names]
    match_id = await home.create(clients, options=options or {})
    sessions = [await client.open_match(match_id) for client in clients]
    for session in sessions:
        await session.started(timeout_s=60)
    # Its start must be in the log before anybody plays.
    while await sessions[0].explain("set_stance") is not None:
        await asyncio.sleep(0.02)
    return Table(home, clients, sessions)


@asynccontextmanager
async def running_table(
    home: House, options: dict[str, str] | None = None, names: tuple[str, ...] = ("Aino", "Väinö")
) -> AsyncIterator[Table]:
    """As `open_table`, closed at the end."""
    table = await open_table(home, options, names)
    try:
        yield table
    finally:
        await table.close()
