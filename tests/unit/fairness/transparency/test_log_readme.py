"""The page for those who write a checker of their own says what this one computes."""

from __future__ import annotations

from pathlib import Path

from grimoire.fairness import Secret, transparency
from grimoire.fairness.transparency import CommitLeaf, SigningKey, StartLeaf, leaf_hash, sign_checkpoint, tree_root

PAGE = (Path(transparency.__file__).parent / "README.md").read_text(encoding="utf-8")
COMMITMENT = bytes.fromhex("a69e6e1196a108796ef35c779e4f58e74ef6b60defc5048c8e199210581bcd7b")
HASH_2 = bytes.fromhex("c44941a3fee77c6ff6ba96e7da0b28bb9518f439e238c65413b030c35d47f50a")


def test_the_vectors_on_the_page_come_out() -> None:
    leaves = [
        leaf_hash(CommitLeaf("tt-vector-1", "two_towers", b"\xaa" * 32, COMMITMENT, 1_767_225_600_000).encode()),
        leaf_hash(StartLeaf("tt-vector-1", HASH_2, 1_767_225_601_000).encode()),
    ]
    key = SigningKey("example.com/log", Secret(bytes(range(32))))
    root = tree_root(leaves)
    expected = [leaf.hex() for leaf in leaves] + [root.hex(), str(key.verifier)]
    expected += sign_checkpoint(2, root, key).decode().splitlines()
    shown = [line.strip() for line in PAGE.partition("## Vectors")[2].splitlines()]
    for line in expected:
        assert any(there == line or there.endswith(f" {line}") for there in shown), line
