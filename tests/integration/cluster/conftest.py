"""What several instances share: a database of each kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.postgres import fresh_database


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """PostgreSQL's URL; None: the usual SQLite file."""
    if request.param == "sqlite":
        yield None
        return
    with fresh_database() as url:
        yield url
