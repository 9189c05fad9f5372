"""A line in between that can go dead without ending: nothing passes, and neither side is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Forwards connections; `pause` makes those there are half-open, and new ones too until `resume`."""

    def __init__(self, dial: Callable[[], Awaitable[Streams]]) -> None:
        self._dial = dial
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    def pause(self) -> None:
        """From now on nothing passes."""
        self._open.clear()

    def resume(self) -> None:
        """What waited passes."""
        self._open.set()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        there_reader, there_writer = await self._dial()
        self._writers |= {writer, there_writer}
        for source, sink in ((reader, there_writer), (there_reader, writer)):
            task = asyncio.create_task(self._pump(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(65_536):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        await self._open.wait()
        sink.close()

    async def close(self) -> None:
        """Ends all connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.close()
        for writer in self._writers:
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def tcp_proxy(port: int) -> AsyncIterator[Proxy]:
    """In front of a TCP port of this machine."""
    proxy = Proxy(lambda: asyncio.open_connection("127.0.0.1", port))
    server = await asyncio.start_server(proxy.take, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()


@asynccontextmanager
async def unix_proxy(socket: Path, in_front: Path) -> AsyncIterator[Proxy]:
    """In front of a Unix socket."""
    proxy = Proxy(lambda: asyncio.open_unix_connection(socket))
    server = await asyncio.start_unix_server(proxy.take, in_front)
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
