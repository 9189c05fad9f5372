"""The store on PostgreSQL (14 or newer): asyncpg, one statement an append, SQLAlchemy only to migrate."""

# ruff: noqa: D102 -- the interface says what each method does

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Self, TypeVar

import asyncpg
from asyncpg.exceptions import InterfaceError, InternalClientError
from sqlalchemy import Select, create_engine, text
from sqlalchemy.dialects.postgresql.asyncpg import dialect as asyncpg_dialect
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from grimoire.eventstore import statements
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
from grimoire.eventstore.migrations import HEAD
from grimoire.eventstore.ownership import FORGOTTEN_AFTER_MS, Standing, by_partition, claimed, silence
from grimoire.eventstore.partitions import partition_of
from grimoire.eventstore.schema import migrate, require_head
from grimoire.eventstore.tables import VERSION_TABLE

__all__ = ["PostgresStore"]

_T = TypeVar("_T")
_Work = Callable[[asyncpg.Connection], Awaitable[_T]]

_LAST = 2**63 - 1
_CONNECTIONS = 8
_CONNECT_S = 5.0
_COMMAND_S = 15.0
_MIGRATION_LOCK = 0x6772_696D_6F69_7265
_FENCED = "GR001"

_SESSION = {
    "application_name": "grimoire-eventstore",
    "synchronous_commit": "on",
    # Whoever waits for a lock, or stops inside a transaction, must not keep a take-over waiting.
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "5s",
    "statement_timeout": "10s",
    "jit": "off",
}

# The line is there but cannot serve: connection, resources, operator, system, rolled back; lock and idle time-outs;
# a server that became a standby.
_TRANSIENT_CLASSES = frozenset({"08", "53", "57", "58", "40"})
_TRANSIENT_STATES = frozenset({"55P03", "25P03", "25006"})

_APPEND_ARGUMENTS = 25
_APPEND = f"SELECT eventstore_append({', '.join(f'${number}' for number in range(1, 26))})"
_APPEND_DUES = f"SELECT eventstore_append_dues({', '.join(f'${number}' for number in range(1, 30))})"
_DISCHARGE = """
WITH done AS (SELECT * FROM unnest($1::integer[], $2::text[], $3::integer[]) AS one (partition, match, bits)),
left_over AS (
    UPDATE dues SET bits = dues.bits & ~done.bits FROM done
    WHERE dues.partition = done.partition AND dues.match_id = done.match AND dues.bits & ~done.bits <> 0
)
DELETE FROM dues USING done
WHERE dues.partition = done.partition AND dues.match_id = done.match AND dues.bits & ~done.bits = 0
"""
_LOCK = "SELECT eventstore_lock(array_fill($1::text, ARRAY[cardinality($2::integer[])]), $2::integer[])"
_STANDINGS = """
SELECT partition, instance, epoch, heartbeat_ms FROM partition_owner WHERE game = $1 AND partition = ANY($2::integer[])
ORDER BY partition FOR UPDATE
"""
_TAKE = """
INSERT INTO partition_owner (game, partition, instance, address, epoch, heartbeat_ms)
SELECT $1, claim.partition, $2, $3, claim.epoch, $4 FROM unnest($5::integer[], $6::bigint[]) AS claim (partition, epoch)
ON CONFLICT (game, partition) DO UPDATE SET instance = excluded.instance, address = excluded.address,
epoch = excluded.epoch, heartbeat_ms = greatest(partition_owner.heartbeat_ms, excluded.heartbeat_ms)
"""
_BEAT = """
UPDATE partition_owner SET heartbeat_ms = greatest(heartbeat_ms, $3)
WHERE game = $1 AND partition = ANY($2::integer[])
"""
_RELEASE = """
UPDATE partition_owner SET instance = NULL, heartbeat_ms = greatest(heartbeat_ms, $3)
WHERE game = $1 AND partition = ANY($2::integer[])
"""
_SIGN_IN = """
INSERT INTO instances (game, instance, heartbeat_ms) VALUES ($1, $2, $3)
ON CONFLICT (game, instance) DO UPDATE SET heartbeat_ms = greatest(instances.heartbeat_ms, excluded.heartbeat_ms)
"""
# One that another instance is signing in, or striking off, is left to it: nobody waits for anybody here.
_STRIKE_OFF = """
DELETE FROM instances WHERE (game, instance) IN (
    SELECT game, instance FROM instances WHERE game = $1 AND heartbeat_ms < $2 FOR UPDATE SKIP LOCKED
)
"""
_LEAVE = "DELETE FROM instances WHERE game = $1 AND instance = $2"
_DOWN = """
INSERT INTO downtime (game, partition, from_ms, to_ms)
SELECT $1, * FROM unnest($2::integer[], $3::bigint[], $4::bigint[])
"""
_HORIZON = """
SELECT pg_snapshot_xmin(now)::text::bigint, pg_snapshot_xmax(now)::text::bigint FROM pg_current_snapshot() AS now
"""
_TAIL = """
SELECT e.match_id, e.version, e.command_id, e.server_time_ms, e.header, e.public, e.digests, e.hash, NULL,
e.tx::text::bigint, e.position
FROM entries AS e JOIN match_head AS h ON h.partition = e.partition AND h.match_id = e.match_id
WHERE (e.tx, e.position) > ($1::bigint::text::xid8, $2) AND e.tx < $3::bigint::text::xid8 AND h.game = $4
ORDER BY e.tx, e.position LIMIT $5
"""
_FUTURE = "SELECT EXISTS (SELECT FROM entries WHERE tx >= pg_snapshot_xmax(pg_current_snapshot()))"
_FACTS_OWNERS = """
SELECT game, partition, epoch FROM partition_owner
WHERE instance IS NOT NULL AND (game, partition) IN (SELECT * FROM unnest($1::text[], $2::integer[]))
"""
_FACTS_HEADS = """
SELECT match_id, version, epoch FROM match_head
WHERE (partition, match_id) IN (SELECT * FROM unnest($1::integer[], $2::text[]))
"""
_FACTS_COMMANDS = """
SELECT match_id, command_id FROM entries
WHERE (partition, match_id, command_id) IN (SELECT * FROM unnest($1::integer[], $2::text[], $3::bytea[]))
"""


class PostgresStore(EventStore):
    """An `EventStore` in a PostgreSQL database. Made by `PostgresStore.open` or `grimoire.eventstore.open_store`."""

    def __init__(self, pool: asyncpg.Pool, *, read_only: bool) -> None:
        self._pool = pool
        self._read_only = read_only
        self._closed = False
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @classmethod
    async def open(cls, url: str, *, read_only: bool = False) -> Self:
        """Connects, and creates the schema or brings it up to date where needed.

        Args:
            url: as libpq and asyncpg understand it; the role needs the rights that the README lists.
            read_only: never write, neither create nor migrate.
        """
        session = _SESSION | ({"default_transaction_read_only": "on"} if read_only else {})
        pool = asyncpg.create_pool(
            url,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=_CONNECT_S,
            command_timeout=_COMMAND_S,
            server_settings=session,
            reset=_leave,
        )
        store = cls(pool, read_only=read_only)
        try:
            await _shielded(_entered(pool))
            revision = await store._run(_revision)
            if read_only:
                require_head(revision)
            elif revision != HEAD:
                await asyncio.to_thread(_migrate, url)
            elif await store._run(_from_the_future):
                raise StoreError("restored from a dump of another server: run SELECT eventstore_restored() once")
        except BaseException:
            pool.terminate()
            raise
        return store

    async def close(self) -> None:
        """Waits for what is being written and lets go of the connections."""
        self._closed = True
        await self._idle.wait()
        try:
            async with asyncio.timeout(_CONNECT_S):
                await self._pool.close()
        except TimeoutError:
            # Nobody answers the farewell; the server rolls back what is left.
            self._pool.terminate()

    async def append(self, entries: Sequence[NewEntry]) -> None:
        if not entries:
            return
        self._must_write()
        runs = runs_of(entries)
        arguments = _arguments(runs)
        if not await self._run(lambda connection: _append(connection, arguments)):
            raise Conflict(faults_of(runs, await self._run(lambda connection: _facts(connection, runs))))

    async def read(
        self, match_id: str, first: int = 1, last: int | None = None, parts: bool = False
    ) -> list[StoredEntry]:
        where = {"partition": partition_of(match_id), "match_id": match_id}
        bounds = {"first": first, "last": _LAST if last is None else last}
        rows = await self._fetch(_READ_WITH_PARTS if parts else _READ, where | bounds)
        return [StoredEntry(*row) for row in rows]

    async def by_command(self, match_id: str, command_id: bytes) -> StoredEntry | None:
        where = {"partition": partition_of(match_id), "match_id": match_id, "command_id": command_id}
        rows = await self._fetch(_BY_COMMAND, where)
        return StoredEntry(*rows[0]) if rows else None

    async def head(self, match_id: str) -> Head | None:
        rows = await self._fetch(_HEAD_OF, {"partition": partition_of(match_id), "match_id": match_id})
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
        query = _Query(statements.heads(game, partitions, statuses, limit, after))
        return [Head(*row) for row in await self._fetch(query, {})]

    async def deadlines(self, game: str, partitions: Collection[int], before_ms: int | None = None) -> list[Deadline]:
        query = _Query(statements.deadlines(game, partitions, before_ms))
        return [Deadline(*row) for row in await self._fetch(query, {})]

    async def dues(self, game: str, partitions: Collection[int]) -> dict[str, int]:
        rows = await self._fetch(_Query(statements.dues_of(game, partitions)), {})
        return {row[0]: row[1] for row in rows}

    async def discharge(self, done: Mapping[str, int]) -> None:
        if not done:
            return
        rows = sorted((partition_of(match_id), match_id, bits) for match_id, bits in done.items())
        columns = [list(column) for column in zip(*rows, strict=True)]
        await self._transaction(lambda connection: connection.execute(_DISCHARGE, *columns))

    async def tail(self, game: str, cursor: str | None = None, limit: int = 1000) -> TailPage:
        after = _place(cursor)
        return await self._run(lambda connection: _tail(connection, game, after, limit))

    async def claim_many(
        self,
        game: str,
        partitions: Collection[int],
        instance: str,
        address: str,
        now_ms: int,
        stale_after_ms: int,
    ) -> dict[int, Claim]:
        async def take(connection: asyncpg.Connection) -> dict[int, Claim]:
            wanted = sorted(set(partitions))
            standings = await _locked(connection, game, wanted)
            asked = ((one, claimed(standings.get(one), instance, now_ms, stale_after_ms)) for one in wanted)
            claims = {one: claim for one, claim in asked if claim is not None}
            epochs = [claim.epoch for claim in claims.values()]
            await connection.execute(_TAKE, game, instance, address, now_ms, list(claims), epochs)
            gaps = {
                one: (claim.down_from_ms, claim.down_to_ms)
                for one, claim in claims.items()
                if claim.down_from_ms is not None and claim.down_to_ms is not None
            }
            await _write_down(connection, game, gaps)
            return claims

        return await self._transaction(take)

    async def heartbeat(
        self,
        game: str,
        instance: str,
        partitions: Collection[int],
        now_ms: int,
        stale_after_ms: int | None = None,
    ) -> set[int]:
        return await self._transaction(
            lambda connection: _beat(connection, game, instance, partitions, now_ms, stale_after_ms)
        )

    async def muster(
        self, game: str, instance: str, partitions: Collection[int], now_ms: int, stale_after_ms: int
    ) -> Muster:
        async def call(connection: asyncpg.Connection) -> Muster:
            kept = await _beat(connection, game, instance, partitions, now_ms, stale_after_ms)
            await connection.execute(_SIGN_IN, game, instance, now_ms)
            await connection.execute(_STRIKE_OFF, game, now_ms - FORGOTTEN_AFTER_MS)
            owners = await connection.fetch(_OWNERS.text, *_OWNERS.values({"game": game}))
            instances = await connection.fetch(_INSTANCES.text, *_INSTANCES.values({"game": game}))
            return Muster(kept, [Owner(*row) for row in owners], [Instance(*row) for row in instances])

        return await self._transaction(call)

    async def leave(self, game: str, instance: str) -> None:
        await self._transaction(lambda connection: connection.execute(_LEAVE, game, instance))

    async def release(self, game: str, instance: str, partitions: Collection[int], now_ms: int) -> set[int]:
        async def let_go(connection: asyncpg.Connection) -> set[int]:
            ours = _held(await _locked(connection, game, partitions), instance)
            await connection.execute(_RELEASE, game, list(ours), now_ms)
            return set(ours)

        return await self._transaction(let_go)

    async def owners(self, game: str) -> list[Owner]:
        return [Owner(*row) for row in await self._fetch(_OWNERS, {"game": game})]

    async def downtime(self, game: str, partition: int, since_ms: int = 0) -> list[tuple[int, int]]:
        rows = await self._fetch(_DOWNTIME, {"game": game, "partition": partition, "since_ms": since_ms})
        return [(row[0], row[1]) for row in rows]

    async def owed_downtime(self, game: str, partitions: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        rows = await self._fetch(_Query(statements.owed_downtime(game, partitions)), {})
        return by_partition((row[0], row[1], row[2]) for row in rows)

    def _must_write(self) -> None:
        if self._read_only:
            raise StoreError("this store was opened for reading only")

    async def _fetch(self, query: _Query, where: dict[str, Any]) -> list[asyncpg.Record]:
        values = query.values(where)

        async def ask(connection: asyncpg.Connection) -> list[asyncpg.Record]:
            found: list[asyncpg.Record] = await connection.fetch(query.text, *values)
            return found

        return await self._run(ask)

    async def _transaction(self, work: _Work[_T]) -> _T:
        self._must_write()

        async def whole(connection: asyncpg.Connection) -> _T:
            async with connection.transaction():
                return await work(connection)

        return await self._run(whole)

    async def _run(self, work: _Work[_T]) -> _T:
        async def on_one() -> _T:
            async with self._pool.acquire(timeout=_CONNECT_S) as connection:
                try:
                    return await work(connection)
                except (InterfaceError, InternalClientError):
                    # What asyncpg says of a line that was cut depends on where it was cut.
                    if connection.is_closed():
                        raise ConnectionResetError from None
                    raise

        if self._closed:
            raise StoreError("this store is closed")
        # The pool's own close would turn away those who still wait for a connection.
        self._calls += 1
        self._idle.clear()
        try:
            return await _shielded(on_one())
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()


class _Query:
    """A Core statement as asyncpg takes it: text with numbered places, and what to put in them."""

    def __init__(self, statement: Select[tuple[object, ...]]) -> None:
        compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
        self.text = str(compiled)
        self._names = compiled.positiontup or []
        self._given = compiled.params

    def values(self, where: dict[str, Any]) -> list[Any]:
        return [where[name] if name in where else self._given[name] for name in self._names]


_DIALECT = asyncpg_dialect()  # type: ignore[no-untyped-call]
_READ = _Query(statements.READ)
_READ_WITH_PARTS = _Query(statements.READ_WITH_PARTS)
_BY_COMMAND = _Query(statements.BY_COMMAND)
_HEAD_OF = _Query(statements.HEAD_OF)
_OWNERS = _Query(statements.OWNERS)
_INSTANCES = _Query(statements.INSTANCES)
_DOWNTIME = _Query(statements.DOWNTIME)


def _arguments(runs: Sequence[Run]) -> list[list[Any]]:
    """The columns that `eventstore_append` takes: of runs, of entries, of private parts."""
    lasts = [run.last for run in runs]
    entries = [(run.partition, entry) for run in runs for entry in run.entries]
    secrets = [(partition, entry) for partition, entry in entries if entry.parts != b""]
    due = [run for run in runs if run.dues != 0]
    return [
        [run.partition for run in runs],
        [run.match_id for run in runs],
        [run.game for run in runs],
        [run.first for run in runs],
        [last.version for last in lasts],
        [last.hash for last in lasts],
        [last.epoch for last in lasts],
        [last.status for last in lasts],
        [last.next_deadline_ms for last in lasts],
        [run.entries[0].rules_version for run in runs],
        [run.entries[0].server_time_ms for run in runs],
        [last.server_time_ms for last in lasts],
        [partition for partition, _ in entries],
        [entry.match_id for _, entry in entries],
        [entry.version for _, entry in entries],
        [entry.command_id for _, entry in entries],
        [entry.server_time_ms for _, entry in entries],
        [entry.header for _, entry in entries],
        [entry.public for _, entry in entries],
        [entry.digests for _, entry in entries],
        [entry.hash for _, entry in entries],
        [partition for partition, _ in secrets],
        [entry.match_id for _, entry in secrets],
        [entry.version for _, entry in secrets],
        [entry.parts for _, entry in secrets],
        *([[run.partition for run in due], [run.match_id for run in due], [run.game for run in due]] if due else ()),
        *([[run.dues for run in due]] if due else ()),
    ]


async def _append(connection: asyncpg.Connection, arguments: list[list[Any]]) -> bool:
    """Writes a group; False if a fence or a unique key did not let it pass."""
    try:
        await connection.execute(_APPEND if len(arguments) == _APPEND_ARGUMENTS else _APPEND_DUES, *arguments)
    except asyncpg.UniqueViolationError:
        return False
    except asyncpg.PostgresError as error:
        if error.sqlstate != _FENCED:
            raise
        return False
    return True


async def _facts(connection: asyncpg.Connection, runs: Sequence[Run]) -> Facts:
    games, partitions = [run.game for run in runs], [run.partition for run in runs]
    entries = [(run.partition, entry) for run in runs for entry in run.entries]
    async with connection.transaction(isolation="repeatable_read", readonly=True):
        owners = await connection.fetch(_FACTS_OWNERS, games, partitions)
        heads = await connection.fetch(_FACTS_HEADS, partitions, [run.match_id for run in runs])
        commands = await connection.fetch(
            _FACTS_COMMANDS,
            [partition for partition, _ in entries],
            [entry.match_id for _, entry in entries],
            [entry.command_id for _, entry in entries],
        )
    return Facts(
        {(game, partition): epoch for game, partition, epoch in owners},
        {match_id: (version, epoch) for match_id, version, epoch in heads},
        {(match_id, command_id) for match_id, command_id in commands},
    )


async def _tail(connection: asyncpg.Connection, game: str, after: tuple[int, int], limit: int) -> TailPage:
    # Every transaction below `oldest` has ended; later ones can only come at or above it.
    oldest, following = await connection.fetchrow(_HORIZON)
    if after[0] > following:
        raise ValueError("this cursor is from another server: begin anew")
    rows = await connection.fetch(_TAIL, *after, oldest, game, limit)
    tx, position = rows[-1][-2:] if len(rows) == limit else (oldest, 0)
    return TailPage([StoredEntry(*tuple(row)[:-2]) for row in rows], f"p{tx}-{position}")


def _place(cursor: str | None) -> tuple[int, int]:
    if cursor is None:
        return 0, 0
    tx, _, position = cursor[1:].partition("-")
    if cursor[:1] != "p" or not tx.isdecimal() or not position.isdecimal():
        raise ValueError("this cursor is not from a store on PostgreSQL")
    return int(tx), int(position)


async def _locked(connection: asyncpg.Connection, game: str, partitions: Collection[int]) -> dict[int, Standing]:
    """How partitions stand, once no append to them is under way; none can begin until the transaction ends."""
    await connection.execute(_LOCK, game, sorted(set(partitions)))
    return await _standings(connection, game, partitions)


async def _standings(connection: asyncpg.Connection, game: str, partitions: Collection[int]) -> dict[int, Standing]:
    rows = await connection.fetch(_STANDINGS, game, sorted(set(partitions)))
    return {partition: Standing(*rest) for partition, *rest in rows}


async def _beat(
    connection: asyncpg.Connection,
    game: str,
    instance: str,
    partitions: Collection[int],
    now_ms: int,
    stale_after_ms: int | None,
) -> set[int]:
    ours = _held(await _standings(connection, game, partitions), instance)
    if stale_after_ms is not None:
        silences = ((one, silence(standing, now_ms, stale_after_ms)) for one, standing in ours.items())
        await _write_down(connection, game, {one: gap for one, gap in silences if gap is not None})
    if ours:
        await connection.execute(_BEAT, game, list(ours), now_ms)
    return set(ours)


def _held(standings: dict[int, Standing], instance: str) -> dict[int, Standing]:
    return {partition: standing for partition, standing in standings.items() if standing.instance == instance}


async def _write_down(connection: asyncpg.Connection, game: str, gaps: dict[int, tuple[int, int]]) -> None:
    if gaps:
        starts, ends = zip(*gaps.values(), strict=True)
        await connection.execute(_DOWN, game, list(gaps), list(starts), list(ends))


# ---- connections ---------------------------------------------------------------------------------------------------


async def _leave(_connection: asyncpg.Connection) -> None:
    """Nothing to reset when a connection goes back: the store changes no session state, and a reset is a round trip."""


async def _entered(pool: asyncpg.Pool) -> None:
    await pool


async def _revision(connection: asyncpg.Connection) -> str | None:
    if await connection.fetchval("SELECT to_regclass($1)", VERSION_TABLE) is None:
        return None
    found: str | None = await connection.fetchval(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
    return found


async def _from_the_future(connection: asyncpg.Connection) -> bool:
    found: bool = await connection.fetchval(_FUTURE)
    return found


def _migrate(url: str) -> None:
    # Seldom needed, and slow to import.
    import psycopg

    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=NullPool, hide_parameters=True
    )
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            migrate(connection)
        return
    except SQLAlchemyError as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        failure = _failure(type(cause).__name__, getattr(cause, "sqlstate", None))
    raise failure


async def _shielded(work: Awaitable[_T]) -> _T:
    """Awaits it; errors of the driver come out as the store's own, without the values they were about."""
    try:
        return await work
    except asyncpg.PostgresError as error:
        failure = _failure(type(error).__name__, error.sqlstate)
    except (OSError, TimeoutError) as error:
        failure = Unavailable(type(error).__name__)
    except (InterfaceError, InternalClientError) as error:
        failure = StoreError(type(error).__name__)
    # Raised out here, so that the driver's error does not hang on it as its context.
    raise failure


def _failure(name: str, state: str | None) -> StoreError:
    transient = state is not None and (state[:2] in _TRANSIENT_CLASSES or state in _TRANSIENT_STATES)
    return (Unavailable if transient else StoreError)(f"{name} {state or ''}".strip())
