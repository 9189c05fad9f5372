"""Merkle trees as RFC 6962 (section 2.1) hashes them: growth, roots, proofs, and their verification (RFC 9162).

A tree of any size is made of *perfect* subtrees, each over 2^level leaves. Their hashes never change once all their
leaves are there, so that whoever stores them can prove anything about every size the tree has ever had: `..._nodes`
says which hashes a proof needs, `..._path` makes the proof of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

__all__ = [
    "EMPTY_ROOT",
    "HASH_SIZE",
    "CompactRange",
    "Node",
    "consistency_nodes",
    "consistency_path",
    "inclusion_nodes",
    "inclusion_path",
    "leaf_hash",
    "node_hash",
    "root_nodes",
    "tree_root",
    "verify_consistency",
    "verify_inclusion",
]

HASH_SIZE: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
"""Root of the tree without leaves."""

_sha256 = hashlib.sha256
_Span = tuple[int, int]


def leaf_hash(leaf: bytes) -> bytes:
    """SHA-256(0x00 ‖ leaf), 32 bytes.

    >>> leaf_hash(b"").hex()[:16]
    '6e340b9cffb37a98'
    """
    return _sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 ‖ left ‖ right), 32 bytes."""
    return _sha256(b"\x01" + left + right).digest()


class Node(NamedTuple):
    """A perfect subtree: the leaves from `number * 2**level`, `2**level` of them. Level 0 is a leaf."""

    level: int
    number: int


class CompactRange:
    """All one must keep of a tree to let it grow: the hashes of its perfect subtrees, from left (largest) to right.

    Args:
        size: number of leaves.
        hashes: one for each bit set in `size`, the highest first.

    >>> tree = CompactRange()
    >>> tree.append(leaf_hash(b"a")), tree.size
    ([], 1)
    >>> tree.append(leaf_hash(b"b")) == [(Node(1, 0), tree.root())]
    True
    """

    def __init__(self, size: int = 0, hashes: Sequence[bytes] = ()) -> None:
        if size < 0 or len(hashes) != size.bit_count() or any(len(h) != HASH_SIZE for h in hashes):
            raise ValueError(f"a tree of {size} leaves has one hash of 32 bytes for each bit set in its size")
        self.size = size
        self._hashes = list(hashes)

    @classmethod
    def from_bytes(cls, size: int, data: bytes) -> CompactRange:
        """Reads what `to_bytes` wrote.

        Raises:
            ValueError: if it is not the range of a tree of this size.
        """
        if len(data) % HASH_SIZE:
            raise ValueError("a compact range is a row of 32-byte hashes")
        return cls(size, [data[at : at + HASH_SIZE] for at in range(0, len(data), HASH_SIZE)])

    def to_bytes(self) -> bytes:
        """The hashes, joined."""
        return b"".join(self._hashes)

    def append(self, leaf: bytes) -> list[tuple[Node, bytes]]:
        """Adds a leaf by its hash.

        Returns:
            The perfect subtrees above leaves that are complete by it, from the lowest.
        """
        done: list[tuple[Node, bytes]] = []
        level, number, hash_ = 0, self.size, leaf
        while number & 1:
            hash_ = node_hash(self._hashes.pop(), hash_)
            level, number = level + 1, number >> 1
            done.append((Node(level, number), hash_))
        self._hashes.append(hash_)
        self.size += 1
        return done

    def root(self) -> bytes:
        """Root of the tree."""
        return _joined(self._hashes)


def tree_root(leaf_hashes: Iterable[bytes]) -> bytes:
    """Root of the tree over these leaf hashes.

    >>> tree_root([]) == EMPTY_ROOT
    True
    """
    tree = CompactRange()
    for leaf in leaf_hashes:
        tree.append(leaf)
    return tree.root()


def root_nodes(size: int) -> tuple[Node, ...]:
    """The perfect subtrees of a tree of this size, from left to right: what its compact range holds."""
    return _nodes_of((0, size))


# ---- proofs ---------------------------------------------------------------------------------------------------------


def inclusion_nodes(number: int, size: int) -> tuple[Node, ...]:
    """Whose hashes the proof needs that leaf `number` (from 0) is in the tree of `size` leaves."""
    return tuple(node for span in _inclusion_spans(number, size) for node in _nodes_of(span))


def inclusion_path(number: int, size: int, hashes: Mapping[Node, bytes]) -> tuple[bytes, ...]:
    """The proof (RFC 6962, section 2.1.1), from the leaf's sibling upwards.

    Args:
        number: of the leaf, from 0.
        size: of the tree.
        hashes: of all `inclusion_nodes`.
    """
    return tuple(_root_of(span, hashes) for span in _inclusion_spans(number, size))


def consistency_nodes(old: int, new: int) -> tuple[Node, ...]:
    """Whose hashes the proof needs that the tree of `new` leaves begins with that of `old`."""
    return tuple(node for span in _consistency_spans(old, new) for node in _nodes_of(span))


def consistency_path(old: int, new: int, hashes: Mapping[Node, bytes]) -> tuple[bytes, ...]:
    """The proof (RFC 6962, section 2.1.2); with an empty or equal tree it is empty.

    Args:
        old: size of the earlier tree.
        new: size of the later one.
        hashes: of all `consistency_nodes`.
    """
    return tuple(_root_of(span, hashes) for span in _consistency_spans(old, new))


def verify_inclusion(leaf: bytes, number: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether a leaf stands in a tree (RFC 9162, section 2.1.3.2).

    Args:
        leaf: its hash.
        number: where it should stand, from 0.
        size: of the tree.
        path: the proof.
        root: of the tree.
    """
    if not 0 <= number < size or any(len(step) != HASH_SIZE for step in path):
        return False
    fn, sn, hash_ = number, size - 1, leaf
    for step in path:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            hash_ = node_hash(step, hash_)
            fn, sn = _to_odd(fn, sn)
        else:
            hash_ = node_hash(hash_, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and hash_ == root


def verify_consistency(old: int, old_root: bytes, new: int, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether a tree begins with an earlier one (RFC 9162, section 2.1.4.2).

    Args:
        old: size of the earlier tree; the empty tree begins every tree.
        old_root: its root.
        new: size of the later one.
        new_root: its root.
        path: the proof.
    """
    if not 0 <= old <= new or any(len(step) != HASH_SIZE for step in path):
        return False
    if old in (0, new):
        return not path and old_root == (EMPTY_ROOT if old == 0 else new_root) and (new > 0 or new_root == EMPTY_ROOT)
    steps = list(path)
    if old & (old - 1) == 0:  # the earlier tree is perfect: its root is where the walk begins
        steps.insert(0, old_root)
    if not steps:
        return False
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    old_hash = new_hash = steps[0]
    for step in steps[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            old_hash, new_hash = node_hash(step, old_hash), node_hash(step, new_hash)
            fn, sn = _to_odd(fn, sn)
        else:
            new_hash = node_hash(new_hash, step)
        fn, sn = fn >> 1, sn >> 1
    return sn == 0 and old_hash == old_root and new_hash == new_root


def _to_odd(fn: int, sn: int) -> tuple[int, int]:
    """Both shifted until `fn` is odd, or 0."""
    while fn and not fn & 1:
        fn, sn = fn >> 1, sn >> 1
    return fn, sn


def _split(width: int) -> int:
    """The largest power of two below a width of at least 2: where RFC 6962 divides a tree."""
    return 1 << ((width - 1).bit_length() - 1)


def _inclusion_spans(number: int, size: int) -> list[_Span]:
    """The spans of leaves whose roots make up the proof, from the leaf's sibling upwards."""
    if not 0 <= number < size:
        raise ValueError(f"there is no leaf {number} in a tree of {size}")
    spans: list[_Span] = []
    start, end = 0, size
    while end - start > 1:
        middle = start + _split(end - start)
        if number < middle:
            spans.append((middle, end))
            end = middle
        else:
            spans.append((start, middle))
            start = middle
    return spans[::-1]


def _consistency_spans(old: int, new: int) -> list[_Span]:
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {new} leaves does not begin with one of {old}")
    if old in (0, new):
        return []
    spans: list[_Span] = []
    start, end = 0, new
    while old != end:
        middle = start + _split(end - start)
        if old <= middle:
            spans.append((middle, end))
            end = middle
        else:
            spans.append((start, middle))
            start = middle
    if start:  # else it is the earlier tree's own root, which the verifier has
        spans.append((start, end))
    return spans[::-1]


def _nodes_of(span: _Span) -> tuple[Node, ...]:
    """The perfect subtrees of a span, from left to right. It begins where a subtree of its width does."""
    start, end = span
    nodes = []
    while start < end:
        level = (end - start).bit_length() - 1
        nodes.append(Node(level, start >> level))
        start += 1 << level
    return tuple(nodes)


def _root_of(span: _Span, hashes: Mapping[Node, bytes]) -> bytes:
    return _joined([hashes[node] for node in _nodes_of(span)])


def _joined(hashes: Sequence[bytes]) -> bytes:
    """The root over neighbouring perfect subtrees, each smaller than the one before it."""
    if not hashes:
        return EMPTY_ROOT
    *others, root = hashes
    for left in reversed(others):
        root = node_hash(left, root)
    return root
