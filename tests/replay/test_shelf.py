"""The store of imported logs, on both databases."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psycopg
import pytest

from grimoire.v1 import frame_pb2
from replay.shelf import Shelf, ShelfUnavailableError, is_import_id
from tests.support.postgres import postgres_url  # noqa: F401 - a fixture

HEAD = frame_pb2.MatchHead(match_id="m1", game="toy", version=3)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'data' / 'replay.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
async def shelf(url: str) -> AsyncIterator[Shelf]:
    one = Shelf(url, in_all=5, per_account=3)
    await one.open()
    yield one
    await one.close()


async def test_what_was_kept_comes_back(shelf: Shelf) -> None:
    file = bytes(range(256)) * 1_000

    kept = await shelf.add("ada", HEAD, file)

    assert is_import_id(kept)
    assert await shelf.file(kept) == file
    head = await shelf.head(kept)
    assert head is not None
    assert (head.match_id, head.game, head.version) == (kept, "toy", 3)
    assert HEAD.match_id == "m1"


async def test_what_is_not_there_is_none(shelf: Shelf) -> None:
    assert await shelf.file("import-nothing") is None
    assert await shelf.head("import-nothing") is None


async def test_an_empty_file_is_a_file(shelf: Shelf) -> None:
    assert await shelf.file(await shelf.add("ada", HEAD, b"")) == b""


async def test_of_one_account_the_newest_stay(shelf: Shelf) -> None:
    kept = [await shelf.add("ada", HEAD, b"%d" % n) for n in range(5)]

    assert [await shelf.file(one) for one in kept] == [None, None, b"2", b"3", b"4"]


async def test_of_all_accounts_the_newest_stay(shelf: Shelf) -> None:
    kept = [await shelf.add(f"account{n}", HEAD, b"%d" % n) for n in range(8)]

    assert [await shelf.file(one) for one in kept] == [None, None, None, b"3", b"4", b"5", b"6", b"7"]


async def test_everything_stays_over_a_restart(shelf: Shelf, url: str) -> None:
    kept = await shelf.add("ada", HEAD, b"file")

    again = Shelf(url, in_all=5, per_account=3)
    await again.open()

    assert await again.file(kept) == b"file"
    await again.close()


async def test_instances_on_one_database_keep_the_limits_together(url: str) -> None:
    shelves = [Shelf(url, in_all=5, per_account=3) for _ in range(3)]
    await asyncio.gather(*(one.open() for one in shelves))

    kept = await asyncio.gather(*(shelves[n % 3].add(f"account{n % 4}", HEAD, b"%d" % n) for n in range(24)))

    files = [await shelves[0].file(one) for one in kept]
    assert len([f for f in files if f is not None]) == 5
    assert len(set(kept)) == 24
    for one in shelves:
        await one.close()


async def test_nobody_else_on_the_machine_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "data" / "replay.db"
    shelf = Shelf(f"sqlite:///{path}", in_all=5, per_account=3)
    await shelf.open()
    await shelf.add("ada", HEAD, b"file")
    try:
        found = list(path.parent.iterdir())
        assert len(found) > 1
        assert {file.stat().st_mode & 0o777 for file in found} == {0o600}
    finally:
        await shelf.close()


async def test_files_lie_compressed(tmp_path: Path) -> None:
    shelf = Shelf(f"sqlite:///{tmp_path / 'replay.db'}", in_all=5, per_account=3)
    await shelf.open()
    await shelf.add("ada", HEAD, b"grimoire " * 100_000)
    await shelf.close()

    assert (tmp_path / "replay.db").stat().st_size < 100_000


async def test_a_database_that_does_not_answer_is_said_without_what_was_stored(
    url: str, request: pytest.FixtureRequest
) -> None:
    shelf = Shelf(url, in_all=5, per_account=3)
    await shelf.open()
    _drop_table(url)

    with pytest.raises(ShelfUnavailableError) as failed:
        await shelf.add("ada", HEAD, b"a secret of somebody's")

    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    assert "secret" not in repr(failed.value)
    await shelf.close()


def _drop_table(url: str) -> None:
    connect: Callable[[str], object] = psycopg.connect
    if url.startswith("sqlite"):
        connect, url = sqlite3.connect, url.removeprefix("sqlite:///")
    with connect(url) as connection:
        connection.execute("DROP TABLE imported_logs")
    connection.close()
