"""How much anybody may ask of replay: sizes, times, and how many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from replay.refusals import RefusalKind, Refused

__all__ = ["Gate", "ReplayLimits"]


class ReplayLimits(msgspec.Struct, frozen=True):
    """Bounds of one instance.

    Attributes:
        chunk_frames: frames in one answer at most.
        chunk_bytes: bytes of the frames in one answer at most; a frame above it is not shown.
        file_chunk_bytes: bytes of an exported file in one answer.
        log_bytes: a stored match with more bytes of entries than this is not audited in one go.
        upload_idle_s: an upload from which nothing comes for this long is given up.
        upload_s: how long an upload may take in all.
        redecide_s: how long the rules may take to judge a whole log anew.
        silence_s: a game service that says nothing for this long is given up.
        takeover_s: how long a match without an owner is waited for.
        streams: frame streams and exports at once, of all accounts.
        streams_per_account: the same of one account.
        bench_threads: files being read or verified at once.
        heavy: imports, audits and timelines at once, of all accounts.
        heavy_per_account: the same of one account.
        imports: imported files kept, of all accounts; beyond it the oldest goes first.
        imports_per_account: the same of one account.
        timeline_marks: marks kept in memory, of all matches together.
        open_log_bytes: file bytes of imported logs kept open in memory.
    """

    chunk_frames: int = 64
    chunk_bytes: int = 1024 * 1024
    file_chunk_bytes: int = 256 * 1024
    log_bytes: int = 64 * 1024 * 1024
    upload_idle_s: float = 30.0
    upload_s: float = 300.0
    redecide_s: float = 60.0
    silence_s: float = 30.0
    takeover_s: float = 5.0
    streams: int = 256
    streams_per_account: int = 8
    bench_threads: int = 2
    heavy: int = 8
    heavy_per_account: int = 2
    imports: int = 1_000
    imports_per_account: int = 50
    timeline_marks: int = 200_000
    open_log_bytes: int = 32 * 1024 * 1024


class Gate:
    """Lets only so many in at once, in all and of each account.

    >>> gate = Gate(in_all=2, per_account=1)
    >>> with gate.enter("alice"), gate.enter("bob"):
    ...     gate.inside
    2
    """

    def __init__(self, in_all: int, per_account: int) -> None:
        self._in_all = in_all
        self._per_account = per_account
        self._inside: Counter[str] = Counter()

    @property
    def inside(self) -> int:
        """How many are inside now."""
        return self._inside.total()

    @contextmanager
    def enter(self, account_id: str) -> Iterator[None]:
        """Holds one place while the block runs.

        Raises:
            Refused: if there is none.
        """
        if self._inside[account_id] >= self._per_account:
            raise _busy("rate_limited", "You have too many of these running; let one end first.")
        if self.inside >= self._in_all:
            raise _busy("overloaded", "Replay has more work than it can take; try again soon.")
        self._inside[account_id] += 1
        try:
            yield
        finally:
            self._inside[account_id] -= 1
            if not self._inside[account_id]:
                del self._inside[account_id]


def _busy(code: str, message: str) -> Refused:
    return Refused(RefusalKind.BUSY, code, message, retry_after_ms=1_000)
