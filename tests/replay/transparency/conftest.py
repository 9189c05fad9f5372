"""Every test that takes `url` or `log` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from replay.transparency.log import TransparencyLog
from tests.support.postgres import fresh_database
from tests.support.transparency import KEY


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database with nothing in it."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'data' / 'replay.db'}"
        return
    with fresh_database() as empty:
        yield empty


@pytest.fixture
async def log(url: str) -> AsyncIterator[TransparencyLog]:
    opened = TransparencyLog(url, KEY)
    await opened.open()
    yield opened
    await opened.close()
