"""The handshake: seals, openings, and what voids it (fairness specification, sections 2 and 3)."""

from __future__ import annotations

import itertools

import pytest

from grimoire.engine import PUBLIC, Viewer
from grimoire.fairness import commitments
from grimoire.match import Entry, Phase
from grimoire.match.table import Table, default_nonces, default_seed
from grimoire.v1 import match_pb2
from tests.support.toy import PLUGIN


def table(seats: int = 2, **more) -> Table:
    made = Table(PLUGIN.game, match_id="handshake", seats=seats, **more)
    made.create()
    return made


def codes(entry: Entry) -> list[str]:
    return [type(event).__name__ for event in entry.events]


def test_match_created_fixes_everything_before_a_seat_moves():
    made = table(3, options={"goal": "20"}, game_no=2)
    created = made.entries[0].events[0]
    assert isinstance(created, match_pb2.MatchCreated)
    assert created.server_commitment == commitments.server_commitment("toy", "handshake", default_seed())
    assert {o.name: o.value for o in created.options} == {
        "mode": "coop",
        "rounds": "2",
        "goal": "20",
        "choose_s": "30",
        "react_s": "10",
    }
    assert [(c.deadline_class, c.seconds) for c in created.time_control.per_prompt] == [("turn", 30), ("reaction", 10)]
    assert (created.handshake_s, created.rules_digest, created.reveal.match_end) == (60, PLUGIN.game.rules_digest, True)
    assert (created.series.series_id, created.series.game_no) == ("series", 2)
    assert made.running.phase is Phase.HANDSHAKE
    assert made.running.next_deadline_ms == made.now_ms + 60_000


def test_a_correspondence_match_has_a_day_for_its_handshake():
    made = table(options={"choose_s": "3600"})
    assert made.running.handshake_deadline_ms == made.now_ms + 24 * 3600 * 1000
    asked = Table(PLUGIN.game, match_id="m", seats=2, handshake_s=7)
    asked.create()
    assert asked.running.handshake_deadline_ms == asked.now_ms + 7_000


@pytest.mark.parametrize("seal_order", [*itertools.permutations(range(3))])
@pytest.mark.parametrize("open_order", [*itertools.permutations(range(3))])
def test_seats_may_seal_and_open_in_any_order(seal_order, open_order):
    made = table(3)
    for seat in seal_order:
        assert codes(made.seal(seat)) == ["NonceSealed"]
    for seat in open_order[:-1]:
        assert codes(made.open(seat)) == ["NonceOpened"]
    assert made.running.phase is Phase.HANDSHAKE
    last = made.open(open_order[-1])
    assert codes(last)[:3] == ["NonceOpened", "NoncesRevealed", "MatchStarted"]
    assert [(n.seat, n.nonce) for n in last.events[1].nonces] == list(enumerate(default_nonces(3)))
    assert made.running.phase is Phase.RUNNING
    assert made.running.joint == commitments.joint_seed("toy", "handshake", default_seed(), default_nonces(3))


def test_the_order_of_the_handshake_does_not_change_the_deal():
    first, second = table(), table()
    for seat in (0, 1):
        first.seal(seat)
    for seat in (1, 0):
        second.seal(seat)
    first.open(0), first.open(1)
    second.open(1), second.open(0)
    assert first.entries[-1].events[1:] == second.entries[-1].events[1:]


def test_match_started_binds_the_deal():
    made = table()
    made.seal(0), made.seal(1), made.open(0)
    started = next(e for e in made.open(1).events if isinstance(e, match_pb2.MatchStarted))
    salt = commitments.deal_salt("toy", made.running.joint)
    assert started.deal_digest == commitments.deal_digest("toy", "handshake", salt, list(started.deal_lines))
    shown = next(e for e in made.feed(Viewer.of_seat(0), made.entries[-1]) if isinstance(e, match_pb2.MatchStarted))
    assert shown.deal_digest == started.deal_digest
    assert not shown.deal_lines


def test_a_seal_may_be_replaced_until_the_last_is_in():
    made = table()
    other = bytes([7]) * 32
    made.seal(0)
    assert codes(made.seal(0, other)) == ["NonceSealed"]
    assert codes(made.seal(1)) == ["NonceSealed"]
    assert made.seal(0).code == "nonce_already_set"
    assert made.open(0).code == "bad_nonce"
    assert codes(made.open(0, other)) == ["NonceOpened"]
    assert made.seal(0).code == "nonce_already_set"
    made.open(1)
    assert made.running.nonces == (other, default_nonces(2)[1])


def test_nothing_is_opened_before_all_have_sealed():
    made = table()
    assert made.open(0).code == "seals_missing"
    made.seal(0)
    assert made.open(0).code == "seals_missing"
    assert len(made.entries) == 2


def test_a_nonce_must_fit_its_seal_and_may_be_tried_again():
    made = table()
    made.seal(0), made.seal(1)
    assert made.open(0, bytes(32)).code == "bad_nonce"
    assert made.open(0, default_nonces(2)[1]).code == "bad_nonce", "another seat's nonce"
    assert isinstance(made.open(0), Entry)
    assert made.open(0).code == "nonce_already_set"


def test_a_copied_seal_does_not_open():
    made = table()
    made.seal(0)
    copied = made.entries[-1].events[0].seal
    made.play(1, match_pb2.SealNonce(seal=copied))
    assert made.open(1, default_nonces(2)[0]).code == "bad_nonce"


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_seals_and_nonces_have_32_bytes(size):
    made = table()
    refused = made.play(0, match_pb2.SealNonce(seal=bytes(size)))
    assert (refused.code, refused.field) == ("malformed", "seal")
    made.seal(0), made.seal(1)
    refused = made.play(0, match_pb2.OpenNonce(nonce=bytes(size)))
    assert (refused.code, refused.field) == ("malformed", "nonce")


def test_an_all_zero_nonce_is_legal():
    made = table(nonces=(bytes(32), bytes(32)))
    made.seal(0), made.seal(1), made.open(0)
    assert isinstance(made.open(1), Entry)
    assert made.running.phase is Phase.RUNNING


def test_an_opened_nonce_is_its_seats_own_until_all_are_in():
    made = table()
    made.seal(0), made.seal(1)
    opened = made.open(0)
    assert default_nonces(2)[0] not in opened.public
    assert dict(opened.parts)["seat/0"] != b""
    assert made.feed(Viewer.of_seat(0), opened)[0].nonce == default_nonces(2)[0]
    for viewer in (Viewer.of_seat(1), PUBLIC):
        assert made.feed(viewer, opened)[0].nonce == b""
        assert made.feed(viewer, opened)[0].seat == 0


@pytest.mark.parametrize(("sealing", "missing"), [((), [0, 1, 2]), ((0,), [1, 2]), ((2, 0), [1])])
def test_a_missing_seal_voids_and_names_the_seats(sealing, missing):
    made = table(3)
    for seat in sealing:
        made.seal(seat)
    made.now_ms = made.running.handshake_deadline_ms
    entry = made.expire(0)
    assert codes(entry) == ["MatchVoided", "FairnessRevealed"]
    voided, revealed = entry.events
    assert (voided.by, voided.reason, list(voided.seats)) == (match_pb2.VOIDED_BY_HANDSHAKE, "not_sealed", missing)
    assert revealed.server_seed == default_seed().open()
    assert (list(revealed.nonces), revealed.joint_seed, revealed.salt) == ([], b"", b"")
    state = made.running
    assert (state.phase, state.revealed, state.over, state.outcome) == (Phase.VOID, True, True, None)
    assert state.next_deadline_ms is None


@pytest.mark.parametrize(("opening", "missing"), [((), [0, 1, 2]), ((1,), [0, 2]), ((2, 1), [0])])
def test_a_missing_opening_voids_and_shows_the_opened_nonces(opening, missing):
    made = table(3)
    for seat in range(3):
        made.seal(seat)
    for seat in opening:
        made.open(seat)
    made.now_ms = made.running.handshake_deadline_ms
    voided, revealed = made.expire(0).events
    assert (voided.reason, list(voided.seats)) == ("not_opened", missing)
    assert [(n.seat, n.nonce) for n in revealed.nonces] == [(s, default_nonces(3)[s]) for s in sorted(opening)]
    assert revealed.joint_seed == b""


def test_the_handshake_expires_exactly_at_its_deadline():
    made = table()
    made.now_ms = made.running.handshake_deadline_ms - 1
    assert made.expire(0).code == "not_due"
    assert made.expire(1).code == "stale_prompt"
    made.now_ms += 1
    assert isinstance(made.expire(0), Entry)
    assert made.expire(0).duplicate, "the clock's command has a fixed id"


def test_the_handshake_is_over_when_play_runs():
    made = table()
    made.seal(0), made.seal(1), made.open(0), made.open(1)
    assert made.seal(0).code == "handshake_over"
    assert made.open(1).code == "handshake_over"
    made.now_ms += 10**9
    assert made.expire(0).code == "stale_prompt"


@pytest.mark.parametrize("steps", range(5))
def test_the_host_may_void_at_any_time(steps):
    made = table()
    for step in (lambda: made.seal(0), lambda: made.seal(1), lambda: made.open(0), lambda: made.open(1))[:steps]:
        step()
    entry = made.void("maintenance")
    *closed, voided, revealed = entry.events
    assert (voided.by, voided.reason, list(voided.seats)) == (match_pb2.VOIDED_BY_HOST, "maintenance", [])
    assert len(closed) == (4 if steps == 4 else 0), "open prompts close first"
    assert all(c.cause == match_pb2.PROMPT_CAUSE_MATCH_OVER for c in closed)
    assert bool(revealed.joint_seed) is bool(revealed.salt) is (steps == 4)
    assert made.running.phase is Phase.VOID
    assert made.running.prompts == ()
    assert made.void("again").code == "match_over"
    assert made.seal(0).code == "match_over"


def test_a_position_that_cannot_be_is_refused_at_creation_not_at_the_last_opening():
    bad = PLUGIN.positions.parse({}, {})
    bad.tokens.append(3)
    made = Table(
        PLUGIN.game,
        match_id="m",
        seats=2,
        mode=match_pb2.MATCH_MODE_ANALYSIS,
        position=bad.SerializeToString(),
    )
    refused = made.create()
    assert (refused.code, refused.rule) == ("bad_position", "TOY-2")
    assert made.state is None


def test_positions_are_for_analysis_only():
    good = PLUGIN.positions.parse({}, {}).SerializeToString()
    rated = Table(PLUGIN.game, match_id="m", seats=2, mode=match_pb2.MATCH_MODE_RATED, position=good)
    assert (rated.create().code, rated.create().field) == ("malformed", "position")
    analysis = Table(PLUGIN.game, match_id="m", seats=2, mode=match_pb2.MATCH_MODE_ANALYSIS, position=good)
    analysis.begin()
    assert codes(analysis.entries[-1])[3] == "PositionArranged"


def test_forced_draws_are_for_analysis_only():
    forced = {"deck": [5, 4, 3]}
    casual = Table(PLUGIN.game, match_id="m", seats=2, forced=forced)
    analysis = Table(PLUGIN.game, match_id="m", seats=2, forced=forced, mode=match_pb2.MATCH_MODE_ANALYSIS)
    plain = Table(PLUGIN.game, match_id="m", seats=2)
    for each in (casual, analysis, plain):
        each.begin()
    assert casual.entries[-1].events == plain.entries[-1].events
    assert analysis.running.game.keepers[0].hand[:2] == ("flint", "dew")
    assert list(analysis.entries[-1].draws[0].results)[:3] == [5, 4, 3]
