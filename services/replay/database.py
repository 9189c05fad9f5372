"""Replay's database: a SQLite file or PostgreSQL, used from threads of its own so that the event loop never waits."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Final

import sqlalchemy as sa

__all__ = ["engine_of"]

_BUSY_S: Final = 5.0
_READ_ONLY: Final = "grimoire_read_only"


def engine_of(url: str) -> sa.Engine:
    """Opens a database, made where it is missing.

    Transactions write, and wait for each other; those of a connection with the execution option `grimoire_read_only`
    only read, and wait for nobody but a commit.

    Args:
        url: as for the event store: `sqlite:///file.db` or `postgresql://user@host/database`.
    """
    parsed = sa.make_url(url)
    # hide_parameters: what people upload stays out of error texts.
    if parsed.get_backend_name() != "sqlite":
        return sa.create_engine(parsed.set(drivername="postgresql+psycopg"), hide_parameters=True, pool_pre_ping=True)
    path = Path(parsed.database or "")
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):  # whoever then opens it says what is wrong
        # For its owner's eyes only; SQLite gives its -wal and -shm files the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    engine = sa.create_engine(
        f"sqlite+pysqlite:///{path}",
        hide_parameters=True,
        connect_args={"timeout": _BUSY_S, "check_same_thread": False},
    )

    @sa.event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _record: object) -> None:
        # BEGIN is ours to send: two writers then wait for each other instead of failing half-way.
        connection.isolation_level = None
        # Readers, a running backup among them, then keep nobody from writing. It stays on in the file; whoever opens it
        # while another switches is refused, and switches it the next time.
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        reading = connection.get_execution_options().get(_READ_ONLY, False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine
