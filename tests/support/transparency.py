"""A transparency log in memory, signed by a key of the tests' own; and the real one, for services that need no more."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from grimoire.bus import REPLAY, Bus
from grimoire.fairness import Secret
from grimoire.fairness.transparency import (
    CompactRange,
    Evidence,
    LeafError,
    LoggedLeaf,
    Node,
    SigningKey,
    leaf_hash,
    leaves_of,
    parse_leaf,
    sign_checkpoint,
)
from grimoire.fairness.transparency.merkle import consistency_nodes, consistency_path, inclusion_nodes, inclusion_path
from grimoire.runtime.config import Config
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import envelope_pb2, frame_pb2
from replay.transparency.limits import LogLimits
from replay.transparency.log import TransparencyLog, signing_key
from replay.transparency.writer import LogWriter

KEY = SigningKey("grimoire.test/log", Secret(bytes(range(32))))
OTHER_KEY = SigningKey("grimoire.test/log", Secret(bytes(range(1, 33))))


class Log:
    """Leaves, and everything that can be proved of them."""

    def __init__(self, key: SigningKey = KEY) -> None:
        self.key = key
        self.leaves: list[bytes] = []
        self.tree = CompactRange()
        self.roots = [self.tree.root()]
        self._nodes: dict[Node, bytes] = {}

    def append(self, leaf: bytes) -> int:
        """Adds a leaf; gives its number."""
        number = self.tree.size
        self._nodes[Node(0, number)] = leaf_hash(leaf)
        self._nodes.update(self.tree.append(leaf_hash(leaf)))
        self.leaves.append(leaf)
        self.roots.append(self.tree.root())
        return number

    def fill(self, count: int) -> None:
        """Adds leaves of nobody's match."""
        for _ in range(count):
            self.append(f"filler {len(self.leaves)}".encode())

    def checkpoint(self, size: int | None = None) -> bytes:
        """The signed note at a size; None: now."""
        size = self.tree.size if size is None else size
        return sign_checkpoint(size, self.roots[size], self.key)

    def inclusion(self, number: int, size: int | None = None) -> tuple[bytes, ...]:
        """Proof that a leaf is in the tree."""
        size = self.tree.size if size is None else size
        return inclusion_path(number, size, {n: self._nodes[n] for n in inclusion_nodes(number, size)})

    def consistency(self, old: int, new: int) -> tuple[bytes, ...]:
        """Proof that one tree begins with another."""
        return consistency_path(old, new, {n: self._nodes[n] for n in consistency_nodes(old, new)})

    def evidence(self, match_id: str) -> Evidence:
        """All leaves of a match, proved by the first checkpoint that has them."""
        own = [number for number, leaf in enumerate(self.leaves) if _is_of(leaf, match_id)]
        size = max(own, default=-1) + 1
        logged = tuple(LoggedLeaf(number, self.leaves[number], self.inclusion(number, size)) for number in own)
        return Evidence(str(self.key.verifier), self.checkpoint(size), logged)


def logged(entries: Sequence[frame_pb2.ViewerEntry], key: SigningKey = KEY) -> Evidence:
    """What a log would give for a match, had it been in one."""
    log = Log(key)
    log.fill(2)
    leaves = leaves_of(entries)
    for leaf in leaves:
        log.append(leaf.encode())
        log.fill(1)
    return log.evidence(leaves[0].match_id if leaves else "")


def _is_of(leaf: bytes, match_id: str) -> bool:
    try:
        return parse_leaf(leaf).match_id == match_id
    except LeafError:
        return False


@asynccontextmanager
async def kept_log(config: Config, keys: KeyRing, limits: LogLimits | None = None) -> AsyncIterator[TransparencyLog]:
    """The real log and its writer, without the rest of replay: what a game service must have to begin a match."""
    log = TransparencyLog(config.database_url("replay"), signing_key(keys.log_key))
    await log.open()
    bus = await Bus.connect(config.bus_settings(keys, REPLAY))
    writer = LogWriter(log, bus, secrets.token_hex(4), limits or LogLimits(batch_s=0.02))
    await writer.start()
    try:
        yield log
    finally:
        await writer.stop()
        await bus.close()
        await log.close()


async def once_logged(ask: Callable[[], Awaitable[envelope_pb2.CommandReply]]) -> envelope_pb2.CommandReply:
    """The answer to a command that is sent again for as long as its match waits for the log."""
    while True:
        reply = await ask()
        if reply.rejection.code != "not_logged_yet":
            return reply
        await asyncio.sleep(reply.rejection.retry_after_ms / 4000)
