"""The proofs that go with a stored match: waited for, and whole."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from grimoire.fairness.transparency import CloseLeaf, CommitLeaf, Evidence, LeafKind, RevealLeaf, StartLeaf
from grimoire.v1 import frame_pb2
from replay.refusals import Refused
from replay.transparency.limits import LogLimits
from replay.transparency.log import Submitted, TransparencyLog
from replay.transparency.proofs import Proofs

HASH = bytes(range(32))
HEAD = frame_pb2.MatchHead(match_id="m1", status=frame_pb2.MATCH_STATUS_CLOSED, revealed=True)
BEGUN = [CommitLeaf("m1", "toy", HASH, HASH, 1_000), StartLeaf("m1", HASH, 2_000)]
ENDED = [CloseLeaf("m1", "win", 9, HASH, 3_000), RevealLeaf("m1", HASH, 3_000)]


class EndsMeanwhile:
    """A log whose writer puts a match's last leaves down right after something was read."""

    def __init__(self, log: TransparencyLog, epoch: int) -> None:
        self._log = log
        self._epoch = epoch
        self.reads = 0

    async def evidence(self, match_id: str, kinds: Collection[LeafKind]) -> Evidence:
        found = await self._log.evidence(match_id, kinds)
        await self._read()
        return found

    async def leaf(self, match_id: str, kind: LeafKind) -> tuple[int, bytes] | None:
        found = await self._log.leaf(match_id, kind)
        await self._read()
        return found

    async def _read(self) -> None:
        self.reads += 1
        if self.reads == 1:
            await self._log.append("a", self._epoch, [Submitted("toy", leaf.encode()) for leaf in ENDED])


async def begun(log: TransparencyLog) -> int:
    epoch = await log.claim("a", 1_000)
    assert epoch is not None
    await log.append("a", epoch, [Submitted("toy", leaf.encode()) for leaf in BEGUN])
    return epoch


async def test_the_proofs_of_a_revealed_match_are_whole_even_when_its_end_is_logged_meanwhile(
    log: TransparencyLog,
) -> None:
    racing = EndsMeanwhile(log, await begun(log))
    evidence = await Proofs(racing, LogLimits(wait_s=5)).of(HEAD)  # type: ignore[arg-type]
    assert evidence is not None
    assert len(evidence.leaves) == len(LeafKind)


async def test_an_end_that_does_not_come_is_said_to_be_missing(log: TransparencyLog) -> None:
    await begun(log)
    with pytest.raises(Refused, match="not in the transparency log yet") as refused:
        await Proofs(log, LogLimits(wait_s=0)).of(HEAD)
    assert refused.value.rejection.code == "not_logged_yet"
