"""Proof that a match's leaves are in the log, small enough to travel with the match: in its file, in a keepsake."""

from __future__ import annotations

from typing import Annotated

import msgspec

from grimoire.fairness.transparency.checkpoint import Checkpoint, open_checkpoint
from grimoire.fairness.transparency.leaves import Leaf, LeafError, LeafKind, parse_leaf
from grimoire.fairness.transparency.merkle import leaf_hash, verify_inclusion
from grimoire.fairness.transparency.note import NoteError, VerifierKey

__all__ = ["Evidence", "EvidenceError", "LoggedLeaf", "Proved"]

_ORDER = {kind: place for place, kind in enumerate(LeafKind)}


class EvidenceError(ValueError):
    """A proof that does not prove what it should; the text is a sentence."""


class LoggedLeaf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leaf with its inclusion proof.

    Attributes:
        number: where it stands in the log, from 0.
        leaf: its bytes.
        path: inclusion proof to the checkpoint's tree, from the leaf upwards.
    """

    number: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
    leaf: bytes
    path: tuple[bytes, ...]


class Proved(msgspec.Struct, frozen=True):
    """What an `Evidence` shows once it holds.

    Attributes:
        key: whose log it is.
        checkpoint: that includes the leaves.
        leaves: by kind, as far as it carries them.
        numbers: where they stand.
    """

    key: VerifierKey
    checkpoint: Checkpoint
    leaves: dict[LeafKind, Leaf]
    numbers: dict[LeafKind, int]


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A checkpoint and the leaves of one match that it includes.

    Attributes:
        key: the log's, as one line (vkey).
        checkpoint: signed note, as the log gave it.
        leaves: in the order of the log.
    """

    key: str
    checkpoint: bytes
    leaves: tuple[LoggedLeaf, ...]

    def prove(self, match_id: str, trusted: VerifierKey | None = None) -> Proved:
        """Checks everything that can be checked with no more than this: key, signature, leaves, inclusion.

        Args:
            match_id: the match whose leaves they should be.
            trusted: the log's key as known from elsewhere; None: the one named here is taken, and proves only that
                whoever has it signed.

        Raises:
            EvidenceError: if anything does not hold.
        """
        try:
            key = VerifierKey.parse(self.key)
            if trusted is not None and key != trusted:
                raise EvidenceError(f"the log's key is {key}, not {trusted}")
            checkpoint = open_checkpoint(self.checkpoint, key, alone=True)
        except NoteError as error:
            raise EvidenceError(f"the log's checkpoint does not hold: {error}") from None
        leaves: dict[LeafKind, Leaf] = {}
        numbers: dict[LeafKind, int] = {}
        last, place = -1, -1
        for logged in self.leaves:
            leaf = _leaf(logged, match_id)
            if not verify_inclusion(
                leaf_hash(logged.leaf), logged.number, checkpoint.size, logged.path, checkpoint.root
            ):
                raise EvidenceError(f"the {leaf.kind} leaf is not in the log where it is said to be")
            if logged.number <= last or _ORDER[leaf.kind] <= place:
                raise EvidenceError(f"the {leaf.kind} leaf stands out of order")
            last, place = logged.number, _ORDER[leaf.kind]
            leaves[leaf.kind], numbers[leaf.kind] = leaf, logged.number
        return Proved(key, checkpoint, leaves, numbers)


def _leaf(logged: LoggedLeaf, match_id: str) -> Leaf:
    try:
        leaf = parse_leaf(logged.leaf)
    except LeafError as error:
        raise EvidenceError(str(error)) from None
    if leaf.match_id != match_id:
        raise EvidenceError("a leaf is of another match")
    return leaf
