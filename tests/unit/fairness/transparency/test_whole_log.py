"""A whole log computed anew: what an honest one gives, and each thing a dishonest one may try."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.fairness.transparency import (
    Checkpoint,
    CloseLeaf,
    CommitLeaf,
    Leaf,
    LeafKind,
    RevealLeaf,
    StartLeaf,
    leaf_hash,
    tree_root,
)
from grimoire.fairness.transparency.wholelog import MOST_FAULTS, WholeLog

HASH = bytes(range(32))
COMMIT = CommitLeaf("m1", "toy", HASH, HASH, 1_000)
START = StartLeaf("m1", HASH, 2_000)
CLOSE = CloseLeaf("m1", "win", 9, HASH, 3_000)
REVEAL = RevealLeaf("m1", HASH, 3_000)


def read(*leaves: Leaf | bytes) -> WholeLog:
    whole = WholeLog()
    for leaf in leaves:
        whole.take(leaf if isinstance(leaf, bytes) else leaf.encode())
    return whole


@given(count=st.integers(0, 70))
def test_the_root_of_every_size_it_had_is_known(count: int) -> None:
    leaves = [b"%d" % number for number in range(count)]
    whole = read(*leaves)
    assert whole.size == count
    for size in range(count + 1):
        assert whole.root(size) == tree_root(map(leaf_hash, leaves[:size]))


def test_a_checkpoint_is_of_this_log_only_with_its_size_and_root() -> None:
    whole = read(COMMIT, START, CLOSE, REVEAL)
    root = tree_root(leaf_hash(leaf.encode()) for leaf in (COMMIT, START, CLOSE))
    assert whole.agrees_with(Checkpoint("o", 3, root))
    assert not whole.agrees_with(Checkpoint("o", 2, root))
    assert not whole.agrees_with(Checkpoint("o", 3, HASH))
    assert not whole.agrees_with(Checkpoint("o", 5, root))
    assert whole.has(1, START.encode())
    assert not whole.has(2, START.encode())
    assert not whole.has(4, START.encode())
    assert not whole.has(-1, REVEAL.encode())


def test_a_match_from_promise_to_reveal_has_no_fault() -> None:
    whole = read(COMMIT, START, CLOSE, REVEAL)
    assert whole.faults == []
    assert list(whole.stories["m1"].times) == list(LeafKind)
    assert whole.stories["m1"].outcome == "win"


def test_a_void_has_no_start() -> None:
    assert read(COMMIT, CloseLeaf("m1", "void_not_sealed", 2, HASH, 3_000), REVEAL).faults == []


@pytest.mark.parametrize(
    ("leaves", "number", "what"),
    [
        ([COMMIT, CommitLeaf("m1", "toy", HASH, bytes(32), 1_000)], 1, "a second commit leaf"),
        ([COMMIT, COMMIT], 1, "a second commit leaf"),
        ([COMMIT, START, StartLeaf("m1", bytes(32), 2_000)], 2, "a second start leaf"),
        ([START], 0, "a start leaf without a commit leaf before it"),
        ([COMMIT, CLOSE, START], 2, "a start leaf after a later one"),
        ([COMMIT, StartLeaf("m1", HASH, 999)], 1, "a start leaf that is older than the one before it"),
        ([COMMIT, b"grimoire/log/start/1\nm1\n"], 1, "no leaf of a log of matches"),
        ([COMMIT, b""], 1, "no leaf of a log of matches"),
    ],
)
def test_what_an_honest_log_never_has(leaves: list[Leaf | bytes], number: int, what: str) -> None:
    (fault,) = read(*leaves).faults
    assert fault.number == number
    assert what in fault.what


def test_a_false_leaf_does_not_change_what_the_first_one_said() -> None:
    whole = read(COMMIT, START, CLOSE, CloseLeaf("m1", "draw", 9, HASH, 4_000), REVEAL)
    assert whole.stories["m1"].outcome == "win"
    assert len(whole.faults) == 1


def test_a_log_of_nothing_but_lies_makes_a_list_of_bounded_length() -> None:
    whole = read(*[b"%d" % number for number in range(MOST_FAULTS + 50)])
    assert len(whole.faults) == MOST_FAULTS
    assert whole.size == MOST_FAULTS + 50
