"""The schema, forward and back, on both databases."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import psycopg
import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from grimoire.eventstore import EventStore, StoreError, migrations, open_store
from grimoire.eventstore.migrations import HEAD
from grimoire.eventstore.schema import migrate, revision_of
from grimoire.eventstore.tables import VERSION_TABLE, metadata
from tests.support.eventstore import GAME, new_entries, new_entry

Transaction: TypeAlias = Callable[[], AbstractContextManager[Connection]]

SCRIPTS = ScriptDirectory(str(Path(migrations.__file__).parent))
REVISIONS = [script.revision for script in reversed(list(SCRIPTS.walk_revisions()))]


@pytest.fixture
def transaction(url: str) -> Transaction:
    """Opens a transaction on the database, past the store."""
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(url, poolclass=NullPool)
        # The driver's own BEGIN comes too late for statements that make tables.
        event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    else:
        engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=NullPool)

    @contextmanager
    def begin() -> Iterator[Connection]:
        with engine.begin() as connection:
            yield connection

    return begin


def tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def test_the_code_works_with_the_newest_revision() -> None:
    assert SCRIPTS.get_heads() == [HEAD]


def test_up_and_down_and_up(transaction: Transaction) -> None:
    for target, revision in ((HEAD, HEAD), ("base", None), (HEAD, HEAD)):
        with transaction() as connection:
            migrate(connection, target)
        with transaction() as connection:
            assert revision_of(connection) == revision
            assert tables(connection) - {VERSION_TABLE} == (set(metadata.tables) if revision else set())


def test_down_leaves_nothing_behind(transaction: Transaction, url: str) -> None:
    with transaction() as connection:
        migrate(connection)
        migrate(connection, "base")
    with transaction() as connection:
        left = "SELECT name FROM sqlite_schema WHERE type <> 'table'"
        if url.startswith("postgresql"):
            left = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        rows = connection.execute(text(left)).scalars().all()
        assert [name for name in rows if not name.startswith("sqlite_autoindex_" + VERSION_TABLE)] == []


def test_a_failed_migration_leaves_nothing_behind(transaction: Transaction) -> None:
    with transaction() as connection:
        # In the way of the last table.
        connection.execute(text("CREATE TABLE downtime (x integer)"))
    with pytest.raises(DBAPIError), transaction() as connection:
        migrate(connection)
    with transaction() as connection:
        assert tables(connection) == {"downtime"}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_database_of_any_revision_is_brought_up_to_date(
    transaction: Transaction, url: str, revision: str
) -> None:
    with transaction() as connection:
        migrate(connection, revision)
        blobs = {name: name.encode() for name in ("command_id", "header", "public", "digests", "hash", "parts")}
        # As the first revision has them; later ones must carry them along.
        connection.execute(
            text(
                "INSERT INTO entries (partition, match_id, version, command_id, server_time_ms, header, public, "
                "digests, hash) VALUES (1, 'm1', 1, :command_id, 1001, :header, :public, :digests, :hash)"
            ),
            blobs,
        )
        connection.execute(
            text("INSERT INTO hidden (partition, match_id, version, parts) VALUES (1, 'm1', 1, :parts)"), blobs
        )
        connection.execute(
            text(
                "INSERT INTO match_head (partition, match_id, game, version, hash, epoch, status, next_deadline_ms, "
                "rules_version, created_ms, updated_ms) VALUES (1, 'm1', :game, 1, :hash, 0, 1, NULL, 3, 1001, 1001)"
            ),
            blobs | {"game": GAME},
        )
    async with await open_store(url) as store:
        await store.append([new_entry("m1", 2)])
        first, _ = await store.read("m1", parts=True)
        assert (first.command_id, first.header, first.public) == (b"command_id", b"header", b"public")
        assert (first.digests, first.hash, first.parts) == (b"digests", b"hash", b"parts")
        assert len((await store.tail(GAME)).entries) == 2


async def test_a_database_of_newer_code_is_left_alone(transaction: Transaction, url: str) -> None:
    await (await open_store(url)).close()
    with transaction() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(StoreError, match="9999"):
        await open_store(url)
    with transaction() as connection:
        assert revision_of(connection) == "9999"


@pytest.mark.filterwarnings("ignore:Did not recognize type 'xid8'")
async def test_the_tables_are_as_the_code_sees_them(store: EventStore, transaction: Transaction, url: str) -> None:
    with transaction() as connection:
        inspector = inspect(connection)
        for table in metadata.tables.values():
            found = {column["name"]: column for column in inspector.get_columns(table.name)}
            extra = {"tx"} if table.name == "entries" and url.startswith("postgresql") else set()
            assert set(found) == {column.name for column in table.columns} | extra
            for column in table.columns:
                assert found[column.name]["nullable"] == column.nullable or column.name == "position", column
                assert issubclass(column.type.python_type, found[column.name]["type"].python_type), column
            unique = {tuple(inspector.get_pk_constraint(table.name)["constrained_columns"])}
            unique |= {tuple(one["column_names"]) for one in inspector.get_unique_constraints(table.name)}
            assert tuple(column.name for column in table.primary_key) in unique


async def test_what_is_written_stays(store: EventStore, transaction: Transaction, url: str) -> None:
    await store.append(new_entries("m1", 1, 3))
    changes = ["UPDATE {} SET version = 9", "DELETE FROM {}"]
    if url.startswith("postgresql"):
        changes.append("TRUNCATE {}")
    for change in changes:
        for table in ("entries", "hidden"):
            with pytest.raises(DBAPIError, match="append-only"), transaction() as connection:
                connection.execute(text(change.format(table)))
    assert [entry.version for entry in await store.read("m1", parts=True)] == [1, 2, 3]


async def test_several_processes_open_a_new_database_at_once(url: str, pytestconfig: pytest.Config) -> None:
    source = (
        "import asyncio, sys\n"
        "from grimoire.eventstore import open_store\n"
        "async def main():\n"
        "    sys.stdin.readline()\n"
        "    async with await open_store(sys.argv[1]) as store:\n"
        "        await store.claim('two_towers', int(sys.argv[2]), 'a', 'a:1', 1, 1)\n"
        "asyncio.run(main())\n"
    )
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, url, str(number), stdin=asyncio.subprocess.PIPE, cwd=pytestconfig.rootpath
        )
        for number in range(3)
    ]
    await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert [process.returncode for process in processes] == [0, 0, 0]
    async with await open_store(url) as store:
        assert [owner.partition for owner in await store.owners(GAME)] == [0, 1, 2]
