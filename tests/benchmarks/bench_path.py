"""The rules alone, and the whole path of a command beside a bare pipeline of the same parts.

Whole path: broker, owner, Two Towers, chain, redaction, digests, SQLite on disk, reply and publication. Bare: broker, a
10 µs stand-in rule, the same number of events in one entry, group commit in SQLite on disk, reply. In both, client,
broker and service share the machine.

    python -m tests.benchmarks.bench_path
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import sqlite3
import tempfile
import time
from collections import deque
from pathlib import Path

from grimoire.bus import Bus, Message, game_role, partition_commands
from grimoire.eventstore import PARTITIONS
from grimoire.match.simulate import simulate
from grimoire.plugins import load_game
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import envelope_pb2, match_pb2
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.table import Table, broker, submission, table

MATCHES = 64
SECONDS = 6.0
RULE_S = 10e-6
GROUP = 64
PUBLISHED = 6
"""Events of a plain play, TT-6.1."""


def engine() -> float:
    """Decisions a second of the rules alone on one core, random play."""
    return simulate(load_game("two_towers"), 300, ["random"], seed="bench").decisions_per_s


async def whole_path(config: Config, keys: KeyRing) -> tuple[float, float]:
    """Commands a second over everything, and milliseconds a command (median)."""
    async with table(config, keys, load_game("two_towers").game) as running:
        began = asyncio.Event()
        counts, times = [0], list[float]()
        end = [0.0]
        players = [asyncio.create_task(_player(running, n, began, end, counts, times)) for n in range(MATCHES)]
        await asyncio.sleep(3)
        end[0] = time.perf_counter() + SECONDS
        began.set()
        await asyncio.gather(*players)
    return counts[0] / SECONDS, sorted(times)[len(times) // 2] * 1000


async def _player(
    running: Table, number: int, began: asyncio.Event, end: list[float], counts: list[int], times: list[float]
) -> None:
    rng = random.Random(number)
    state = await running.begin(f"p{number}x0")
    await began.wait()
    game = 0
    while time.perf_counter() < end[0]:
        if state.over:
            game += 1
            state = await running.begin(f"p{number}x{game}")
        asked = time.perf_counter()
        reply = await running.ask(running.random_command(state, rng))
        assert reply.HasField("accepted"), reply
        times.append(time.perf_counter() - asked)
        counts[0] += 1
        state = await running.state(state.match_id)


class Floor:
    """The bare pipeline: whatever queued during the last commit goes to disk as one transaction."""

    def __init__(self, bus: Bus, path: Path) -> None:
        self._bus = bus
        self._queue: deque[tuple[Message, bytes]] = deque()
        self._wake = asyncio.Event()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE entries (body BLOB)")

    def take(self, message: Message) -> None:
        """Decides at once."""
        envelope_pb2.Submission.FromString(message.data)
        until = time.perf_counter() + RULE_S
        while time.perf_counter() < until:
            pass
        events = match_pb2.Events()
        for _ in range(PUBLISHED):
            body = match_pb2.PromptOpened(prompt_id=7, seat=1, kind="main", limit_ms=60_000).SerializeToString()
            events.events.add(type="prompt_opened", body=body)
        self._queue.append((message, events.SerializeToString()))
        self._wake.set()

    async def run(self) -> None:
        """Commits and answers."""
        answer = envelope_pb2.CommandReply(accepted=envelope_pb2.Accepted(version=1)).SerializeToString()
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                group = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
                await asyncio.to_thread(self._commit, [(body,) for _, body in group])
                for message, body in group:
                    await self._bus.reply(message, answer)
                    await self._bus.publish_event("two_towers", "floor", body)

    def _commit(self, rows: list[tuple[bytes]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO entries VALUES (?)", rows)
        self._db.execute("COMMIT")


async def floor(config: Config, keys: KeyRing, folder: Path) -> float:
    """Commands a second of the bare pipeline."""
    service = await Bus.connect(config.bus_settings(keys, game_role("two_towers")))
    edge = await Bus.connect(config.bus_settings(keys, "gateway"))
    bare = Floor(service, folder / "floor.db")
    for partition in range(PARTITIONS):
        await service.serve(partition_commands("two_towers", partition), bare.take)
    task = asyncio.create_task(bare.run())
    counts = [0]
    end = time.perf_counter() + SECONDS

    async def player(number: int) -> None:
        command = match_pb2.Resign()
        while time.perf_counter() < end:
            asked = submission(f"f{number}", "resign", command, seat=0, command_id=secrets.token_bytes(16))
            await edge.request_command("two_towers", f"f{number}", asked.SerializeToString())
            counts[0] += 1

    await asyncio.gather(*(player(n) for n in range(MATCHES)))
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    for closing in (service, edge):
        await closing.close()
    return counts[0] / SECONDS


async def main() -> None:
    """Measures all three in one run and prints them."""
    busy = wait_until_idle()
    print(told(busy))
    print(f"Rules alone, random play, one core: {engine():,.0f} decisions/s (target 40,000)")
    with tempfile.TemporaryDirectory() as folder:
        async with broker(Path(folder)) as (config, keys):
            bare = await floor(config, keys, Path(folder))
            path, median_ms = await whole_path(config, keys)
    print(f"Bare pipeline, {MATCHES} at once: {bare:,.0f} commands/s")
    print(f"Whole path, {MATCHES} matches: {path:,.0f} commands/s, median {median_ms:.1f} ms")
    print(f"Whole path against the bare pipeline: {path / bare:.2f} (target 0.60)")


if __name__ == "__main__":
    asyncio.run(main())
