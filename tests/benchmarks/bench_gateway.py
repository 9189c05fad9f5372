"""What the edge costs: a thousand open sessions, then five hundred watchers of one match that is being played.

Every session is a guest with a cookie of its own and one stream open, as a page of the web client has. The edge runs in
a process of its own; the readers are in another, so that what they use is not counted. All share the machine.

    python -m tests.benchmarks.bench_gateway [sessions] [watchers] [moves]
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import struct
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import psutil

from gateway.accounts import AccountLimits
from gateway.service import Gateway
from gateway.web_settings import WebLimits, WebSettings
from grimoire.client import Client, MatchSession
from grimoire.runtime.config import Config, LogLevel, RunFile
from grimoire.runtime.lifecycle import Service, default_services
from grimoire.runtime.observe import set_up_process
from grimoire.runtime.stack import Stack
from grimoire.v1 import lobby_pb2, play_pb2
from tests.benchmarks.machine import told, wait_until_idle

GAME = "two_towers"
PACE_S = 0.2
QUIET_S = 15.0
READ_WHOLE = 10
"""Of so many watchers one reads what its frames hold; the others only count them."""


async def serve(config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
    """The edge, with room for a whole crowd at one address."""
    web = WebSettings(limits=WebLimits(requests_per_s=1e6, request_burst=10**6, connections_per_address=10_000))
    accounts = AccountLimits(guests_per_s=1e6, guest_burst=10**6)
    await Gateway(account_limits=accounts, web=web)(config, stop=stop, started=started)


# ---- the crowd -------------------------------------------------------------------------------------------------------


class Page:
    """One page of one guest, with as little work as can be."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._cookie = ""
        self._open: list[asyncio.StreamWriter] = []

    async def _post(
        self, path: str, kind: str, body: bytes
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
        reader, writer = await asyncio.open_connection(self._host, self._port)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nOrigin: http://{self._host}:{self._port}\r\n"
            f"Content-Type: application/{kind}\r\nContent-Length: {len(body)}\r\nCookie: {self._cookie}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer.decode())
        return reader, writer, answer

    async def come_in(self) -> None:
        """A guest by one click."""
        _, writer, answer = await self._post("/grimoire.v1.SessionService/CreateGuest", "proto", b"")
        head = next(line for line in answer.split(b"\r\n") if line.lower().startswith(b"set-cookie:"))
        self._cookie = head.partition(b":")[2].partition(b";")[0].strip().decode()
        writer.close()

    async def follow(self, request: lobby_pb2.FollowRequest) -> AsyncIterator[bytes]:
        """What comes over one stream."""
        body = request.SerializeToString()
        content = struct.pack(">BI", 0, len(body)) + body
        reader, writer, _ = await self._post("/grimoire.v1.LobbyService/Follow", "connect+proto", content)
        # Whoever lets go of its writer hangs up.
        self._open.append(writer)
        while True:
            # One chunk holds one envelope: the edge sends each by itself.
            size = int(await reader.readline(), 16)
            chunk = await reader.readexactly(size + 2)
            yield chunk[5:-2]


async def crowd(host: str, port: int, match_id: str, sessions: int, watchers: int) -> None:
    """Opens pages as it is told to on standard input, and tells what they saw on standard output."""
    pages = [Page(host, port) for _ in range(sessions)]
    room = asyncio.Semaphore(20)

    async def come_in(page: Page) -> None:
        async with room:
            await page.come_in()

    await asyncio.gather(*map(come_in, pages))
    tell({"in": len(pages)})
    await hear()
    seen: dict[int, list[float]] = {}
    counts = {"lobby": 0, "frames": 0, "bytes": 0}
    ready = asyncio.Semaphore(0)

    async def look(page: Page, request: lobby_pb2.FollowRequest, kind: str, whole: bool) -> None:
        first = True
        async for data in page.follow(request):
            counts[kind] += 1
            counts["bytes"] += len(data)
            if first:
                first = False
                ready.release()
            if whole:
                news = lobby_pb2.FollowResponse.FromString(data).match
                if news.frame.HasField("delta"):
                    seen.setdefault(news.frame.delta.to, []).append(time.time())

    async def all_look(number: int, request: lobby_pb2.FollowRequest, kind: str, every: int) -> None:
        for n in range(number):
            tasks.append(asyncio.create_task(look(pages[n], request, kind, bool(every) and n % every == 0)))
            if n % 50 == 49:
                await asyncio.sleep(0.05)
        for _ in range(number):
            async with asyncio.timeout(60):
                await ready.acquire()
            for task in tasks:
                if task.done():
                    task.result()

    tasks: list[asyncio.Task[None]] = []
    await all_look(sessions, lobby_pb2.FollowRequest(lobby=lobby_pb2.WatchLobbyRequest()), "lobby", 0)
    tell({"open": sessions})
    await hear()
    watch = [play_pb2.WatchRequest(match_id=match_id)]
    await all_look(watchers, lobby_pb2.FollowRequest(matches=watch, presence=True, chat=True), "frames", READ_WHOLE)
    tell({"watching": watchers})
    await hear()
    counts["frames"] = counts["bytes"] = 0
    await hear()
    tell({"seen": {str(version): times for version, times in seen.items()}, **counts})
    for task in tasks:
        task.cancel()


def tell(what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def hear() -> None:
    """Waits for a word."""
    await asyncio.to_thread(sys.stdin.readline)


# ---- the measurement -------------------------------------------------------------------------------------------------


class Edge:
    """The edge's process, as the system sees it."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)

    @property
    def mib(self) -> float:
        """Resident memory."""
        return self._process.memory_info().rss / 2**20

    @property
    def cpu_s(self) -> float:
        """Processor time used so far."""
        used = self._process.cpu_times()
        return used.user + used.system


async def play(sessions: list[MatchSession], moves: int) -> dict[int, float]:
    """Plays at a steady pace; gives by version when its reply was there."""
    replied: dict[int, float] = {}
    while len(replied) < moves and sessions[0].closed is None:
        for session in sessions:
            for prompt in list(session.own_prompts):
                answer = prompt.legal[len(replied) % len(prompt.legal)]
                accepted = await session.submit(answer.type, answer.payload, prompt.prompt_id)
                replied[accepted.version] = time.time()
                await asyncio.sleep(PACE_S)
        await asyncio.sleep(0.01)
    return replied


async def measure(sessions: int, watchers: int, moves: int) -> None:
    with tempfile.TemporaryDirectory(prefix="grimoire-bench-") as folder:
        config = replace(Config.for_test(Path(folder)), log_level=LogLevel.WARNING)
        set_up_process(config)
        services = [
            Service("gateway", "tests.benchmarks.bench_gateway:serve", edge=True) if s.name == "gateway" else s
            for s in default_services()
        ]
        async with Stack(config, services, processes=True) as stack, contextlib.AsyncExitStack() as cleanup:
            running = RunFile.read(config.home)
            assert running is not None
            edge = Edge(running.processes["gateway"])
            clients = [await Client.connect(str(stack.config.gateway), keepsakes=Path(folder) / n) for n in "ab"]
            for client in clients:
                cleanup.push_async_callback(client.close)
                await client.guest()
            challenge = await clients[0].create(GAME)
            await clients[1].join(challenge.challenge_id)
            match_id = (await clients[0].matched(challenge.challenge_id)).match_id
            seats = [await client.open_match(match_id) for client in clients]
            for seat in seats:
                cleanup.push_async_callback(seat.close)
                await seat.started(timeout_s=30)
            web = stack.config.address("web")
            arguments = ("crowd", web.host, str(web.port), match_id, str(sessions), str(watchers))
            program = ("-m", "tests.benchmarks.bench_gateway", *arguments)
            readers = await asyncio.create_subprocess_exec(
                sys.executable, *program, stdin=PIPE, stdout=PIPE, limit=2**26
            )
            await report(edge, readers, seats, sessions, watchers, moves)
            await readers.wait()


async def report(
    edge: Edge, readers: Process, seats: list[MatchSession], sessions: int, watchers: int, moves: int
) -> None:
    assert readers.stdin is not None
    assert readers.stdout is not None

    async def heard() -> dict[str, object]:
        line = await readers.stdout.readline()  # type: ignore[union-attr]
        if not line:
            raise RuntimeError("the readers have gone")
        found: dict[str, object] = json.loads(line)
        return found

    def go_on() -> None:
        readers.stdin.write(b"\n")  # type: ignore[union-attr]

    before, cpu = edge.mib, edge.cpu_s
    await heard()
    print(f"edge at rest                    {before:8.0f} MiB")
    print(
        f"{sessions} guests made                {edge.mib:8.0f} MiB, {(edge.cpu_s - cpu) / sessions * 1e3:.2f} ms each"
    )
    made = edge.mib
    go_on()
    await heard()
    opened = edge.mib
    print(f"{sessions} sessions, a stream each     {opened:8.0f} MiB, {(opened - made) * 1024 / sessions:.0f} KiB each")
    cpu = edge.cpu_s
    await asyncio.sleep(QUIET_S)
    print(f"  while nothing happens         {(edge.cpu_s - cpu) / QUIET_S:8.1%} of one processor")
    go_on()
    await heard()
    watching = edge.mib
    print(
        f"{watchers} watchers beside them       {watching:8.0f} MiB,"
        f" {(watching - opened) * 1024 / watchers:.0f} KiB each"
    )
    cpu = edge.cpu_s
    await asyncio.sleep(QUIET_S)
    print(f"  while nobody moves            {(edge.cpu_s - cpu) / QUIET_S:8.1%} of one processor")
    go_on()
    await asyncio.sleep(0.5)
    cpu, began = edge.cpu_s, time.time()
    replied = await play(seats, moves)
    took, used = time.time() - began, edge.cpu_s - cpu
    await asyncio.sleep(2)
    go_on()
    told_by_readers = await heard()
    frames, size = int(told_by_readers["frames"]), int(told_by_readers["bytes"])  # type: ignore[call-overload]
    print(f"{len(replied)} moves in {took:.0f} s              {used / took:8.1%} of one processor")
    print(
        f"  for each move                 {used / len(replied) * 1e3:8.1f} ms,"
        f" for each frame {used / max(frames, 1) * 1e6:.0f} µs"
    )
    print(f"  frames                        {frames:8d} of {size / max(frames, 1):.0f} bytes")
    print(f"  memory afterwards             {edge.mib:8.0f} MiB")
    seen: dict[str, list[float]] = told_by_readers["seen"]  # type: ignore[assignment]
    late = sorted((t - replied[int(v)]) * 1e3 for v, times in seen.items() if int(v) in replied for t in times)
    if late:
        middle, p95 = late[len(late) // 2], late[len(late) * 95 // 100]
        print(f"  after the mover's own reply   {middle:8.1f} ms median, {p95:.1f} ms p95 at the watchers")


def main() -> None:
    if sys.argv[1:2] == ["crowd"]:
        host, port, match_id, sessions, watchers = sys.argv[2:]
        asyncio.run(crowd(host, int(port), match_id, int(sessions), int(watchers)))
        return
    numbers = [int(argument) for argument in sys.argv[1:]]
    sessions, watchers, moves = numbers + [1_000, 500, 100][len(numbers) :]
    busy = wait_until_idle()
    asyncio.run(measure(sessions, watchers, moves))
    print(told(busy))


if __name__ == "__main__":
    main()
