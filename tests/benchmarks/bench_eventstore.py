"""How much the event store costs over its bare driver: `python -m tests.benchmarks.bench_eventstore`.

Groups of 64 entries (header 80 bytes, public 250, private parts 150), one for each of 64 matches, each group one
transaction on disk. The bare driver writes the same rows into the same tables with `executemany` and checks nothing.
The two take turns, so that whatever else the machine does hits both.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import asyncpg

from grimoire.eventstore import PARTITIONS, EventStore, NewEntry, open_store, partition_of
from tests.support.eventstore import GAME, new_entry
from tests.support.postgres import PostgresServer

GROUP = 64
GROUPS = 25
ROUNDS = 9

Append = Callable[[Sequence[NewEntry]], Awaitable[None]]

_ENTRY = "INSERT INTO entries (partition, match_id, version, command_id, server_time_ms, header, public, digests, hash)"
_HIDDEN = "INSERT INTO hidden (partition, match_id, version, parts)"
_NEW_HEAD = (
    "INSERT INTO match_head (partition, match_id, game, version, hash, epoch, status, next_deadline_ms, rules_version, "
    "created_ms, updated_ms)"
)
_MOVE_HEAD = "UPDATE match_head SET version = {}, hash = {}, updated_ms = {} WHERE partition = {} AND match_id = {}"


def entry_of(match_id: str, version: int, epoch: int) -> NewEntry:
    """An entry of the usual size."""
    return new_entry(
        match_id,
        version,
        header=os.urandom(80),
        public=os.urandom(250),
        digests=os.urandom(80),
        parts=os.urandom(150),
        epoch=epoch,
    )


def rows_of(entries: Sequence[NewEntry]) -> tuple[list[tuple[object, ...]], ...]:
    """What the bare drivers write: entries, private parts, new heads, moved heads."""
    places = [(partition_of(one.match_id), one.match_id) for one in entries]
    pairs = list(zip(places, entries, strict=True))
    return (
        [
            (*at, one.version, one.command_id, one.server_time_ms, one.header, one.public, one.digests, one.hash)
            for at, one in pairs
        ],
        [(*at, one.version, one.parts) for at, one in pairs],
        [
            (*at, GAME, 1, one.hash, 0, 1, one.next_deadline_ms, 1, one.server_time_ms, one.server_time_ms)
            for at, one in pairs
            if one.version == 1
        ],
        [(one.version, one.hash, one.server_time_ms, *at) for at, one in pairs if one.version > 1],
    )


def places(count: int, mark: str) -> str:
    """`VALUES (?, ?, ...)` or `VALUES ($1, $2, ...)`."""
    return f" VALUES ({', '.join(mark if mark == '?' else f'${number}' for number in range(1, count + 1))})"


def bare_sqlite(path: Path) -> Append:
    """Appends with the sqlite3 module."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")

    async def append(entries: Sequence[NewEntry]) -> None:
        rows, parts, born, moved = rows_of(entries)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_NEW_HEAD + places(11, "?"), born)
        connection.executemany(_MOVE_HEAD.format(*"?????"), moved)
        connection.executemany(_ENTRY + places(9, "?"), rows)
        connection.executemany(_HIDDEN + places(4, "?"), parts)
        connection.execute("COMMIT")

    return append


async def bare_asyncpg(url: str) -> Append:
    """Appends with asyncpg."""
    connection = await asyncpg.connect(url, server_settings={"synchronous_commit": "on"})

    async def append(entries: Sequence[NewEntry]) -> None:
        rows, parts, born, moved = rows_of(entries)
        async with connection.transaction():
            await connection.executemany(_NEW_HEAD + places(11, "$"), born)
            await connection.executemany(_MOVE_HEAD.format("$1", "$2", "$3", "$4", "$5"), moved)
            await connection.executemany(_ENTRY + places(9, "$"), rows)
            await connection.executemany(_HIDDEN + places(4, "$"), parts)

    return append


async def rate(append: Append, name: str, epoch: int) -> float:
    """Entries a second over new matches."""
    groups = [
        [entry_of(f"{name}-{number}", version, epoch) for number in range(GROUP)] for version in range(1, GROUPS + 1)
    ]
    began = time.perf_counter()
    for group in groups:
        await append(group)
    return GROUP * GROUPS / (time.perf_counter() - began)


async def reading_rate(store: EventStore) -> float:
    """Entries a second, with private parts, match by match."""
    began = time.perf_counter()
    read = [len(await store.read(f"store-0-{number}", parts=True)) for number in range(GROUP)]
    return sum(read) / (time.perf_counter() - began)


async def compare(title: str, store: EventStore, bare: Append) -> None:
    """Prints the rates of both and their ratio."""
    claims = await store.claim_many(GAME, range(PARTITIONS), "bench", "bench:1", 1_000, 500)
    epoch = claims[0].epoch
    await rate(store.append, "warm", epoch)
    await rate(bare, "warm-bare", 0)
    ours, theirs = [], []
    for number in range(ROUNDS):
        ours.append(await rate(store.append, f"store-{number}", epoch))
        theirs.append(await rate(bare, f"bare-{number}", 0))
    ratio = statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
    print(
        f"{title:10} append {statistics.median(ours):8.0f} entries/s, bare driver {statistics.median(theirs):8.0f}, "
        f"ratio {ratio:.2f}; read {await reading_rate(store):8.0f} entries/s"
    )


async def main() -> None:
    """Measures both databases."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        async with await open_store(f"sqlite:///{path}") as store:
            await compare("SQLite", store, bare_sqlite(path))
    server = PostgresServer(fsync=True)
    try:
        url = server.create_database()
        async with await open_store(url) as store:
            await compare("PostgreSQL", store, await bare_asyncpg(url))
    finally:
        server.remove()


if __name__ == "__main__":
    asyncio.run(main())
