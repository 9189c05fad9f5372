"""A whole log, leaf by leaf: its tree computed anew, its leaves held against each other."""

from __future__ import annotations

from typing import Final

import msgspec

from grimoire.fairness.transparency.checkpoint import Checkpoint
from grimoire.fairness.transparency.leaves import Leaf, LeafError, LeafKind, parse_leaf
from grimoire.fairness.transparency.merkle import HASH_SIZE, CompactRange, Node, leaf_hash, root_nodes
from grimoire.fairness.transparency.summary import Story, read_stories

__all__ = ["MOST_FAULTS", "Fault", "WholeLog"]

MOST_FAULTS: Final = 1_000
"""No more are listed: a log that is nothing but lies needs no longer list."""
_PLACES: Final = {kind: place for place, kind in enumerate(LeafKind)}


class Fault(msgspec.Struct, frozen=True):
    """A leaf that no honest log has.

    Attributes:
        number: of the leaf, from 0.
        what: a sentence.
    """

    number: int
    what: str


class WholeLog:
    """Takes every leaf in order; then it knows the root at every size, the matches, and what cannot be.

    It keeps 64 bytes a leaf, and a `Story` a match.

    Attributes:
        faults: found so far.
        stories: by match id, in the order of their commit leaves.
    """

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.stories: dict[str, Story] = {}
        self._tree = CompactRange()
        self._levels: list[bytearray] = [bytearray()]

    @property
    def size(self) -> int:
        """Leaves taken."""
        return self._tree.size

    def take(self, data: bytes) -> None:
        """Adds the next leaf.

        Args:
            data: its bytes, as the log gives them.
        """
        number = self.size
        self._grow(leaf_hash(data))
        try:
            leaf = parse_leaf(data)
        except LeafError as error:
            self._blame(number, str(error))
            return
        wrong = self._wrong(leaf)
        if wrong:
            self._blame(number, f"match {leaf.match_id} has {wrong}")
        else:
            read_stories([leaf], self.stories)

    def _wrong(self, leaf: Leaf) -> str:
        story = self.stories.get(leaf.match_id)
        if story is None:
            return "" if leaf.kind is LeafKind.COMMIT else f"a {leaf.kind} leaf without a commit leaf before it"
        if leaf.kind in story.times:
            return f"a second {leaf.kind} leaf"
        if max(_PLACES[kind] for kind in story.times) > _PLACES[leaf.kind]:
            return f"a {leaf.kind} leaf after a later one"
        return f"a {leaf.kind} leaf that is older than the one before it" if leaf.unix_ms < story.last_ms else ""

    def _blame(self, number: int, what: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Fault(number, what))

    def _grow(self, hash_: bytes) -> None:
        self._levels[0] += hash_
        for node, above in self._tree.append(hash_):
            if node.level == len(self._levels):
                self._levels.append(bytearray())
            self._levels[node.level] += above

    def _hash(self, node: Node) -> bytes:
        at = node.number * HASH_SIZE
        return bytes(self._levels[node.level][at : at + HASH_SIZE])

    def root(self, size: int) -> bytes:
        """Root of the tree when it had so many leaves, at most `size`."""
        return CompactRange(size, [self._hash(node) for node in root_nodes(size)]).root()

    def agrees_with(self, checkpoint: Checkpoint) -> bool:
        """Whether this log is what that checkpoint was signed for, at its size."""
        return checkpoint.size <= self.size and self.root(checkpoint.size) == checkpoint.root

    def has(self, number: int, leaf: bytes) -> bool:
        """Whether a leaf stands at this number."""
        return 0 <= number < self.size and self._hash(Node(0, number)) == leaf_hash(leaf)
