"""Replay's own store: logs that people have brought along, each under its own id.

Stored matches stay with the game service that played them; here lie only imported files, compressed, oldest thrown out
first. One table, `imported_logs`, in a SQLite file or a PostgreSQL database.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import sqlalchemy as sa

from grimoire.v1 import frame_pb2
from replay.database import engine_of

__all__ = ["ID_PREFIX", "Shelf", "ShelfUnavailableError", "is_import_id", "new_import_id"]

T = TypeVar("T")

ID_PREFIX = "import-"
_ID_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 26
# Any fixed number: it keeps the instances on one PostgreSQL apart, while they make the table or count and throw out.
_LOCK = 0x6772_696D_6C6F_6773

_metadata = sa.MetaData()
_logs = sa.Table(
    "imported_logs",
    _metadata,
    # The order of arrival; ids are random and milliseconds may be equal.
    sa.Column("number", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("match_id", sa.String(64), nullable=False, unique=True),
    sa.Column("account_id", sa.String(64), nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    # The serialised MatchHead, so that looking a match up reads no file.
    sa.Column("head", sa.LargeBinary, nullable=False),
    # Bytes of the file before compression.
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("file", sa.LargeBinary, nullable=False),
    sa.Index("imported_logs_by_account", "account_id", "number"),
    sqlite_autoincrement=True,
)
_HEAD = sa.select(_logs.c.head).where(_logs.c.match_id == sa.bindparam("match_id"))
_FILE = sa.select(_logs.c.size, _logs.c.file).where(_logs.c.match_id == sa.bindparam("match_id"))


class ShelfUnavailableError(RuntimeError):
    """The database does not answer; nothing was kept."""


def new_import_id() -> str:
    """An id nobody can guess: `import-` and 26 of `[a-z0-9]` (134 random bits)."""
    return ID_PREFIX + "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))


def is_import_id(match_id: str) -> bool:
    """Whether an id names an imported file rather than a match played here.

    >>> is_import_id(new_import_id()), is_import_id("4k0zqj1m5c2t7w9x8y6b3n0pda")
    (True, False)
    """
    return match_id.startswith(ID_PREFIX)


def _utc_ms() -> int:
    return time.time_ns() // 1_000_000


class Shelf:
    """The table of imported logs.

    All statements run in one thread of its own: SQLite has one writer, and the event loop never waits for a disk.

    Args:
        url: as for the event store: `sqlite:///file.db` or `postgresql://user@host/database`.
        in_all: how many files are kept; beyond it the oldest goes first.
        per_account: how many of one account.
        now_ms: the wall clock, UTC ms.

    Raises:
        ShelfUnavailableError: from every method, if the database cannot be had just now.
    """

    def __init__(self, url: str, in_all: int, per_account: int, now_ms: Callable[[], int] = _utc_ms) -> None:
        self._in_all = in_all
        self._per_account = per_account
        self._now_ms = now_ms
        self._engine = engine_of(url)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shelf")

    async def open(self) -> None:
        """Makes the table where it is missing."""
        await self._run(_metadata.create_all)

    async def close(self) -> None:
        """Lets go of the database; what is running ends first."""
        await asyncio.to_thread(self._thread.shutdown)
        self._engine.dispose()

    async def add(self, account_id: str, head: frame_pb2.MatchHead, file: bytes) -> str:
        """Keeps a file and throws out the oldest beyond the limits.

        Args:
            account_id: who brought it.
            head: of the match in it.
            file: its bytes.

        Returns:
            Its new id, under which the head is kept too.
        """
        match_id = new_import_id()
        own = frame_pb2.MatchHead()
        own.CopyFrom(head)
        own.match_id = match_id
        row = {
            "match_id": match_id,
            "account_id": account_id,
            "created_ms": self._now_ms(),
            "head": own.SerializeToString(),
            "size": len(file),
            "file": await asyncio.to_thread(zlib.compress, file),
        }
        await self._run(lambda connection: self._insert(connection, row))
        return match_id

    async def head(self, match_id: str) -> frame_pb2.MatchHead | None:
        """The match in a file; None if nothing is kept under this id (any more)."""
        found = await self._run(lambda connection: connection.execute(_HEAD, {"match_id": match_id}).scalar())
        return None if found is None else frame_pb2.MatchHead.FromString(found)

    async def file(self, match_id: str) -> bytes | None:
        """The bytes of a file, as they were brought; None if nothing is kept under this id (any more)."""
        found = await self._run(lambda connection: connection.execute(_FILE, {"match_id": match_id}).one_or_none())
        return None if found is None else await asyncio.to_thread(zlib.decompress, found.file, bufsize=found.size)

    async def _run(self, work: Callable[[sa.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, work)

    def _transaction(self, work: Callable[[sa.Connection], T]) -> T:
        try:
            with self._engine.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
                return work(connection)
        except sa.exc.SQLAlchemyError as error:
            reason = type(error).__name__
        # Raised out here, so that the driver's error, with its values, does not hang on it as its context.
        raise ShelfUnavailableError(reason)

    def _insert(self, connection: sa.Connection, row: dict[str, object]) -> None:
        connection.execute(_logs.insert().values(row))
        own = _logs.c.account_id == row["account_id"]
        for condition, keep in ((own, self._per_account), (sa.true(), self._in_all)):
            newest = sa.select(_logs.c.number).where(condition).order_by(_logs.c.number.desc())
            oldest_kept = newest.limit(1).offset(keep - 1).scalar_subquery()
            connection.execute(_logs.delete().where(condition, _logs.c.number < oldest_kept))
