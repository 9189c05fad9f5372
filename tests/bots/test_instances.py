"""Several instances of bots over one lobby: each seat is played by one, and by another when that one is gone."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, select

import bots.service
from bots.player import BotPlayer
from bots.service import Bots
from bots.settings import BotSettings
from grimoire.client import Client, MatchSession
from grimoire.runtime.config import Address, Config
from grimoire.v1 import frame_pb2
from matchmaking.limits import Limits
from matchmaking.service import serve
from matchmaking.tables import bot_seats
from tests.bots.playing import play, until
from tests.gateway.house import GAME, House, house, serving
from tests.support.toy.install import ROOT

QUICK = BotSettings(pace_ms=0, budget_ms=20, workers=1)
HELD_S = 3.0
# The version of the first seal: the entry before it creates the match.
SEALED = 2

LOBBY = functools.partial(serve, limits=Limits(bots_s=HELD_S, asks_at_once=1_000))


@dataclass
class Watched:
    """Everybody who plays a seat in this process."""

    now: set[tuple[str, int]] = field(default_factory=set)
    twice: list[tuple[str, int]] = field(default_factory=list)

    def player(self) -> type[BotPlayer]:
        """A player that signs in here while it plays."""
        watched = self

        class WatchedPlayer(BotPlayer):
            async def play(self) -> None:
                key = (self._seat.match_id, self._seat.seat)
                if key in watched.now:
                    watched.twice.append(key)
                watched.now.add(key)
                try:
                    await super().play()
                finally:
                    watched.now.discard(key)

        return WatchedPlayer


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    watched = Watched()
    monkeypatch.setattr(bots.service, "BotPlayer", watched.player())
    return watched


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path, beside={"matchmaking": LOBBY}) as running:
        yield running


def rows(home: House) -> dict[str, tuple[str, int]]:
    """By match: the instance that holds its bot's seat, and until when."""
    engine = create_engine(home.config.database_url("matchmaking"))
    try:
        with engine.connect() as connection:
            found = connection.execute(select(bot_seats.c.match_id, bot_seats.c.instance, bot_seats.c.until_ms))
            return {match_id: (instance, until_ms) for match_id, instance, until_ms in found}
    finally:
        engine.dispose()


def holders(home: House) -> dict[str, str]:
    return {match_id: instance for match_id, (instance, _) in rows(home).items()}


@asynccontextmanager
async def matches_of_two(home: House) -> AsyncIterator[tuple[Client, list[MatchSession]]]:
    """A person in matches against bots, begun and not over; each of two instances plays some."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(await home.client("Aino"))
        sessions: list[MatchSession] = []
        while len(sessions) < 4 or len(set(holders(home).values())) < 2:
            challenge = await client.play_bot(GAME, "random")
            session = await stack.enter_async_context(await client.open_match(challenge.match_id))
            await session.started(timeout_s=30)
            sessions.append(session)
        yield client, sessions


async def reached(client: Client, versions: Mapping[str, int]) -> None:
    """Waits until each of these matches has an entry of that version."""
    async with asyncio.timeout(30):
        for match_id, version in versions.items():
            async with await client.open_match(match_id, as_public=True) as session:
                await session.reached(version)


async def play_out(sessions: list[MatchSession]) -> None:
    """To the end, by the first legal thing; the bots' time must not run out."""
    async with asyncio.timeout(60):
        await asyncio.gather(*map(play, sessions))
    assert {session.head.status for session in sessions} == {frame_pb2.MATCH_STATUS_CLOSED}


class Lobby:
    """Matchmaking that can be stopped and started again where it was."""

    def __init__(self) -> None:
        self._config: Config | None = None
        self._stack = AsyncExitStack()

    async def __call__(self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        self._config = config
        address = await self.start()
        self._config = config.with_address("matchmaking", Address.parse(address))
        started(address)
        await stop.wait()
        await self.stop()

    async def start(self) -> str:
        assert self._config is not None
        return await self._stack.enter_async_context(serving(LOBBY, self._config))

    async def stop(self) -> None:
        await self._stack.aclose()


class Process:
    """An instance of bots in a process of its own, as on another machine: what it keeps, nobody else has."""

    def __init__(self, config: Config, folder: Path) -> None:
        self._config = replace(config, home=folder / "elsewhere")
        shutil.copytree(config.keys_dir, self._config.keys_dir)
        self._folder = folder
        self._log = folder / "bots.log"
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Process:
        path = os.pathsep.join((str(self._folder / "site"), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])))
        quick = {"GRIMOIRE_BOTS_PACE_MS": "0", "GRIMOIRE_BOTS_BUDGET_MS": "20", "GRIMOIRE_BOTS_WORKERS": "1"}
        env = {**os.environ, **self._config.to_env(), **quick, "PYTHONPATH": path}
        with self._log.open("wb") as log:
            command = (sys.executable, "-m", "bots")
            self._process = await asyncio.create_subprocess_exec(*command, env=env, stdout=log, stderr=log)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            self.send(signal.SIGKILL)
            await self._process.wait()

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def told(self, event: str) -> set[str]:
        """The matches of which it said so."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines(keepends=True) if line.endswith("}\n")]
        return {line["match_id"] for line in lines if line["event"] == event}

    def seated(self) -> set[str]:
        """The matches at which it has sat down."""
        return self.told("bot_seated")


async def test_two_instances_share_the_seats_and_no_seat_is_played_twice(home: House, watched: Watched) -> None:
    one, two = Bots(QUICK), Bots(QUICK)
    async with serving(one, home.config), serving(two, home.config), matches_of_two(home) as (_, sessions):
        assert one.seats + two.seats == len(sessions)
        assert min(one.seats, two.seats) > 0
        await play_out(sessions)
        await until(lambda: not one.seats + two.seats)
        await until(lambda: not rows(home))
    assert not watched.twice


async def test_an_instance_that_stops_hands_its_seats_over_at_once(home: House, watched: Watched) -> None:
    one, two = Bots(QUICK), Bots(QUICK)
    async with serving(one, home.config), AsyncExitStack() as table:
        async with serving(two, home.config):
            _, sessions = await table.enter_async_context(matches_of_two(home))
        assert len(set(holders(home).values())) == 1, "what it held is free, or has been taken already"
        await until(lambda: one.seats == len(sessions))
        await play_out(sessions)
    assert not watched.twice


async def test_when_an_instance_is_killed_the_other_finishes_its_matches(home: House, tmp_path: Path) -> None:
    alive = Bots(QUICK)
    async with (
        serving(alive, home.config),
        Process(home.config, tmp_path) as other,
        matches_of_two(home) as (client, sessions),
    ):
        waiting = [(await client.play_bot(GAME, "random")).match_id for _ in range(4)]
        everything = len(sessions) + len(waiting)
        await until(lambda: len(rows(home)) == everything == len(other.seated()) + alive.seats)
        # Some have not begun: the bot has sealed its number, the person has not.
        await reached(client, dict.fromkeys(waiting, SEALED))
        theirs = other.seated()
        assert theirs
        other.send(signal.SIGKILL)
        await until(lambda: alive.seats == everything)
        assert len(set(holders(home).values())) == 1
        # Nobody knows the number of one that is gone: another is sealed in its place.
        await reached(client, {match_id: SEALED + 1 for match_id in waiting if match_id in theirs})
        async with AsyncExitStack() as table:
            late = [await table.enter_async_context(await client.open_match(match_id)) for match_id in waiting]
            await play_out(sessions + late)


async def test_an_instance_that_was_suspended_gets_up_from_what_others_took(home: House, tmp_path: Path) -> None:
    alive = Bots(QUICK)
    async with (
        serving(alive, home.config),
        Process(home.config, tmp_path) as other,
        matches_of_two(home) as (client, sessions),
    ):
        await until(lambda: len(other.seated()) + alive.seats == len(sessions))
        theirs = other.seated()
        other.send(signal.SIGSTOP)
        await until(lambda: alive.seats == len(sessions))
        mine = set(holders(home).values())
        other.send(signal.SIGCONT)
        await until(lambda: other.told("bot_seat_lost") == theirs)
        await play_out(sessions)
        assert other.seated() == theirs, "it sat down nowhere else"
        # It is there again for what comes.
        while set(holders(home).values()) <= mine:
            await client.play_bot(GAME, "random")


@pytest.mark.slow
async def test_after_a_restart_of_matchmaking_everybody_sits_where_they_sat(tmp_path: Path, watched: Watched) -> None:
    lobby, one, two = Lobby(), Bots(QUICK), Bots(QUICK)
    async with (
        house(tmp_path, beside={"matchmaking": lobby}) as home,
        serving(one, home.config),
        serving(two, home.config),
        matches_of_two(home) as (_, sessions),
    ):
        before = holders(home)
        await lobby.stop()
        # It is away for longer than seats are held: nobody gets up, for nobody could give the seats away.
        await until(lambda: max(until_ms for _, until_ms in rows(home).values()) < time.time() * 1000)
        assert one.seats + two.seats == len(sessions)
        await lobby.start()
        await until(lambda: min(until_ms for _, until_ms in rows(home).values()) > time.time() * 1000)
        assert holders(home) == before
        await play_out(sessions)
    assert not watched.twice
