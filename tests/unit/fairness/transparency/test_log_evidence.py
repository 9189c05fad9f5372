"""Proofs that travel with a match: what they show, and that nothing in them can be changed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from grimoire.fairness.transparency import Evidence, EvidenceError, LeafKind, LoggedLeaf, leaves_of
from tests.support.transparency import KEY, OTHER_KEY, Log


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def evidence(plain: SimpleNamespace, log: Log) -> Evidence:
    log.fill(3)
    for leaf in leaves_of(plain.write(plain.finished())):
        log.append(leaf.encode())
        log.fill(2)
    return log.evidence(plain.MATCH)


def test_it_shows_where_the_leaves_stand(plain: SimpleNamespace, log: Log, evidence: Evidence) -> None:
    proved = evidence.prove(plain.MATCH)
    assert proved.key == KEY.verifier
    assert proved.checkpoint.size == 13
    assert proved.numbers == {LeafKind.COMMIT: 3, LeafKind.START: 6, LeafKind.CLOSE: 9, LeafKind.REVEAL: 12}
    assert tuple(proved.leaves.values()) == leaves_of(plain.write(plain.finished()))
    assert evidence.prove(plain.MATCH, KEY.verifier) == proved


def test_another_logs_key_is_not_taken(plain: SimpleNamespace, evidence: Evidence) -> None:
    with pytest.raises(EvidenceError, match="key is"):
        evidence.prove(plain.MATCH, OTHER_KEY.verifier)
    with pytest.raises(EvidenceError, match="checkpoint does not hold"):
        replace(evidence, key=str(OTHER_KEY.verifier)).prove(plain.MATCH)


def test_it_proves_one_match_only(evidence: Evidence) -> None:
    with pytest.raises(EvidenceError, match="another match"):
        evidence.prove("another")


def with_leaf(evidence: Evidence, at: int, **changes: object) -> Evidence:
    leaves = list(evidence.leaves)
    leaves[at] = replace(leaves[at], **changes)
    return replace(evidence, leaves=tuple(leaves))


def test_nothing_in_it_can_be_changed(plain: SimpleNamespace, evidence: Evidence) -> None:
    bad = [
        replace(evidence, key=evidence.key + " "),
        replace(evidence, key=""),
        replace(evidence, checkpoint=evidence.checkpoint + b"\n"),
        replace(evidence, checkpoint=b""),
        replace(evidence, leaves=evidence.leaves[::-1]),
        replace(evidence, leaves=(evidence.leaves[0], *evidence.leaves)),
    ]
    for at, logged in enumerate(evidence.leaves):
        bad += [
            with_leaf(evidence, at, number=logged.number + 1),
            with_leaf(evidence, at, number=-1),
            with_leaf(evidence, at, number=2**80),
            with_leaf(evidence, at, path=logged.path[:-1]),
            with_leaf(evidence, at, path=(*logged.path, bytes(32))),
            with_leaf(evidence, at, path=(bytes(32), *logged.path[1:])),
            with_leaf(evidence, at, leaf=logged.leaf[:-2] + b"9\n"),
            with_leaf(evidence, at, leaf=b"nonsense"),
        ]
    for changed in bad:
        with pytest.raises(EvidenceError):
            changed.prove(plain.MATCH)


def test_a_second_leaf_of_one_kind_is_refused(plain: SimpleNamespace, log: Log) -> None:
    commit = leaves_of(plain.write(plain.finished()))[0]
    log.append(commit.encode())
    log.append(replace(commit, unix_ms=1).encode())
    with pytest.raises(EvidenceError, match="out of order"):
        log.evidence(plain.MATCH).prove(plain.MATCH)


def test_leaves_logged_in_the_wrong_order_are_refused(plain: SimpleNamespace, log: Log) -> None:
    commit, start, *_ = leaves_of(plain.write(plain.finished()))
    log.append(start.encode())
    log.append(commit.encode())
    with pytest.raises(EvidenceError, match="out of order"):
        log.evidence(plain.MATCH).prove(plain.MATCH)


def test_what_is_no_leaf_is_refused_although_the_log_has_it(log: Log, plain: SimpleNamespace) -> None:
    number = log.append(b"nonsense")
    evidence = Evidence(str(KEY.verifier), log.checkpoint(), (LoggedLeaf(number, b"nonsense", ()),))
    with pytest.raises(EvidenceError, match="no leaf"):
        evidence.prove(plain.MATCH)
