"""A browser that vanishes without a word is noticed; one that merely has nothing to say is left in peace."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.http_server import HttpServer, _notice_silence
from gateway.web_settings import WebLimits, WebSettings
from grimoire.runtime.config import Address

SILENT_S = 2.0


async def quiet(_scope: Any, _receive: Any, send: Any) -> None:
    """Begins an answer and says no more."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x", "more_body": True})
    await asyncio.Event().wait()


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    limits = WebLimits(stalled_s=SILENT_S, stop_s=0.1, header_s=SILENT_S)
    running = HttpServer(quiet, Address("127.0.0.1", 0), replace(WebSettings.from_env(), limits=limits))
    await running.start()
    yield running
    await running.stop()


async def ask(server: HttpServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(server.address.host, server.address.port)
    writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    return reader, writer


async def test_the_system_is_told_to_end_a_connection_whose_other_side_has_vanished(server: HttpServer) -> None:
    _, writer = await ask(server)
    (connection,) = server._state.connections
    theirs: socket.socket = connection.transport.get_extra_info("socket")
    assert theirs.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    if sys.platform == "linux":
        idle, between, tries, unacknowledged_ms = (
            theirs.getsockopt(socket.IPPROTO_TCP, option)
            for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        )
        assert idle + between * tries <= SILENT_S + 1
        assert unacknowledged_ms == SILENT_S * 1000
    writer.close()


async def test_a_system_that_refuses_an_option_leaves_the_other_bounds(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknown = 9_999
    monkeypatch.setattr(socket, "TCP_KEEPINTVL", unknown)
    reader, writer = await asyncio.open_connection(server.address.host, server.address.port)
    assert await asyncio.wait_for(reader.read(), 20) == b"", "who sends no head is cut off"
    writer.close()


async def test_a_system_with_another_name_for_it_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = getattr(socket, "TCP_KEEPIDLE", None) or socket.TCP_KEEPALIVE
    monkeypatch.delattr(socket, "TCP_KEEPIDLE", raising=False)
    monkeypatch.setattr(socket, "TCP_KEEPALIVE", idle, raising=False)
    with socket.socket() as connection:
        _notice_silence(connection, SILENT_S)
        assert connection.getsockopt(socket.IPPROTO_TCP, idle) == SILENT_S / 2


async def test_who_is_there_and_says_nothing_stays(server: HttpServer) -> None:
    reader, writer = await ask(server)
    while await reader.readline() not in (b"1\r\n", b""):
        pass
    assert await reader.readexactly(3) == b"x\r\n"
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(1), 2 * SILENT_S)
    assert server.connections == 1
    writer.close()
