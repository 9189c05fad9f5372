"""The database of the tables beside the logs (`tables.py`)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from grimoire.eventstore import Unavailable
from matchmaking.tables import METADATA

__all__ = ["Database"]

_T = TypeVar("_T")
_BUSY_S: Final = 5.0
# Any fixed number: PostgreSQL instances that start at once create the tables one after the other.
_CREATE_LOCK: Final = 0x6D617463686D616B


class Database:
    """Runs statements in threads of its own, so that the event loop never waits for a disk, nor a reader for a writer.

    Args:
        url: as for the event store: `sqlite:///file.db` or `postgresql://user@host/database`.
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self._is_sqlite = parsed.get_backend_name() == "sqlite"
        if self._is_sqlite:
            path = Path(parsed.database or "")
            self._engine, self._read_engine = _sqlite_engine(path, "BEGIN IMMEDIATE"), _sqlite_engine(path, "BEGIN")
        else:
            parsed = parsed.set(drivername="postgresql+psycopg")
            self._engine = create_engine(parsed, hide_parameters=True, pool_pre_ping=True, pool_size=2)
            self._read_engine = self._engine
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="matchmaking-writes")
        self._read_thread = ThreadPoolExecutor(1, thread_name_prefix="matchmaking-reads")

    async def __aenter__(self) -> Self:
        """Makes the tables where they are missing.

        Raises:
            Unavailable: the database cannot be had just now.
        """
        await self.run(self._create)
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
            Unavailable: the database cannot be had just now. The text holds no stored value.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, _transaction, self._engine, work)

    async def read(self, work: Callable[[Connection], _T]) -> _T:
        """Runs some statements that change nothing.

        Raises:
            Unavailable: the database cannot be had just now. The text holds no stored value.
        """
        return await asyncio.get_running_loop().run_in_executor(
            self._read_thread, _transaction, self._read_engine, work
        )

    def _create(self, connection: Connection) -> None:
        if not self._is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATE_LOCK})
        METADATA.create_all(connection)


def _transaction(engine: Engine, work: Callable[[Connection], _T]) -> _T:
    try:
        with engine.begin() as connection:
            return work(connection)
    except SQLAlchemyError as error:
        reason = type(error).__name__
    # Raised out here, so that the driver's error, with its values, does not hang on it as its context.
    raise Unavailable(reason)


def _sqlite_engine(path: Path, begin: str) -> Engine:
    path.parent.mkdir(parents=True, exist_ok=True)
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

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine
