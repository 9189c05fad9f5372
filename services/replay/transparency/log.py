"""The log as it is kept: leaves, the perfect subtrees over them, a signed checkpoint for each batch."""

from __future__ import annotations

import asyncio
import enum
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple, TypeVar

import msgspec
import sqlalchemy as sa

from grimoire.fairness.hashing import sha256
from grimoire.fairness.secret import Secret
from grimoire.fairness.transparency import (
    CommitLeaf,
    CompactRange,
    Evidence,
    Leaf,
    LeafError,
    LeafKind,
    LoggedLeaf,
    Node,
    SigningKey,
    leaf_hash,
    parse_leaf,
    sign_checkpoint,
)
from grimoire.fairness.transparency.merkle import (
    consistency_nodes,
    consistency_path,
    inclusion_nodes,
    inclusion_path,
)
from replay.database import engine_of
from replay.transparency.tables import heads, identity, lease, leaves, metadata, nodes

__all__ = [
    "Batch",
    "Head",
    "KeyChangedError",
    "LeaseLostError",
    "LogUnavailableError",
    "Refusal",
    "Submitted",
    "TransparencyLog",
    "signing_key",
]

T = TypeVar("T")

# Any fixed number: it keeps the instances on one PostgreSQL apart while they make the tables.
_LOCK: Final = 0x6772_696D_6C6F_6721
_PLACES: Final = {kind: place for place, kind in enumerate(LeafKind, 1)}
_READERS: Final = 2
# How many rows are asked for by name in one statement.
_AT_ONCE: Final = 400


def signing_key(seed: Secret) -> SigningKey:
    """The log's key, named after itself: `grimoire/` and 16 hex digits of the public key's SHA-256.

    Args:
        seed: the Ed25519 private key, 32 bytes.
    """
    public = SigningKey("-", seed).verifier.public
    return SigningKey(f"grimoire/{sha256(public).hex()[:16]}", seed)


class LogUnavailableError(RuntimeError):
    """The database does not answer; it is not known whether anything was written."""


class LeaseLostError(Exception):
    """Another instance writes the log now; nothing was written."""


class KeyChangedError(RuntimeError):
    """This log was begun under another key: what one key has promised another cannot go on with."""


class Refusal(enum.StrEnum):
    """Why a leaf is not in the log and never will be."""

    CONFLICT = "conflict"
    """The match has a leaf of this kind that says something else."""
    NO_COMMIT = "no_commit"
    """Nothing was promised of this match."""
    OUT_OF_ORDER = "out_of_order"
    """A later kind of leaf is there already."""
    OTHER_GAME = "other_game"
    """The match is of another game than the service that sends it."""
    MALFORMED = "malformed"
    """It is no leaf."""


class Submitted(msgspec.Struct, frozen=True):
    """A leaf that wants to be written.

    Attributes:
        game: of the service that sends it.
        leaf: its bytes.
    """

    game: str
    leaf: bytes


class Batch(msgspec.Struct, frozen=True):
    """What became of a batch.

    Attributes:
        size: of the tree that has all leaves that were taken.
        results: for each leaf its number, or why it was refused.
        added: how many are new.
    """

    size: int
    results: tuple[int | Refusal, ...]
    added: int


class Head(msgspec.Struct, frozen=True):
    """A signed checkpoint and its tree's size."""

    size: int
    checkpoint: bytes


class TransparencyLog:
    """The tables of the log, and every question about it.

    Writing happens in one thread, reading in others.

    Args:
        url: as for the event store.
        key: signs checkpoints.
        now_ms: the wall clock, UTC ms.

    Raises:
        LogUnavailableError: from every method, if the database cannot be had just now.
    """

    def __init__(
        self, url: str, key: SigningKey, now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    ) -> None:
        self._key = key
        self._now_ms = now_ms
        self._engine = engine_of(url)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="log-writer")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="log-reader")

    @property
    def key(self) -> str:
        """The log's key in one line, for those who check."""
        return str(self._key.verifier)

    @property
    def signing_key(self) -> SigningKey:
        """What checkpoints are signed with."""
        return self._key

    async def open(self) -> None:
        """Makes the tables where they are missing, and an empty log with its first checkpoint.

        Raises:
            KeyChangedError: if the log in this database is another key's.
        """
        await self._write(self._open)

    async def close(self) -> None:
        """Lets go of the database; what is running ends first."""
        await asyncio.to_thread(self._writer.shutdown)
        await asyncio.to_thread(self._readers.shutdown)
        self._engine.dispose()

    # ---- writing -------------------------------------------------------------------------------------------------

    async def claim(self, holder: str, stale_ms: int) -> int | None:
        """Takes the lease if nobody holds it, or whoever does gave no sign of life for so long.

        Returns:
            Its epoch, under which to write; None: another holds it.
        """
        return await self._write(lambda connection: _claim(connection, holder, self._now_ms(), stale_ms))

    async def beat(self, holder: str, epoch: int) -> bool:
        """Says that the holder lives; False: it holds the lease no longer."""
        return await self._write(lambda connection: _beat(connection, holder, epoch, self._now_ms()))

    async def release(self, holder: str, epoch: int) -> None:
        """Gives the lease up, so that the next need not wait."""
        await self._write(
            lambda connection: connection.execute(
                lease.update().where(lease.c.holder == holder, lease.c.epoch == epoch).values(holder=None)
            )
        )

    async def append(self, holder: str, epoch: int, batch: Sequence[Submitted]) -> Batch:
        """Writes a batch as one transaction, under one new checkpoint; on disk at return.

        A leaf that is there already, byte for byte, gives its number again.

        Raises:
            LeaseLostError: if the lease is no longer held under this epoch.
        """
        return await self._write(lambda connection: self._append(connection, holder, epoch, batch))

    def _open(self, connection: sa.Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        metadata.create_all(connection)
        own = connection.execute(sa.select(identity.c.key)).scalar_one_or_none()
        if own is None:
            connection.execute(identity.insert().values(id=1, key=self.key))
            connection.execute(lease.insert().values(id=1, holder=None, epoch=0, beat_ms=0))
            connection.execute(self._head_row(CompactRange()))
        elif own != self.key:
            raise KeyChangedError(f"this log was begun under the key {own}, not {self.key}; put that key's file back")

    def _head_row(self, tree: CompactRange) -> sa.Insert:
        return heads.insert().values(
            size=tree.size,
            checkpoint=sign_checkpoint(tree.size, tree.root(), self._key),
            compact_range=tree.to_bytes(),
            time_ms=self._now_ms(),
        )

    def _append(self, connection: sa.Connection, holder: str, epoch: int, batch: Sequence[Submitted]) -> Batch:
        if not _beat(connection, holder, epoch, self._now_ms()):
            raise LeaseLostError
        newest = sa.select(heads.c.size, heads.c.compact_range).order_by(heads.c.size.desc()).limit(1)
        head = connection.execute(newest).one()
        tree = CompactRange.from_bytes(head.size, head.compact_range)
        sorting = _Sorting(batch, tree.size)
        sorting.sort(_known(connection, sorting.match_ids))
        grown = [pair for row in sorting.rows for pair in tree.append(row.hash)]
        if sorting.rows:
            connection.execute(leaves.insert(), [row._asdict() for row in sorting.rows])
            if grown:
                connection.execute(
                    nodes.insert(), [{"level": n.level, "number": n.number, "hash": h} for n, h in grown]
                )
            connection.execute(self._head_row(tree))
        return Batch(tree.size, tuple(sorting.results), len(sorting.rows))

    # ---- reading -------------------------------------------------------------------------------------------------

    async def head(self, size: int = 0) -> Head | None:
        """The first checkpoint of a tree of at least this size; 0: the newest. None: it has not grown so far."""
        return await self._read(lambda connection: _head(connection, size))

    async def head_of(self, size: int) -> Head | None:
        """The checkpoint of the tree of exactly this size; None: none was signed."""
        head = await self.head(size) if size else None
        return head if head is not None and head.size == size else None

    async def leaf(self, match_id: str, kind: LeafKind) -> tuple[int, bytes] | None:
        """Number and bytes of a match's leaf; None: it has none of this kind."""
        return await self._leaf(leaves.c.match_id == match_id, leaves.c.kind == _PLACES[kind])

    async def leaf_by_hash(self, hash_: bytes) -> tuple[int, bytes] | None:
        """Number and bytes of the leaf with this hash; None: there is none."""
        return await self._leaf(leaves.c.hash == hash_)

    async def _leaf(self, *where: sa.ColumnElement[bool]) -> tuple[int, bytes] | None:
        statement = sa.select(leaves.c.number, leaves.c.leaf).where(*where)
        row = await self._read(lambda connection: connection.execute(statement).one_or_none())
        return None if row is None else (row.number, row.leaf)

    async def leaves(self, first: int, count: int) -> list[bytes]:
        """Leaves in order, from one on."""
        statement = sa.select(leaves.c.leaf).where(leaves.c.number >= first).order_by(leaves.c.number).limit(count)
        return list(await self._read(lambda connection: connection.execute(statement).scalars().all()))

    async def inclusion(self, number: int, size: int) -> tuple[bytes, ...]:
        """Proof that a leaf stands in the tree of a size it has reached."""
        needed = inclusion_nodes(number, size)
        hashes = await self._read(lambda connection: _hashes(connection, needed))
        return inclusion_path(number, size, hashes)

    async def consistency(self, old: int, new: int) -> tuple[bytes, ...]:
        """Proof that a later tree begins with an earlier one, of sizes it has reached."""
        needed = consistency_nodes(old, new)
        hashes = await self._read(lambda connection: _hashes(connection, needed))
        return consistency_path(old, new, hashes)

    async def evidence(self, match_id: str, kinds: Collection[LeafKind] = tuple(LeafKind)) -> Evidence:
        """The leaves of a match, proved by the first checkpoint that has them; the same leaves give the same bytes.

        Args:
            match_id: of the match.
            kinds: only these.
        """
        return await self._read(lambda connection: self._evidence(connection, match_id, kinds))

    def _evidence(self, connection: sa.Connection, match_id: str, kinds: Collection[LeafKind]) -> Evidence:
        own = (
            sa.select(leaves.c.number, leaves.c.leaf)
            .where(leaves.c.match_id == match_id, leaves.c.kind.in_([_PLACES[kind] for kind in kinds]))
            .order_by(leaves.c.number)
        )
        rows = connection.execute(own).all()
        head = _head(connection, rows[-1].number + 1) if rows else _head(connection, 0)
        if head is None:
            raise LogUnavailableError("a leaf is there without its checkpoint")
        needed = {node for row in rows for node in inclusion_nodes(row.number, head.size)}
        hashes = _hashes(connection, needed)
        return Evidence(
            self.key,
            head.checkpoint,
            tuple(LoggedLeaf(r.number, r.leaf, inclusion_path(r.number, head.size, hashes)) for r in rows),
        )

    async def stories(self, first: int, last: int) -> list[Leaf]:
        """All leaves of the matches whose commit leaf lies in a span (`last` is not in it), in the order of the log."""
        other = leaves.alias("commits")
        begun = sa.select(other.c.match_id).where(
            other.c.kind == _PLACES[LeafKind.COMMIT], other.c.number >= first, other.c.number < last
        )
        statement = sa.select(leaves.c.leaf).where(leaves.c.match_id.in_(begun)).order_by(leaves.c.number)

        def ask(connection: sa.Connection) -> list[Leaf]:
            return [parse_leaf(leaf) for leaf in connection.execute(statement).scalars()]

        return await self._read(ask)

    # ---- threads -------------------------------------------------------------------------------------------------

    async def _write(self, work: Callable[[sa.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._transaction, work, False)

    async def _read(self, work: Callable[[sa.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._transaction, work, True)

    def _transaction(self, work: Callable[[sa.Connection], T], reading: bool) -> T:
        try:
            opened = self._engine.connect().execution_options(grimoire_read_only=reading)
            with opened as connection, connection.begin():
                return work(connection)
        except sa.exc.SQLAlchemyError as error:
            reason = type(error).__name__
        # Raised out here, so that the driver's error, with its values, does not hang on it as its context.
        raise LogUnavailableError(reason)


class _Row(NamedTuple):
    """A row of `log_leaves`."""

    number: int
    match_id: str
    kind: int
    game: str
    hash: bytes
    leaf: bytes


class _Sorting:
    """A batch on its way: what is new, what is there already, what is refused."""

    def __init__(self, batch: Sequence[Submitted], size: int) -> None:
        self._read = [(submitted, _parsed(submitted.leaf)) for submitted in batch]
        self._size = size
        self.match_ids = sorted({leaf.match_id for _, leaf in self._read if leaf is not None})
        self.results: list[int | Refusal] = []
        self.rows: list[_Row] = []

    def sort(self, known: dict[str, _Known]) -> None:
        """Judges every leaf against those that are there, and those before it in the batch."""
        for submitted, leaf in self._read:
            if leaf is None:
                self.results.append(Refusal.MALFORMED)
                continue
            match = known.setdefault(leaf.match_id, _Known())
            self.results.append(self._judge(submitted, leaf, match))

    def _judge(self, submitted: Submitted, leaf: Leaf, match: _Known) -> int | Refusal:
        hash_, place = leaf_hash(submitted.leaf), _PLACES[leaf.kind]
        there = match.leaves.get(place)
        game = leaf.game if isinstance(leaf, CommitLeaf) else match.game
        if there is not None:
            return there[0] if there[1] == hash_ else Refusal.CONFLICT
        if not game:
            return Refusal.NO_COMMIT
        if game != submitted.game:
            return Refusal.OTHER_GAME
        if match.leaves and max(match.leaves) > place:
            return Refusal.OUT_OF_ORDER
        number = self._size + len(self.rows)
        match.game, match.leaves[place] = game, (number, hash_)
        self.rows.append(_Row(number, leaf.match_id, place, game, hash_, submitted.leaf))
        return number


class _Known(msgspec.Struct):
    """What the log has of a match: number and hash by place of the kind."""

    game: str = ""
    leaves: dict[int, tuple[int, bytes]] = msgspec.field(default_factory=dict)


def _parsed(leaf: bytes) -> Leaf | None:
    try:
        return parse_leaf(leaf)
    except LeafError:
        return None


def _known(connection: sa.Connection, match_ids: Sequence[str]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    columns = (leaves.c.match_id, leaves.c.kind, leaves.c.game, leaves.c.number, leaves.c.hash)
    for at in range(0, len(match_ids), _AT_ONCE):
        statement = sa.select(*columns).where(leaves.c.match_id.in_(match_ids[at : at + _AT_ONCE]))
        for row in connection.execute(statement):
            match = known.setdefault(row.match_id, _Known(row.game))
            match.leaves[row.kind] = (row.number, row.hash)
    return known


def _claim(connection: sa.Connection, holder: str, now_ms: int, stale_ms: int) -> int | None:
    row = connection.execute(sa.select(lease).with_for_update()).one()
    if row.holder not in (None, holder) and now_ms - row.beat_ms < stale_ms:
        return None
    epoch: int = row.epoch + 1
    connection.execute(lease.update().values(holder=holder, epoch=epoch, beat_ms=max(now_ms, row.beat_ms)))
    return epoch


def _beat(connection: sa.Connection, holder: str, epoch: int, now_ms: int) -> bool:
    """The fence: PostgreSQL keeps the row locked until the transaction ends, SQLite the whole file."""
    mine = lease.update().where(lease.c.holder == holder, lease.c.epoch == epoch)
    return connection.execute(mine.values(beat_ms=now_ms)).rowcount == 1


def _head(connection: sa.Connection, size: int) -> Head | None:
    statement = sa.select(heads.c.size, heads.c.checkpoint)
    if size:
        statement = statement.where(heads.c.size >= size).order_by(heads.c.size)
    else:
        statement = statement.order_by(heads.c.size.desc())
    row = connection.execute(statement.limit(1)).one_or_none()
    return None if row is None else Head(row.size, row.checkpoint)


def _hashes(connection: sa.Connection, wanted: Iterable[Node]) -> Mapping[Node, bytes]:
    found: dict[Node, bytes] = {}
    by_level: dict[int, list[int]] = {}
    for node in wanted:
        by_level.setdefault(node.level, []).append(node.number)
    for level, numbers in by_level.items():
        if level:
            statement = sa.select(nodes.c.number, nodes.c.hash).where(
                nodes.c.level == level, nodes.c.number.in_(numbers)
            )
        else:
            statement = sa.select(leaves.c.number, leaves.c.hash).where(leaves.c.number.in_(numbers))
        for row in connection.execute(statement):
            found[Node(level, row.number)] = row.hash
    return found
