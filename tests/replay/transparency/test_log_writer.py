"""The one writer among several instances, over a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from grimoire.bus import REPLAY, Bus, NoOwnerError, RequestTimeoutError, game_role, log_subject
from grimoire.fairness.transparency import (
    CommitLeaf,
    Evidence,
    StartLeaf,
    leaf_hash,
    open_checkpoint,
    tree_root,
    verify_consistency,
)
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import cluster_pb2
from replay.transparency.limits import LogLimits
from replay.transparency.log import TransparencyLog
from replay.transparency.writer import LogWriter
from tests.support.broker import GAME, OTHER_GAME, Broker, running_broker, until
from tests.support.transparency import KEY

HASH = bytes(range(32))
QUICK = LogLimits(batch_s=0.02, beat_s=0.02, stale_s=0.3)


@pytest.fixture
async def broker(tmp_path: Path) -> AsyncIterator[Broker]:
    async with running_broker(tmp_path / "broker") as running:
        yield running


@asynccontextmanager
async def writing(broker: Broker, url: str, holder: str, limits: LogLimits = QUICK) -> AsyncIterator[LogWriter]:
    log = TransparencyLog(url, KEY)
    await log.open()
    writer = LogWriter(log, await broker.connect(REPLAY), holder, limits)
    await writer.start()
    yield writer
    await writer.stop()
    await log.close()


def commit(match_id: str, game: str = GAME, commitment: bytes = HASH) -> bytes:
    return CommitLeaf(match_id, game, HASH, commitment, 1_000).encode()


def start(match_id: str, head: bytes = HASH) -> bytes:
    return StartLeaf(match_id, head, 2_000).encode()


async def append(bus: Bus, *leaves: bytes, game: str = GAME, reply_s: float = 5) -> cluster_pb2.LogAppended:
    request = cluster_pb2.LogAppend(leaves=leaves).SerializeToString()
    return cluster_pb2.LogAppended.FromString(
        await bus.request(log_subject(game), request, reply_s=reply_s, responder_s=10)
    )


async def append_surely(bus: Bus, *leaves: bytes) -> cluster_pb2.LogAppended:
    """As a game service does: again and again until it is answered."""
    while True:
        try:
            reply = await append(bus, *leaves, reply_s=0.3)
        except (NoOwnerError, RequestTimeoutError):
            continue
        if reply.size:
            return reply


def numbers(reply: cluster_pb2.LogAppended) -> list[int | str]:
    return [getattr(r, r.WhichOneof("result")) for r in reply.results]


async def test_leaves_are_answered_once_they_are_signed_for(broker: Broker, url: str, log: TransparencyLog) -> None:
    game = await broker.connect(game_role(GAME))
    async with writing(broker, url, "a") as writer:
        assert writer.writing
        reply = await append(game, commit("m1"), start("m1"))
        assert (reply.size, numbers(reply)) == (2, [0, 1])
        head = await log.head_of(2)
        assert head is not None
        assert open_checkpoint(head.checkpoint, KEY.verifier).size == 2


async def test_many_requests_share_a_checkpoint(broker: Broker, url: str, log: TransparencyLog) -> None:
    game = await broker.connect(game_role(GAME))
    limits = LogLimits(batch_s=0.5, beat_s=0.05)
    async with writing(broker, url, "a", limits):
        await append(game, commit("first"))
        replies = await asyncio.gather(*(append(game, commit(f"m{n}")) for n in range(40)))
    sizes = {reply.size for reply in replies}
    assert sizes == {41}
    assert sorted(n for reply in replies for n in numbers(reply)) == list(range(1, 41))


async def test_a_game_speaks_for_its_own_matches_only(broker: Broker, url: str) -> None:
    other = await broker.connect(game_role(OTHER_GAME))
    game = await broker.connect(game_role(GAME))
    async with writing(broker, url, "a"):
        assert numbers(await append(other, commit("m1"), game=OTHER_GAME)) == ["other_game"]
        assert numbers(await append(game, commit("m1"))) == [0]
        assert numbers(await append(other, start("m1"), game=OTHER_GAME)) == ["other_game"]


async def test_a_swapped_promise_is_refused_and_raises_the_alarm(broker: Broker, url: str) -> None:
    game = await broker.connect(game_role(GAME))
    alarms = METRICS.log_alarms.labels(GAME, "commit")._value.get()
    refused = METRICS.log_refused.labels(GAME, "conflict")._value.get()
    async with writing(broker, url, "a"):
        with capture_logs() as logs:
            assert numbers(await append(game, commit("m1"))) == [0]
            assert numbers(await append(game, commit("m1"))) == [0]
            assert numbers(await append(game, commit("m1", commitment=bytes(32)))) == ["conflict"]
            assert numbers(await append(game, start("m1"))) == [1]
            assert numbers(await append(game, start("m1", bytes(32)))) == ["conflict"]
    told = [line for line in logs if line["event"] == "log_alarm"]
    assert [(line["log_level"], line["match_id"], line["kind"]) for line in told] == [
        ("critical", "m1", "commit"),
        ("critical", "m1", "start"),
    ]
    assert bytes.fromhex(told[0]["second"]) == commit("m1", commitment=bytes(32))
    assert METRICS.log_alarms.labels(GAME, "commit")._value.get() == alarms + 1
    assert METRICS.log_refused.labels(GAME, "conflict")._value.get() == refused + 2


@pytest.mark.parametrize("data", [b"\xff" * 30, b"no message at all"])
async def test_garbage_is_passed_over(broker: Broker, url: str, data: bytes) -> None:
    game = await broker.connect(game_role(GAME))
    async with writing(broker, url, "a"):
        with pytest.raises(RequestTimeoutError):
            await game.request(log_subject(GAME), data, reply_s=0.2)
        assert numbers(await append(game, commit("m1"))) == [0]


async def test_too_much_at_once_is_to_come_again(broker: Broker, url: str) -> None:
    game = await broker.connect(game_role(GAME))
    limits = LogLimits(batch_s=0.4, beat_s=0.05, request_leaves=3, queued_leaves=4)
    async with writing(broker, url, "a", limits):
        assert (await append(game, *(commit(f"x{n}") for n in range(4)))).size == 0
        await append(game, commit("first"))
        replies = await asyncio.gather(*(append(game, commit(f"a{n}"), commit(f"b{n}")) for n in range(4)))
        assert sorted(reply.size for reply in replies) == [0, 0, 5, 5]


async def test_one_of_two_instances_writes_and_the_other_follows(broker: Broker, url: str) -> None:
    game = await broker.connect(game_role(GAME))
    async with writing(broker, url, "b") as second, writing(broker, url, "a", QUICK) as first:
        assert [first.writing, second.writing] == [False, True]
        await append(game, commit("m1"))
        await second.stop()
        assert (await append_surely(game, commit("m2"), commit("m1"))).size == 2
        assert [first.writing, second.writing] == [True, False]


async def test_a_stopped_writer_that_wakes_up_cannot_fork_the_log(
    broker: Broker, url: str, log: TransparencyLog
) -> None:
    """SIGSTOP and SIGCONT of the holder, as its own loop sees it: it beats no more, then goes on as if nothing were."""
    game = await broker.connect(game_role(GAME))
    async with writing(broker, url, "old", LogLimits(batch_s=0.02, beat_s=3_600, stale_s=0.3)) as old:
        await append(game, commit("m1"))
        async with writing(broker, url, "new") as new:
            await until(lambda: new.writing)
            assert old.writing
            # Both hear every request now. The old one's batches fail at the fence, and it steps back.
            replies = await asyncio.gather(*(append_surely(game, commit(f"n{n}")) for n in range(10)))
            await until(lambda: not old.writing)
            more = await append(game, commit("last"))
    assert sorted(number for reply in replies for number in numbers(reply)) == list(range(1, 11))
    assert (more.size, numbers(more)) == (12, [11])
    leaves = await log.leaves(0, 100)
    assert len(leaves) == 12
    size = 0
    last = tree_root([])
    while size < 12:
        head = await log.head(size + 1)
        assert head is not None
        checkpoint = open_checkpoint(head.checkpoint, KEY.verifier)
        path = await log.consistency(size, checkpoint.size)
        assert verify_consistency(size, last, checkpoint.size, checkpoint.root, path)
        assert checkpoint.root == tree_root(map(leaf_hash, leaves[: checkpoint.size]))
        size, last = checkpoint.size, checkpoint.root


async def test_no_acknowledged_leaf_is_lost_when_writers_come_and_go(
    broker: Broker, url: str, log: TransparencyLog
) -> None:
    game = await broker.connect(game_role(GAME))
    acknowledged: list[tuple[int, bytes]] = []
    done = asyncio.Event()

    async def send(name: str) -> None:
        for n in range(12):
            leaf = commit(f"{name}-{n}")
            reply = await append_surely(game, leaf)
            acknowledged.append((reply.results[0].number, leaf))

    async def come_and_go() -> None:
        run = 0
        while not done.is_set():
            run += 1
            async with writing(broker, url, f"w{run}") as writer:
                enough = len(acknowledged) + 5
                await until(lambda enough=enough: done.is_set() or len(acknowledged) > enough)
                if run % 2:
                    # As if killed: nothing is given up, the next must wait until the lease is stale.
                    await asyncio.gather(*(_cancelled(task) for task in writer._tasks))
                    await writer._listen_no_more()
                    writer._epoch = None

    going = asyncio.create_task(come_and_go())
    await asyncio.gather(*(send(name) for name in ("a", "b", "c")))
    done.set()
    await going
    leaves = await log.leaves(0, 1_000)
    assert sorted(acknowledged) == list(enumerate(leaves))
    assert isinstance(await log.evidence("a-3"), Evidence)


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_broken_database_is_to_come_again(broker: Broker, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'log.db'}"
    game = await broker.connect(game_role(GAME))
    async with writing(broker, url, "a", LogLimits(batch_s=0.02, beat_s=3_600)) as writer:
        engine = writer._store._engine
        with engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE log_nodes RENAME TO away")
        assert (await append(game, commit("m1"), commit("m2"))).size == 0
        with engine.begin() as connection:
            connection.exec_driver_sql("ALTER TABLE away RENAME TO log_nodes")
        assert numbers(await append(game, commit("m1"), commit("m2"))) == [0, 1]
