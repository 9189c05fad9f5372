"""The log as everybody may read it, with real matches in it; and matches that somebody made away with."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from grimoire.fairness.transparency import (
    Evidence,
    LeafKind,
    LoggedLeaf,
    VerifierKey,
    leaf_hash,
    open_checkpoint,
    parse_leaf,
    tree_root,
    verify_consistency,
    verify_inclusion,
)
from grimoire.fairness.transparency.summary import YOUNG_MATCH_MS
from grimoire.runtime.game_service import now_ms
from grimoire.v1 import frame_pb2, transparency_pb2, transparency_pb2_grpc
from replay.refusals import REJECTION_KEY, Refused
from replay.transparency.census import Census
from replay.transparency.limits import LogLimits
from replay.transparency.log import TransparencyLog, signing_key
from tests.replay.house import House, Refusal, house
from tests.support.toy.install import write_entry_point

HANDSHAKE, RUNNING = 2, 9


class Reader:
    """The log's service as the edge reaches it."""

    def __init__(self, home: House) -> None:
        home.caller("")
        assert home.channel is not None
        self.stub = transparency_pb2_grpc.TransparencyServiceStub(home.channel)

    async def all_leaves(self) -> list[bytes]:
        return list((await self.stub.GetLeaves(transparency_pb2.GetLeavesRequest())).leaves)

    async def size(self) -> int:
        reply = await self.stub.GetCheckpoint(transparency_pb2.GetCheckpointRequest())
        return open_checkpoint(reply.checkpoint, VerifierKey.parse(reply.key)).size

    async def grown(self, size: int) -> None:
        """Waits until it has so many leaves."""
        while await self.size() < size:
            pass


@pytest.fixture
async def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[House]:
    monkeypatch.syspath_prepend(str(write_entry_point(tmp_path / "entry-points")))
    async with house(tmp_path / "home") as running:
        yield running


async def test_everything_about_the_log_can_be_asked_and_checked(home: House) -> None:
    reader = Reader(home)
    ended = await home.play()
    running = await home.play(entries=RUNNING)
    await reader.grown(6)
    leaves = await reader.all_leaves()
    assert [parse_leaf(leaf).kind for leaf in leaves] == ["commit", "start", "close", "reveal", "commit", "start"]
    roots = [tree_root(map(leaf_hash, leaves[:size])) for size in range(len(leaves) + 1)]

    newest = await reader.stub.GetCheckpoint(transparency_pb2.GetCheckpointRequest())
    key = VerifierKey.parse(newest.key)
    head = open_checkpoint(newest.checkpoint, key)
    assert (head.size, head.root) == (6, roots[6])
    early = await reader.stub.GetCheckpoint(transparency_pb2.GetCheckpointRequest(size=1))
    first = open_checkpoint(early.checkpoint, key)

    for number, leaf in enumerate(leaves):
        by_hash = transparency_pb2.GetInclusionRequest(leaf_hash=leaf_hash(leaf), size=6)
        reply = await reader.stub.GetInclusion(by_hash)
        assert (reply.leaf.number, reply.leaf.leaf, reply.size) == (number, leaf, 6)
        assert verify_inclusion(leaf_hash(leaf), number, 6, reply.leaf.path, roots[6])
        assert reply.checkpoint == newest.checkpoint

    named = transparency_pb2.LogLeafName(match_id=ended, kind=transparency_pb2.LOG_LEAF_KIND_COMMIT)
    reply = await reader.stub.GetInclusion(transparency_pb2.GetInclusionRequest(name=named))
    assert (reply.leaf.number, reply.size, reply.checkpoint) == (0, first.size, early.checkpoint)

    request = transparency_pb2.GetConsistencyRequest(**{"from": first.size})
    proof = await reader.stub.GetConsistency(request)
    assert (proof.to, proof.checkpoint) == (6, newest.checkpoint)
    assert verify_consistency(first.size, first.root, 6, roots[6], proof.path)

    whole = await reader.stub.GetEvidence(transparency_pb2.GetEvidenceRequest(match_id=running))
    evidence = Evidence(
        whole.key,
        whole.checkpoint,
        tuple(LoggedLeaf(leaf.number, leaf.leaf, tuple(leaf.path)) for leaf in whole.leaves),
    )
    assert list(evidence.prove(running, key).leaves) == [LeafKind.COMMIT, LeafKind.START]
    nothing = await reader.stub.GetEvidence(transparency_pb2.GetEvidenceRequest(match_id="0" * 26))
    assert list(nothing.leaves) == []

    part = await reader.stub.GetLeaves(transparency_pb2.GetLeavesRequest(first=4, count=1))
    assert (part.first, list(part.leaves)) == (4, leaves[4:5])
    beyond = await reader.stub.GetLeaves(transparency_pb2.GetLeavesRequest(first=99))
    assert list(beyond.leaves) == []


@pytest.mark.parametrize(
    ("method", "request_", "status", "code"),
    [
        ("GetCheckpoint", transparency_pb2.GetCheckpointRequest(size=99), "INVALID_ARGUMENT", "malformed"),
        ("GetCheckpoint", transparency_pb2.GetCheckpointRequest(size=2**64 - 1), "INVALID_ARGUMENT", "malformed"),
        ("GetInclusion", transparency_pb2.GetInclusionRequest(), "INVALID_ARGUMENT", "malformed"),
        ("GetInclusion", transparency_pb2.GetInclusionRequest(leaf_hash=b"x"), "INVALID_ARGUMENT", "malformed"),
        ("GetInclusion", transparency_pb2.GetInclusionRequest(leaf_hash=bytes(32)), "NOT_FOUND", "unknown_leaf"),
        (
            "GetInclusion",
            transparency_pb2.GetInclusionRequest(name=transparency_pb2.LogLeafName(match_id="m")),
            "INVALID_ARGUMENT",
            "malformed",
        ),
        (
            "GetInclusion",
            transparency_pb2.GetInclusionRequest(name=transparency_pb2.LogLeafName(match_id="m", kind=1)),
            "NOT_FOUND",
            "unknown_leaf",
        ),
        (
            "GetInclusion",
            transparency_pb2.GetInclusionRequest(name=transparency_pb2.LogLeafName(match_id="\0", kind=1)),
            "NOT_FOUND",
            "unknown_leaf",
        ),
        ("GetConsistency", transparency_pb2.GetConsistencyRequest(to=99), "INVALID_ARGUMENT", "malformed"),
        ("GetConsistency", transparency_pb2.GetConsistencyRequest(**{"from": 9}), "INVALID_ARGUMENT", "malformed"),
        ("GetLeaves", transparency_pb2.GetLeavesRequest(first=2**63), "INVALID_ARGUMENT", "malformed"),
        ("GetEvidence", transparency_pb2.GetEvidenceRequest(match_id="x" * 65), "NOT_FOUND", "unknown_leaf"),
    ],
)
async def test_what_cannot_be_is_refused_with_a_reason(
    home: House, method: str, request_: object, status: str, code: str
) -> None:
    reader = Reader(home)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await getattr(reader.stub, method)(request_)
    refused = Refusal(error.value)
    assert (refused.status.name, refused.code) == (status, code)
    assert REJECTION_KEY in dict(error.value.trailing_metadata())


@pytest.mark.parametrize("first", [2**40, 2**63 - 1])
async def test_beyond_the_end_there_are_no_leaves(home: House, first: int) -> None:
    reply = await Reader(home).stub.GetLeaves(transparency_pb2.GetLeavesRequest(first=first))
    assert (reply.first, list(reply.leaves)) == (first, [])


async def test_a_tree_smaller_than_the_leaf_is_refused(home: House) -> None:
    reader = Reader(home)
    match_id = await home.play()
    await reader.grown(4)
    named = transparency_pb2.LogLeafName(match_id=match_id, kind=transparency_pb2.LOG_LEAF_KIND_REVEAL)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await reader.stub.GetInclusion(transparency_pb2.GetInclusionRequest(name=named, size=2))
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    between = await reader.stub.GetInclusion(transparency_pb2.GetInclusionRequest(name=named, size=4))
    assert between.size == 4


# ---- sums ------------------------------------------------------------------------------------------------------------


async def test_the_sums_of_what_was_played(home: House) -> None:
    reader = Reader(home)
    await home.play()
    await home.play(seed=2)
    await home.play(entries=RUNNING)
    await home.play(entries=HANDSHAKE)
    await reader.grown(11)
    response = await reader.stub.Summary(transparency_pb2.SummaryRequest())
    found = response.summary
    assert (getattr(response, "from"), response.to) == (0, 11)
    assert (found.commits, found.starts, found.closes, found.voids, found.reveals) == (4, 3, 2, 0, 2)
    assert (found.handshakes, found.running, list(found.missing)) == (1, 1, [])
    assert sum(o.count for o in found.outcomes) == 2
    assert {(o.game, o.outcome) for o in found.outcomes} <= {("toy", "coop_won"), ("toy", "coop_lost")}
    later = (await reader.stub.Summary(transparency_pb2.SummaryRequest(**{"from": 1}))).summary
    assert later.commits == 3


class Away:
    """The log of a house, counted as if it were later."""

    def __init__(self, home: House, log: TransparencyLog, later_ms: int, limits: LogLimits | None = None) -> None:
        self._home = home
        self.census = Census(log, self._head, lambda: now_ms() + later_ms, limits or LogLimits())

    async def _head(self, match_id: str) -> frame_pb2.MatchHead | None:
        try:
            return (await self._home.caller("").get(match_id)).head
        except Refusal as refusal:
            if refusal.status is grpc.StatusCode.NOT_FOUND:
                return None
            raise


@pytest.fixture
async def log(home: House) -> AsyncIterator[TransparencyLog]:
    opened = TransparencyLog(home.config.database_url("replay"), signing_key(home.keys.log_key))
    await opened.open()
    yield opened
    await opened.close()


def _made_away_with(home: House, match_id: str) -> None:
    """What an operator can do who does not like a deal: the match is gone, as if it had never been."""
    store = sqlite3.connect(home.config.database_url("toy").removeprefix("sqlite:///"))
    with store:
        for (trigger,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            store.execute(f'DROP TRIGGER "{trigger}"')
        for table in ("entries", "hidden", "match_head"):
            store.execute(f"DELETE FROM {table} WHERE match_id = ?", (match_id,))
    store.close()


async def test_a_match_that_was_dropped_in_silence_is_missing_by_name(home: House, log: TransparencyLog) -> None:
    await home.play()
    running = await home.play(entries=RUNNING)
    dropped = await home.play(entries=RUNNING)
    never_begun = await home.play(entries=HANDSHAKE)
    await Reader(home).grown(9)
    await home.stop("toy")
    for match_id in (dropped, never_begun):
        _made_away_with(home, match_id)
    await home.start("toy", home.service("toy"))

    young = await Away(home, log, 0).census.summary(0, 9)
    assert young.missing == ()
    # The toy gives 30 s for a move: a match that goes on would have moved long ago, or be over.
    soon = await Away(home, log, YOUNG_MATCH_MS + 1_000).census.summary(0, 9)
    missing = {one.match_id: one.kind for one in soon.missing}
    assert missing.pop(dropped) is LeafKind.CLOSE
    assert missing.pop(never_begun) is LeafKind.START
    assert missing.keys() <= {running}
    assert soon.commits == soon.starts + soon.voids + soon.handshakes + 1


async def test_a_match_that_is_still_played_is_not_missing(home: House, log: TransparencyLog) -> None:
    # The toy gives 50 minutes for a move here.
    running = await home.play(entries=RUNNING, choose_s="3000")
    await Reader(home).grown(2)
    found = await Away(home, log, YOUNG_MATCH_MS + 1_000).census.summary(0, 2)
    assert (found.running, found.missing) == (1, ())
    much_later = await Away(home, log, 3 * 3_600_000).census.summary(0, 2)
    assert [one.match_id for one in much_later.missing] == [running]


async def test_too_many_open_matches_are_not_asked_for_at_once(home: House, log: TransparencyLog) -> None:
    for _ in range(3):
        await home.play(entries=HANDSHAKE)
    await Reader(home).grown(3)
    with pytest.raises(Refused, match="More than 2 matches"):
        await Away(home, log, 10**9, LogLimits(summary_heads=2)).census.summary(0, 3)
