"""HTTP/1.1 for browsers: uvicorn's protocol in this process's own loop, with times and sizes that it does not bound."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import structlog
from uvicorn.config import Config as UvicornConfig
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from gateway.guard import App
from gateway.meters import CONNECTIONS
from gateway.web_settings import WebLimits, WebSettings
from grimoire.runtime.config import Address, ConfigError

__all__ = ["HttpServer"]

_log: Final = structlog.stdlib.get_logger(__name__)

_TOO_MUCH: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_TOO_MANY: Final = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_BACKLOG: Final = 1024
_QUEUED: Final = 64
"""Requests that may wait behind the one being answered; browsers send none before they have an answer."""


class HttpServer:
    """Listens and serves one ASGI application.

    Args:
        app: what answers.
        address: where to listen; port 0 takes any free one.
        settings: limits, and which proxies are believed.
    """

    def __init__(self, app: App, address: Address, settings: WebSettings) -> None:
        self.address = address
        """Where it listens; after `start` with the port as bound."""
        self._limits = settings.limits
        # Behind these are many people.
        self._proxies = tuple(ipaddress.ip_network(proxy) for proxy in settings.proxies)
        whole: Any = app
        believed: Any = ProxyHeadersMiddleware(whole, list(settings.proxies)) if settings.proxies else whole
        self._config = UvicornConfig(
            believed,
            http=HttpToolsProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            timeout_keep_alive=int(self._limits.idle_s),
        )
        self._config.load()
        self._state = ServerState()
        self._per_address: Counter[str] = Counter()
        self._server: asyncio.Server | None = None

    async def start(self) -> Address:
        """Begins to listen.

        Raises:
            ConfigError: if the address cannot be listened on.
        """
        try:
            self._server = await asyncio.get_running_loop().create_server(
                self._protocol, self.address.host, self.address.port, backlog=_BACKLOG
            )
        except OSError:
            raise ConfigError(f"cannot listen on {self.address}: is it in use? Choose another, or port 0") from None
        self.address = Address(self.address.host, self._server.sockets[0].getsockname()[1])
        return self.address

    @property
    def connections(self) -> int:
        """Open now."""
        return len(self._state.connections)

    async def stop(self) -> None:
        """Takes no new connections, lets running requests end within a bound, then cuts them off."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        await self._until_done()
        for connection in list(self._state.connections):
            connection.transport.abort()
        # Whoever was cut off finds out; only what does not even then end is ended by force.
        await self._until_done()
        for task in list(self._state.tasks):
            task.cancel()
        await self._until_done()
        self._server = None

    async def _until_done(self) -> None:
        if self._state.tasks:
            await asyncio.wait(set(self._state.tasks), timeout=self._limits.stop_s)

    def _protocol(self) -> _Bounded:
        return _Bounded(self._config, self._state, self._limits, self._per_address, self._is_proxy)

    def _is_proxy(self, host: str) -> bool:
        return bool(self._proxies) and any(ipaddress.ip_address(host) in network for network in self._proxies)


def _notice_silence(connection: socket.socket, silent_s: float) -> None:
    """Has the system end a connection whose other side has vanished without a word, after so long.

    A lid that is closed or a cable that is pulled sends nothing. Without this the system goes on sending for a quarter
    of an hour, and all that time whoever vanished counts as being there (RFC 5482; keepalive for when we send nothing).
    """
    _set(connection, socket.SOL_SOCKET, "SO_KEEPALIVE", 1)
    options = {
        "TCP_KEEPIDLE": silent_s / 2,
        "TCP_KEEPALIVE": silent_s / 2,  # macOS's name of the same
        "TCP_KEEPINTVL": silent_s / 4,
        "TCP_KEEPCNT": 2,
        "TCP_USER_TIMEOUT": silent_s * 1000,
    }
    for name, value in options.items():
        _set(connection, socket.IPPROTO_TCP, name, max(1, int(value)))


def _set(connection: socket.socket, level: int, name: str, value: int) -> None:
    """Sets an option. Not every system has all of them, and some refuse them where the other side has gone already."""
    if hasattr(socket, name):
        with contextlib.suppress(OSError):
            connection.setsockopt(level, getattr(socket, name), value)


class _Bounded(HttpToolsProtocol):
    """One connection. A head that comes too slowly or is too large ends it, and so does a reader that reads nothing."""

    def __init__(
        self,
        config: UvicornConfig,
        state: ServerState,
        limits: WebLimits,
        per_address: Counter[str],
        is_proxy: Callable[[str], bool],
    ) -> None:
        super().__init__(config, state, {})
        self._is_proxy = is_proxy
        self._limits = limits
        self._per_address = per_address
        self._head_bytes = 0
        self._in_head = True
        self._late: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._host = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Counts it, and waits for a request for so long."""
        super().connection_made(transport)
        CONNECTIONS.inc()
        self._host = self.client[0] if self.client else ""
        self._per_address[self._host] += 1
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family in (socket.AF_INET, socket.AF_INET6):
            _set(connection, socket.IPPROTO_TCP, "TCP_NODELAY", 1)
            _notice_silence(connection, self._limits.stalled_s)
        crowded = self._per_address[self._host] > self._limits.connections_per_address
        if len(self.connections) > self._limits.connections or (crowded and not self._is_proxy(self._host)):
            transport.write(_TOO_MANY)
            transport.close()
            return
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets it."""
        CONNECTIONS.dec()
        self._per_address[self._host] -= 1
        if not self._per_address[self._host]:
            del self._per_address[self._host]
        for handle in (self._late, self._stalled):
            if handle is not None:
                handle.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bounds the head of a request."""
        # One read may hold a head and much of a body: a head is taken in pieces, a body as it comes.
        while self._in_head and data and not self.transport.is_closing():
            piece, data = data[: self._limits.header_bytes], data[self._limits.header_bytes :]
            self._head_bytes += len(piece)
            if self._late is None:
                self._wait_for_head()
            super().data_received(piece)
            if self._in_head and self._head_bytes > self._limits.header_bytes:
                self._refuse()
        if data and not self.transport.is_closing():
            super().data_received(data)

    def on_headers_complete(self) -> None:
        """The head is there."""
        if self.transport.is_closing():
            return
        self._in_head = False
        if self._late is not None:
            self._late.cancel()
            self._late = None
        too_large = sum(len(name) + len(value) for name, value in self.headers) > self._limits.header_bytes
        if too_large or len(self.pipeline) >= _QUEUED:
            self._refuse()
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a request's body."""
        if not self.transport.is_closing():
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The next bytes are another request's head."""
        if self.transport.is_closing():
            return
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def pause_writing(self) -> None:
        """The other side does not read: for a while that is its right."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self._limits.stalled_s, self._cut)

    def resume_writing(self) -> None:
        """It reads again."""
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def _wait_for_head(self) -> None:
        self._late = self.loop.call_later(self._limits.header_s, self._give_up)

    def _give_up(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _refuse(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(_TOO_MUCH)
            self.transport.close()

    def _cut(self) -> None:
        _log.info("web_reader_stalled")
        self.transport.abort()
