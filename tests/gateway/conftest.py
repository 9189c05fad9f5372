"""One installation for each test module: starting it takes longer than most tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.gateway.house import House, house


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def home_house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with house(tmp_path_factory.mktemp("house")) as running:
        yield running
