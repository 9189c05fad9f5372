"""The log as it is kept: what is written, what is proved of it, and what is refused."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
import sqlalchemy as sa

from grimoire.fairness.transparency import (
    CloseLeaf,
    CommitLeaf,
    LeafKind,
    RevealLeaf,
    StartLeaf,
    VerifierKey,
    leaf_hash,
    open_checkpoint,
    tree_root,
    verify_consistency,
    verify_inclusion,
)
from replay.database import engine_of
from replay.transparency.log import (
    KeyChangedError,
    LeaseLostError,
    LogUnavailableError,
    Refusal,
    Submitted,
    TransparencyLog,
)
from tests.support.transparency import KEY, OTHER_KEY

HASH = bytes(range(32))


def commit(match_id: str, game: str = "toy", ms: int = 1_000) -> Submitted:
    return Submitted(game, CommitLeaf(match_id, game, HASH, HASH, ms).encode())


def start(match_id: str, ms: int = 2_000) -> Submitted:
    return Submitted("toy", StartLeaf(match_id, HASH, ms).encode())


def close(match_id: str, outcome: str = "win") -> Submitted:
    return Submitted("toy", CloseLeaf(match_id, outcome, 9, HASH, 3_000).encode())


def reveal(match_id: str) -> Submitted:
    return Submitted("toy", RevealLeaf(match_id, HASH, 3_000).encode())


async def leased(log: TransparencyLog, holder: str = "a") -> int:
    epoch = await log.claim(holder, 1_000)
    assert epoch is not None
    return epoch


async def test_a_new_log_is_empty_and_says_so_under_its_key(log: TransparencyLog) -> None:
    head = await log.head()
    assert head is not None
    checkpoint = open_checkpoint(head.checkpoint, VerifierKey.parse(log.key))
    assert (checkpoint.size, checkpoint.root) == (0, tree_root([]))
    assert await log.leaves(0, 10) == []
    assert (await log.evidence("m1")).leaves == ()


async def test_every_batch_is_signed_and_everything_in_it_can_be_proved(log: TransparencyLog) -> None:
    epoch = await leased(log)
    written: list[bytes] = []
    sizes = [0]
    for batch in range(1, 8):
        new = [commit(f"m{batch}-{n}") for n in range(batch)]
        result = await log.append("a", epoch, new)
        assert result.results == tuple(range(len(written), len(written) + batch))
        written += [one.leaf for one in new]
        assert (result.size, result.added) == (len(written), batch)
        sizes.append(result.size)
    roots = {size: tree_root(leaf_hash(leaf) for leaf in written[:size]) for size in range(len(written) + 1)}
    assert await log.leaves(0, 100) == written
    assert await log.leaves(3, 2) == written[3:5]
    for size in sizes:
        head = await log.head_of(size) if size else await log.head(0)
        if size:
            assert head is not None
            assert open_checkpoint(head.checkpoint, KEY.verifier).root == roots[size]
        for number in range(size):
            path = await log.inclusion(number, size)
            assert verify_inclusion(leaf_hash(written[number]), number, size, path, roots[size])
    for new_size in range(1, len(written) + 1, 3):
        for old in range(new_size + 1):
            path = await log.consistency(old, new_size)
            assert verify_consistency(old, roots[old], new_size, roots[new_size], path)
    assert await log.head_of(2) is None
    between = await log.head(2)
    assert between is not None
    assert between.size == 3
    assert await log.head(29) is None


async def test_a_batch_goes_on_where_the_last_one_ended_also_after_a_restart(url: str) -> None:
    for run in range(4):
        log = TransparencyLog(url, KEY)
        await log.open()
        epoch = await leased(log)
        await log.append("a", epoch, [commit(f"m{run}"), commit(f"n{run}"), commit(f"o{run}")])
        await log.release("a", epoch)
        leaves = await log.leaves(0, 100)
        head = await log.head()
        await log.close()
        assert head is not None
        assert len(leaves) == 3 * (run + 1)
        assert open_checkpoint(head.checkpoint, KEY.verifier).root == tree_root(map(leaf_hash, leaves))


async def test_a_leaf_sent_again_is_there_already(log: TransparencyLog) -> None:
    epoch = await leased(log)
    first = await log.append("a", epoch, [commit("m1"), start("m1"), commit("m1")])
    assert first.results == (0, 1, 0)
    again = await log.append("a", epoch, [start("m1"), commit("m1")])
    assert (again.results, again.size, again.added) == ((1, 0), 2, 0)
    assert await log.head_of(2) is not None


async def test_a_leaf_that_says_something_else_is_refused(log: TransparencyLog) -> None:
    epoch = await leased(log)
    await log.append("a", epoch, [commit("m1"), start("m1"), close("m1"), reveal("m1")])
    before = await log.head()
    swapped = Submitted("toy", CommitLeaf("m1", "toy", HASH, bytes(32), 1_000).encode())
    later = [swapped, commit("m1", ms=1_001), start("m1", ms=2_001), close("m1", "draw")]
    result = await log.append("a", epoch, later)
    assert result.results == (Refusal.CONFLICT,) * 4
    assert result.added == 0
    assert await log.head() == before


@pytest.mark.parametrize(
    ("submitted", "why"),
    [
        ([start("m1")], Refusal.NO_COMMIT),
        ([close("m1")], Refusal.NO_COMMIT),
        ([reveal("m1")], Refusal.NO_COMMIT),
        ([commit("m1"), close("m1"), start("m1")], Refusal.OUT_OF_ORDER),
        ([commit("m1"), reveal("m1"), close("m1")], Refusal.OUT_OF_ORDER),
        ([Submitted("magic", commit("m1").leaf)], Refusal.OTHER_GAME),
        ([commit("m1"), Submitted("magic", start("m1").leaf)], Refusal.OTHER_GAME),
        ([Submitted("toy", b"nonsense")], Refusal.MALFORMED),
        ([Submitted("toy", b"")], Refusal.MALFORMED),
    ],
)
async def test_what_is_out_of_place_is_refused_and_the_rest_is_taken(
    log: TransparencyLog, submitted: list[Submitted], why: Refusal
) -> None:
    epoch = await leased(log)
    result = await log.append("a", epoch, [*submitted, commit("other")])
    assert result.results[len(submitted) - 1] is why
    assert isinstance(result.results[-1], int)
    assert result.size == result.added == len(submitted)
    head = await log.head()
    assert head is not None
    leaves = await log.leaves(0, 10)
    assert open_checkpoint(head.checkpoint, KEY.verifier).root == tree_root(map(leaf_hash, leaves))


async def test_evidence_is_the_same_however_far_the_log_has_grown(log: TransparencyLog) -> None:
    epoch = await leased(log)
    await log.append("a", epoch, [commit("x"), commit("m1"), start("m1")])
    early = await log.evidence("m1")
    assert [leaf.kind for leaf in early.prove("m1", KEY.verifier).leaves.values()] == ["commit", "start"]
    await log.append("a", epoch, [commit("y")])
    assert await log.evidence("m1") == early
    await log.append("a", epoch, [close("m1"), reveal("m1"), commit("z")])
    whole = await log.evidence("m1")
    await log.append("a", epoch, [commit(f"more-{n}") for n in range(50)])
    assert await log.evidence("m1") == whole
    proved = whole.prove("m1", KEY.verifier)
    assert proved.numbers == {LeafKind.COMMIT: 1, LeafKind.START: 2, LeafKind.CLOSE: 4, LeafKind.REVEAL: 5}
    assert proved.checkpoint.size == 7


async def test_leaves_are_found_by_name_and_by_hash(log: TransparencyLog) -> None:
    epoch = await leased(log)
    await log.append("a", epoch, [commit("m1"), start("m1")])
    assert await log.leaf("m1", LeafKind.START) == (1, start("m1").leaf)
    assert await log.leaf("m1", LeafKind.CLOSE) is None
    assert await log.leaf_by_hash(leaf_hash(commit("m1").leaf)) == (0, commit("m1").leaf)
    assert await log.leaf_by_hash(HASH) is None


# ---- the lease -------------------------------------------------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.ms = 1_000_000

    def __call__(self) -> int:
        return self.ms


async def test_only_one_holds_the_lease(url: str) -> None:
    clock = Clock()
    one, two = TransparencyLog(url, KEY, clock), TransparencyLog(url, KEY, clock)
    await asyncio.gather(one.open(), two.open())
    epochs = await asyncio.gather(one.claim("a", 2_000), two.claim("b", 2_000))
    assert sorted(epoch is None for epoch in epochs) == [False, True]
    holder, other = ("a", "b") if epochs[0] is not None else ("b", "a")
    clock.ms += 1_500
    assert await one.beat(holder, 1)
    clock.ms += 1_500
    assert await two.claim(other, 2_000) is None
    clock.ms += 2_000
    assert await two.claim(other, 2_000) == 2
    assert not await one.beat(holder, 1)
    await one.close()
    await two.close()


async def test_who_lost_the_lease_writes_nothing(url: str) -> None:
    clock = Clock()
    old, new = TransparencyLog(url, KEY, clock), TransparencyLog(url, KEY, clock)
    await old.open()
    await new.open()
    epoch = await leased(old, "old")
    await old.append("old", epoch, [commit("m1")])
    clock.ms += 10_000
    later = await new.claim("new", 1_000)
    assert later == epoch + 1
    with pytest.raises(LeaseLostError):
        await old.append("old", epoch, [commit("m2")])
    result = await new.append("new", later, [commit("m3"), commit("m1")])
    assert (result.results, result.size) == ((1, 0), 2)
    with pytest.raises(LeaseLostError):
        await old.append("old", later, [commit("m2")])
    await old.close()
    await new.close()


async def test_a_lease_given_up_is_free_at_once(log: TransparencyLog) -> None:
    epoch = await leased(log, "a")
    await log.release("a", epoch)
    assert await leased(log, "b") == epoch + 1
    with pytest.raises(LeaseLostError):
        await log.append("a", epoch, [commit("m1")])


async def test_racing_writers_never_make_two_histories(url: str) -> None:
    """Each claims as if the other were dead; whatever both wrote is one row of leaves under consistent checkpoints."""
    logs = [TransparencyLog(url, KEY) for _ in range(2)]
    await asyncio.gather(*(log.open() for log in logs))

    async def write(log: TransparencyLog, name: str) -> None:
        written = 0
        while written < 15:
            epoch = await log.claim(name, 0)
            try:
                await log.append(name, epoch or 0, [commit(f"{name}-{written}"), commit(f"{name}-{written}-b")])
            except LeaseLostError:
                continue
            written += 1

    await asyncio.gather(write(logs[0], "a"), write(logs[1], "b"))
    leaves = await logs[0].leaves(0, 100)
    assert len(leaves) == 60
    for size in range(2, 61, 2):
        head = await logs[1].head_of(size)
        assert head is not None
        assert open_checkpoint(head.checkpoint, KEY.verifier).root == tree_root(map(leaf_hash, leaves[:size]))
    for log in logs:
        await log.close()


# ---- what must not happen --------------------------------------------------------------------------------------------


async def test_another_key_cannot_go_on_with_a_log(url: str, log: TransparencyLog) -> None:
    other = TransparencyLog(url, OTHER_KEY)
    with pytest.raises(KeyChangedError, match="begun under the key"):
        await other.open()
    await other.close()


@pytest.mark.parametrize("table", ["log_leaves", "log_nodes", "log_heads", "log_identity"])
async def test_what_is_written_can_be_neither_changed_nor_removed(log: TransparencyLog, url: str, table: str) -> None:
    epoch = await leased(log)
    await log.append("a", epoch, [commit("m1"), commit("m2")])
    engine = engine_of(url)
    for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET {'key' if 'identity' in table else 'hash'} = NULL"):
        if table == "log_heads":
            statement = statement.replace("hash", "checkpoint")
        with pytest.raises(sa.exc.SQLAlchemyError, match="append-only"), engine.begin() as connection:
            connection.exec_driver_sql(statement)
    engine.dispose()
    assert len(await log.leaves(0, 10)) == 2


async def test_a_database_that_is_away_is_said_to_be(url: str, log: TransparencyLog) -> None:
    epoch = await leased(log)
    if url.startswith("postgresql"):
        name = url.removeprefix("postgresql://postgres@/").partition("?")[0]
        with psycopg.connect(url.replace(name, "postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
            with pytest.raises(LogUnavailableError):
                await log.append("a", epoch, [commit("m1")])
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        return
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE log_lease")
    engine.dispose()
    with pytest.raises(LogUnavailableError):
        await log.append("a", epoch, [commit("m1")])
