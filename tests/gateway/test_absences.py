"""Who closes the match while others wait is away after a while, and nobody else is."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.absences import mark_away
from gateway.news import NoNews
from gateway.presence import Presence
from grimoire.client import MatchSession, Update
from grimoire.runtime.config import Address, Config
from grimoire.runtime.lifecycle import PARENT_VARIABLE
from grimoire.v1 import match_pb2
from tests.gateway.house import House
from tests.gateway.tables import running_table

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).parents[2]
GONE_MS = 300
BO = 1
EDGE = """
import gateway.absences
from grimoire.runtime.lifecycle import main
gateway.absences._GONE_MS, gateway.absences._BACK_MS, gateway.absences._ROUND_S = 2_000, 2_000, 0.05
main("gateway", "gateway.service:serve")
"""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.absences._GONE_MS", GONE_MS)
    monkeypatch.setattr("gateway.absences._ROUND_S", 0.05)


class Log:
    """What the log says of seats that were left."""

    def __init__(self, session: MatchSession) -> None:
        self.left: list[tuple[int, str]] = []
        session.on_update(self._take)

    def _take(self, update: Update) -> None:
        for event in update.events:
            if event.type == "seat_left":
                gone = match_pb2.SeatLeft.FromString(event.body)
                self.left.append((gone.seat, gone.reason))


async def until(true: Callable[[], object], within_s: float = 20) -> None:
    async with asyncio.timeout(within_s):
        while not true():
            await asyncio.sleep(0.02)


async def test_who_closes_the_match_is_away_until_it_acts(home_house: House) -> None:
    async with running_table(home_house, {"mode": "party"}, ("Ada", "Bo", "Eve")) as table:
        log = Log(table.sessions[0])
        await table.sessions[BO].close()
        await until(lambda: table.sessions[0].head.away)
        await until(lambda: log.left == [(BO, "away")])
        await table.move(BO)
        await until(lambda: not table.sessions[0].head.away)
        # It is told once for each time that the person has gone.
        version = table.sessions[0].version
        await asyncio.sleep(3 * GONE_MS / 1000)
        assert table.sessions[0].version == version


async def test_nobody_is_away_where_seats_are_kept_or_a_turn_has_an_hour(home_house: House) -> None:
    for options in ({"mode": "duel"}, {"mode": "party", "choose_s": "3600"}):
        async with running_table(home_house, options) as table:
            await table.sessions[BO].close()
            await asyncio.sleep(4 * GONE_MS / 1000)
            await table.move()
            assert not table.sessions[0].head.away, options


async def test_a_page_that_is_opened_again_in_time_is_no_leave(
    home_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.absences._GONE_MS", 2_000)
    async with running_table(home_house, {"mode": "party"}) as table:
        await table.sessions[BO].close()
        async with await table.clients[BO].open_match(table.match_id):
            await asyncio.sleep(2.5)
            assert not table.sessions[0].head.away


async def test_the_command_is_the_same_bytes_however_often_it_is_sent() -> None:
    assert mark_away("m", 1, 5) == mark_away("m", 1, 5)
    ids = {mark_away("m", seat, since).command.command_id for seat in (0, 1) for since in (5, 6)}
    assert len(ids) == 4


class Edge:
    """An edge in a process of its own, which can be killed and started again at its address."""

    def __init__(self, config: Config, home: Path) -> None:
        self._config = config
        self._home = home
        self._process: Process | None = None

    async def start(self) -> Config:
        path = os.pathsep.join((str(self._home / "site"), str(ROOT)))
        env = {**os.environ, **self._config.to_env(), "PYTHONPATH": path, PARENT_VARIABLE: str(os.getpid())}
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", EDGE, stdin=PIPE, stdout=PIPE, env=env)
        self._process = process
        assert process.stdout is not None
        told = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        self._config = self._config.with_address("gateway", Address.parse(told["address"]))
        return self._config

    async def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
            self._process = None


@asynccontextmanager
async def edge_beside(home: House) -> AsyncIterator[tuple[Edge, House]]:
    """Another edge of the same installation, and the house as one sees it through that."""
    anywhere = Address("127.0.0.1", 0)
    edge = Edge(home.config.with_address("gateway", anywhere).with_address("web", anywhere), home.home)
    try:
        yield edge, replace(home, config=await edge.start())
    finally:
        await edge.kill()


async def test_who_left_before_the_edge_was_killed_is_away_after_it(home_house: House) -> None:
    async with (
        edge_beside(home_house) as (edge, home),
        running_table(home, {"mode": "party"}, ("Ada", "Bo", "Eve")) as table,
    ):
        await table.sessions[BO].close()
        await edge.kill()
        await edge.start()
        log = Log(table.sessions[0])
        await until(lambda: table.sessions[0].head.away, within_s=60)
        await until(lambda: log.left == [(BO, "away")])
        await table.move(BO)
        await until(lambda: not table.sessions[0].head.away)


async def test_who_has_not_come_since_a_match_is_followed_here_counts_as_gone_since_then() -> None:
    now_ms = 1_000
    presence = Presence(NoNews(), lambda: now_ms)
    with presence.follow("m", 0), presence.follow("watched", None):
        now_ms = 2_000
        assert presence.newcomers(999) == []
        assert presence.newcomers(1_000) == ["m"]
        presence.compare("m", {0, 1})
        assert presence.newcomers(2_000) == [], "once for each match"
        assert [dict(absence.since_ms) for absence in presence.absences(1_000)] == [{1: 1_000}]
    with presence.follow("m", 0):
        assert presence.newcomers(9_000) == []
    await presence.close()


async def test_a_match_that_nobody_follows_any_more_remains_to_be_compared() -> None:
    presence = Presence(NoNews(), lambda: 1_000)
    with presence.follow("m", 0):
        pass
    presence.compare("m", {0, 1})
    with presence.follow("m", 0):
        assert presence.newcomers(1_000) == ["m"]
    await presence.close()
