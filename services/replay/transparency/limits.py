"""Sizes and times of the log."""

from __future__ import annotations

import msgspec

__all__ = ["LogLimits"]


class LogLimits(msgspec.Struct, frozen=True):
    """Bounds of one instance.

    Attributes:
        batch_s: between two checkpoints at least.
        batch_leaves: written under one checkpoint at most.
        request_leaves: in one request of a game service at most.
        queued_leaves: that wait for their batch; beyond it game services are told to come again.
        beat_s: between two signs of life of the writer, and between two looks of those who would follow it.
        stale_s: a writer silent for so long has lost the lease.
        page_leaves: given at once.
        summary_leaves: counted at once.
        summary_heads: matches that are asked for at once while counting; more: ask for a smaller span.
        wait_s: how long a file waits for the last leaves of its match.
    """

    batch_s: float = 0.2
    batch_leaves: int = 2_048
    request_leaves: int = 256
    queued_leaves: int = 16_384
    beat_s: float = 0.5
    stale_s: float = 2.0
    page_leaves: int = 1_000
    summary_leaves: int = 100_000
    summary_heads: int = 2_000
    wait_s: float = 5.0
