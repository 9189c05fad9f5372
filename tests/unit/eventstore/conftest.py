"""Every test that takes `url` or `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.postgres import shared_server

from grimoire.eventstore import EventStore, open_store


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'log' / 'store.db'}"


@pytest.fixture
def postgres_url() -> str:
    return shared_server().create_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with nothing in it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'log' / 'store.db'}"
    return shared_server().create_database()


@pytest.fixture
async def store(url: str) -> AsyncIterator[EventStore]:
    async with await open_store(url) as opened:
        yield opened
