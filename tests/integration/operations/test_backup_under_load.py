"""A backup taken while many play is put back elsewhere: nothing acknowledged before it is missing, and play goes on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from grimoire.cli.backup import make_backup, put_back
from grimoire.cli.backups.package import Manifest
from grimoire.client import Client, MatchSession, Rejected
from grimoire.engine import ALL
from grimoire.eventstore import open_store
from grimoire.fairness.verify import exit_status, first_lie
from grimoire.plugins import GamePlugin, load_game
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.stack import Stack
from grimoire.v1 import frame_pb2, matchmaking_pb2
from tests.support.postgres import PostgresServer

GAME = "two_towers"
MATCHES = 6
OPTIONS = {"turn_time_s": "600"}


@dataclass
class Player:
    """Somebody who plays one match, and what was acknowledged to her."""

    name: str
    token: str = ""
    match_id: str = ""
    acknowledged: int = 0
    moves: int = 0


@dataclass
class Crowd:
    """Pairs of players, each pair at one match."""

    folder: Path
    players: list[Player] = field(default_factory=list)

    @property
    def pairs(self) -> list[tuple[Player, Player]]:
        return list(zip(self.players[::2], self.players[1::2], strict=True))

    def promised(self) -> dict[str, int]:
        """The highest version of each match that was acknowledged to anybody."""
        return {one.match_id: max(one.acknowledged, other.acknowledged) for one, other in self.pairs}

    async def connect(self, edge: str, player: Player, visit: str) -> Client:
        keepsakes = self.folder / visit / player.name
        client = await Client.connect(edge, player.token or None, keepsakes=keepsakes, patience_s=20)
        if not player.token:
            await client.guest(player.name)
            player.token = client.token or ""
        return client

    async def sit_down(self, edge: str) -> None:
        """Everybody finds somebody to play with."""
        self.players = [Player(f"P{number}") for number in range(2 * MATCHES)]

        async def one(mine: Player, theirs: Player) -> None:
            first, second = [await self.connect(edge, player, "first") for player in (mine, theirs)]
            challenge = await first.create(GAME, OPTIONS)
            await second.join(challenge.challenge_id)
            mine.match_id = theirs.match_id = (await first.matched(challenge.challenge_id)).match_id
            await first.close()
            await second.close()

        await asyncio.gather(*(one(*pair) for pair in self.pairs))

    async def play(self, edge: str, visit: str) -> None:
        """Everybody plays to the end."""
        await asyncio.gather(*(self._play(edge, player, visit) for player in self.players))

    @asynccontextmanager
    async def playing(self, edge: str, visit: str) -> AsyncIterator[None]:
        """Everybody plays while the block runs."""
        task = asyncio.create_task(self.play(edge, visit))
        try:
            yield
            assert not task.done(), task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _play(self, edge: str, player: Player, visit: str) -> None:
        plugin, rng = load_game(GAME), random.Random(f"{player.name}/{visit}")
        async with (
            await self.connect(edge, player, visit) as client,
            await client.open_match(player.match_id) as session,
        ):
            async for _ in session.updates():
                await self._move(session, player, plugin, rng)

    async def _move(self, session: MatchSession, player: Player, plugin: GamePlugin, rng: random.Random) -> None:
        due = [p for p in session.own_prompts if p.required]
        if session.finished or not due:
            return
        assert session.view_message is not None
        code, message = plugin.bot.suggest(session.view_message, due[0], "random", rng, 10)
        try:
            accepted = await session.submit(code, message, due[0].prompt_id)
        except Rejected as rejected:
            if rejected.code not in ("stale_prompt", "match_over"):
                raise
        else:
            player.acknowledged = max(player.acknowledged, accepted.version)
            player.moves += 1


@asynccontextmanager
async def installation(config: Config) -> AsyncIterator[Stack]:
    async with Stack(config) as stack:
        yield stack


async def moved(crowd: Crowd, moves: int) -> None:
    """Waits until everybody together has made so many moves."""
    async with asyncio.timeout(60):
        while sum(player.moves for player in crowd.players) < moves:
            await asyncio.sleep(0.01)


async def check_matches(edge: str, crowd: Crowd, promised: dict[str, int]) -> None:
    """What was acknowledged is there, every match can be replayed, and nothing in any log lies."""
    async with await crowd.connect(edge, crowd.players[0], "looking") as client:
        for match_id, version in promised.items():
            head = (await client.match(match_id)).head
            assert head.version >= version, f"{match_id}: version {version} was acknowledged"
            report = await client.audit(match_id)
            assert first_lie(report) is None, report


async def check_ends(edge: str, crowd: Crowd, promised: dict[str, int]) -> None:
    """Every match was played to its end and audits; the lobby knows them; new ones begin as ever."""
    async with await crowd.connect(edge, crowd.players[0], "audit") as client:
        for match_id in promised:
            head = (await client.match(match_id)).head
            assert head.status == frame_pb2.MATCH_STATUS_CLOSED
            report = await client.audit(match_id)
            assert exit_status(report) == 0, first_lie(report)
            frames = [frame async for frame in client.frames(match_id, ALL)]
            assert [frame.version for frame in frames] == list(range(1, head.version + 1))
            assert not any(frame.HasField("fault") for frame in frames)
        own = {summary.match_id for summary in await client.matches(mine=True, finished=True)}
        assert own == {crowd.players[0].match_id}
        challenge = await client.play_bot(GAME, "random")
        assert challenge.status == matchmaking_pb2.CHALLENGE_STATUS_MATCHED
        async with await client.open_match(challenge.match_id) as session:
            await session.started(timeout_s=30)


@pytest.mark.slow
async def test_a_backup_under_load_can_be_played_on_elsewhere(tmp_path: Path) -> None:
    old, new = Config.for_test(tmp_path / "old"), Config.for_test(tmp_path / "new")
    crowd = Crowd(tmp_path)
    async with installation(old) as stack:
        edge = str(stack.config.gateway)
        await crowd.sit_down(edge)
        async with crowd.playing(edge, "first"):
            await moved(crowd, 60)
            promised = crowd.promised()
            during = sum(player.moves for player in crowd.players)
            made: Manifest = await asyncio.to_thread(make_backup, stack.config, tmp_path / "copy.tar.gz", keys=True)
            # Nobody had to stop for it.
            await moved(crowd, during + 10)
    assert made.held_ms < 5_000
    assert {Path(name).stem for name in made.files if name.startswith("data/")} >= {
        GAME,
        "gateway",
        "matchmaking",
        "replay",
    }
    facts = made.files[f"data/{GAME}.db"].facts
    assert facts is not None
    assert facts.faults == []
    assert facts.matches == facts.proved == facts.keyed == MATCHES

    put_back(new, tmp_path / "copy.tar.gz")
    async with installation(new) as stack:
        edge = str(stack.config.gateway)
        await check_matches(edge, crowd, promised)
        async with asyncio.timeout(120):
            await crowd.play(edge, "second")
        await check_ends(edge, crowd, promised)


@pytest.mark.slow
async def test_a_dump_of_postgresql_can_be_played_on_elsewhere(tmp_path: Path) -> None:
    """As deploy/README.md says: pg_dump, pg_restore, one statement, and the keys."""
    old_server, new_server = PostgresServer(), PostgresServer()
    try:
        old_url, new_url = old_server.create_database(), new_server.create_database()
        old = replace(Config.for_test(tmp_path / "old"), shared_database_url=old_url)
        new = replace(Config.for_test(tmp_path / "new"), shared_database_url=new_url)
        keys = KeyRing.load_or_create(old.keys_dir)
        dump = old_server.folder / "grimoire.dump"
        crowd = Crowd(tmp_path)
        async with installation(old) as stack:
            await crowd.sit_down(str(stack.config.gateway))
            name = old_url.removeprefix("postgresql://postgres@/").partition("?")[0]
            where = ("-h", str(old_server.folder), "-U", "postgres")
            async with crowd.playing(str(stack.config.gateway), "first"):
                await moved(crowd, 40)
                promised = crowd.promised()
                await asyncio.to_thread(old_server.run, "pg_dump", *where, "-Fc", "-f", str(dump), name)
        copied = new_server.folder / "grimoire.dump"
        copied.write_bytes(dump.read_bytes())
        copied.chmod(0o644)
        restored = new_url.removeprefix("postgresql://postgres@/").partition("?")[0]
        there = ("-h", str(new_server.folder), "-U", "postgres")
        await asyncio.to_thread(new_server.run, "pg_restore", *there, "-d", restored, str(copied))
        statement = "SELECT eventstore_restored()"
        await asyncio.to_thread(new_server.run, "psql", *there, "-q", "-d", restored, "-c", statement)
        new.keys_dir.parent.mkdir(parents=True, exist_ok=True)
        for path in old.keys_dir.iterdir():
            new.keys_dir.mkdir(mode=0o700, exist_ok=True)
            (new.keys_dir / path.name).write_bytes(path.read_bytes())
            (new.keys_dir / path.name).chmod(0o600)
        assert KeyRing.load_or_create(new.keys_dir).host_key.key_id == keys.host_key.key_id
        async with await open_store(new_url) as store:
            page = await store.tail(GAME)
            assert {entry.match_id for entry in page.entries} == set(promised)
        async with installation(new) as stack:
            edge = str(stack.config.gateway)
            await check_matches(edge, crowd, promised)
            async with asyncio.timeout(120):
                await crowd.play(edge, "second")
            await check_ends(edge, crowd, promised)
    finally:
        old_server.remove()
        new_server.remove()
