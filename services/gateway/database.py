"""The edge's database: a SQLite file or PostgreSQL, used from threads of its own so that the event loop never waits."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self, TypeVar

from sqlalchemy import Connection, Engine, Table, create_engine, event, inspect, make_url, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from gateway.migrations import HEAD
from gateway.tables import VERSION_TABLE

__all__ = ["Database", "DatabaseError", "TakenError", "upsert_into"]

_T = TypeVar("_T")
_BUSY_S: Final = 5.0
# Any fixed number: PostgreSQL instances that start at once migrate one after the other.
_MIGRATION_LOCK: Final = 0x65646765


class DatabaseError(RuntimeError):
    """The database cannot be had just now, or was opened by newer code. The text holds no stored value."""


class TakenError(Exception):
    """A row with this key is there already."""


class Database:
    """Runs statements in threads of its own.

    Args:
        url: as for the event store: `sqlite:///file.db` or `postgresql://user@host/database`.
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self._is_sqlite = parsed.get_backend_name() == "sqlite"
        if self._is_sqlite:
            path = Path(parsed.database or "")
            path.parent.mkdir(parents=True, exist_ok=True)
            # It holds credentials: for its owner's eyes only, from its first byte on.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            _switch_to_wal(path)
            self._engine, self._read_engine = _sqlite_engine(path, "BEGIN IMMEDIATE"), _sqlite_engine(path, "BEGIN")
        else:
            parsed = parsed.set(drivername="postgresql+psycopg")
            self._engine = create_engine(parsed, hide_parameters=True, pool_pre_ping=True, pool_size=2)
            self._read_engine = self._engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="edge-writes")
        self._read_thread = ThreadPoolExecutor(2, thread_name_prefix="edge-reads")

    async def __aenter__(self) -> Self:
        """Brings the schema to the revision this code works with.

        Raises:
            DatabaseError: it cannot be had just now, or is newer than this code.
        """
        try:
            await self.run(self._migrate)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Waits for what is running and lets go of the database."""
        for thread in (self._thread, self._read_thread):
            await asyncio.to_thread(thread.shutdown)
        for engine in (self._engine, self._read_engine):
            engine.dispose()

    async def run(self, work: Callable[[Connection], _T]) -> _T:
        """Runs some statements as one transaction. What `work` raises undoes it.

        Raises:
            TakenError: a row with its key was there already.
            DatabaseError: the database cannot be had just now.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, _transaction, self._engine, work)

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Runs some statements that change nothing.

        Raises:
            DatabaseError: the database cannot be had just now.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._read_thread, _transaction, self._read_engine, work
        )

    async def scrub(self) -> None:
        """Leaves nothing of deleted rows in the database's files; PostgreSQL's own cleaning does that in its time."""
        if self._is_sqlite:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._truncate_log)

    def _truncate_log(self) -> None:
        # What was deleted is overwritten in the file, but stands in the write-ahead log until that is emptied.
        connection = self._engine.raw_connection()
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()

    def _migrate(self, connection: Connection) -> None:
        if not self._is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        migrate(connection)


def migrate(connection: Connection, revision: str = HEAD) -> None:
    """Goes forward or back to a revision (`base`: to nothing) within the connection's open transaction.

    Raises:
        DatabaseError: the database has a revision that this code does not know.
    """
    current: str | None = None
    if inspect(connection).has_table(VERSION_TABLE):
        current = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608
    if current == revision:
        return
    # Alembic is slow to import and seldom needed.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    if current is not None and current not in known:
        raise DatabaseError(f"the edge's database has schema revision {current}, newer than this code's {HEAD}")
    forward = revision != "base" and (current is None or known.index(revision) < known.index(current))
    (command.upgrade if forward else command.downgrade)(config, revision)


def upsert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what happens when the row is there already."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def _transaction(engine: Engine, work: Callable[[Connection], _T]) -> _T:
    failure: Exception
    try:
        with engine.begin() as connection:
            return work(connection)
    except IntegrityError:
        failure = TakenError()
    except SQLAlchemyError as error:
        failure = DatabaseError(type(error).__name__)
    # Raised out here, so that the driver's error, with its values, does not hang on it as its context.
    raise failure


def _switch_to_wal(path: Path) -> None:
    """Turns the write-ahead log on; it stays on in the file.

    Two processes that open a new file at once refuse each other the switch without waiting for the busy timeout.
    """
    give_up = time.monotonic() + _BUSY_S
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    try:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if time.monotonic() > give_up:
                    raise DatabaseError(type(error).__name__) from None
            time.sleep(0.01)
    finally:
        connection.close()


def _sqlite_engine(path: Path, begin: str) -> Engine:
    engine = create_engine(
        f"sqlite+pysqlite:///{path}",
        hide_parameters=True,
        connect_args={"timeout": _BUSY_S, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: object) -> None:
        # BEGIN is ours to send: two writers then wait for each other instead of failing half-way.
        connection.isolation_level = None
        connection.execute("PRAGMA synchronous = FULL")
        # What is deleted is overwritten: erasing a person leaves nothing in free pages.
        connection.execute("PRAGMA secure_delete = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
