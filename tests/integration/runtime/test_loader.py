"""Matches are handed to whoever asks; nobody is left waiting."""

from __future__ import annotations

import asyncio
from pathlib import Path

from grimoire.eventstore import partition_of
from grimoire.eventstore.sqlite import SqliteStore
from grimoire.fairness.secret import Secret
from grimoire.match import Referee
from grimoire.runtime.cache import MatchCache
from grimoire.runtime.live import Absent
from grimoire.runtime.loader import AT_ONCE, Loader
from grimoire.runtime.partitions import Held
from two_towers.rules import TwoTowers

NAMES = [f"no such match {n}" for n in range(AT_ONCE + 1)]
"""Such names no match can have: they are answered without a look into the store."""


async def test_whoever_asks_just_when_the_last_worker_stops_is_answered(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db")
    held = Held(1)
    loader = Loader(
        Referee(TwoTowers(), lambda *_: Secret(bytes(32))),
        store,
        MatchCache(8, 60.0),
        lambda _: held,
        lambda: True,
        waiting=64,
        waiting_match=64,
    )
    found: list[object] = []
    for name in NAMES[:-1]:
        loader.ask(partition_of(name), name, found.append)
    # Runs after the workers' last step and before anything that their end calls back.
    asyncio.get_running_loop().call_soon(loader.ask, partition_of(NAMES[-1]), NAMES[-1], found.append)
    async with asyncio.timeout(60):
        while len(found) < len(NAMES):
            await asyncio.sleep(0)
    assert not any(isinstance(one, Absent) for one in found)
    await store.close()
