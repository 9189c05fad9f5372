"""A lobby on each kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.matchmaking.house import House, open_house
from tests.support.postgres import shared_server
from tests.support.toy.install import write_entry_point


@pytest.fixture
def install_toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Installs the toy game for this process."""
    return lambda: monkeypatch.syspath_prepend(write_entry_point(tmp_path / "toy"))


@pytest.fixture(params=["sqlite", "postgresql"])
async def house(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    """Broker and configuration; nothing else runs yet."""
    async with house_on(request.param, tmp_path, monkeypatch) as opened:
        yield opened


@asynccontextmanager
async def house_on(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin: str = "tests.support.toy:PLUGIN"
) -> AsyncIterator[House]:
    """A house on one kind of database."""
    monkeypatch.syspath_prepend(write_entry_point(tmp_path / "toy", plugin))
    url = shared_server().create_database() if database == "postgresql" else None
    async with open_house(tmp_path / "home", database_url=url) as opened:
        yield opened
