"""The append on SQLite: a whole group of entries is one statement, and so one call that needs no Python in between.

Each step of a statement lets go of Python's lock and must win it back from the thread that judges commands; a group
written row by row spends more time waiting for that than on the disk. So the rows go into a view that nothing is kept
in, and triggers do with each what has to be done; outside a transaction, a statement is a transaction of its own.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from grimoire.eventstore.group import Run

__all__ = ["AT_ONCE", "Row", "prepare", "rows", "write"]

AT_ONCE: Final = 128
"""Rows of one statement; more go into several, in one transaction."""

Row = tuple[str | bytes | int | None, ...]

_COLUMNS: Final = (
    "partition, match_id, game, version, command_id, server_time_ms, header, public, digests, hash, parts, epoch, "
    "status, next_deadline_ms, rules_version, dues"
)
_WIDTH: Final = _COLUMNS.count(",") + 1

_TRIGGERS: Final = (
    # Its first entry makes a match's head.
    """
    CREATE TEMP TRIGGER head_born INSTEAD OF INSERT ON appending WHEN NEW.version = 1 BEGIN
        INSERT INTO match_head (partition, match_id, game, version, hash, epoch, status, next_deadline_ms,
            rules_version, created_ms, updated_ms)
        VALUES (NEW.partition, NEW.match_id, NEW.game, 1, NEW.hash, NEW.epoch, NEW.status, NEW.next_deadline_ms,
            NEW.rules_version, NEW.server_time_ms, NEW.server_time_ms)
        ON CONFLICT DO NOTHING;
        SELECT raise(ABORT, 'fence') WHERE changes() = 0;
    END
    """,
    # Every other one moves it by one version, unless a later owner has been here.
    """
    CREATE TEMP TRIGGER head_moved INSTEAD OF INSERT ON appending WHEN NEW.version <> 1 BEGIN
        UPDATE match_head SET version = NEW.version, hash = NEW.hash, epoch = NEW.epoch, status = NEW.status,
            next_deadline_ms = NEW.next_deadline_ms, updated_ms = NEW.server_time_ms
        WHERE partition = NEW.partition AND match_id = NEW.match_id AND game = NEW.game
            AND version = NEW.version - 1 AND epoch <= NEW.epoch;
        SELECT raise(ABORT, 'fence') WHERE changes() = 0;
    END
    """,
    # Whoever writes under an epoch owns the partition.
    """
    CREATE TEMP TRIGGER owner_fenced INSTEAD OF INSERT ON appending WHEN NEW.epoch <> 0 BEGIN
        SELECT raise(ABORT, 'fence') WHERE NOT EXISTS (
            SELECT 1 FROM partition_owner WHERE game = NEW.game AND partition = NEW.partition
                AND epoch = NEW.epoch AND instance IS NOT NULL);
    END
    """,
    """
    CREATE TEMP TRIGGER entry_kept INSTEAD OF INSERT ON appending BEGIN
        INSERT INTO entries (partition, match_id, version, command_id, server_time_ms, header, public, digests, hash)
        VALUES (NEW.partition, NEW.match_id, NEW.version, NEW.command_id, NEW.server_time_ms, NEW.header, NEW.public,
            NEW.digests, NEW.hash);
    END
    """,
    """
    CREATE TEMP TRIGGER parts_kept INSTEAD OF INSERT ON appending WHEN NEW.parts IS NOT x'' BEGIN
        INSERT INTO hidden (partition, match_id, version, parts)
        VALUES (NEW.partition, NEW.match_id, NEW.version, NEW.parts);
    END
    """,
    """
    CREATE TEMP TRIGGER dues_noted INSTEAD OF INSERT ON appending WHEN NEW.dues IS NOT 0 BEGIN
        INSERT INTO dues (partition, match_id, game, bits) VALUES (NEW.partition, NEW.match_id, NEW.game, NEW.dues)
        ON CONFLICT (partition, match_id) DO UPDATE SET bits = bits | excluded.bits;
    END
    """,
)


def prepare(connection: sqlite3.Connection) -> None:
    """Makes the view and its triggers, which only this connection sees."""
    nothing = ", ".join(f"NULL AS {column}" for column in _COLUMNS.split(", "))
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute(f"CREATE TEMP VIEW appending AS SELECT {nothing}")
    for trigger in _TRIGGERS:
        connection.execute(trigger)


def rows(run: Run) -> Iterator[Row]:
    """The entries of a run as `write` takes them."""
    for entry in run.entries:
        yield (
            run.partition,
            entry.match_id,
            entry.game,
            entry.version,
            entry.command_id,
            entry.server_time_ms,
            entry.header,
            entry.public,
            entry.digests,
            entry.hash,
            entry.parts,
            entry.epoch,
            entry.status,
            entry.next_deadline_ms,
            entry.rules_version,
            entry.dues,
        )


def write(connection: sqlite3.Connection, group: Sequence[Row]) -> None:
    """Writes all of them, or nothing.

    Raises:
        sqlite3.IntegrityError: a fence did not let one pass (`SQLITE_CONSTRAINT_TRIGGER`), or its version or command
            id is taken (`SQLITE_CONSTRAINT_UNIQUE`).
    """
    if len(group) <= AT_ONCE:
        _insert(connection, group)
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for first in range(0, len(group), AT_ONCE):
            _insert(connection, group[first : first + AT_ONCE])
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _insert(connection: sqlite3.Connection, group: Sequence[Row]) -> None:
    connection.execute(_statement(len(group)), [value for row in group for value in row])


@functools.cache
def _statement(number: int) -> str:
    one = f"({', '.join('?' * _WIDTH)})"
    return f"INSERT INTO appending ({_COLUMNS}) VALUES {', '.join([one] * number)}"  # noqa: S608 (question marks only)
