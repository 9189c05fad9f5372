"""Fixtures of the replay tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.replay.house import House, house
from tests.support.toy.install import write_entry_point

# gRPC's own handlers at a fork (on by default) disturb the child, and here servers are started as children.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The toy as an installed game."""
    monkeypatch.syspath_prepend(str(write_entry_point(tmp_path / "entry-points")))


@pytest.fixture
async def home(toy: None, tmp_path: Path) -> AsyncIterator[House]:
    """A running house."""
    async with house(tmp_path / "home") as running:
        yield running
