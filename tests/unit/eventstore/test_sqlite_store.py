"""What is peculiar to the store on SQLite."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sqlite3
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.eventstore import Conflict, ConflictKind, Unavailable, open_store
from grimoire.eventstore.sqlite import SqliteStore
from tests.support.eventstore import GAME, new_entries, new_entry
from tests.support.store_writer import MATCHES


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@contextlib.contextmanager
def writing_beside(path: Path) -> Iterator[None]:
    """Another process, as far as SQLite can tell, in the middle of a write."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.rollback()
    connection.close()


async def test_a_locked_file_is_unavailable_and_comes_back(path: Path) -> None:
    async with await SqliteStore.open(path, busy_s=0.05) as store:
        await store.append([new_entry("m1", 1)])
        with writing_beside(path):
            for work in (store.append([new_entry("m1", 2)]), store.claim(GAME, 1, "a", "a:1", 1, 1)):
                with pytest.raises(Unavailable, match="SQLITE_BUSY"):
                    await work
            # Who reads does not wait for who writes.
            assert len(await store.read("m1", parts=True)) == 1
        await store.append([new_entry("m1", 2)])


async def test_a_writer_waits_for_another(path: Path) -> None:
    async with await SqliteStore.open(path) as store:
        with writing_beside(path):
            waiting = asyncio.create_task(store.append([new_entry("m1", 1)]))
            assert await store.read("m1") == []
            assert not waiting.done()
        await waiting


async def test_a_full_disk_is_unavailable_and_comes_back(path: Path) -> None:
    async with await SqliteStore.open(path) as store:
        await store.append(new_entries("m1", 1, 3))

        def limit(pages: int) -> None:
            assert store._connection is not None
            store._connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            store._connection.rollback()

        await store._in_writer(limit, 1)
        big = new_entry("m1", 4, public=bytes(1 << 20))
        with pytest.raises(Unavailable, match="SQLITE_FULL"):
            await store.append([new_entry("m2", 1), big])
        assert await store.head("m2") is None
        await store._in_writer(limit, 1 << 30)
        await store.append([new_entry("m2", 1), big])


async def test_a_vanished_file_is_an_error_not_an_empty_store(path: Path) -> None:
    with pytest.raises(Unavailable, match="SQLITE_CANTOPEN"):
        await SqliteStore.open(path, read_only=True)
    assert list(path.parent.iterdir()) == []


async def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:///{tmp_path / 'a' / 'b' / 'store.db'}") as store:
        await store.append([new_entry("m1", 1)])
        files = sorted((tmp_path / "a" / "b").iterdir())
        assert [file.name for file in files] == ["store.db", "store.db-shm", "store.db-wal"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


async def test_every_commit_waits_for_the_disk(path: Path) -> None:
    async with await SqliteStore.open(path) as store:

        def settings() -> list[object]:
            assert store._connection is not None
            names = ("journal_mode", "synchronous")
            found = [store._connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]
            store._connection.rollback()
            return found

        assert await store._in_writer(settings) == ["wal", 2]


async def test_a_copy_keeps_the_order_of_the_tail(path: Path, tmp_path: Path) -> None:
    async with await SqliteStore.open(path) as store:
        for version in range(1, 6):
            await store.append([new_entry("m1", version), new_entry("m2", version)])
        page = await store.tail(GAME, limit=4)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("VACUUM INTO ?", (str(tmp_path / "copy.db"),))
        async with await SqliteStore.open(tmp_path / "copy.db") as copy:
            assert await copy.tail(GAME, page.cursor) == await store.tail(GAME, page.cursor)


async def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(path: Path, pytestconfig: pytest.Config) -> None:
    reached = 0
    for round_number in range(1, 4):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.support.store_writer", f"sqlite:///{path}",
            stdout=asyncio.subprocess.PIPE, cwd=pytestconfig.rootpath,
        )  # fmt: skip
        assert process.stdout is not None
        while reached < round_number * 40:
            reached = int(await process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest, _ = await process.communicate()
        reached = max([reached, *map(int, rest.splitlines())])
        async with await SqliteStore.open(path) as store:
            for match_id in MATCHES:
                head = await store.head(match_id)
                assert head is not None
                assert head.version >= reached
                entries = await store.read(match_id, parts=True)
                expected = new_entries(match_id, 1, head.version)
                assert [(one.version, one.hash, one.parts) for one in entries] == [
                    (one.version, one.hash, one.parts) for one in expected
                ]
            # A client that never got its answer asks again.
            with pytest.raises(Conflict) as caught:
                await store.append([new_entry(MATCHES[0], reached)])
            assert caught.value.kind is ConflictKind.DUPLICATE
