"""One installation and one browser for each test module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from grimoire.runtime.config import Config, LogLevel, RunFile
from grimoire.runtime.stack import Stack
from tests.web.browsers import open_browser
from tests.web.built import dist
from tests.web.people import Person
from tests.web.programs import duel

# Beside another worker's tests a page may be slow; nothing waits longer than it must.
expect.set_options(timeout=30_000)


STARTING_S = 240
"""So long may the build of the client, the start of everything and a browser, and their end take together."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that comes first in its worker does not pay for what the others have from it; a start that hangs ends."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            mark = item.get_closest_marker("timeout")
            given = [] if mark is None else [*mark.args, mark.kwargs.get("timeout")]
            seconds = float(next((each for each in given if each is not None), config.getini("timeout")))
            item.add_marker(pytest.mark.timeout(seconds + STARTING_S), append=False)


@pytest.fixture(scope="module")
def as_processes() -> bool:
    """A module that kills services says so."""
    return False


@pytest.fixture(scope="module")
def _environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRIMOIRE_WEB_DIST", str(dist()))
        # Nobody looks on, so bots need not wait until a move can be followed.
        patch.setenv("GRIMOIRE_BOTS_PACE_MS", "0")
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(
    tmp_path_factory: pytest.TempPathFactory, as_processes: bool, _environment: None
) -> AsyncIterator[Stack]:
    """Everything that `make run` starts."""
    config = replace(Config.for_test(tmp_path_factory.mktemp("home")), log_level=LogLevel.WARNING)
    async with Stack(config, processes=as_processes) as running:
        yield running


@pytest.fixture(scope="module")
def run_file(stack: Stack) -> RunFile:
    """Addresses and processes of the stack."""
    found = RunFile.read(stack.config.home)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def site(run_file: RunFile) -> str:
    """Where browsers go."""
    return f"http://{run_file.addresses['web']}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser() as running:
        yield running


@pytest.fixture
def person(browser: Browser, site: str) -> Callable[..., Person]:
    """`async with person(PHONE, dark=True) as mira: ...`"""

    def sit_down(*args: Any, **more: Any) -> Person:
        return Person(browser, site, *args, **more)

    return sit_down


@dataclass(frozen=True)
class Finished:
    """A match that is over, with its secrets open.

    Args:
        match_id: its id.
        log: its export.
    """

    match_id: str
    log: bytes


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def finished(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A whole match, played by programs."""
    async with duel(str(stack.config.gateway), tmp_path_factory.mktemp("kept")) as match:
        await match.to_end()
        for session in match.sessions:
            await session.wait_finished(timeout_s=30)
        return Finished(match.match_id, await match.clients[0].export(match.match_id))
