"""The gRPC face of the transparency log. Everybody may read all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import grpc

from grimoire.fairness.transparency import Evidence, LeafKind, LoggedLeaf
from grimoire.fairness.transparency.merkle import HASH_SIZE
from grimoire.fairness.transparency.summary import Summary
from grimoire.v1 import transparency_pb2, transparency_pb2_grpc
from replay.refusals import RefusalKind, Refused, answered
from replay.transparency.census import Census
from replay.transparency.limits import LogLimits
from replay.transparency.log import LogUnavailableError, TransparencyLog

__all__ = ["TransparencyService"]

Context = grpc.aio.ServicerContext[Any, Any]

_KINDS: Final = {
    LeafKind.COMMIT: transparency_pb2.LOG_LEAF_KIND_COMMIT,
    LeafKind.START: transparency_pb2.LOG_LEAF_KIND_START,
    LeafKind.CLOSE: transparency_pb2.LOG_LEAF_KIND_CLOSE,
    LeafKind.REVEAL: transparency_pb2.LOG_LEAF_KIND_REVEAL,
}
_KINDS_BY_NUMBER: Final = {number: kind for kind, number in _KINDS.items()}
_LONGEST_ID: Final = 64


class TransparencyService(transparency_pb2_grpc.TransparencyServiceServicer):
    """Serves checkpoints, leaves and proofs to the edge.

    Args:
        log: the log.
        census: counts it.
        limits: how much is given at once.
    """

    def __init__(self, log: TransparencyLog, census: Census, limits: LogLimits) -> None:
        self._store = log
        self._census = census
        self._limits = limits

    async def GetCheckpoint(
        self, request: transparency_pb2.GetCheckpointRequest, context: Context
    ) -> transparency_pb2.GetCheckpointResponse:
        """A signed tree head."""
        async with _answered(context):
            head = await self._store.head(_number(request.size, "size"))
            if head is None:
                raise _beyond("size")
            return transparency_pb2.GetCheckpointResponse(checkpoint=head.checkpoint, key=self._store.key)

    async def GetInclusion(
        self, request: transparency_pb2.GetInclusionRequest, context: Context
    ) -> transparency_pb2.GetInclusionResponse:
        """One leaf with its proof."""
        async with _answered(context):
            number, leaf = await self._find(request)
            head = await self._store.head(_number(request.size, "size") or number + 1)
            size = request.size or (head.size if head is not None else 0)
            if head is None or size <= number:
                raise _beyond("size")
            return transparency_pb2.GetInclusionResponse(
                leaf=transparency_pb2.ProvedLeaf(
                    number=number, leaf=leaf, path=await self._store.inclusion(number, size)
                ),
                size=size,
                checkpoint=head.checkpoint if head.size == size else b"",
                key=self._store.key,
            )

    async def GetConsistency(
        self, request: transparency_pb2.GetConsistencyRequest, context: Context
    ) -> transparency_pb2.GetConsistencyResponse:
        """That a later tree begins with an earlier one."""
        async with _answered(context):
            old, new = _number(getattr(request, "from"), "from"), _number(request.to, "to")
            head = await self._store.head(new)
            size = new or (head.size if head is not None else 0)
            if head is None:
                raise _beyond("to")
            if old > size:
                raise _beyond("from")
            return transparency_pb2.GetConsistencyResponse(
                path=await self._store.consistency(old, size),
                to=size,
                checkpoint=head.checkpoint if head.size == size else b"",
            )

    async def GetLeaves(
        self, request: transparency_pb2.GetLeavesRequest, context: Context
    ) -> transparency_pb2.GetLeavesResponse:
        """Leaves as they are hashed, in order."""
        async with _answered(context):
            first, most = _number(request.first, "first"), self._limits.page_leaves
            leaves = await self._store.leaves(first, min(request.count or most, most))
            return transparency_pb2.GetLeavesResponse(first=first, leaves=leaves)

    async def GetEvidence(
        self, request: transparency_pb2.GetEvidenceRequest, context: Context
    ) -> transparency_pb2.GetEvidenceResponse:
        """All leaves of one match with their proofs."""
        async with _answered(context):
            return _evidence(await self._store.evidence(_match_id(request.match_id)))

    async def Summary(
        self, request: transparency_pb2.SummaryRequest, context: Context
    ) -> transparency_pb2.SummaryResponse:
        """How many matches of a span were promised, begun, ended and revealed, and which are missing."""
        async with _answered(context):
            head = await self._store.head()
            end = head.size if head is not None else 0
            first, last = _number(getattr(request, "from"), "from"), min(_number(request.to, "to") or end, end)
            if last - first > self._limits.summary_leaves:
                raise Refused(
                    RefusalKind.BUSY, "too_large", f"At most {self._limits.summary_leaves} leaves are counted at once."
                )
            response = transparency_pb2.SummaryResponse(summary=_summary(await self._census.summary(first, last)))
            setattr(response, "from", first)
            response.to = last
            return response

    async def _find(self, request: transparency_pb2.GetInclusionRequest) -> tuple[int, bytes]:
        by = request.WhichOneof("by")
        found = None
        if by == "name":
            kind = _KINDS_BY_NUMBER.get(request.name.kind)
            if kind is None:
                raise Refused(RefusalKind.MALFORMED, "malformed", "Name the kind of leaf.", "kind")
            found = await self._store.leaf(_match_id(request.name.match_id), kind)
        elif by == "leaf_hash":
            if len(request.leaf_hash) != HASH_SIZE:
                raise Refused(RefusalKind.MALFORMED, "malformed", "A leaf's hash has 32 bytes.", "leaf_hash")
            found = await self._store.leaf_by_hash(request.leaf_hash)
        else:
            raise Refused(RefusalKind.MALFORMED, "malformed", "Name a leaf: by match and kind, or by its hash.", "by")
        if found is None:
            raise Refused(RefusalKind.UNKNOWN, "unknown_leaf", "This leaf is not in the log, or not yet.")
        return found


@asynccontextmanager
async def _answered(context: Context) -> AsyncIterator[None]:
    async with answered(context):
        try:
            yield
        except LogUnavailableError:
            raise Refused(
                RefusalKind.UNAVAILABLE, "unavailable", "The log cannot be read at this moment; try again."
            ) from None


def _number(number: int, field: str) -> int:
    if number >= 2**63:
        raise _beyond(field)
    return number


def _match_id(match_id: str) -> str:
    if not 0 < len(match_id) <= _LONGEST_ID or "\0" in match_id:
        raise Refused(RefusalKind.UNKNOWN, "unknown_leaf", "There is no such match in the log.", "match_id")
    return match_id


def _beyond(field: str) -> Refused:
    return Refused(RefusalKind.MALFORMED, "malformed", "The log has not grown so far.", field)


def _proved(leaf: LoggedLeaf) -> transparency_pb2.ProvedLeaf:
    return transparency_pb2.ProvedLeaf(number=leaf.number, leaf=leaf.leaf, path=leaf.path)


def _evidence(evidence: Evidence) -> transparency_pb2.GetEvidenceResponse:
    return transparency_pb2.GetEvidenceResponse(
        key=evidence.key, checkpoint=evidence.checkpoint, leaves=map(_proved, evidence.leaves)
    )


def _summary(summary: Summary) -> transparency_pb2.LogSummary:
    return transparency_pb2.LogSummary(
        commits=summary.commits,
        starts=summary.starts,
        closes=summary.closes,
        voids=summary.voids,
        reveals=summary.reveals,
        handshakes=summary.handshakes,
        running=summary.running,
        outcomes=[
            transparency_pb2.OutcomeCount(game=game, outcome=outcome, count=count)
            for (game, outcome), count in summary.outcomes.items()
        ],
        missing=[
            transparency_pb2.MissingLeaf(
                match_id=one.match_id,
                game=one.game,
                kind=_KINDS[one.kind],
                since_ms=min(one.since_ms, 2**63 - 1),
            )
            for one in summary.missing
        ],
    )
