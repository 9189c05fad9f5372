"""The proofs that go with a stored match: into its file, into its audit."""

from __future__ import annotations

import asyncio
from typing import Final

from grimoire.fairness.transparency import Evidence, LeafKind, VerifierKey
from grimoire.v1 import frame_pb2, match_pb2
from replay.refusals import RefusalKind, Refused
from replay.transparency.limits import LogLimits
from replay.transparency.log import LogUnavailableError, TransparencyLog

__all__ = ["Proofs"]

_PAUSE_S: Final = 0.05
_KINDS: Final = {
    frame_pb2.MATCH_STATUS_HANDSHAKE: (LeafKind.COMMIT,),
    frame_pb2.MATCH_STATUS_RUNNING: (LeafKind.COMMIT, LeafKind.START),
}
_BEFORE_THE_REVEAL: Final = (LeafKind.COMMIT, LeafKind.START, LeafKind.CLOSE)


class Proofs:
    """Finds them.

    Args:
        log: the log.
        limits: how long the last leaves of a match that has just ended are waited for.
    """

    def __init__(self, log: TransparencyLog, limits: LogLimits) -> None:
        self._store = log
        self._limits = limits

    @property
    def key(self) -> VerifierKey:
        """Of the log."""
        return self._store.signing_key.verifier

    async def of(self, head: frame_pb2.MatchHead) -> Evidence | None:
        """What the log proves of a match as far as this head goes; None: it is not in the log, being analysis.

        The same head gives the same bytes, however far the log has grown, once all leaves are there. A revealed match
        is waited for until they are.

        Raises:
            Refused: `not_logged_yet`, or the log cannot be read.
        """
        if head.created.mode == match_pb2.MATCH_MODE_ANALYSIS:
            return None
        kinds = tuple(LeafKind) if head.revealed else _KINDS.get(head.status, _BEFORE_THE_REVEAL)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._limits.wait_s
        try:
            while True:
                # First whether the last leaf is there, then the proofs: the other way round they could miss a leaf that
                # comes in between, and an honest match would look like a lie.
                if not head.revealed or await self._store.leaf(head.match_id, LeafKind.REVEAL) is not None:
                    return await self._store.evidence(head.match_id, kinds)
                if loop.time() > give_up:
                    break
                await asyncio.sleep(_PAUSE_S)
        except LogUnavailableError:
            raise Refused(
                RefusalKind.UNAVAILABLE, "unavailable", "The transparency log cannot be read now; try again."
            ) from None
        raise Refused(
            RefusalKind.UNAVAILABLE,
            "not_logged_yet",
            "The end of this match is not in the transparency log yet; ask again in a moment.",
            retry_after_ms=1_000,
        )
