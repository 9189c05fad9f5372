"""What both databases are asked in the same words."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import ColumnElement, LargeBinary, Select, and_, bindparam, func, literal, null, select, tuple_

from grimoire.eventstore.partitions import partition_of
from grimoire.eventstore.tables import downtime, dues, entries, hidden, instances, match_head, partition_owner

__all__ = [
    "BY_COMMAND",
    "DOWNTIME",
    "ENTRY_COLUMNS",
    "HEAD_OF",
    "INSTANCES",
    "OWNERS",
    "READ",
    "READ_WITH_PARTS",
    "deadlines",
    "dues_of",
    "heads",
    "owed_downtime",
]

ENTRY_COLUMNS = (
    entries.c.match_id,
    entries.c.version,
    entries.c.command_id,
    entries.c.server_time_ms,
    entries.c.header,
    entries.c.public,
    entries.c.digests,
    entries.c.hash,
)
"""In the order of `StoredEntry`'s fields; `parts` comes last."""

_HEAD_COLUMNS = (
    match_head.c.match_id,
    match_head.c.game,
    match_head.c.partition,
    match_head.c.version,
    match_head.c.hash,
    match_head.c.status,
    match_head.c.next_deadline_ms,
    match_head.c.rules_version,
    match_head.c.epoch,
    match_head.c.created_ms,
    match_head.c.updated_ms,
)

_OF_MATCH: ColumnElement[bool] = and_(
    entries.c.partition == bindparam("partition"), entries.c.match_id == bindparam("match_id")
)
_WITH_HIDDEN = entries.outerjoin(
    hidden,
    and_(
        hidden.c.partition == entries.c.partition,
        hidden.c.match_id == entries.c.match_id,
        hidden.c.version == entries.c.version,
    ),
)
_BETWEEN = entries.c.version.between(bindparam("first"), bindparam("last"))

# An entry without private parts has no row in `hidden`.
_PARTS = func.coalesce(hidden.c.parts, literal(b"", LargeBinary))
_NO_PARTS = null().label("parts")

READ: Select[tuple[object, ...]] = (
    select(*ENTRY_COLUMNS, _NO_PARTS).where(_OF_MATCH, _BETWEEN).order_by(entries.c.version)
)
"""Binds partition, match_id, first, last."""

READ_WITH_PARTS: Select[tuple[object, ...]] = (
    select(*ENTRY_COLUMNS, _PARTS).select_from(_WITH_HIDDEN).where(_OF_MATCH, _BETWEEN).order_by(entries.c.version)
)
"""Binds partition, match_id, first, last."""

BY_COMMAND: Select[tuple[object, ...]] = (
    select(*ENTRY_COLUMNS, _PARTS)
    .select_from(_WITH_HIDDEN)
    .where(_OF_MATCH, entries.c.command_id == bindparam("command_id"))
)
"""Binds partition, match_id, command_id."""

HEAD_OF: Select[tuple[object, ...]] = select(*_HEAD_COLUMNS).where(
    match_head.c.partition == bindparam("partition"), match_head.c.match_id == bindparam("match_id")
)
"""Binds partition, match_id."""

OWNERS: Select[tuple[object, ...]] = (
    select(
        partition_owner.c.partition,
        partition_owner.c.instance,
        partition_owner.c.address,
        partition_owner.c.epoch,
        partition_owner.c.heartbeat_ms,
    )
    .where(partition_owner.c.game == bindparam("game"))
    .order_by(partition_owner.c.partition)
)
"""Binds game."""

INSTANCES: Select[tuple[object, ...]] = (
    select(instances.c.instance, instances.c.heartbeat_ms)
    .where(instances.c.game == bindparam("game"))
    .order_by(instances.c.instance)
)
"""Binds game."""

DOWNTIME: Select[tuple[object, ...]] = (
    select(downtime.c.from_ms, downtime.c.to_ms)
    .where(
        downtime.c.game == bindparam("game"),
        downtime.c.partition == bindparam("partition"),
        downtime.c.to_ms > bindparam("since_ms"),
    )
    .order_by(downtime.c.from_ms)
)
"""Binds game, partition, since_ms."""


def heads(
    game: str,
    partitions: Collection[int] | None,
    statuses: Collection[int] | None,
    limit: int,
    after: str | None,
) -> Select[tuple[object, ...]]:
    """A page of a game's heads."""
    statement = select(*_HEAD_COLUMNS).where(match_head.c.game == game)
    if partitions is not None:
        statement = statement.where(match_head.c.partition.in_(sorted(partitions)))
    if statuses is not None:
        statement = statement.where(match_head.c.status.in_(sorted(statuses)))
    if after is not None:
        statement = statement.where(
            tuple_(match_head.c.partition, match_head.c.match_id) > tuple_(partition_of(after), after)
        )
    return statement.order_by(match_head.c.partition, match_head.c.match_id).limit(limit)


def deadlines(game: str, partitions: Collection[int], before_ms: int | None) -> Select[tuple[object, ...]]:
    """The waiting timers of some partitions."""
    due = match_head.c.next_deadline_ms
    statement = select(match_head.c.match_id, match_head.c.partition, due, match_head.c.updated_ms).where(
        match_head.c.game == game, match_head.c.partition.in_(sorted(partitions)), due.is_not(None)
    )
    if before_ms is not None:
        statement = statement.where(due < before_ms)
    return statement.order_by(due, match_head.c.match_id)


def dues_of(game: str, partitions: Collection[int]) -> Select[tuple[object, ...]]:
    """Match id and bits of what is still to be told."""
    return (
        select(dues.c.match_id, dues.c.bits)
        .where(dues.c.game == game, dues.c.partition.in_(sorted(partitions)))
        .order_by(dues.c.partition, dues.c.match_id)
    )


def owed_downtime(game: str, partitions: Collection[int]) -> Select[tuple[object, ...]]:
    """Partition and times of what a running clock may still be owed."""
    wanted = sorted(partitions)
    oldest = (
        select(match_head.c.partition, func.min(match_head.c.created_ms).label("since_ms"))
        .where(
            match_head.c.game == game,
            match_head.c.partition.in_(wanted),
            match_head.c.next_deadline_ms.is_not(None),
        )
        .group_by(match_head.c.partition)
        .subquery()
    )
    return (
        select(downtime.c.partition, downtime.c.from_ms, downtime.c.to_ms)
        .join_from(downtime, oldest, downtime.c.partition == oldest.c.partition)
        .where(downtime.c.game == game, downtime.c.partition.in_(wanted), downtime.c.to_ms > oldest.c.since_ms)
        .order_by(downtime.c.partition, downtime.c.from_ms)
    )
