"""How the instances of a game share its partitions: each works it out alone, from the same facts. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec

from grimoire.eventstore import PARTITIONS, Instance, Owner

__all__ = ["Shares", "shares", "targets"]


class Shares(msgspec.Struct, frozen=True):
    """What one instance has to do.

    Attributes:
        claim: free partitions to take.
        release: partitions to give up.
        soonest_ms: when the next partition whose owner has fallen silent becomes free, UTC ms; None: none is silent.
    """

    claim: tuple[int, ...] = ()
    release: tuple[int, ...] = ()
    soonest_ms: int | None = None


def targets(counts: Mapping[str, int]) -> dict[str, int]:
    """How many partitions each instance should hold: equal shares, and the remainder where moving is least.

    >>> targets({"a": 64, "b": 0, "c": 0})
    {'a': 22, 'b': 21, 'c': 21}
    >>> targets({"a": 21, "b": 21, "c": 22})
    {'c': 22, 'a': 21, 'b': 21}
    """
    least, over = divmod(PARTITIONS, len(counts))
    ranked = sorted(counts, key=lambda one: (-counts[one], one))
    return {instance: least + (place < over) for place, instance in enumerate(ranked)}


def shares(
    owners: Collection[Owner],
    instances: Collection[Instance],
    me: str,
    serving: Collection[int],
    now_ms: int,
    *,
    stale_after_ms: int,
    silent_after_ms: int,
) -> Shares:
    """What `me` should claim and release, given who holds what and who is alive.

    Every instance that sees the same facts comes to a result that fits the others': the free partitions are dealt out
    without overlap. Seen at different times the facts differ a little; the store lets one claim win, and the next look
    puts it right.

    Args:
        owners: all partitions that were ever claimed.
        instances: who has signed in, `me` or not.
        me: our name.
        serving: what we hold, as far as we know: a claim of ours whose answer was lost is claimed again.
        now_ms: the time.
        stale_after_ms: after how long a silent owner has lost a partition.
        silent_after_ms: after how long without a sign of life an owner is suspected.

    >>> shares([], [], "a", (), 0, stale_after_ms=2000, silent_after_ms=1000).claim == tuple(range(64))
    True
    """
    alive = {one.instance for one in instances if now_ms - one.heartbeat_ms < stale_after_ms} | {me}
    held: dict[str, list[int]] = {instance: [] for instance in alive}
    free = set(range(PARTITIONS))
    soonest_ms: int | None = None
    for owner in owners:
        silent_ms = now_ms - owner.heartbeat_ms
        if owner.instance == me:
            is_free = owner.partition not in serving
        else:
            is_free = owner.instance is None or silent_ms >= stale_after_ms
        if is_free:
            continue
        free.discard(owner.partition)
        if owner.instance in held:
            held[owner.instance].append(owner.partition)
        if owner.instance != me and silent_ms >= silent_after_ms:
            due_ms = owner.heartbeat_ms + stale_after_ms
            soonest_ms = due_ms if soonest_ms is None else min(soonest_ms, due_ms)
    counts = {instance: len(partitions) for instance, partitions in held.items()}
    wanted = targets(counts)
    mine = held[me]
    return Shares(
        claim=_slice_of(sorted(free), counts, wanted, me),
        release=tuple(sorted(mine)[wanted[me] :]),
        soonest_ms=soonest_ms,
    )


def _slice_of(free: list[int], counts: Mapping[str, int], wanted: Mapping[str, int], me: str) -> tuple[int, ...]:
    """My part of the free partitions, dealt out to those who hold least first."""
    at = 0
    for instance in sorted(counts, key=lambda one: (counts[one], one)):
        need = max(0, wanted[instance] - counts[instance])
        if instance == me:
            return tuple(free[at : at + need])
        at += need
    return ()
