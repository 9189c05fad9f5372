"""Who may take a partition, and how long it was down. Pure: the stores read a row, ask here, write the answer."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from grimoire.eventstore.api import Claim

__all__ = ["FORGOTTEN_AFTER_MS", "Standing", "by_partition", "claimed", "silence"]

FORGOTTEN_AFTER_MS = 3_600_000
"""An instance that was silent for so long is taken off the list."""


class Standing(msgspec.Struct, frozen=True):
    """How a partition stands: who holds it (None: nobody), under which epoch, and when it last gave a sign of life."""

    instance: str | None
    epoch: int
    heartbeat_ms: int


def claimed(standing: Standing | None, instance: str, now_ms: int, stale_after_ms: int) -> Claim | None:
    """What `instance` gets when it asks for a partition; None if another holds it.

    >>> claimed(None, "a", 1000, 500)
    Claim(epoch=1, down_from_ms=None, down_to_ms=None)
    >>> claimed(Standing("b", 3, 400), "a", 1000, 500)
    Claim(epoch=4, down_from_ms=400, down_to_ms=1000)
    >>> claimed(Standing("b", 3, 600), "a", 1000, 500) is None
    True
    """
    if standing is None:
        return Claim(1, None, None)
    if standing.instance == instance:
        gap = silence(standing, now_ms, stale_after_ms)
        return Claim(standing.epoch, *(gap or (None, None)))
    if standing.instance is not None and now_ms - standing.heartbeat_ms < stale_after_ms:
        return None
    return Claim(standing.epoch + 1, *(silence(standing, now_ms, 1) or (None, None)))


def silence(standing: Standing, now_ms: int, at_least_ms: int) -> tuple[int, int] | None:
    """The time (from, to) since the last sign of life, if it is that long."""
    if now_ms - standing.heartbeat_ms < at_least_ms:
        return None
    return standing.heartbeat_ms, now_ms


def by_partition(rows: Iterable[tuple[int, int, int]]) -> dict[int, list[tuple[int, int]]]:
    """Sorts (partition, from, to) by partition, each in the order given.

    >>> by_partition([(7, 1, 2), (7, 5, 9), (8, 1, 2)])
    {7: [(1, 2), (5, 9)], 8: [(1, 2)]}
    """
    sorted_out: dict[int, list[tuple[int, int]]] = {}
    for partition, from_ms, to_ms in rows:
        sorted_out.setdefault(partition, []).append((from_ms, to_ms))
    return sorted_out
