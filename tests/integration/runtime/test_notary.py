"""Matches and the transparency log: over a real broker, a real store and the real log, on both databases."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from grimoire.eventstore import PARTITIONS, EventStore, Unavailable
from grimoire.fairness.transparency import CloseLeaf, CommitLeaf, Evidence, LeafKind, leaves_of, parse_leaf
from grimoire.match import Phase
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import match_pb2
from replay.transparency.log import Submitted, TransparencyLog
from tests.support.postgres import fresh_database
from tests.support.table import Clock, Table, accepted, broker, refused, submission, table
from tests.support.transparency import kept_log
from two_towers.rules import TwoTowers

GAME = TwoTowers.id
COMMIT, START, CLOSE, REVEAL = LeafKind


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """PostgreSQL for game and log; None: a SQLite file for each."""
    if request.param == "sqlite":
        yield None
        return
    with fresh_database() as url:
        yield url


class House:
    """A broker and a database; logs and owners come and go."""

    def __init__(self, config: Config, keys: KeyRing) -> None:
        self.config = config
        self.keys = keys

    @asynccontextmanager
    async def table(self, **more: Any) -> AsyncIterator[Table]:
        async with table(self.config, self.keys, TwoTowers(), logged=True, **more) as running:
            yield running

    @asynccontextmanager
    async def log(self) -> AsyncIterator[TransparencyLog]:
        async with kept_log(self.config, self.keys) as log:
            yield log


@pytest.fixture
async def home(tmp_path: Path, database: str | None) -> AsyncIterator[House]:
    async with broker(tmp_path) as (config, keys):
        config.data_dir.mkdir(parents=True, exist_ok=True)
        yield House(replace(config, shared_database_url=database), keys)


async def settled(running: Table) -> None:
    """Waits until nothing is owed to the log any more, in the store either."""
    async with asyncio.timeout(20):
        while await running.store.dues(GAME, range(PARTITIONS)):
            await asyncio.sleep(0.02)


async def in_log(log: TransparencyLog, match_id: str) -> Evidence:
    """What the log has of a match, proved."""
    evidence = await log.evidence(match_id)
    evidence.prove(match_id)
    return evidence


async def kinds(log: TransparencyLog, match_id: str) -> list[LeafKind]:
    return [parse_leaf(leaf.leaf).kind for leaf in (await in_log(log, match_id)).leaves]


def seal(match_id: str, seat: int = 0) -> Any:
    return submission(match_id, "seal_nonce", match_pb2.SealNonce(seal=bytes(32)), seat=seat)


async def test_a_whole_match_is_in_the_log_as_its_own_log_says(home: House) -> None:
    async with home.log() as log, home.table() as running:
        await running.begin("m1")
        state = await running.play("m1", random.Random(1))
        await settled(running)
        stored = await running.store.read("m1")
        evidence = await in_log(log, "m1")
        assert [leaf.leaf for leaf in evidence.leaves] == [leaf.encode() for leaf in leaves_of(stored)]
        close = parse_leaf(evidence.leaves[2].leaf)
        assert isinstance(close, CloseLeaf)
        assert (close.entries, close.head, close.void) == (state.version, state.hash, False)


async def test_nobody_seals_before_the_promise_is_in_the_log(home: House) -> None:
    async with home.table() as running:
        accepted(await running.create("m1"))
        for _ in range(3):
            reply = await running.ask(seal("m1"))
            assert refused(reply) == "not_logged_yet"
            assert reply.rejection.retry_after_ms > 0
        opening = submission("m1", "open_nonce", match_pb2.OpenNonce(nonce=bytes(32)), seat=0)
        assert refused(await running.ask(opening)) == "not_logged_yet"
        assert refused(await running.ask(submission("m1", "resign", match_pb2.Resign(), seat=0))) == "match_not_started"
        assert (await running.state("m1")).version == 1
        async with home.log() as log:
            accepted(await running.ask_patiently(seal("m1")))
            assert await kinds(log, "m1") == [COMMIT]
            created = match_pb2.MatchCreated.FromString((await running.state("m1")).created)
            commit = parse_leaf((await in_log(log, "m1")).leaves[0].leaf)
            assert isinstance(commit, CommitLeaf)
            assert commit.server_commitment == created.server_commitment


async def test_nobody_plays_before_the_start_is_in_the_log(home: House) -> None:
    async with home.table() as running:
        async with home.log():
            accepted(await running.create("m1"))
            nonces = [secrets.token_bytes(32) for _ in (0, 1)]
            await settled(running)
            from grimoire.fairness.commitments import nonce_seal

            for seat, nonce in enumerate(nonces):
                message = match_pb2.SealNonce(seal=nonce_seal(GAME, "m1", seat, nonce))
                accepted(await running.ask_patiently(submission("m1", "seal_nonce", message, seat=seat)))
        for seat, nonce in enumerate(nonces):
            opening = match_pb2.OpenNonce(nonce=nonce)
            accepted(await running.ask_patiently(submission("m1", "open_nonce", opening, seat=seat)))
        state = await running.state("m1")
        assert state.phase is Phase.RUNNING
        first = running.random_command(state, random.Random(1))
        assert refused(await running.ask(first)) == "not_logged_yet"
        rejection, _ = await running.owner.try_out(first)
        assert rejection is not None
        assert rejection.code == "not_logged_yet"
        async with home.log() as log:
            accepted(await running.ask_patiently(first))
            assert await kinds(log, "m1") == [COMMIT, START]


async def test_analysis_neither_waits_nor_is_logged(home: House) -> None:
    async with home.table() as running:
        accepted(await running.create("m1", mode=match_pb2.MATCH_MODE_ANALYSIS))
        await running.shake_hands("m1")
        await running.play("m1", random.Random(1))
        assert await running.store.dues(GAME, range(PARTITIONS)) == {}
        assert running.owner._notary is not None
        assert running.owner._notary.owing == {}


async def test_while_the_log_is_away_matches_go_on_and_new_ones_wait(home: House) -> None:
    away = METRICS.log_away.labels(GAME)._value
    async with home.table() as running:
        with capture_logs() as logs:
            async with home.log():
                old = await running.begin("old")
                accepted(await running.ask_patiently(running.random_command(old, random.Random(1))))
            accepted(await running.create("new"))
            assert refused(await running.ask(seal("new"))) == "not_logged_yet"
            ended = await running.play("old", random.Random(2))
            assert ended.phase is Phase.CLOSED
            async with asyncio.timeout(20):
                while not away.get():
                    await asyncio.sleep(0.02)
            assert METRICS.unlogged.labels(GAME)._value.get() == 2
            async with home.log() as log:
                await settled(running)
                assert await kinds(log, "old") == [COMMIT, START, CLOSE, REVEAL]
                assert await kinds(log, "new") == [COMMIT]
                accepted(await running.ask_patiently(seal("new")))
        assert away.get() == 0
        assert METRICS.unlogged.labels(GAME)._value.get() == 0
    told = [line["event"] for line in logs if line["event"] in ("log_away", "log_takes_leaves")]
    assert told[:3] == ["log_takes_leaves", "log_away", "log_takes_leaves"]


async def test_what_a_crash_left_unsaid_is_said_by_the_next_owner(home: House) -> None:
    """Committed, but not in the log: a promise, a start, and a whole match; and one that owes nothing."""
    async with home.table() as first:
        async with home.log():
            await first.begin("started")
            await first.begin("played")
            await first.begin("quiet")
            await settled(first)
            started = await first.begin("late")
        await first.play("played", random.Random(1))
        accepted(await first.create("promised"))
        owed = await first.store.dues(GAME, range(PARTITIONS))
    assert {"played", "promised"} <= owed.keys()
    assert "quiet" not in owed
    async with home.log() as log, home.table() as second:
        await settled(second)
        assert await kinds(log, "played") == [COMMIT, START, CLOSE, REVEAL]
        assert await kinds(log, "promised") == [COMMIT]
        assert await kinds(log, "late") == [COMMIT, START]
        assert await kinds(log, "quiet") == [COMMIT, START]
        for match_id in ("played", "promised", "late"):
            stored = await second.store.read(match_id)
            logged = [leaf.leaf for leaf in (await in_log(log, match_id)).leaves]
            assert logged == [leaf.encode() for leaf in leaves_of(stored)]
        accepted(await second.ask_patiently(seal("promised")))
        accepted(await second.ask_patiently(second.random_command(started, random.Random(3))))


async def test_the_next_owner_holds_seats_back_too(home: House) -> None:
    async with home.table() as first:
        accepted(await first.create("m1"))
    async with home.table() as second:
        assert refused(await second.ask(seal("m1"))) == "not_logged_yet"
        async with home.log():
            accepted(await second.ask_patiently(seal("m1")))


async def test_leaves_told_twice_are_in_the_log_once(home: House) -> None:
    """The log has them, but the owner could not note it: the next one says them again."""

    class Forgetful:
        def __init__(self, store: EventStore) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            return getattr(self._store, name)

        async def discharge(self, done: Any) -> None:
            raise Unavailable("not now")

    async with home.log() as log:
        async with home.table(wrap=Forgetful) as first:
            await first.begin("m1")
            await first.play("m1", random.Random(1))
            async with asyncio.timeout(20):
                while len(await kinds(log, "m1")) < 4:
                    await asyncio.sleep(0.02)
            assert await first.store.dues(GAME, range(PARTITIONS)) == {"m1": 15}
        async with home.table() as second:
            await settled(second)
        head = await log.head()
        assert head is not None
        assert head.size == 4


async def test_the_handshakes_clock_stands_still_while_the_log_is_away(home: House) -> None:
    clock = Clock()
    async with home.table(clock=clock) as running:
        accepted(await running.create("m1", handshake_s=60))
        await running.pass_time(100_000)
        assert (await running.state("m1")).phase is Phase.HANDSHAKE
        async with home.log():
            accepted(await running.ask_patiently(seal("m1")))
            last = (await running.store.read("m1"))[-1]
            event = match_pb2.Events.FromString(last.public).events[0]
            assert event.type == "clock_extended"
            extended = match_pb2.ClockExtended.FromString(event.body)
            assert extended.prompt_id == 0
            assert 100_000 <= extended.by_ms <= 130_000
            await running.pass_time(61_000)
            assert refused(await running.ask(seal("m1", 1))) == "match_over"


async def test_the_first_prompts_clock_stands_still_while_the_start_is_unlogged(home: House) -> None:
    clock = Clock()
    async with home.table(clock=clock) as running:
        async with home.log():
            accepted(await running.create("m1"))
            await settled(running)
        # The promise is in the log, so that the handshake can go on without it.
        await running.shake_hands("m1")
        state = await running.state("m1")
        limit_ms = max(p.limit_ms for p in state.prompts)
        await running.pass_time(limit_ms + 5_000)
        assert (await running.state("m1")).version == state.version
        async with home.log():
            accepted(await running.ask_patiently(running.random_command(state, random.Random(1))))
        last = (await running.store.read("m1"))[-1]
        assert match_pb2.Events.FromString(last.public).events[0].type == "clock_extended"


async def test_a_moments_wait_leaves_no_trace_in_the_match(home: House) -> None:
    async with home.log(), home.table() as running:
        await running.begin("m1")
        await running.play("m1", random.Random(1))
        events = [e.type for s in await running.store.read("m1") for e in match_pb2.Events.FromString(s.public).events]
        assert "clock_extended" not in events


async def test_a_match_whose_promise_was_swapped_ends(home: House) -> None:
    """Somebody has promised another seed for this match id: the log refuses ours, and nobody is asked to play."""
    alarms = METRICS.log_alarms.labels(GAME, "commit")._value
    before = alarms.get()
    async with home.log() as log:
        other = CommitLeaf("m1", GAME, bytes(32), bytes(32), 1).encode()
        async with home.table() as running:
            holder = (await running_writer(log)).holder
            await log.append(*holder, [Submitted(GAME, other)])
            accepted(await running.create("m1"))
            async with asyncio.timeout(20):
                while (await running.state("m1")).phase is not Phase.VOID:
                    await asyncio.sleep(0.02)
            last = match_pb2.Events.FromString((await running.store.read("m1"))[-1].public).events
            voided = match_pb2.MatchVoided.FromString(next(e.body for e in last if e.type == "match_voided"))
            assert (voided.by, voided.reason) == (match_pb2.VOIDED_BY_HOST, "not_logged")
            await settled(running)
        assert await kinds(log, "m1") == [COMMIT, CLOSE, REVEAL]
        assert (await in_log(log, "m1")).leaves[0].leaf == other
    assert alarms.get() > before


class Holder:
    def __init__(self, holder: tuple[str, int]) -> None:
        self.holder = holder


async def running_writer(log: TransparencyLog) -> Holder:
    """Who holds the lease: a test may write under it."""
    from replay.transparency.tables import lease

    row = await log._read(lambda connection: connection.execute(lease.select()).one())
    return Holder((row.holder, row.epoch))


async def test_many_matches_begin_and_end_at_once(home: House) -> None:
    async with home.log() as log, AsyncExitStack() as stack:
        running = await stack.enter_async_context(home.table())
        names = [f"m{n}" for n in range(60)]
        await asyncio.gather(*(running.begin(name) for name in names))
        for name in names:
            accepted(await running.ask(submission(name, "void", match_pb2.Void(reason="enough"), host=True)))
        await settled(running)
        for name in names:
            assert await kinds(log, name) == [COMMIT, START, CLOSE, REVEAL]
