"""The floor: what no owner can be faster than. Broker, 10 µs rule, as many events, commit, reply.

It is a process of its own, as an owner is, over the same broker, with one SQLite file on disk and one published message
a command. It keeps no match, checks nothing, hashes nothing, and every command is right.

    python -m tests.benchmarks.floor HOME NATS_URL EVENTS

It prints a line when it listens.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

from grimoire.bus import PARTITIONS, Bus, Message, game_role, partition_commands
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.lifecycle import run_loop
from grimoire.v1 import envelope_pb2, match_pb2

GAME = "two_towers"
GROUP = 64
RULE_S = 10e-6


class Floor:
    """Decides on arrival; whatever queued during the last commit goes to disk as one transaction."""

    def __init__(self, bus: Bus, path: Path, events: int) -> None:
        self._bus = bus
        self._events = events
        self._queue: deque[tuple[Message, str, int, bytes]] = deque()
        self._versions: dict[str, int] = {}
        self._wake = asyncio.Event()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE entries (match_id TEXT, version INTEGER, public BLOB, PRIMARY KEY (match_id, version))"
        )

    def take(self, message: Message) -> None:
        """Decides at once."""
        match_id = envelope_pb2.Submission.FromString(message.data).command.match_id
        version = self._versions[match_id] = self._versions.get(match_id, 0) + 1
        until = time.perf_counter() + RULE_S
        while time.perf_counter() < until:
            pass
        events = match_pb2.Events()
        for _ in range(self._events):
            body = match_pb2.PromptOpened(prompt_id=7, seat=1, kind="main", limit_ms=60_000).SerializeToString()
            events.events.add(type="prompt_opened", body=body)
        self._queue.append((message, match_id, version, events.SerializeToString()))
        self._wake.set()

    async def run(self) -> None:
        """Commits, answers, publishes."""
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._queue:
                group = [self._queue.popleft() for _ in range(min(GROUP, len(self._queue)))]
                await loop.run_in_executor(None, self._commit, [row[1:] for row in group])
                for message, match_id, version, public in group:
                    accepted = envelope_pb2.Accepted(version=version)
                    await self._bus.reply(message, envelope_pb2.CommandReply(accepted=accepted).SerializeToString())
                    await self._bus.publish_event(GAME, match_id, public)

    def _commit(self, rows: list[tuple[str, int, bytes]]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")


async def serve(home: Path, nats_url: str, events: int) -> None:
    """Runs until it is killed."""
    config = replace(Config.for_test(home), nats_url=nats_url)
    keys = KeyRing.load_or_create(config.keys_dir)
    bus = await Bus.connect(config.bus_settings(keys, game_role(GAME)))
    floor = Floor(bus, home / f"floor-{time.time_ns()}.db", events)
    for partition in range(PARTITIONS):
        await bus.serve(partition_commands(GAME, partition), floor.take)
    print("ready", flush=True)
    await floor.run()


if __name__ == "__main__":
    run_loop(serve(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
