"""The witness: what a seat kept against what the log says."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from grimoire.fairness.findings import Check, Finding
from grimoire.fairness.keepsake import MAX_KEEPSAKE_BYTES, Keepsake, KeepsakeError, compare
from grimoire.fairness.secret import Secret
from grimoire.fairness.verify import exit_status, verify
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2


@pytest.fixture
def log(plain: SimpleNamespace) -> list[frame_pb2.ViewerEntry]:
    return plain.write(plain.finished())


def kept(plain: SimpleNamespace, log: list[frame_pb2.ViewerEntry], seat: int = 0, until: int = 99) -> Keepsake:
    """What an honest program of this seat keeps of this log."""
    keepsake = Keepsake.make(
        plain.GAME, plain.MATCH, seat, plain.commitment(plain.GAME, plain.MATCH, plain.SEED), Secret(plain.NONCES[seat])
    )
    for entry in log[:until]:
        header = match_pb2.EntryHeader.FromString(entry.header)
        keepsake.saw(header.version, entry.hash)
        if header.actor == match_pb2.ACTOR_KIND_SEAT and header.seat == seat:
            keepsake.sent(header.command_id)
    return keepsake


def test_an_honest_log_agrees_at_every_length(plain: SimpleNamespace, log: list) -> None:
    for seat in (0, 1):
        for length in range(1, len(log) + 1):
            assert compare(kept(plain, log, seat, until=length), log[:length]) == []
    assert compare(kept(plain, log, 0, until=6), log[:6]) == []


def test_the_audit_says_whose_nonces_were_compared(plain: SimpleNamespace, log: list) -> None:
    def detail(*keepsakes: Keepsake) -> str:
        report = verify(log, schema=plain.TOY, keepsakes=keepsakes)
        assert exit_status(report) == 3
        return report.checks[Check.NONCES - 1].detail

    one, both = (kept(plain, log),), (kept(plain, log), kept(plain, log, 1))
    assert detail().endswith("; seats' own nonces: not checked here")
    assert detail(*one).endswith("the keepsake of seat 0; other seats' own nonces: not checked here")
    assert detail(*both).endswith("the keepsake of seat 0, 1")
    assert len(verify(log).limits) == len(verify(log, keepsakes=both).limits) + 1


def test_a_log_the_operator_made_up_afterwards_is_found(plain: SimpleNamespace) -> None:
    """The attack: other nonces and another seed, everything else perfect. Only the witness can tell."""
    true = plain.write(plain.finished())
    mine = kept(plain, true)
    forged_nonces = (bytes([0x77]) * 32, plain.NONCES[1])
    steps = plain.finished()
    j = plain.joint(plain.GAME, plain.MATCH, plain.SEED, list(forged_nonces))
    steps[1].events[0].seal = plain.seal(plain.GAME, plain.MATCH, 0, forged_nonces[0])
    steps[3].events[0].nonce = forged_nonces[0]
    steps[4].events[1].nonces[0].nonce = forged_nonces[0]
    steps[4].draws = []
    steps[4].events[2].deal_digest = plain.deal(
        plain.GAME, plain.MATCH, plain.salt(plain.GAME, j), list(steps[4].events[2].deal_lines)
    )
    steps[5].draws = []
    reveal = steps[7].events[1]
    reveal.nonces[0].nonce, reveal.joint_seed, reveal.salt = forged_nonces[0], j, plain.salt(plain.GAME, j)
    forged = plain.write(steps)
    assert not [c for c in verify(forged, schema=plain.TOY).checks if c.status == audit_pb2.CHECK_STATUS_FAILED]
    assert compare(mine, forged) == [
        Finding(Check.NONCES, 2, "the seal of seat 0 is not the one it sent"),
        Finding(Check.NONCES, 5, "the nonce of seat 0 is not the one it kept"),
        Finding(Check.CHAIN, 2, "seat 0 saw another entry here"),
    ]
    report = verify(forged, keepsakes=[mine])
    assert exit_status(report) == 1
    assert (report.checks[1].status, report.checks[1].version) == (audit_pb2.CHECK_STATUS_FAILED, 2)


def test_another_commitment_is_found(plain: SimpleNamespace, log: list) -> None:
    mine = kept(plain, log)
    mine.commitment = bytes(32)
    assert [(f.check, f.version) for f in compare(mine, log)] == [(Check.COMMITMENT, 1)]
    report = verify(log, keepsakes=[mine])
    assert report.checks[0].status == audit_pb2.CHECK_STATUS_FAILED


def test_a_rewritten_entry_is_found(plain: SimpleNamespace, log: list) -> None:
    mine = kept(plain, log)
    steps = plain.finished()
    steps[5].time_ms = 1_767_225_605_999
    assert compare(mine, plain.write(steps)) == [Finding(Check.CHAIN, 6, "seat 0 saw another entry here")]


def test_a_shortened_log_is_found(plain: SimpleNamespace, log: list) -> None:
    findings = compare(kept(plain, log), log[:6])
    assert findings[0] == Finding(Check.CHAIN, 7, "seat 0 saw this entry, but the log ends before it")


def test_commands_lost_and_commands_put_into_ones_mouth_are_found(plain: SimpleNamespace, log: list) -> None:
    lost = kept(plain, log)
    lost.sent(bytes([9]) * 16)
    assert [(f.check, "not in the log" in f.detail) for f in compare(lost, log)] == [(Check.CHAIN, True)]
    forged = kept(plain, log)
    own = forged.commands.pop()
    version = next(n for n, e in enumerate(log, 1) if match_pb2.EntryHeader.FromString(e.header).command_id == own)
    assert [(f.check, f.version) for f in compare(forged, log)] == [(Check.CHAIN, version)]


def test_two_devices_of_one_seat_know_its_commands_together(plain: SimpleNamespace, log: list) -> None:
    phone, laptop = kept(plain, log), kept(plain, log)
    phone.commands, laptop.commands = phone.commands[:1], laptop.commands[1:]
    assert compare(phone, log) != []
    report = verify(log, keepsakes=[phone, laptop])
    assert not [c for c in report.checks if c.status == audit_pb2.CHECK_STATUS_FAILED]


def test_commands_after_the_seat_was_handed_over_are_not_ones_own(plain: SimpleNamespace) -> None:
    steps = plain.finished()
    first = next(e.seat for e in steps[4].events if e.DESCRIPTOR.name == "PromptOpened")
    bound = plain.event("seat_bound", seat=first, occupant_id="bot", kind=2, reason="left")
    steps.insert(5, plain.Step([bound], actor=plain.HOST, type="bind_seat"))
    log = plain.write(steps)
    mine = kept(plain, log, first, until=5)
    assert compare(mine, log) == []


def test_a_keepsake_of_another_match_is_said_to_be_one(plain: SimpleNamespace, log: list) -> None:
    other = Keepsake.make(plain.GAME, "another", 0, bytes(32), Secret(bytes(32)))
    report = verify(log, keepsakes=[other])
    check = report.checks[1]
    assert (check.status, "another match" in check.detail) == (audit_pb2.CHECK_STATUS_FAILED, True)


def test_an_own_nonce_that_never_was_opened_is_no_contradiction(plain: SimpleNamespace) -> None:
    log = plain.write(plain.voided(1))
    for seat in (0, 1):
        assert compare(kept(plain, log, seat), log) == []


# ---- the file --------------------------------------------------------------------------------------------------------


def test_the_file_comes_back(plain: SimpleNamespace, log: list) -> None:
    mine = kept(plain, log)
    data = mine.to_json()
    assert Keepsake.from_json(data) == mine
    assert Keepsake.from_json(data).to_json() == data
    assert data.count(b"\n") == 1
    assert list(json.loads(data)) == [
        "kind", "format", "game", "match_id", "seat", "commitment", "nonce", "seal", "heads", "commands"
    ]  # fmt: skip


def test_heads_are_written_in_order(plain: SimpleNamespace) -> None:
    keepsake = Keepsake.make("toy", "m", 0, bytes(32), Secret(bytes(32)))
    for version in (10, 9, 2):
        keepsake.saw(version, bytes(32))
    assert list(json.loads(keepsake.to_json())["heads"]) == ["2", "9", "10"]


def test_its_text_hides_the_nonce(plain: SimpleNamespace, log: list) -> None:
    shown = repr(kept(plain, log))
    assert "Secret(hidden)" in shown
    assert repr(plain.NONCES[0])[2:-1] not in shown


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: b"",
        lambda d: d[:-9],
        lambda d: d.replace(b'"format":1', b'"format":2'),
        lambda d: d.replace(b'"seat":0', b'"seat":-1'),
        lambda d: d.replace(b'"seat":0', b'"seat":64'),
        lambda d: d.replace(b'"game":"toy"', b'"game":"TOY"'),
        lambda d: d.replace(b'"heads":{"1"', b'"heads":{"0"'),
        lambda d: d.replace(b'"heads"', b'"tails"'),
        lambda d: d.replace(b'"nonce":"', b'"nonce":"A'),
        lambda d: d.replace(b'"nonce":"', b'"nonce":"AAAA'),
        lambda d: d + b"[" * 100_000,
        lambda d: b"[" * 100_000,
        lambda d: d + b" " * MAX_KEEPSAKE_BYTES,
    ],
)
def test_anything_else_is_refused_without_quoting_it(plain: SimpleNamespace, log: list, spoil) -> None:
    data = kept(plain, log).to_json()
    spoiled = spoil(data)
    assert spoiled != data
    with pytest.raises(KeepsakeError) as refused:
        Keepsake.from_json(spoiled)
    assert refused.value.__cause__ is None
    assert len(str(refused.value)) < 80
