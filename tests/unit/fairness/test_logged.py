"""Check 7: the match is in the transparency log, which says of it what the match itself says."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from grimoire.engine import ALL, PUBLIC
from grimoire.fairness.export import Export, read_export, write_export
from grimoire.fairness.findings import Check
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.secret import Secret
from grimoire.fairness.transparency import CloseLeaf, Evidence, LeafKind, VerifierKey, leaves_of
from grimoire.fairness.verify import exit_status, verify, verify_export
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2
from tests.support.transparency import KEY, OTHER_KEY, Log, logged

PASSED = audit_pb2.CHECK_STATUS_PASSED
FAILED = audit_pb2.CHECK_STATUS_FAILED
NOT_CHECKED = audit_pb2.CHECK_STATUS_NOT_CHECKED
ANALYSIS = match_pb2.MATCH_MODE_ANALYSIS
WALKED = audit_pb2.AuditCheck(number=8, name="Rules walk", status=PASSED, detail="walked")

Entries = list[frame_pb2.ViewerEntry]


@pytest.fixture
def log(plain: SimpleNamespace) -> Entries:
    return plain.write(plain.finished())


def check(report: audit_pb2.AuditReport) -> audit_pb2.AuditCheck:
    return report.checks[Check.TRANSPARENCY_LOG - 1]


def exported(plain: SimpleNamespace, log: Entries, evidence: Evidence | None, viewer=ALL) -> Export:
    return read_export(write_export(plain.GAME, plain.MATCH, log, viewer, evidence))


def test_a_match_that_is_in_the_log_passes(plain: SimpleNamespace, log: Entries) -> None:
    report = verify_export(exported(plain, log, logged(log)), log_key=KEY.verifier, rules_walk=WALKED)
    assert (check(report).status, exit_status(report), report.passed) == (PASSED, 0, True)
    assert "commit 2, start 4, close 6, reveal 8" in check(report).detail
    assert "the key that was asked for" in check(report).detail


def test_a_void_match_passes_without_a_start(plain: SimpleNamespace) -> None:
    log = plain.write(plain.voided(1))
    report = verify_export(exported(plain, log, logged(log)), log_key=KEY.verifier, rules_walk=WALKED)
    assert (check(report).status, exit_status(report)) == (PASSED, 0)
    assert "start" not in check(report).detail


def test_a_key_taken_from_the_file_is_said_to_be(plain: SimpleNamespace, log: Entries) -> None:
    report = verify_export(exported(plain, log, logged(log)))
    assert check(report).status == PASSED
    assert str(KEY.verifier) in check(report).detail
    assert "compare this key" in check(report).detail
    assert any("--log-key" in limit for limit in report.limits)
    trusted = verify_export(exported(plain, log, logged(log)), log_key=KEY.verifier)
    assert not any("--log-key" in limit for limit in trusted.limits)


def test_the_log_of_another_key_fails(plain: SimpleNamespace, log: Entries) -> None:
    report = verify_export(exported(plain, log, logged(log, OTHER_KEY)), log_key=KEY.verifier, rules_walk=WALKED)
    assert (check(report).status, check(report).line, exit_status(report)) == (FAILED, 10, 1)
    assert "the log's key is" in check(report).detail


def test_a_file_of_a_revealed_match_without_proofs_fails(plain: SimpleNamespace, log: Entries) -> None:
    report = verify_export(exported(plain, log, None), rules_walk=WALKED)
    assert (check(report).status, exit_status(report)) == (FAILED, 1)
    assert "carries no proof" in check(report).detail


def test_proofs_that_nobody_brought_are_not_checked(log: Entries) -> None:
    report = verify(log, rules_walk=WALKED)
    assert (check(report).status, exit_status(report)) == (NOT_CHECKED, 0)
    assert check(verify(log, evidence=logged(log))).status == PASSED


def test_analysis_is_not_in_the_log_and_must_not_seem_to_be(plain: SimpleNamespace, log: Entries) -> None:
    analysis = plain.write(plain.finished(ANALYSIS))
    report = verify_export(exported(plain, analysis, None), rules_walk=WALKED)
    assert (check(report).status, exit_status(report)) == (NOT_CHECKED, 0)
    assert "analysis" in check(report).detail
    assert check(verify(analysis, evidence=logged(log))).status == FAILED


@pytest.mark.parametrize("length", [1, 4, 5, 7])
def test_before_the_reveal_what_is_there_is_checked(plain: SimpleNamespace, log: Entries, length: int) -> None:
    shown = log[:length]
    report = verify_export(exported(plain, shown, logged(shown), PUBLIC))
    assert check(report).status == NOT_CHECKED
    assert "not yet revealed" in check(report).detail
    assert "commit" in check(report).detail
    assert check(verify_export(exported(plain, shown, None, PUBLIC))).status == NOT_CHECKED
    lying = logged(plain.write([plain.Step([plain.created(2, bytes(32))], actor=plain.HOST)]))
    assert check(verify_export(exported(plain, shown, lying, PUBLIC))).status == FAILED


def test_a_log_cut_short_is_found_by_what_the_transparency_log_knows(plain: SimpleNamespace, log: Entries) -> None:
    """Hiding the end of a match: everything else about the shortened log holds."""
    report = verify_export(exported(plain, log[:7], logged(log), PUBLIC))
    assert check(report).status == FAILED
    assert "close" in check(report).detail


def evidence_of(leaves: list) -> Evidence:
    transparency = Log()
    for leaf in leaves:
        transparency.append(leaf.encode())
    return transparency.evidence(leaves[0].match_id)


@pytest.mark.parametrize("kind", list(LeafKind))
def test_a_leaf_that_is_not_there_is_missed(plain: SimpleNamespace, log: Entries, kind: LeafKind) -> None:
    leaves = [leaf for leaf in leaves_of(log) if leaf.kind is not kind]
    report = verify(log, evidence=evidence_of(leaves))
    assert check(report).status == FAILED
    assert f"no leaf of this match for: {kind}" in check(report).detail


@pytest.mark.parametrize(("at", "version"), [(0, 1), (1, 5), (2, 8), (3, 8)])
def test_a_leaf_that_says_something_else_is_found_at_its_entry(
    plain: SimpleNamespace, log: Entries, at: int, version: int
) -> None:
    leaves = list(leaves_of(log))
    leaves[at] = replace(leaves[at], unix_ms=leaves[at].unix_ms + 1)
    report = verify_export(exported(plain, log, evidence_of(leaves)))
    assert (check(report).status, check(report).version, check(report).line) == (FAILED, version, version + 1)


def test_a_swapped_seed_is_found_although_the_log_of_the_match_holds(plain: SimpleNamespace, log: Entries) -> None:
    """The operator committed to one seed, and plays with another: only the transparency log knows."""
    promised = leaves_of(plain.write(plain.finished()))
    promised = [replace(promised[0], server_commitment=bytes(32)), *promised[1:]]
    report = verify(log, evidence=evidence_of(promised), rules_walk=WALKED)
    assert [c.number for c in report.checks if c.status == FAILED] == [Check.TRANSPARENCY_LOG]


def test_an_outcome_told_otherwise_is_found(plain: SimpleNamespace, log: Entries) -> None:
    leaves = [replace(one, outcome="draw") if isinstance(one, CloseLeaf) else one for one in leaves_of(log)]
    assert check(verify(log, evidence=evidence_of(leaves))).status == FAILED


def test_entries_that_cannot_be_read_are_no_exception(plain: SimpleNamespace, log: Entries) -> None:
    evidence = logged(log)
    log[3].public = b"\xff\xff"
    report = verify(log, evidence=evidence)
    assert check(report).status == FAILED


# ---- with what a seat kept -------------------------------------------------------------------------------------------


@pytest.fixture
def keepsake(plain: SimpleNamespace) -> Keepsake:
    commitment = plain.commitment(plain.GAME, plain.MATCH, plain.SEED)
    return Keepsake.make(plain.GAME, plain.MATCH, 0, commitment, Secret(plain.NONCES[0]))


def test_what_a_seat_kept_of_the_log_agrees(plain: SimpleNamespace, log: Entries, keepsake: Keepsake) -> None:
    keepsake.evidence = logged(log[:1])
    report = verify(log, evidence=logged(log), keepsakes=[keepsake])
    assert check(report).status == PASSED
    kept = Keepsake.from_json(keepsake.to_json())
    assert kept == keepsake
    assert kept.evidence == logged(log[:1])


def test_a_keepsake_without_proofs_is_written_as_before(keepsake: Keepsake) -> None:
    assert b"evidence" not in keepsake.to_json()
    assert Keepsake.from_json(keepsake.to_json()).evidence is None


def shown_before(log: Entries, key=KEY, filler: int = 2) -> Evidence:
    transparency = Log(key)
    transparency.fill(filler)
    commit = leaves_of(log)[0]
    transparency.append(commit.encode())
    return transparency.evidence(commit.match_id)


def test_a_log_that_differs_from_what_a_seat_was_shown_is_found(
    plain: SimpleNamespace, log: Entries, keepsake: Keepsake
) -> None:
    honest = shown_before(log)
    lies = {
        "another key": shown_before(log, OTHER_KEY),
        "another place": shown_before(log, filler=3),
        "does not hold": replace(honest, checkpoint=honest.checkpoint.replace(b"\n3\n", b"\n4\n")),
    }
    for reason, kept in lies.items():
        keepsake.evidence = kept
        report = verify(log, evidence=logged(log), keepsakes=[keepsake])
        assert check(report).status == FAILED, reason
        assert reason in check(report).detail
    other_root = Log()
    other_root.fill(1)
    other_root.append(b"another history")
    for leaf in leaves_of(log):
        other_root.append(leaf.encode())
    same_size = Log()
    same_size.fill(2)
    for leaf in leaves_of(log):
        same_size.append(leaf.encode())
    keepsake.evidence = same_size.evidence(plain.MATCH)
    report = verify(log, evidence=other_root.evidence(plain.MATCH), keepsakes=[keepsake])
    assert "another log of the same size" in check(report).detail


def test_keys_are_compared_whole(plain: SimpleNamespace, log: Entries) -> None:
    renamed = VerifierKey("grimoire.test/other", KEY.verifier.public)
    assert check(verify(log, evidence=logged(log), log_key=renamed)).status == FAILED
