"""What is written into the log about a match: bytes by vector, strict reading, and which leaves a match has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.fairness.transparency import (
    CloseLeaf,
    CommitLeaf,
    LeafError,
    LeafKind,
    RevealLeaf,
    StartLeaf,
    leaf_hash,
    leaves_of,
    parse_leaf,
)
from grimoire.fairness.transparency.leaves import outcome_code
from grimoire.v1 import match_pb2

COMMITMENT = bytes.fromhex("a69e6e1196a108796ef35c779e4f58e74ef6b60defc5048c8e199210581bcd7b")

match_ids = st.text("abcXYZ019_/.-", min_size=1, max_size=64)
games = st.text("abz09_/.-", min_size=1, max_size=64)
hashes = st.binary(min_size=32, max_size=32)
times = st.integers(0, 2**62)
leaves = st.one_of(
    st.builds(CommitLeaf, match_ids, games, hashes, hashes, times),
    st.builds(StartLeaf, match_ids, hashes, times),
    st.builds(CloseLeaf, match_ids, st.sampled_from(["win", "void_not_sealed"]), times, hashes, times),
    st.builds(RevealLeaf, match_ids, hashes, times),
)


def test_the_vector_of_the_specification() -> None:
    leaf = CommitLeaf("tt-vector-1", "two_towers", bytes([0xAA]) * 32, COMMITMENT, 1_767_225_600_000)
    assert leaf_hash(leaf.encode()).hex() == "12dfe2fadb6a9898fffd22e5014447573546588a27d29f1b130a851d1997fe17"


def test_leaves_are_lines_of_text() -> None:
    head = bytes([0x11]) * 32
    assert CommitLeaf("m1", "toy", bytes(32), head, 7).encode().decode() == (
        f"grimoire/log/commit/1\nm1\ntoy\n{'00' * 32}\n{'11' * 32}\n7\n"
    )
    assert StartLeaf("m1", head, 7).encode().decode() == f"grimoire/log/start/1\nm1\n{'11' * 32}\n7\n"
    assert CloseLeaf("m1", "win", 9, head, 7).encode().decode() == f"grimoire/log/close/1\nm1\nwin\n9\n{'11' * 32}\n7\n"
    assert RevealLeaf("m1", head, 7).encode().decode() == f"grimoire/log/reveal/1\nm1\n{'11' * 32}\n7\n"


@given(leaves)
def test_what_is_written_is_read(leaf) -> None:
    assert parse_leaf(leaf.encode()) == leaf


@given(leaves, st.integers(0, 400), st.integers(0, 255))
def test_a_changed_byte_is_another_leaf_or_none(leaf, at: int, byte: int) -> None:
    data = bytearray(leaf.encode())
    data[at % len(data)] = byte
    try:
        read = parse_leaf(bytes(data))
    except LeafError:
        return
    assert read.encode() == data
    assert (read == leaf) is (bytes(data) == leaf.encode())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"grimoire/log/commit/1\n",
        b"grimoire/log/start/2\nm1\n" + b"00" * 32 + b"\n7\n",
        b"grimoire/log/start/1\nm1\n" + b"00" * 32 + b"\n07\n",
        b"grimoire/log/start/1\nm1\n" + b"00" * 32 + b"\n-7\n",
        b"grimoire/log/start/1\nm1\n" + b"00" * 32 + b"\n7",
        b"grimoire/log/start/1\nm1\n" + b"00" * 32 + b"\n7\n\n",
        b"grimoire/log/start/1\nm1\n" + b"00" * 31 + b"\n7\n",
        b"grimoire/log/start/1\nm1\n" + b"AA" * 32 + b"\n7\n",
        b"grimoire/log/start/1\nm 1\n" + b"00" * 32 + b"\n7\n",
        b"grimoire/log/start/1\n\n" + b"00" * 32 + b"\n7\n",
        b"grimoire/log/start/1\nm1\n" + b"00" * 32 + b"\n" + b"9" * 5000 + b"\n",
        b"grimoire/log/close/1\nm1\nWIN\n9\n" + b"00" * 32 + b"\n7\n",
        b"grimoire/log/commit/1\nm1\nToy\n" + b"00" * 32 + b"\n" + b"00" * 32 + b"\n7\n",
        "grimoire/log/start/1\nmä\n".encode() + b"00" * 32 + b"\n7\n",
        b"\xff" * 40,
    ],
)
def test_what_is_no_leaf_is_refused(data: bytes) -> None:
    with pytest.raises(LeafError):
        parse_leaf(data)


# ---- which leaves a match has ----------------------------------------------------------------------------------------


def test_a_finished_match_has_all_four(plain: SimpleNamespace) -> None:
    log = plain.write(plain.finished())
    commit, start, close, reveal = leaves_of(log)
    assert commit == CommitLeaf(
        plain.MATCH, plain.GAME, bytes(32), plain.commitment(plain.GAME, plain.MATCH, plain.SEED), 1_767_225_601_000
    )
    assert start == StartLeaf(plain.MATCH, log[4].hash, 1_767_225_605_000)
    assert close == CloseLeaf(plain.MATCH, "win", 8, log[7].hash, 1_767_225_608_000)
    assert reveal == RevealLeaf(plain.MATCH, log[7].hash, 1_767_225_608_000)


@pytest.mark.parametrize(
    ("entries", "kinds"),
    [(0, []), (1, ["commit"]), (4, ["commit"]), (5, ["commit", "start"]), (7, ["commit", "start"])],
)
def test_a_match_under_way_has_those_it_has_come_to(plain: SimpleNamespace, entries: int, kinds: list[str]) -> None:
    assert [leaf.kind for leaf in leaves_of(plain.write(plain.finished())[:entries])] == kinds


def test_a_void_handshake_has_no_start(plain: SimpleNamespace) -> None:
    commit, close, reveal = leaves_of(plain.write(plain.voided(1)))
    assert (commit.kind, close.kind, reveal.kind) == (LeafKind.COMMIT, LeafKind.CLOSE, LeafKind.REVEAL)
    assert isinstance(close, CloseLeaf)
    assert (close.outcome, close.void) == ("void_not_opened", True)


def test_analysis_is_not_in_the_log(plain: SimpleNamespace) -> None:
    assert leaves_of(plain.write(plain.finished(match_pb2.MATCH_MODE_ANALYSIS))) == ()


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_WIN), "win"),
        (match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_DRAW), "draw"),
        (match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_SHARED), "shared"),
        (match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_WON), "coop_won"),
        (match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_COOP_LOST), "coop_lost"),
        (match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_VOID), "void"),
        (match_pb2.MatchClosed(kind=99), "unspecified"),
        (match_pb2.MatchVoided(by=match_pb2.VOIDED_BY_HANDSHAKE, reason="not_sealed"), "void_not_sealed"),
        (match_pb2.MatchVoided(by=match_pb2.VOIDED_BY_HANDSHAKE, reason="not_opened"), "void_not_opened"),
        (match_pb2.MatchVoided(by=match_pb2.VOIDED_BY_HANDSHAKE, reason="bored"), "void_handshake"),
        (match_pb2.MatchVoided(by=match_pb2.VOIDED_BY_HOST, reason="anything\nat all"), "void_host"),
        (match_pb2.MatchVoided(by=match_pb2.VOIDED_BY_CONSENT), "void_consent"),
        (match_pb2.MatchVoided(by=99), "void_unspecified"),
    ],
)
def test_the_outcome_in_one_word(event, code: str) -> None:
    kind = "match_closed" if isinstance(event, match_pb2.MatchClosed) else "match_voided"
    assert outcome_code(match_pb2.Event(type=kind, body=event.SerializeToString())) == code
