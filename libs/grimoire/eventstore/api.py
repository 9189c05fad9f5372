"""What an event store takes, gives and promises, whichever database is behind it."""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

import msgspec

__all__ = [
    "Claim",
    "Conflict",
    "ConflictKind",
    "Deadline",
    "EventStore",
    "Head",
    "Instance",
    "Muster",
    "NewEntry",
    "Owner",
    "StoreError",
    "StoredEntry",
    "TailPage",
    "Unavailable",
]


class NewEntry(msgspec.Struct, frozen=True):
    """One entry to be written: everything one accepted command did, and what it makes of the match's head.

    Attributes:
        match_id: the match; never reused.
        game: the game's id, e.g. `two_towers`; fixed by the match's first entry.
        version: counts the match's entries from 1; must be the stored head's version + 1.
        command_id: unique within the match.
        server_time_ms: UTC milliseconds, as in the header.
        header: stored and hashed bytes of the header.
        public: stored and hashed public bytes.
        digests: serialised digests of the private parts.
        hash: the chain's hash after this entry.
        parts: serialised private parts; kept in their own table; may be empty.
        status: of the match after this entry; the caller's numbers, the store only filters by them.
        next_deadline_ms: UTC milliseconds of the match's next timer, or None.
        rules_version: of the match; kept from its first entry.
        epoch: the writer's epoch of the match's partition; 0: no owner is checked, the version alone fences.
        dues: what has to be told elsewhere because of this entry, as bits of the caller's own meaning; kept with the
            match, in the same transaction, until `discharge` says that it is done.
    """

    match_id: str
    game: str
    version: int
    command_id: bytes
    server_time_ms: int
    header: bytes
    public: bytes
    digests: bytes
    hash: bytes
    parts: bytes
    status: int
    next_deadline_ms: int | None
    rules_version: int
    epoch: int
    dues: int = 0

    def __repr__(self) -> str:
        return _shy(self)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return _shy_fields(self)


class StoredEntry(msgspec.Struct, frozen=True):
    """One entry as it was written, byte for byte; `parts` is None where the reader did not ask for it."""

    match_id: str
    version: int
    command_id: bytes
    server_time_ms: int
    header: bytes
    public: bytes
    digests: bytes
    hash: bytes
    parts: bytes | None

    def __repr__(self) -> str:
        return _shy(self)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return _shy_fields(self)


def _shy(entry: NewEntry | StoredEntry) -> str:
    """The printed form of an entry names it and never shows its bytes: some of them are hidden cards."""
    return f"{type(entry).__name__}(match_id={entry.match_id!r}, version={entry.version})"


def _shy_fields(entry: NewEntry | StoredEntry) -> list[tuple[str, Any]]:
    return [("match_id", entry.match_id), ("version", entry.version)]


class Head(msgspec.Struct, frozen=True):
    """Where a match stands: its last version and hash, who wrote it, and when its next timer is due.

    `created_ms` and `updated_ms` are the server times of its first and last entry.
    """

    match_id: str
    game: str
    partition: int
    version: int
    hash: bytes
    status: int
    next_deadline_ms: int | None
    rules_version: int
    epoch: int
    created_ms: int
    updated_ms: int


class Deadline(msgspec.Struct, frozen=True):
    """A timer that is waiting: `due_ms` is UTC milliseconds; `updated_ms` is the server time of the last entry."""

    match_id: str
    partition: int
    due_ms: int
    updated_ms: int


class TailPage(msgspec.Struct, frozen=True):
    """New entries, and the cursor to ask with next time; keep it as it is, its form is the store's own."""

    entries: list[StoredEntry]
    cursor: str


class Claim(msgspec.Struct, frozen=True):
    """A partition that is now ours, under this epoch.

    `down_from_ms`..`down_to_ms` is the time nobody served it (from the last sign of life to the claim), None if none.
    """

    epoch: int
    down_from_ms: int | None
    down_to_ms: int | None


class Owner(msgspec.Struct, frozen=True):
    """Who holds a partition; `instance` is None after a release, and `heartbeat_ms` then the time of that release."""

    partition: int
    instance: str | None
    address: str
    epoch: int
    heartbeat_ms: int


class Instance(msgspec.Struct, frozen=True):
    """A running process of a game's service, with partitions or without, and its last sign of life."""

    instance: str
    heartbeat_ms: int


class Muster(msgspec.Struct, frozen=True):
    """What a sign of life brings back.

    Attributes:
        kept: those of the partitions that are still ours.
        owners: all partitions of the game that were ever claimed, by number.
        instances: all that have not left, the silent ones of the last hour too, by name.
    """

    kept: set[int]
    owners: list[Owner]
    instances: list[Instance]


class StoreError(Exception):
    """Something is wrong that trying again will not mend. The text never holds a stored or given value."""


class Unavailable(StoreError):  # noqa: N818 -- the field's word for it
    """The database cannot be had just now (locked, full, restarting, connection lost): try again.

    If it came from `append`, the group may or may not be stored. Appending the same entries again settles it: what was
    stored raises `Conflict` with kind `DUPLICATE`.
    """


class ConflictKind(enum.Enum):
    """Why an append was refused, the gravest first."""

    STALE_EPOCH = "stale_epoch"
    """The writer does not own the match's partition (any more) under the epoch it named: it must step back."""
    DUPLICATE = "duplicate"
    """The match already has an entry with this command id: answer with that one."""
    VERSION = "version"
    """The entry does not follow the stored head: reload the match."""


class Conflict(Exception):  # noqa: N818 -- the field's word for it
    """An append was refused and nothing of its group was stored.

    Attributes:
        faults: the matches at fault, with the reason; every match of the group where it cannot be said which.
    """

    def __init__(self, faults: Mapping[str, ConflictKind]) -> None:
        self.faults = dict(faults)
        super().__init__(", ".join(f"{match_id}: {kind.value}" for match_id, kind in self.faults.items()))

    def __reduce__(self) -> tuple[type[Conflict], tuple[dict[str, ConflictKind]]]:
        return Conflict, (self.faults,)

    @property
    def match_ids(self) -> tuple[str, ...]:
        """The matches at fault."""
        return tuple(self.faults)

    @property
    def kind(self) -> ConflictKind:
        """The gravest reason among them.

        >>> Conflict({"a": ConflictKind.VERSION, "b": ConflictKind.STALE_EPOCH}).kind.value
        'stale_epoch'
        """
        return next(kind for kind in ConflictKind if kind in self.faults.values())


class EventStore(Protocol):
    """The append-only store of match logs: the only record there is.

    Times are UTC milliseconds. Every method may raise `Unavailable` (try again) or `StoreError` (a bug or a broken
    database). A call that is cancelled may still take effect.
    """

    async def append(self, entries: Sequence[NewEntry]) -> None:
        """Writes a group of entries (64 or so, of several matches, in order) as one transaction; on disk at return.

        A match's first entry (version 1) creates its head. Entries of one match stand in the order of their versions.

        Raises:
            Conflict: an entry does not follow its head, repeats a command id, or was written by a stale owner; the
                whole group is rolled back.
        """
        ...

    async def read(
        self, match_id: str, first: int = 1, last: int | None = None, parts: bool = False
    ) -> list[StoredEntry]:
        """The entries of a match from version `first` to `last` (both included; None: to the head), in order.

        Args:
            match_id: the match; an unknown one has no entries.
            first: the first version wanted.
            last: the last version wanted.
            parts: whether to read the private parts too.
        """
        ...

    async def read_chunks(
        self, match_id: str, first: int = 1, last: int | None = None, parts: bool = False, size: int = 256
    ) -> AsyncIterator[list[StoredEntry]]:
        """Like `read`, `size` entries at a time, so that a long match never lies in memory whole."""
        while last is None or first <= last:
            to = first + size - 1
            chunk = await self.read(match_id, first, to if last is None else min(to, last), parts)
            if chunk:
                yield chunk
            if len(chunk) < size:
                return
            first = to + 1

    async def by_command(self, match_id: str, command_id: bytes) -> StoredEntry | None:
        """The entry that this command wrote, with its private parts; None if there is none."""
        ...

    async def head(self, match_id: str) -> Head | None:
        """The head of a match; None if it has no entry."""
        ...

    async def heads(
        self,
        game: str,
        *,
        partitions: Collection[int] | None = None,
        statuses: Collection[int] | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> list[Head]:
        """Heads of a game's matches, page by page, ordered by partition and match id.

        Args:
            game: the game's id.
            partitions: only these; None: all.
            statuses: only these; None: all.
            limit: how many at most.
            after: the last match id of the page before.
        """
        ...

    async def deadlines(self, game: str, partitions: Collection[int], before_ms: int | None = None) -> list[Deadline]:
        """The timers that wait on these partitions (only those due before `before_ms`, if given), soonest first."""
        ...

    async def dues(self, game: str, partitions: Collection[int]) -> dict[str, int]:
        """What still has to be told elsewhere about matches on these partitions: by match id, as bits (`NewEntry`)."""
        ...

    async def discharge(self, done: Mapping[str, int]) -> None:
        """Strikes off what has been told: by match id, the bits that are done. Doing it twice does no harm."""
        ...

    async def tail(self, game: str, cursor: str | None = None, limit: int = 1000) -> TailPage:
        """Entries of all matches of a game that are new since `cursor` (None: since the beginning), without parts.

        An entry is given once, after all entries of its match before it, and none is ever skipped, however late its
        transaction commits: the page ends at the oldest transaction that is still running.

        Raises:
            ValueError: for a cursor that this store did not make.
        """
        ...

    async def claim(
        self, game: str, partition: int, instance: str, address: str, now_ms: int, stale_after_ms: int
    ) -> Claim | None:
        """Takes one partition; see `claim_many`. None if somebody else holds it."""
        return (await self.claim_many(game, (partition,), instance, address, now_ms, stale_after_ms)).get(partition)

    async def claim_many(
        self,
        game: str,
        partitions: Collection[int],
        instance: str,
        address: str,
        now_ms: int,
        stale_after_ms: int,
    ) -> dict[int, Claim]:
        """Takes those of the partitions that are free, in one transaction.

        Free is a partition that nobody holds, or whose holder gave no sign of life for `stale_after_ms`; taking it
        raises its epoch by one and writes down the time it was down. One that is already ours keeps its epoch; if we
        ourselves were silent for `stale_after_ms` (a suspended machine), that counts as down time.

        Args:
            game: the game's id.
            partitions: which ones.
            instance: our name; another one for each run of a process.
            address: where our RulesService answers.
            now_ms: the time.
            stale_after_ms: after how long a silent holder has lost it.

        Returns:
            What is ours now, by partition.
        """
        ...

    async def heartbeat(
        self,
        game: str,
        instance: str,
        partitions: Collection[int],
        now_ms: int,
        stale_after_ms: int | None = None,
    ) -> set[int]:
        """Says that we are alive; returns those of the partitions that are still ours.

        With `stale_after_ms`, a silence of our own that long (a suspended machine) is written down as down time.
        """
        ...

    async def muster(
        self, game: str, instance: str, partitions: Collection[int], now_ms: int, stale_after_ms: int
    ) -> Muster:
        """As `heartbeat`, and signs us into the list of instances: one without partitions is seen by the others."""
        ...

    async def leave(self, game: str, instance: str) -> None:
        """Takes us off the list of instances: the others need not wait until our silence shows."""
        ...

    async def release(self, game: str, instance: str, partitions: Collection[int], now_ms: int) -> set[int]:
        """Gives up partitions (a graceful stop); returns those that were ours. Our epoch can write nothing after it."""
        ...

    async def owners(self, game: str) -> list[Owner]:
        """All partitions of a game that were ever claimed, by number."""
        ...

    async def downtime(self, game: str, partition: int, since_ms: int = 0) -> list[tuple[int, int]]:
        """The times (from, to) when nobody served a partition that ended after `since_ms`, in order."""
        ...

    async def owed_downtime(self, game: str, partitions: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """For each partition, the times (from, to) when nobody served it, as far as they matter to a running clock.

        Those that ended before the oldest match with a waiting timer began are left out, and partitions without any.
        """
        ...

    async def close(self) -> None:
        """Lets go of the database; waits for what is being written."""
        ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
