"""The transparency log: Merkle tree, signed checkpoints, leaves and proofs. Pure; the log itself is kept elsewhere."""

from grimoire.fairness.transparency.checkpoint import Checkpoint, open_checkpoint, sign_checkpoint
from grimoire.fairness.transparency.evidence import Evidence, EvidenceError, LoggedLeaf
from grimoire.fairness.transparency.leaves import (
    CloseLeaf,
    CommitLeaf,
    Leaf,
    LeafError,
    LeafKind,
    RevealLeaf,
    StartLeaf,
    leaves_of,
    parse_leaf,
)
from grimoire.fairness.transparency.merkle import (
    CompactRange,
    Node,
    leaf_hash,
    node_hash,
    tree_root,
    verify_consistency,
    verify_inclusion,
)
from grimoire.fairness.transparency.note import NoteError, SigningKey, VerifierKey

__all__ = [
    "Checkpoint",
    "CloseLeaf",
    "CommitLeaf",
    "CompactRange",
    "Evidence",
    "EvidenceError",
    "Leaf",
    "LeafError",
    "LeafKind",
    "LoggedLeaf",
    "Node",
    "NoteError",
    "RevealLeaf",
    "SigningKey",
    "StartLeaf",
    "VerifierKey",
    "leaf_hash",
    "leaves_of",
    "node_hash",
    "open_checkpoint",
    "parse_leaf",
    "sign_checkpoint",
    "tree_root",
    "verify_consistency",
    "verify_inclusion",
]
