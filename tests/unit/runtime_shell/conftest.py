from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.runtime.config import Config, LogFormat
from grimoire.runtime.keys import KeyRing
from tests.support.process_logging import captured_logging


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.for_test(tmp_path / "home")


@pytest.fixture
def keys(config: Config) -> KeyRing:
    return KeyRing.load_or_create(config.keys_dir)


@pytest.fixture(params=list(LogFormat))
def log(request: pytest.FixtureRequest, config: Config) -> Iterator[io.StringIO]:
    """All that this process logs, in either format."""
    with captured_logging(config, request.param) as stream:
        yield stream
