"""Every test that takes `url` or `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from grimoire.eventstore import EventStore, open_store
from tests.support.postgres import fresh_database


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database with nothing in it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'log' / 'store.db'}"
        return
    with fresh_database() as empty:
        yield empty


@pytest.fixture
async def store(url: str) -> AsyncIterator[EventStore]:
    async with await open_store(url) as opened:
        yield opened
