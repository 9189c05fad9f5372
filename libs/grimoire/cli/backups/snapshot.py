"""One moment of several SQLite files at once, while others write to them.

For a blink every file is locked against writers, and a reader is opened on each; the locks are let go, and what the
readers see from then on stays as it was in that blink, however long copying takes (write-ahead log). So the databases
of all services are as a crash at that moment would have left them, and every service mends that by itself when it
starts: it is what its logs are made for. A challenge that is full in one file and whose match is not yet in the other
is created once more under the same id; a match that is over in one and still runs in the other is asked for; a leaf
that the transparency log has not got yet is owed in the game's own file.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from grimoire.cli.backups.errors import BackupError

__all__ = ["Moment", "copy_to", "moment_of"]

_BUSY_S: Final = 20.0
_PAGES: Final = 4_096
_NO_LOG: Final = "PRAGMA journal_mode = DELETE"


class Moment:
    """Readers that all see the same moment.

    Attributes:
        readers: by file.
        held_ms: for how long writers had to wait.
        at_ms: when it was, UTC ms.
    """

    def __init__(self, readers: Mapping[Path, sqlite3.Connection], at_ms: int, held_ms: float) -> None:
        self.readers = readers
        self.at_ms = at_ms
        self.held_ms = held_ms


@contextlib.contextmanager
def moment_of(paths: Sequence[Path], busy_s: float = _BUSY_S) -> Iterator[Moment]:
    """Opens all files at one moment; it lasts until the block ends.

    Args:
        paths: SQLite files.
        busy_s: how long to wait for whoever writes.

    Raises:
        BackupError: if a file is no database, or is locked for too long.
    """
    with contextlib.ExitStack() as stack:
        writers = {path: stack.enter_context(_opened(path, "rw", busy_s)) for path in paths}
        readers = {path: stack.enter_context(_opened(path, "ro", busy_s)) for path in paths}
        for path, connection in writers.items():
            _require_log(path, connection)
        began, at_ms = time.perf_counter(), 0
        try:
            for path, connection in writers.items():
                _do(path, connection, "BEGIN IMMEDIATE")
            at_ms = time.time_ns() // 1_000_000
            for path, connection in readers.items():
                _do(path, connection, "BEGIN")
                # A transaction sees nothing before it reads.
                _do(path, connection, "SELECT count(*) FROM sqlite_schema")
        finally:
            for connection in writers.values():
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        yield Moment(readers, at_ms, (time.perf_counter() - began) * 1000)


def copy_to(reader: sqlite3.Connection, target: Path) -> None:
    """Copies what a reader sees into a new file, on disk at return, for its owner alone.

    Raises:
        BackupError: if it cannot be written.
    """
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(target, isolation_level=None)) as copy:
            reader.backup(copy, pages=_PAGES, sleep=0)
            # One file, with nothing beside it; the service turns its write-ahead log on again.
            copy.execute(_NO_LOG)
        with target.open("rb") as file:
            os.fsync(file.fileno())
    except sqlite3.Error as error:
        raise BackupError(f"{target.name} cannot be copied ({error.sqlite_errorname}).", "Is the disk full?") from None


@contextlib.contextmanager
def _opened(path: Path, mode: str, busy_s: float) -> Iterator[sqlite3.Connection]:
    try:
        connection = sqlite3.connect(
            f"file:{path.resolve()}?mode={mode}", uri=True, timeout=busy_s, isolation_level=None
        )
    except sqlite3.Error as error:
        raise BackupError(f"{path} cannot be opened ({error.sqlite_errorname}).") from None
    with contextlib.closing(connection):
        yield connection


def _require_log(path: Path, connection: sqlite3.Connection) -> None:
    """Without a write-ahead log a reader would keep writers waiting for as long as copying takes."""
    try:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    except sqlite3.Error as error:
        raise _failure(path, error) from None
    if mode != "wal":
        raise BackupError(f"{path} takes no write-ahead log.", "Keep data on a local disk; see `grimoire doctor`.")


def _do(path: Path, connection: sqlite3.Connection, statement: str) -> None:
    try:
        connection.execute(statement).fetchall()
    except sqlite3.Error as error:
        raise _failure(path, error) from None


def _failure(path: Path, error: sqlite3.Error) -> BackupError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BackupError(f"{path} is locked by another program.", "End it, or try again.")
    return BackupError(f"{path} is no SQLite database, or a broken one.", "See `grimoire doctor`.")
