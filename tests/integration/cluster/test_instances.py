"""Two and three instances share the matches while a hundred of them are played: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from grimoire.bus import event_subject
from grimoire.v1 import frame_pb2, match_pb2
from tests.support.cluster import GAME, Cluster, cluster
from tests.support.crowd import Crowd
from two_towers.rules import TwoTowers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PLAYERS = 100


class Spectator:
    """Hears every publication."""

    def __init__(self) -> None:
        self.heard: dict[tuple[str, int], set[bytes]] = defaultdict(set)

    async def listen(self, running: Cluster) -> None:
        await running.edge.serve(event_subject(GAME), lambda message: self._hear(message.data))

    def _hear(self, data: bytes) -> None:
        entry = frame_pb2.ViewerEntry.FromString(data)
        header = match_pb2.EntryHeader.FromString(entry.header)
        self.heard[header.match_id, header.version].add(entry.hash)

    async def prove(self, running: Cluster) -> None:
        """What was published is in the log, under its version, and nothing else ever was."""
        by_match: dict[str, dict[int, bytes]] = {}
        for match_id, version in self.heard:
            if match_id not in by_match:
                by_match[match_id] = {entry.version: entry.hash for entry in await running.store.read(match_id)}
            assert self.heard[match_id, version] == {by_match[match_id][version]}


@asynccontextmanager
async def playing(running: Cluster, players: int = PLAYERS, thinking_s: float = 0.0) -> AsyncIterator[Crowd]:
    """Everybody plays within the block; at its end everything is proved."""
    spectator = Spectator()
    await spectator.listen(running)
    crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
    crowd.thinking_s = thinking_s
    tables = [asyncio.create_task(crowd.play()) for _ in range(players)]
    try:
        await crowd.more(players)
        yield crowd
        crowd.stop()
        await asyncio.gather(*tables)
    finally:
        for task in tables:
            task.cancel()
        await asyncio.gather(*tables, return_exceptions=True)
    await crowd.finish()
    assert await crowd.prove() >= len(crowd.acknowledged)
    await spectator.prove(running)


async def test_instances_come_and_go_while_matches_are_played(tmp_path: Path, database_url: str | None) -> None:
    async with cluster(tmp_path, database_url) as running:
        first = await running.add()
        async with playing(running) as crowd:
            second = await running.add()
            await running.until_balanced(first, second)
            await crowd.more(PLAYERS)
            third = await running.add()
            await running.until_balanced(first, second, third)
            await crowd.more(PLAYERS)
            await first.drain()
            await running.until_balanced(second, third)
            await crowd.more(PLAYERS)
            await second.kill()
            await running.until_balanced(third)
            await crowd.more(PLAYERS)
            fourth = await running.add()
            await running.until_balanced(third, fourth)
            await third.kill()
            await running.until_balanced(fourth)
            await crowd.more(PLAYERS)
        assert running.complaints() == []
        # Those that were drained had nothing left to be fenced off; whoever took over told so once.
        told = [line["event"] for line in first.lines()]
        assert "append_refused" not in told
        assert "partitions_lost" not in told


async def test_all_at_once_die_and_come_back(tmp_path: Path, database_url: str | None) -> None:
    async with cluster(tmp_path, database_url) as running:
        await asyncio.gather(running.add(), running.add())
        await running.until_balanced(*running.services)
        async with playing(running) as crowd:
            await asyncio.gather(*(service.kill() for service in running.services))
            again = await asyncio.gather(running.add(), running.add())
            await running.until_balanced(*again)
            await crowd.more(PLAYERS)
        assert running.complaints() == []


async def test_a_stopped_but_living_owner_cannot_fork_a_match(tmp_path: Path, database_url: str | None) -> None:
    async with cluster(tmp_path, database_url) as running:
        first, second = await running.add(), await running.add()
        await running.until_balanced(first, second)
        async with playing(running, thinking_s=1.0) as crowd:
            taken_over = 0
            while taken_over < 2:
                # With commands on their way, unread in its socket, half-judged. Stopped inside a transaction it keeps
                # SQLite's file locked: then nobody takes over, and nobody writes.
                first.pause()
                with contextlib.suppress(TimeoutError):
                    await running.until(lambda counts: counts == {second.address: 64}, 6)
                    taken_over += 1
                    await crowd.more(PLAYERS)
                first.resume()
                await running.until_balanced(first, second)
                await crowd.more(PLAYERS)
        assert running.complaints() == []
        assert [line for line in first.lines() if line["event"] == "partitions_lost"]


async def test_an_owner_that_is_stopped_for_a_moment_goes_on(tmp_path: Path, database_url: str | None) -> None:
    async with cluster(tmp_path, database_url) as running:
        only = await running.add()
        async with playing(running, 20) as crowd:
            only.pause()
            await asyncio.sleep(3)  # longer than others would wait; nobody else is there
            only.resume()
            await crowd.more(20)
        assert running.complaints() == []
        assert [line for line in only.lines() if line["event"] == "was_silent"]
