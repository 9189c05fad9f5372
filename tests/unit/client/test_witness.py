"""The witness: what it does in the handshake, and every lie it must notice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from grimoire.client import Alarm
from grimoire.client.witness import Step, Witness, whole_events
from grimoire.engine import PUBLIC, Viewer
from grimoire.fairness import Secret, genesis, link, nonce_seal
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.transparency import StartLeaf
from grimoire.v1 import frame_pb2, match_pb2
from tests.support.transparency import KEY, OTHER_KEY, Log, logged
from tests.unit.client.match import MATCH, Recorded

SEAT = Viewer.of_seat(0)
OTHER = bytes([7]) * 32


def take(witness: Witness, entries: Sequence[frame_pb2.ViewerEntry]) -> None:
    for entry in entries:
        witness.take(entry)


def sealed(record: Recorded) -> tuple[Witness, bytes]:
    """Seat 0's witness with its seal in the log."""
    record.create()
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    assert witness.next_step() is Step.CHECK_LOG
    witness.check_log(logged(record.shown(SEAT)), KEY.verifier)
    assert witness.next_step() is Step.MAKE_NONCE
    nonce = witness.make_nonce().nonce.open()
    assert witness.next_step() is Step.SEAL
    record.seal(0, nonce)
    take(witness, record.shown(SEAT, 2))
    return witness, nonce


def relinked(entries: Sequence[frame_pb2.ViewerEntry], at: int, public: bytes) -> list[frame_pb2.ViewerEntry]:
    """A history in which one entry says something else and everything after it is hashed anew: only memory tells."""
    changed: list[frame_pb2.ViewerEntry] = []
    head = genesis(MATCH)
    for n, entry in enumerate(entries, 1):
        copy = frame_pb2.ViewerEntry()
        copy.CopyFrom(entry)
        if n == at:
            copy.public = public
        copy.hash = head = link(head, copy.header, copy.public, [(d.audience, d.digest) for d in copy.digests])
        changed.append(copy)
    return changed


def with_event(entry: frame_pb2.ViewerEntry, index: int, body: bytes) -> bytes:
    events = match_pb2.Events.FromString(entry.public)
    events.events[index].body = body
    return events.SerializeToString()


def test_the_handshake_step_by_step() -> None:
    record = Recorded()
    witness, nonce = sealed(record)
    assert witness.next_step() is None  # the other has not sealed
    record.seal(1, OTHER)
    take(witness, record.shown(SEAT, 3))
    assert witness.next_step() is Step.OPEN
    record.open(0, nonce)
    take(witness, record.shown(SEAT, 4))
    assert witness.next_step() is None
    record.open(1, OTHER)
    take(witness, record.shown(SEAT, 5))
    assert witness.next_step() is None
    assert not witness.in_handshake
    keepsake = witness.keepsake
    assert keepsake is not None
    assert keepsake.heads == {entry.version: entry.hash for entry in record.entries}


def test_a_nonce_is_fresh_each_time_and_a_phrase_is_only_mixed_in() -> None:
    nonces = set()
    for phrase in ("", "", "open sesame", "open sesame"):
        record = Recorded()
        record.create()
        witness = Witness(MATCH, 0)
        take(witness, record.shown(SEAT))
        nonces.add(witness.make_nonce(phrase).nonce.open())
    assert len(nonces) == 4


def test_a_spectator_has_no_part_in_the_handshake() -> None:
    record = Recorded()
    record.create()
    witness = Witness(MATCH)
    take(witness, record.shown(PUBLIC))
    assert witness.next_step() is None
    with pytest.raises(ValueError, match="seat"):
        witness.make_nonce()


def test_after_a_restart_the_kept_nonce_is_used_again() -> None:
    record = Recorded()
    witness, nonce = sealed(record)
    assert witness.keepsake is not None
    kept = Keepsake.from_json(witness.keepsake.to_json())
    again = Witness(MATCH, 0, kept)
    take(again, record.shown(SEAT))
    assert again.next_step() is None
    record.seal(1, OTHER)
    take(again, record.shown(SEAT, 3))
    assert again.next_step() is Step.OPEN
    assert kept.nonce == Secret(nonce)


def test_a_seal_from_before_ones_own_is_replaced() -> None:
    record = Recorded()
    record.create()
    record.seal(0, OTHER)  # this seat's other device, which has lost its nonce since
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    witness.check_log(logged(record.shown(SEAT)), KEY.verifier)
    nonce = witness.make_nonce().nonce.open()
    assert witness.next_step() is Step.SEAL
    record.seal(0, nonce)
    take(witness, record.shown(SEAT, 3))
    assert witness.next_step() is None


def test_analysis_has_no_promise_to_be_logged() -> None:
    record = Recorded()
    record.create(match_pb2.MATCH_MODE_ANALYSIS)
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    assert witness.next_step() is Step.MAKE_NONCE


def test_what_was_proved_before_a_restart_needs_no_second_proof() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    assert witness.keepsake is not None
    assert witness.keepsake.evidence == logged(record.shown(SEAT)[:1])
    again = Witness(MATCH, 0, Keepsake.from_json(witness.keepsake.to_json()))
    take(again, record.shown(SEAT))
    assert again.evidence == witness.evidence


def test_a_nonce_kept_without_a_proof_is_not_sealed_without_one() -> None:
    record = Recorded()
    record.create()
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    kept = witness.make_nonce()
    assert kept.evidence is None
    again = Witness(MATCH, 0, Keepsake.from_json(kept.to_json()))
    take(again, record.shown(SEAT))
    assert again.next_step() is Step.CHECK_LOG
    again.check_log(logged(record.shown(SEAT)), KEY.verifier)
    assert again.next_step() is Step.SEAL
    assert again.keepsake is not None
    assert again.keepsake.evidence is not None


def test_a_void_ends_the_handshake() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    record.void()
    take(witness, record.shown(SEAT, 3))
    assert witness.next_step() is None


# ---- lies -----------------------------------------------------------------------------------------------------------


def started(record: Recorded) -> tuple[Witness, bytes]:
    """Everything before the last opening has been seen."""
    witness, nonce = sealed(record)
    record.seal(1, OTHER)
    record.open(0, nonce)
    take(witness, record.shown(SEAT, 3))
    record.open(1, OTHER)
    return witness, nonce


def test_a_changed_entry_breaks_the_chain() -> None:
    record = Recorded()
    record.create()
    for change in ("header", "public", "hash"):
        entry = record.shown(SEAT)[0]
        setattr(entry, change, getattr(entry, change)[:-1] + b"\x00")
        with pytest.raises(Alarm) as alarm:
            Witness(MATCH, 0).take(entry)
        assert (alarm.value.match_id, alarm.value.version) == (MATCH, 1)


def test_an_own_part_that_does_not_fit_its_digest_is_noticed() -> None:
    record = Recorded()
    witness, _ = started(record)
    entries = record.shown(SEAT, 5)
    assert entries[0].parts
    entries[0].parts[0].body += b"\x00"
    with pytest.raises(Alarm, match="digest"):
        take(witness, entries)


def test_a_missing_entry_is_noticed() -> None:
    record = Recorded()
    record.create()
    record.seal(0, OTHER)
    with pytest.raises(Alarm):
        Witness(MATCH, 0).take(record.shown(SEAT)[1])


def test_a_history_that_was_rewritten_meanwhile_is_noticed_by_its_heads() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    assert witness.keepsake is not None
    entries = record.shown(SEAT)
    # The commitment stays, a seal is exchanged: a consistent chain with another history.
    forged = match_pb2.NonceSealed(seat=0, seal=bytes(32)).SerializeToString()
    rewritten = relinked(entries, 2, with_event(entries[1], 0, forged))
    with pytest.raises(Alarm, match="not the one that was seen"):
        take(Witness(MATCH, 0, witness.keepsake), rewritten)


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        (lambda commit: replace(commit, server_commitment=bytes(32)), "another promise"),
        (lambda commit: replace(commit, rules_digest=bytes(32)), "another promise"),
        (lambda commit: replace(commit, game="chess"), "another promise"),
        (lambda commit: replace(commit, unix_ms=1), "another promise"),
        (lambda commit: replace(commit, match_id="x" * 26), "another match"),
        (lambda commit: StartLeaf(MATCH, bytes(32), 1), "another promise"),
    ],
)
def test_a_log_that_promises_something_else_is_noticed(lie: Callable[[Any], Any], reason: str) -> None:
    record = Recorded()
    record.create()
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    assert witness.commit_leaf is not None
    log = Log()
    told = lie(witness.commit_leaf)
    log.append(told.encode())
    with pytest.raises(Alarm, match=reason):
        witness.check_log(log.evidence(told.match_id), KEY.verifier)
    assert witness.next_step() is Step.CHECK_LOG


def test_a_proof_by_another_key_or_of_nothing_is_noticed() -> None:
    record = Recorded()
    record.create()
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    honest = logged(record.shown(SEAT))
    for evidence in (
        logged(record.shown(SEAT), OTHER_KEY),
        replace(honest, leaves=()),
        replace(honest, checkpoint=honest.checkpoint[:-2]),
        replace(honest, leaves=(replace(honest.leaves[0], path=()),)),
    ):
        with pytest.raises(Alarm):
            witness.check_log(evidence, KEY.verifier)
    assert witness.next_step() is Step.CHECK_LOG


def test_a_proof_kept_of_another_promise_is_noticed() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    kept = witness.keepsake
    assert kept is not None
    other = Log()
    assert witness.commit_leaf is not None
    other.append(replace(witness.commit_leaf, unix_ms=1).encode())
    for evidence in (other.evidence(MATCH), replace(logged(record.shown(SEAT)), key="no key")):
        kept.evidence = evidence
        with pytest.raises(Alarm):
            take(Witness(MATCH, 0, kept), record.shown(SEAT))


def test_another_commitment_than_before_is_noticed() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    kept = witness.keepsake
    assert kept is not None
    kept.heads.clear()
    entries = record.shown(SEAT)
    created = match_pb2.MatchCreated.FromString(match_pb2.Events.FromString(entries[0].public).events[0].body)
    created.server_commitment = bytes(32)
    rewritten = relinked(entries, 1, with_event(entries[0], 0, created.SerializeToString()))
    with pytest.raises(Alarm, match="commitment"):
        take(Witness(MATCH, 0, kept), rewritten)


def test_somebody_elses_seal_in_ones_own_name_is_noticed() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    record.seal(0, OTHER)
    with pytest.raises(Alarm, match="replaced the seal"):
        take(witness, record.shown(SEAT, 3))


@pytest.mark.parametrize(
    ("nonces", "lie"),
    [
        ({0: bytes([9]) * 32, 1: OTHER}, "nonce of seat 0 does not fit its seal"),
        ({0: None, 1: bytes([9]) * 32}, "nonce of seat 1 does not fit its seal"),
        ({0: None}, "not every seat's nonce"),
        ({0: None, 1: OTHER, 2: OTHER}, "not every seat's nonce"),
        ({1: OTHER, 0: None}, "not every seat's nonce"),
        ({0: b"", 1: OTHER}, "nonce of seat 0 does not fit its seal"),
    ],
)
def test_revealed_nonces_that_are_not_the_sealed_ones_are_noticed(nonces: dict[int, bytes | None], lie: str) -> None:
    record = Recorded()
    witness, own = started(record)
    entries = record.shown(SEAT)
    events = match_pb2.Events.FromString(entries[4].public)
    index = next(n for n, event in enumerate(events.events) if event.type == "nonces_revealed")
    told = match_pb2.NoncesRevealed(
        nonces=[match_pb2.SeatNonce(seat=s, nonce=own if n is None else n) for s, n in nonces.items()]
    )
    rewritten = relinked(entries, 5, with_event(entries[4], index, told.SerializeToString()))
    with pytest.raises(Alarm, match=lie):
        witness.take(rewritten[4])


def test_a_nonce_of_ones_own_that_was_exchanged_together_with_its_seal_is_noticed() -> None:
    record = Recorded()
    record.create()
    witness = Witness(MATCH, 0)
    take(witness, record.shown(SEAT))
    witness.make_nonce()
    # The server never wrote our seal but one of its own, and opens its own nonce for us.
    for seat in (0, 1):
        record.seal(seat, OTHER)
    for seat in (0, 1):
        record.open(seat, OTHER)
    entries = record.shown(SEAT)
    with pytest.raises(Alarm, match="not the one you kept"):
        take(witness, entries[1:])
    assert nonce_seal("toy", MATCH, 0, OTHER) in entries[1].public


def test_a_view_of_another_history_than_its_entries_is_noticed() -> None:
    record = Recorded()
    witness, _ = sealed(record)
    head = frame_pb2.MatchHead(match_id=MATCH, version=witness.chain.version, hash=witness.chain.head)
    witness.check_head(head)
    for wrong in (
        frame_pb2.MatchHead(match_id="x" * 26, version=head.version, hash=head.hash),
        frame_pb2.MatchHead(match_id=MATCH, version=head.version + 1, hash=head.hash),
        frame_pb2.MatchHead(match_id=MATCH, version=head.version, hash=bytes(32)),
    ):
        with pytest.raises(Alarm, match="another history"):
            witness.check_head(wrong)


def test_a_match_is_created_once() -> None:
    record = Recorded()
    record.create()
    record.seal(0, OTHER)
    entries = record.shown(SEAT)
    twice = relinked(entries, 2, entries[0].public)
    with pytest.raises(Alarm, match="only once"):
        take(Witness(MATCH, 0), twice)


def test_events_that_cannot_be_read_are_noticed() -> None:
    record = Recorded()
    record.create()
    entries = record.shown(SEAT)
    with pytest.raises(Alarm, match="cannot be read"):
        take(Witness(MATCH, 0), relinked(entries, 1, b"\xff"))


def test_whole_events_put_own_fields_back_and_leave_the_others_closed() -> None:
    record = Recorded()
    started(record)
    dealt = [
        event
        for viewer in (SEAT, PUBLIC)
        for event in whole_events(record.shown(viewer)[4])
        if event.type == "nonces_revealed" or event.type == "runes_dealt"
    ]
    own, public = dealt[1], dealt[3]
    assert len(own.body) > len(public.body)
    assert dealt[0].body == dealt[2].body
