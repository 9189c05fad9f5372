"""The client without a browser: its unit tests, what it says, how much of it is fetched."""

from __future__ import annotations

import subprocess

import pytest

from tests.web.built import WEB, dist, node
from tests.web.sizes import Build

KIB = 1024
GAMES = ("two_towers", "wizards_garden", "spellbound", "broom_service")


def run(*command: str, seconds: int) -> None:
    """Runs a tool of the client with Node; fails with what it said."""
    dist()  # installs what the tools need
    program, env = node()
    done = subprocess.run(
        [program, *command], cwd=WEB, env=env, capture_output=True, text=True, timeout=seconds, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-8000:]}\n{done.stderr[-4000:]}"


@pytest.mark.timeout(420)
def test_units() -> None:
    run("node_modules/vitest/vitest.mjs", "run", "--reporter=dot", seconds=400)


def test_both_languages_say_everything_and_markup_says_nothing_by_itself() -> None:
    run("tools/messages.mjs", seconds=60)


def test_the_lobby_is_light() -> None:
    build = Build.read(dist())
    assert build.size(build.lobby(), ".js") <= 100_000
    assert build.size(build.lobby(), ".css") <= 15_000


def test_every_game_has_a_chunk() -> None:
    assert set(Build.read(dist()).games()) == set(GAMES)


@pytest.mark.parametrize("game", GAMES)
def test_a_game_is_light(game: str) -> None:
    build = Build.read(dist())
    assert build.size(build.game(game)) <= 35_000


@pytest.mark.parametrize("game", GAMES)
def test_the_first_load_is_light(game: str) -> None:
    build = Build.read(dist())
    assert build.size(build.first_load(game)) <= 200 * KIB


def test_no_game_is_loaded_for_another() -> None:
    build = Build.read(dist())
    for game in GAMES:
        others = {build.chunks[source]["file"] for other, source in build.games().items() if other != game}
        assert not others & build.first_load(game)


def test_nothing_is_written_into_the_page_itself() -> None:
    """The policy forbids script and style inside a page."""
    page = (dist() / "index.html").read_text()
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count('<script type="module" crossorigin src="/assets/')
