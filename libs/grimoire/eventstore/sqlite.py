"""The store on SQLite (3.37 or newer): one writer thread, a few readers, write-ahead log, every commit on disk."""

# ruff: noqa: D102 -- the interface says what each method does

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ParamSpec, Self, TypeVar, cast

from sqlalchemy import URL, Connection, Engine, Select, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool

from grimoire.eventstore import appending, statements
from grimoire.eventstore.api import (
    Claim,
    Conflict,
    Deadline,
    EventStore,
    Head,
    Instance,
    Muster,
    NewEntry,
    Owner,
    StoredEntry,
    StoreError,
    TailPage,
    Unavailable,
)
from grimoire.eventstore.group import Facts, Run, faults_of, runs_of
from grimoire.eventstore.ownership import FORGOTTEN_AFTER_MS, Standing, by_partition, claimed, silence
from grimoire.eventstore.partitions import partition_of
from grimoire.eventstore.schema import migrate, require_head, revision_of

__all__ = ["SqliteStore"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_READERS = 4
_CACHE_KIB = 65_536
"""Pages the writer keeps in memory: the index leaves of all matches under way, so that none of them is read twice."""
_LOG_PAGES = 4_000
"""Pages of the write-ahead log after which they are copied into the file: seldom, and each only once however often it
was written, since whoever commits then waits for it."""
_LAST = 2**63 - 1

_DONE = "UPDATE dues SET bits = bits & ~? WHERE partition = ? AND match_id = ?"
_ALL_DONE = "DELETE FROM dues WHERE partition = ? AND match_id = ? AND bits = 0"
_STANDINGS = "SELECT partition, instance, epoch, heartbeat_ms FROM partition_owner WHERE game = ?"
_TAKE = """
INSERT INTO partition_owner (game, partition, instance, address, epoch, heartbeat_ms) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (game, partition) DO UPDATE SET instance = excluded.instance, address = excluded.address,
epoch = excluded.epoch, heartbeat_ms = max(heartbeat_ms, excluded.heartbeat_ms)
"""
_BEAT = "UPDATE partition_owner SET heartbeat_ms = max(heartbeat_ms, ?) WHERE game = ? AND partition = ?"
_RELEASE = """
UPDATE partition_owner SET instance = NULL, heartbeat_ms = max(heartbeat_ms, ?) WHERE game = ? AND partition = ?
"""
_SIGN_IN = """
INSERT INTO instances (game, instance, heartbeat_ms) VALUES (?, ?, ?)
ON CONFLICT (game, instance) DO UPDATE SET heartbeat_ms = max(heartbeat_ms, excluded.heartbeat_ms)
"""
_STRIKE_OFF = "DELETE FROM instances WHERE game = ? AND heartbeat_ms < ?"
_LEAVE = "DELETE FROM instances WHERE game = ? AND instance = ?"
_DOWN = "INSERT INTO downtime (game, partition, from_ms, to_ms) VALUES (?, ?, ?, ?)"
_NEWEST = "SELECT coalesce(max(position), 0) FROM entries"
_TAIL = """
SELECT e.match_id, e.version, e.command_id, e.server_time_ms, e.header, e.public, e.digests, e.hash, NULL, e.position
FROM entries AS e JOIN match_head AS h ON h.partition = e.partition AND h.match_id = e.match_id
WHERE e.position > ? AND e.position <= ? AND h.game = ? ORDER BY e.position LIMIT ?
"""


class SqliteStore(EventStore):
    """An `EventStore` in one SQLite file. Made by `SqliteStore.open` or `grimoire.eventstore.open_store`."""

    def __init__(self, path: Path, *, read_only: bool, busy_s: float) -> None:
        self._path = path
        self._read_only = read_only
        self._busy_s = busy_s
        self._closed = False
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="eventstore-writer")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="eventstore-reader")
        self._reading: Engine = _engine(path, busy_s, read_only=True)
        self._writing: Engine = _engine(path, busy_s, read_only=False)
        self._connection: Connection | None = None
        self._raw: sqlite3.Connection | None = None

    @classmethod
    async def open(cls, path: Path, *, read_only: bool = False, busy_s: float = 5.0) -> Self:
        """Opens a file, and creates it or brings its schema up to date where needed.

        Args:
            path: the file; folders on the way are made; a new file is for its owner's eyes only.
            read_only: never write, neither create nor migrate.
            busy_s: how many seconds to wait for another process that writes, before `Unavailable`.
        """
        store = cls(path, read_only=read_only, busy_s=busy_s)
        try:
            if read_only:
                require_head(await store._read(revision_of))
            else:
                await store._in_writer(store._prepare)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Waits for what is being written and lets go of the file."""
        self._closed = True
        await asyncio.to_thread(self._shut)

    async def append(self, entries: Sequence[NewEntry]) -> None:
        if entries:
            await self._in_writer(self._append, runs_of(entries))

    async def read(
        self, match_id: str, first: int = 1, last: int | None = None, parts: bool = False
    ) -> list[StoredEntry]:
        bounds = {"first": first, "last": _LAST if last is None else last}
        where = {"partition": partition_of(match_id), "match_id": match_id, **bounds}
        rows = await self._select(statements.READ_WITH_PARTS if parts else statements.READ, where)
        return [StoredEntry(*row) for row in rows]

    async def by_command(self, match_id: str, command_id: bytes) -> StoredEntry | None:
        where = {"partition": partition_of(match_id), "match_id": match_id, "command_id": command_id}
        rows = await self._select(statements.BY_COMMAND, where)
        return StoredEntry(*rows[0]) if rows else None

    async def head(self, match_id: str) -> Head | None:
        rows = await self._select(statements.HEAD_OF, {"partition": partition_of(match_id), "match_id": match_id})
        return Head(*rows[0]) if rows else None

    async def heads(
        self,
        game: str,
        *,
        partitions: Collection[int] | None = None,
        statuses: Collection[int] | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> list[Head]:
        rows = await self._select(statements.heads(game, partitions, statuses, limit, after), {})
        return [Head(*row) for row in rows]

    async def deadlines(self, game: str, partitions: Collection[int], before_ms: int | None = None) -> list[Deadline]:
        rows = await self._select(statements.deadlines(game, partitions, before_ms), {})
        return [Deadline(*row) for row in rows]

    async def dues(self, game: str, partitions: Collection[int]) -> dict[str, int]:
        rows = await self._select(statements.dues_of(game, partitions), {})
        return {row[0]: row[1] for row in rows}

    async def discharge(self, done: Mapping[str, int]) -> None:
        if done:
            await self._in_writer(self._discharge, done)

    async def tail(self, game: str, cursor: str | None = None, limit: int = 1000) -> TailPage:
        return await self._read(_tail, game, _position(cursor), limit)

    async def claim_many(
        self,
        game: str,
        partitions: Collection[int],
        instance: str,
        address: str,
        now_ms: int,
        stale_after_ms: int,
    ) -> dict[int, Claim]:
        return await self._in_writer(self._claim, game, partitions, instance, address, now_ms, stale_after_ms)

    async def heartbeat(
        self,
        game: str,
        instance: str,
        partitions: Collection[int],
        now_ms: int,
        stale_after_ms: int | None = None,
    ) -> set[int]:
        return await self._in_writer(self._heartbeat, game, instance, partitions, now_ms, stale_after_ms)

    async def muster(
        self, game: str, instance: str, partitions: Collection[int], now_ms: int, stale_after_ms: int
    ) -> Muster:
        return await self._in_writer(self._muster, game, instance, partitions, now_ms, stale_after_ms)

    async def leave(self, game: str, instance: str) -> None:
        await self._in_writer(self._leave, game, instance)

    async def release(self, game: str, instance: str, partitions: Collection[int], now_ms: int) -> set[int]:
        return await self._in_writer(self._release, game, instance, partitions, now_ms)

    async def owners(self, game: str) -> list[Owner]:
        return [Owner(*row) for row in await self._select(statements.OWNERS, {"game": game})]

    async def downtime(self, game: str, partition: int, since_ms: int = 0) -> list[tuple[int, int]]:
        where = {"game": game, "partition": partition, "since_ms": since_ms}
        return [(row[0], row[1]) for row in await self._select(statements.DOWNTIME, where)]

    async def owed_downtime(self, game: str, partitions: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        rows = await self._select(statements.owed_downtime(game, partitions), {})
        return by_partition((row[0], row[1], row[2]) for row in rows)

    # ---- threads -----------------------------------------------------------------------------------------------

    async def _in_writer(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if self._read_only:
            raise StoreError("this store was opened for reading only")
        return await self._in_thread(self._writer, work, *args, **kwargs)

    async def _read(self, work: Callable[..., _T], *args: object) -> _T:
        return await self._in_thread(self._readers, self._with_reader, work, *args)

    async def _in_thread(
        self, threads: ThreadPoolExecutor, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        if self._closed:
            raise StoreError("this store is closed")
        call = functools.partial(_translated, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(threads, call)

    def _with_reader(self, work: Callable[..., _T], *args: object) -> _T:
        with self._reading.connect() as connection:
            return work(connection, *args)

    async def _select(self, statement: Select[tuple[object, ...]], where: dict[str, object]) -> Sequence[Sequence[Any]]:
        return await self._read(lambda connection: connection.execute(statement, where).all())

    def _shut(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        if self._connection is not None:
            self._connection.close()
        self._writing.dispose()
        self._reading.dispose()

    # ---- in the writer thread ----------------------------------------------------------------------------------

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._writing.connect()
        return self._connection

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Connection]:
        connection = self._connected()
        with connection.begin():
            yield connection

    def _appender(self) -> sqlite3.Connection:
        if self._raw is None:
            self._raw = cast("sqlite3.Connection", self._connected().connection.driver_connection)
            appending.prepare(self._raw)
        return self._raw

    def _prepare(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # The file holds cards that nobody may see yet; SQLite gives its -wal and -shm files the same mode.
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _switch_to_wal(self._path, self._busy_s)
        with self._transaction() as connection:
            migrate(connection)

    def _append(self, runs: list[Run]) -> None:
        rows = [row for run in runs for row in appending.rows(run)]
        try:
            appending.write(self._appender(), rows)
            return
        except sqlite3.IntegrityError as error:
            # Other constraints (NOT NULL, types) are a caller's bug, no conflict.
            if error.sqlite_errorcode not in _REFUSED:
                raise
        # Looked at once the group is rolled back, so that its own rows are not mistaken for earlier ones.
        with self._transaction() as connection:
            raise Conflict(faults_of(runs, _facts(connection, runs)))

    def _claim(
        self, game: str, partitions: Collection[int], instance: str, address: str, now_ms: int, stale_after_ms: int
    ) -> dict[int, Claim]:
        claims: dict[int, Claim] = {}
        with self._transaction() as connection:
            standings = _standings(connection, game)
            for partition in sorted(set(partitions)):
                claim = claimed(standings.get(partition), instance, now_ms, stale_after_ms)
                if claim is None:
                    continue
                claims[partition] = claim
                connection.exec_driver_sql(_TAKE, (game, partition, instance, address, claim.epoch, now_ms))
                if claim.down_from_ms is not None:
                    connection.exec_driver_sql(_DOWN, (game, partition, claim.down_from_ms, claim.down_to_ms))
        return claims

    def _heartbeat(
        self, game: str, instance: str, partitions: Collection[int], now_ms: int, stale_after_ms: int | None
    ) -> set[int]:
        with self._transaction() as connection:
            return _beat(connection, game, instance, partitions, now_ms, stale_after_ms)

    def _muster(
        self, game: str, instance: str, partitions: Collection[int], now_ms: int, stale_after_ms: int
    ) -> Muster:
        with self._transaction() as connection:
            kept = _beat(connection, game, instance, partitions, now_ms, stale_after_ms)
            connection.exec_driver_sql(_SIGN_IN, (game, instance, now_ms))
            connection.exec_driver_sql(_STRIKE_OFF, (game, now_ms - FORGOTTEN_AFTER_MS))
            owners: Sequence[Sequence[Any]] = connection.execute(statements.OWNERS, {"game": game}).all()
            instances: Sequence[Sequence[Any]] = connection.execute(statements.INSTANCES, {"game": game}).all()
        return Muster(kept, [Owner(*row) for row in owners], [Instance(*row) for row in instances])

    def _leave(self, game: str, instance: str) -> None:
        with self._transaction() as connection:
            connection.exec_driver_sql(_LEAVE, (game, instance))

    def _discharge(self, done: Mapping[str, int]) -> None:
        rows = [(bits, partition_of(match_id), match_id) for match_id, bits in done.items()]
        with self._transaction() as connection:
            connection.exec_driver_sql(_DONE, rows)
            connection.exec_driver_sql(_ALL_DONE, [row[1:] for row in rows])

    def _release(self, game: str, instance: str, partitions: Collection[int], now_ms: int) -> set[int]:
        with self._transaction() as connection:
            ours = _held(connection, game, instance, partitions)
            for partition in ours:
                connection.exec_driver_sql(_RELEASE, (now_ms, game, partition))
        return set(ours)


def _owners(connection: Connection, games: AbstractSet[str]) -> dict[tuple[str, int], int]:
    """The epoch of each partition that somebody holds; all of a game in one go: a question costs more than its rows."""
    return {
        (game, partition): standing.epoch
        for game in games
        for partition, standing in _standings(connection, game).items()
        if standing.instance is not None
    }


def _standings(connection: Connection, game: str) -> dict[int, Standing]:
    rows = connection.exec_driver_sql(_STANDINGS, (game,)).all()
    return {partition: Standing(*rest) for partition, *rest in rows}


def _beat(
    connection: Connection,
    game: str,
    instance: str,
    partitions: Collection[int],
    now_ms: int,
    stale_after_ms: int | None,
) -> set[int]:
    ours = _held(connection, game, instance, partitions)
    for partition, standing in ours.items():
        gap = None if stale_after_ms is None else silence(standing, now_ms, stale_after_ms)
        if gap is not None:
            connection.exec_driver_sql(_DOWN, (game, partition, *gap))
    if ours:
        connection.exec_driver_sql(_BEAT, [(now_ms, game, partition) for partition in ours])
    return set(ours)


def _held(connection: Connection, game: str, instance: str, partitions: Collection[int]) -> dict[int, Standing]:
    standings = _standings(connection, game)
    return {one: standings[one] for one in set(partitions) if one in standings and standings[one].instance == instance}


def _facts(connection: Connection, runs: list[Run]) -> Facts:
    owners = _owners(connection, {run.game for run in runs})
    heads: dict[str, tuple[int, int]] = {}
    commands: set[tuple[str, bytes]] = set()
    for run in runs:
        where = {"partition": run.partition, "match_id": run.match_id}
        head = connection.execute(statements.HEAD_OF, where).one_or_none()
        if head is not None:
            heads[run.match_id] = (head.version, head.epoch)
        for entry in run.entries:
            if connection.execute(statements.BY_COMMAND, {**where, "command_id": entry.command_id}).first():
                commands.add((run.match_id, entry.command_id))
    return Facts(owners, heads, commands)


def _tail(connection: Connection, game: str, after: int, limit: int) -> TailPage:
    newest = connection.exec_driver_sql(_NEWEST).scalar_one()
    rows = connection.exec_driver_sql(_TAIL, (after, newest, game, limit)).all()
    reached = rows[-1][-1] if len(rows) == limit else newest
    return TailPage([StoredEntry(*row[:-1]) for row in rows], f"s{reached}")


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if cursor[:1] != "s" or not cursor[1:].isdecimal():
        raise ValueError("this cursor is not from a store on SQLite")
    return int(cursor[1:])


# ---- the file ------------------------------------------------------------------------------------------------------


def _engine(path: Path, busy_s: float, *, read_only: bool) -> Engine:
    mode = {"mode": "ro"} if read_only else {"mode": "rw"}
    url = URL.create("sqlite+pysqlite", database=f"file:{path.resolve()}", query={**mode, "uri": "true"})
    pool = {"poolclass": QueuePool, "pool_size": _READERS} if read_only else {"poolclass": NullPool}
    options = {
        "timeout": busy_s,
        "check_same_thread": False,
        "cached_statements": 128 if read_only else 2 * appending.AT_ONCE,
    }
    engine = create_engine(url, hide_parameters=True, connect_args=options, **pool)

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: object) -> None:
        # BEGIN is ours to send: the module's own comes too late (before the first write) to check a fence under it.
        connection.isolation_level = None
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA cache_size = {-_CACHE_KIB}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def _switch_to_wal(path: Path, busy_s: float) -> None:
    """Turns the write-ahead log on; it stays on in the file.

    Two processes that open a new file at once refuse each other the switch without waiting for the busy timeout.
    """
    give_up = time.monotonic() + busy_s
    connection = sqlite3.connect(path, timeout=busy_s, isolation_level=None)
    try:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in _TRANSIENT or time.monotonic() > give_up:
                    raise
            time.sleep(0.01)
    finally:
        connection.close()


_REFUSED = frozenset(
    {sqlite3.SQLITE_CONSTRAINT_TRIGGER, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
)
_TRANSIENT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)


def _translated(work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Runs it; errors of the database come out as the store's own, without the values they were about."""
    try:
        return work(*args, **kwargs)
    except (SQLAlchemyError, sqlite3.Error, OverflowError) as error:
        failure = _failure(error)
    # Raised out here, so that the driver's error does not hang on it as its context.
    raise failure


def _failure(error: Exception) -> StoreError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", None)
    name = getattr(cause, "sqlite_errorname", None)
    text = f"{type(cause).__name__} {name or ''}".strip()
    return Unavailable(text) if code is not None and code & 0xFF in _TRANSIENT else StoreError(text)
