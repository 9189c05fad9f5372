"""No error that leaves a store shows a value: not in its text, nor in what hangs on it."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import create_engine

from grimoire.eventstore import Conflict, EventStore, NewEntry, StoreError, open_store
from tests.support.eventstore import new_entry

MARKER = "QUEEN-OF-SPADES"
BYTES = MARKER.encode()
SIGNS = (MARKER, MARKER.lower(), BYTES.hex(), BYTES.hex().upper(), repr(list(BYTES))[1:-1])


def marked(version: int = 1, **changes: Any) -> NewEntry:
    """An entry with the marker wherever bytes go."""
    fields: dict[str, Any] = dict.fromkeys(("command_id", "header", "public", "digests", "hash", "parts"), BYTES * 3)
    return new_entry("m1", version, **fields | changes)


def everything_about(error: BaseException) -> str:
    """All texts of an error and of all errors that hang on it, also those that a traceback leaves out."""
    texts, seen, todo = [], set(), [error]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        texts += [str(one), repr(one), repr(one.args), repr(vars(one)), *traceback.format_exception(one)]
        texts += getattr(one, "__notes__", [])
        todo += [other for other in (one.__cause__, one.__context__) if other is not None]
    return "\n".join(texts)


async def error_of(work: Awaitable[object]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011 -- which one differs by database
        await work
    return caught.value


def assert_discreet(error: BaseException) -> None:
    about = everything_about(error)
    assert not [sign for sign in SIGNS if sign in about], about


async def break_table(url: str, table: str) -> None:
    if url.startswith("sqlite"):
        with create_engine(url).begin() as connection:
            connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO gone")
        return
    connection = await asyncpg.connect(url)
    await connection.execute(f"ALTER TABLE {table} RENAME TO gone")
    await connection.close()


async def test_the_scan_finds_what_drivers_say(url: str, tmp_path: Path) -> None:
    """The drivers do leak: a scan that found nothing here would find nothing anywhere."""
    if url.startswith("sqlite"):
        engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}")
        with pytest.raises(Exception) as caught, engine.begin() as plain:  # noqa: PT011
            plain.exec_driver_sql("INSERT INTO nowhere VALUES (?)", (BYTES,))
    else:
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE TABLE one (id bytea PRIMARY KEY)")
        with pytest.raises(asyncpg.UniqueViolationError) as caught:  # noqa: PT012
            for _ in range(2):
                await connection.execute("INSERT INTO one VALUES ($1)", BYTES)
        await connection.close()
    assert [sign for sign in SIGNS if sign in everything_about(caught.value)]


async def test_conflicts(store: EventStore) -> None:
    await store.append([marked()])
    for entry in (marked(), marked(2), marked(7, command_id=bytes(16)), marked(2, command_id=bytes(16), epoch=4)):
        error = await error_of(store.append([entry]))
        assert isinstance(error, Conflict)
        assert_discreet(error)


async def test_values_that_cannot_be_stored(store: EventStore) -> None:
    for changes in (
        {"server_time_ms": MARKER},
        {"status": MARKER},
        {"status": 2**80},
        {"public": MARKER},
        {"parts": {MARKER}},
        {"parts": None},
        {"dues": None},
        {"hash": None},
        {"rules_version": None},
        {"next_deadline_ms": MARKER},
    ):
        error = await error_of(store.append([marked(**changes)]))
        assert isinstance(error, StoreError), changes
        assert_discreet(error)
    assert await store.head("m1") is None


@pytest.mark.parametrize("table", ["entries", "hidden", "match_head"])
async def test_a_broken_database(store: EventStore, url: str, table: str) -> None:
    await break_table(url, table)
    reading = store.head(MARKER) if table == "match_head" else store.by_command(MARKER, BYTES)
    for work in (store.append([marked()]), reading):
        error = await error_of(work)
        assert type(error) is StoreError
        assert_discreet(error)


async def test_odd_questions(store: EventStore) -> None:
    for work in (
        store.by_command("m1", MARKER),  # type: ignore[arg-type]
        store.read("m1", MARKER),  # type: ignore[arg-type]
        store.tail("two_towers", f"s{MARKER}"),
        store.claim("two_towers", MARKER, "a", "a:1", 1, 1),  # type: ignore[arg-type]
    ):
        try:
            await work
        except Exception as error:
            assert_discreet(error)


async def test_a_closed_store(url: str) -> None:
    store = await open_store(url)
    await store.close()
    assert_discreet(await error_of(store.append([marked()])))
    assert_discreet(await error_of(asyncio.wait_for(store.by_command("m1", BYTES), 5)))
