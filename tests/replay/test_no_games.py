"""Replay holds no game code: it serves a game that its own process could not import if it wanted to."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from grimoire.engine import ALL
from grimoire.runtime.config import Address
from grimoire.runtime.lifecycle import PARENT_VARIABLE
from tests.replay.house import GAME, House
from tests.support.toy.install import ROOT

# Importing any of these fails; that they are installed makes no difference.
BLOCK = """
import importlib.abc, sys

class NoGames(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("two_towers", "tests") or name.startswith("grimoire.games"):
            raise ImportError(f"{name} must not be imported here")

sys.meta_path.insert(0, NoGames())
"""

LOAD_EVERYTHING = (
    BLOCK
    + """
import importlib, pkgutil, replay
for module in pkgutil.walk_packages(replay.__path__, "replay."):
    importlib.import_module(module.name)
games = [name for name in sys.modules if name.startswith(("two_towers", "grimoire.games"))]
assert not games, games
print(len([name for name in sys.modules if name.startswith("replay.")]))
"""
)

SERVE = BLOCK + "\nfrom grimoire.runtime.lifecycle import main\nmain('replay', 'replay.service:serve')\n"


def test_every_module_loads_without_any_game() -> None:
    done = subprocess.run([sys.executable, "-c", LOAD_EVERYTHING], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 12


async def test_a_game_it_has_never_heard_of_is_replayed_exported_and_audited(home: House) -> None:
    played = await home.play()
    frames = await home.caller("ada").frames(played, ALL)
    await home.stop("replay")

    async with _replay_process(home):
        caller = home.caller("ada")
        assert await caller.frames(played, ALL) == frames
        file = await caller.export(played)
        kept = (await caller.bring(file)).match_id
        assert await caller.frames(kept, ALL) == frames
        assert (await caller.audit(played)).passed
        assert (await caller.audit(kept)).passed
        assert await caller.marks(played)


@asynccontextmanager
async def _replay_process(home: House) -> AsyncIterator[None]:
    path = os.pathsep.join([*sys.path, str(ROOT)])
    config = home.config.with_address("replay", Address("127.0.0.1", 0))
    env = {**os.environ, **config.to_env(), "PYTHONPATH": path, PARENT_VARIABLE: str(os.getpid())}
    log = Path(home.config.home) / "replay.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", SERVE, env=env, stdout=subprocess.PIPE, stderr=errors
        )
    try:
        assert process.stdout is not None
        told = await asyncio.wait_for(process.stdout.readline(), 30)
        assert told, log.read_text()
        await home.moved("replay", json.loads(told)["address"])
        assert GAME in home.config.addresses
        yield
    finally:
        if process.returncode is None:
            process.terminate()
        assert await process.wait() == 0, log.read_text()
