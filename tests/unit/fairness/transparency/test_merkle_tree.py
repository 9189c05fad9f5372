"""Trees, growth and proofs: against known roots, against another implementation, and against tampering."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pymerkle import ConsistencyProof, InclusionProof, InmemoryTree, InvalidProof
from pymerkle import verify_consistency as their_consistency
from pymerkle import verify_inclusion as their_inclusion

from grimoire.fairness.transparency.merkle import (
    EMPTY_ROOT,
    CompactRange,
    Node,
    consistency_nodes,
    consistency_path,
    inclusion_nodes,
    inclusion_path,
    leaf_hash,
    node_hash,
    root_nodes,
    tree_root,
    verify_consistency,
    verify_inclusion,
)

# The eight inputs and roots that implementations of Certificate Transparency test themselves with.
LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
MOST = 40

sizes = st.integers(1, MOST)


def data(count: int) -> list[bytes]:
    return [f"leaf {number}".encode() for number in range(count)]


class Stored:
    """A tree with all its perfect subtrees kept, as a database keeps them."""

    def __init__(self, leaves: list[bytes]) -> None:
        self.tree = CompactRange()
        self.nodes: dict[Node, bytes] = {}
        self.roots = [EMPTY_ROOT]
        for number, leaf in enumerate(leaves):
            self.nodes[Node(0, number)] = leaf_hash(leaf)
            self.nodes.update(self.tree.append(leaf_hash(leaf)))
            self.roots.append(self.tree.root())

    def inclusion(self, number: int, size: int) -> tuple[bytes, ...]:
        needed = {node: self.nodes[node] for node in inclusion_nodes(number, size)}
        return inclusion_path(number, size, needed)

    def consistency(self, old: int, new: int) -> tuple[bytes, ...]:
        needed = {node: self.nodes[node] for node in consistency_nodes(old, new)}
        return consistency_path(old, new, needed)


OURS = Stored(data(MOST))
THEIRS = InmemoryTree(algorithm="sha256")
for _leaf in data(MOST):
    THEIRS.append_entry(_leaf)


@pytest.mark.parametrize("size", range(1, 9))
def test_the_known_roots_come_out(size: int) -> None:
    assert tree_root(leaf_hash(bytes.fromhex(leaf)) for leaf in LEAVES[:size]).hex() == ROOTS[size - 1]


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    assert CompactRange().root().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_leaves_and_nodes_are_told_apart() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert leaf_hash(left + right) != node_hash(left, right)


# ---- growth ----------------------------------------------------------------------------------------------------------


@given(sizes)
def test_a_tree_grown_leaf_by_leaf_has_the_root_of_the_other_implementation(size: int) -> None:
    assert OURS.roots[size] == THEIRS.get_root(size)


@given(st.integers(0, MOST), st.integers(0, MOST))
def test_a_range_written_down_in_between_goes_on_as_if_nothing_had_been(cut: int, size: int) -> None:
    leaves = [leaf_hash(leaf) for leaf in data(size)]
    cut = min(cut, size)
    first = CompactRange()
    for leaf in leaves[:cut]:
        first.append(leaf)
    second = CompactRange.from_bytes(cut, first.to_bytes())
    for leaf in leaves[cut:]:
        second.append(leaf)
    assert (second.size, second.root()) == (size, OURS.roots[size])


@given(st.integers(0, MOST))
def test_a_range_is_the_perfect_subtrees_of_its_size(size: int) -> None:
    tree = CompactRange()
    for leaf in data(size):
        tree.append(leaf_hash(leaf))
    assert tree.to_bytes() == b"".join(OURS.nodes[node] for node in root_nodes(size))


@pytest.mark.parametrize(("size", "data"), [(1, b""), (0, bytes(32)), (3, bytes(32)), (1, bytes(31)), (-1, b"")])
def test_what_is_no_range_of_its_size_is_refused(size: int, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"one hash of 32 bytes|row of"):
        CompactRange.from_bytes(size, data)


# ---- proofs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, MOST + 1))
def test_every_leaf_is_proved_as_the_other_implementation_proves_it(size: int) -> None:
    for number in range(size):
        ours = OURS.inclusion(number, size)
        theirs = THEIRS.prove_inclusion(number + 1, size)
        assert (OURS.nodes[Node(0, number)], *ours) == tuple(theirs.path)
        assert verify_inclusion(theirs.path[0], number, size, theirs.path[1:], THEIRS.get_root(size))
        proof = InclusionProof("sha256", True, size, number + 1, theirs.rule, [theirs.path[0], *ours])
        their_inclusion(OURS.nodes[Node(0, number)], OURS.roots[size], proof, index=number + 1, size=size)


@pytest.mark.parametrize("new", range(1, MOST + 1))
def test_every_growth_is_proved_as_rfc_6962_says(new: int) -> None:
    leaves = [OURS.nodes[Node(0, number)] for number in range(new)]
    for old in range(1, new + 1):
        path = OURS.consistency(old, new)
        assert list(path) == plain_proof(old, leaves, whole=True)
        assert verify_consistency(old, THEIRS.get_root(old), new, THEIRS.get_root(new), path)


@pytest.mark.parametrize("new", range(1, MOST + 1))
def test_growth_is_proved_with_the_other_implementations_hashes(new: int) -> None:
    """It walks further than RFC 6962 where the old tree ends at a fork; where it does not, the proofs are the same."""
    same = 0
    for old in range(1, new + 1):
        theirs = THEIRS.prove_consistency(old, new)
        their_consistency(OURS.roots[old], OURS.roots[new], theirs, prior_size=old, later_size=new)
        if ends_at_a_fork(old, new):
            continue
        same += 1
        ours = OURS.consistency(old, new)
        # It always names where the walk begins; RFC 6962 leaves that out where the verifier knows it.
        known = old == new or old & (old - 1) == 0
        assert ours == tuple(theirs.path[1:] if known else theirs.path)
        path = [OURS.roots[old], *ours] if known else list(ours)
        proof = ConsistencyProof("sha256", True, new, old, theirs.rule, theirs.subset, path)
        their_consistency(OURS.roots[old], OURS.roots[new], proof, prior_size=old, later_size=new)
    assert same


def split(width: int) -> int:
    return max(2**n for n in range(width) if 2**n < width)


def ends_at_a_fork(old: int, new: int) -> bool:
    while old != new:
        k = split(new)
        if old == k:
            return True
        old, new = (old, k) if old < k else (old - k, new - k)
    return False


def plain_root(leaves: list[bytes]) -> bytes:
    """MTH of RFC 6962, section 2.1, over leaf hashes."""
    if len(leaves) == 1:
        return leaves[0]
    k = split(len(leaves))
    return hashlib.sha256(b"\x01" + plain_root(leaves[:k]) + plain_root(leaves[k:])).digest()


def plain_proof(m: int, leaves: list[bytes], *, whole: bool) -> list[bytes]:
    """SUBPROOF of RFC 6962, section 2.1.2."""
    n = len(leaves)
    if m == n:
        return [] if whole else [plain_root(leaves)]
    k = split(n)
    if m <= k:
        return [*plain_proof(m, leaves[:k], whole=whole), plain_root(leaves[k:])]
    return [*plain_proof(m - k, leaves[k:], whole=False), plain_root(leaves[:k])]


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (1, 1, []),
        (
            1,
            8,
            [
                "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
            ],
        ),
        (
            6,
            8,
            [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ],
        ),
        (
            2,
            5,
            [
                "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            ],
        ),
    ],
)
def test_the_known_proofs_of_consistency_come_out(old: int, new: int, path: list[str]) -> None:
    known = Stored([bytes.fromhex(leaf) for leaf in LEAVES])
    assert [step.hex() for step in known.consistency(old, new)] == path


def test_the_other_implementation_refuses_what_is_false() -> None:
    """It could not be a witness otherwise."""
    theirs = THEIRS.prove_inclusion(3, 7)
    with pytest.raises(InvalidProof):
        their_inclusion(leaf_hash(b"leaf 2"), OURS.roots[8], theirs)
    with pytest.raises(InvalidProof):
        their_consistency(OURS.roots[5], OURS.roots[9], THEIRS.prove_consistency(4, 9))


@given(st.integers(0, MOST))
def test_every_tree_begins_with_the_empty_one(size: int) -> None:
    assert OURS.consistency(0, size) == ()
    assert verify_consistency(0, EMPTY_ROOT, size, OURS.roots[size], ())
    assert not verify_consistency(0, bytes(32), size, OURS.roots[size], ())
    assert verify_consistency(size, OURS.roots[size], size, OURS.roots[size], ())


@pytest.mark.parametrize(("number", "size"), [(0, 0), (3, 3), (-1, 2)])
def test_a_leaf_that_is_not_there_has_no_proof(number: int, size: int) -> None:
    with pytest.raises(ValueError, match="no leaf"):
        inclusion_nodes(number, size)
    assert not verify_inclusion(leaf_hash(b"leaf 0"), number, size, (), OURS.roots[max(size, 0)])


@pytest.mark.parametrize(("old", "new"), [(3, 2), (-1, 2)])
def test_a_tree_does_not_shrink(old: int, new: int) -> None:
    with pytest.raises(ValueError, match="does not begin"):
        consistency_nodes(old, new)
    assert not verify_consistency(old, OURS.roots[3], new, OURS.roots[2], ())


# ---- tampering -------------------------------------------------------------------------------------------------------


@st.composite
def inclusions(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(sizes)
    return draw(st.integers(0, size - 1)), size


def flipped(value: bytes, bit: int) -> bytes:
    bit %= len(value) * 8
    return (int.from_bytes(value, "big") ^ 1 << bit).to_bytes(len(value), "big")


@settings(max_examples=300)
@given(inclusions(), st.data())
def test_one_changed_bit_anywhere_ends_a_proof_of_inclusion(place: tuple[int, int], draw: st.DataObject) -> None:
    number, size = place
    path, leaf, root = OURS.inclusion(number, size), OURS.nodes[Node(0, number)], OURS.roots[size]
    assert verify_inclusion(leaf, number, size, path, root)
    bit = draw.draw(st.integers(0, 255))
    assert not verify_inclusion(flipped(leaf, bit), number, size, path, root)
    assert not verify_inclusion(leaf, number, size, path, flipped(root, bit))
    for step in range(len(path)):
        bad = (*path[:step], flipped(path[step], bit), *path[step + 1 :])
        assert not verify_inclusion(leaf, number, size, bad, root)
        assert not verify_inclusion(leaf, number, size, (*path[:step], *path[step + 1 :]), root)
    assert not verify_inclusion(leaf, number, size, (*path, root), root)
    for other in range(size):
        assert other == number or not verify_inclusion(leaf, other, size, path, root)


@settings(max_examples=300)
@given(inclusions(), st.data())
def test_one_changed_bit_anywhere_ends_a_proof_of_consistency(place: tuple[int, int], draw: st.DataObject) -> None:
    old, new = place[0] + 1, place[1]
    path, first, last = OURS.consistency(old, new), OURS.roots[old], OURS.roots[new]
    assert verify_consistency(old, first, new, last, path)
    bit = draw.draw(st.integers(0, 255))
    assert not verify_consistency(old, flipped(first, bit), new, last, path)
    assert not verify_consistency(old, first, new, flipped(last, bit), path)
    for step in range(len(path)):
        bad = (*path[:step], flipped(path[step], bit), *path[step + 1 :])
        assert not verify_consistency(old, first, new, last, bad)
        assert not verify_consistency(old, first, new, last, (*path[:step], *path[step + 1 :]))
    assert not verify_consistency(old, first, new, last, (*path, last))


@given(inclusions(), st.integers(0, 64), st.binary(max_size=40))
def test_steps_that_are_no_hashes_are_refused(place: tuple[int, int], at: int, step: bytes) -> None:
    number, size = place
    path = list(OURS.inclusion(number, size))
    path.insert(at, step)
    assert not verify_inclusion(OURS.nodes[Node(0, number)], number, size, path, OURS.roots[size])
    old = number + 1
    path = list(OURS.consistency(old, size))
    path.insert(at, step)
    assert not verify_consistency(old, OURS.roots[old], size, OURS.roots[size], path)


@given(inclusions())
def test_a_rewritten_past_has_no_proof(place: tuple[int, int]) -> None:
    """Whoever changes a leaf that was there cannot go on from the old root."""
    number, size = place
    leaves = data(size)
    leaves[number] = b"another"
    rewritten = Stored(leaves)
    old = number + 1
    assert not verify_consistency(old, OURS.roots[old], size, rewritten.roots[size], rewritten.consistency(old, size))
