"""Tables beside the logs: names, which may be erased, and an index of the matches that are over.

They lie in the same database as the challenges' logs. No log depends on them.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self, TypeVar

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from grimoire.eventstore import Unavailable

__all__ = ["Database", "ended_matches", "ended_seats", "names", "upsert_into"]

_T = TypeVar("_T")
_BUSY_S: Final = 5.0
# Any fixed number: PostgreSQL instances that start at once create the tables one after the other.
_CREATE_LOCK: Final = 0x6D617463686D616B

_metadata = MetaData()

names = Table(
    "player_names",
    _metadata,
    Column("account_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
)

ended_matches = Table(
    "ended_matches",
    _metadata,
    Column("match_id", Text, primary_key=True),
    Column("challenge_id", Text, nullable=False),
    Column("game", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Column("closed", LargeBinary, nullable=False),
    Index("ended_matches_newest", "ended_ms", "match_id"),
)

ended_seats = Table(
    "ended_seats",
    _metadata,
    Column("match_id", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("bot", Boolean, nullable=False),
    Column("level", Text, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Index("ended_seats_newest", "account_id", "ended_ms"),
)


def upsert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what happens when the row is there already."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


class Database:
    """Runs statements in one thread of its own, so that the event loop never waits for a disk.

    Args:
        url: as for the event store: `sqlite:///file.db` or `postgresql://user@host/database`.
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        self._is_sqlite = parsed.get_backend_name() == "sqlite"
        if self._is_sqlite:
            self._engine = _sqlite_engine(Path(parsed.database or ""))
        else:
            parsed = parsed.set(drivername="postgresql+psycopg")
            self._engine = create_engine(parsed, hide_parameters=True, pool_pre_ping=True, pool_size=1)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="matchmaking-tables")

    async def __aenter__(self) -> Self:
        """Makes the tables where they are missing.

        Raises:
            Unavailable: the database cannot be had just now.
        """
        await self.run(self._create)
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Waits for what is running and lets go of the database."""
        await asyncio.to_thread(self._thread.shutdown)
        self._engine.dispose()

    async def run(self, work: Callable[[Connection], _T]) -> _T:
        """Runs some statements as one transaction.

        Raises:
            Unavailable: the database cannot be had just now. The text holds no stored value.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, work)

    def _transaction(self, work: Callable[[Connection], _T]) -> _T:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            reason = type(error).__name__
        # Raised out here, so that the driver's error, with its values, does not hang on it as its context.
        raise Unavailable(reason)

    def _create(self, connection: Connection) -> None:
        if not self._is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATE_LOCK})
        _metadata.create_all(connection)


def _sqlite_engine(path: Path) -> Engine:
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
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
