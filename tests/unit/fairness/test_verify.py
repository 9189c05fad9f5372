"""The audit: honest logs hold, and of the others the first line that lies is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness.export import ExportError, read_export, write_export
from grimoire.fairness.findings import Check
from grimoire.fairness.verify import LIMITS, exit_status, first_lie, unreadable, verify, verify_export, with_check
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2
from tests.support.transparency import logged

PASSED = audit_pb2.CHECK_STATUS_PASSED
FAILED = audit_pb2.CHECK_STATUS_FAILED
NOT_CHECKED = audit_pb2.CHECK_STATUS_NOT_CHECKED

ANALYSIS = match_pb2.MATCH_MODE_ANALYSIS
WALKED = audit_pb2.AuditCheck(number=8, name="Rules walk", status=PASSED, detail="walked")

Entry = frame_pb2.ViewerEntry
Report = audit_pb2.AuditReport


def statuses(report: Report) -> list[int]:
    return [check.status for check in report.checks]


def failed(report: Report) -> dict[int, int]:
    """Check to the version it names."""
    return {check.number: check.version for check in report.checks if check.status == FAILED}


def detail(report: Report, check: Check) -> str:
    return report.checks[check - 1].detail


@pytest.fixture
def log(plain: SimpleNamespace) -> list[Entry]:
    return plain.write(plain.finished())


@pytest.fixture(scope="module")
def file(plain: SimpleNamespace) -> bytes:
    return b"".join(write_export(plain.GAME, plain.MATCH, plain.write(plain.finished()), ALL))


# ---- honest logs -----------------------------------------------------------------------------------------------------


def test_an_honest_log_holds(plain: SimpleNamespace, log: list[Entry]) -> None:
    report = verify(log, schema=plain.TOY, rules_walk=WALKED)
    assert statuses(report) == [PASSED] * 6 + [NOT_CHECKED, PASSED]
    assert [check.number for check in report.checks] == list(range(1, 9))
    assert all(check.name and check.detail for check in report.checks)
    assert (report.match_id, report.game, report.passed) == (plain.MATCH, plain.GAME, True)
    assert (report.head, report.entries) == (log[-1].hash, 8)
    assert exit_status(report) == 0
    assert first_lie(report) is None
    assert "5 recorded draws" in detail(report, Check.DRAWS)


def test_the_honest_limits_are_printed(log: list[Entry]) -> None:
    report = verify(log)
    assert list(report.limits)[: len(LIMITS)] == list(LIMITS)
    text = " ".join(report.limits)
    for limit in ("did not look", "told a seat", "not signed by its person", "operator's clock", "keepsake"):
        assert limit in text


def test_no_game_code_is_needed(plain: SimpleNamespace, log: list[Entry]) -> None:
    assert statuses(verify(log))[:6] == [PASSED] * 6
    assert statuses(verify(log, schema=plain.WHOLE))[:6] == [PASSED] * 6


def test_check_8_alone_open_gives_status_3(log: list[Entry]) -> None:
    assert exit_status(verify(log)) == 3
    missing = audit_pb2.AuditCheck(number=8, status=NOT_CHECKED, detail="rules version 2 not installed")
    report = verify(log, rules_walk=missing)
    assert (exit_status(report), report.passed) == (3, False)
    assert report.checks[7] == missing


def test_check_8_may_be_made_afterwards(log: list[Entry], file: bytes) -> None:
    report = verify(log)
    assert with_check(report, WALKED).passed
    assert not report.passed
    refused = audit_pb2.AuditCheck(number=8, status=FAILED, detail="other events", version=6)
    assert exit_status(with_check(report, refused)) == 1
    from_file = with_check(verify_export(read_export([file])), refused, from_file=True)
    assert (from_file.checks[7].version, from_file.checks[7].line) == (6, 7)


def test_an_empty_report_proves_nothing() -> None:
    assert exit_status(audit_pb2.AuditReport()) == 3


@pytest.mark.parametrize("viewer", [PUBLIC, Viewer.of_seat(0), ALL])
@pytest.mark.parametrize("length", [1, 3, 4, 5, 7])
def test_a_match_not_yet_revealed_is_checked_as_far_as_it_can_be(
    plain: SimpleNamespace, log: list[Entry], viewer: Viewer, length: int
) -> None:
    shown = [
        Entry(
            header=e.header,
            public=e.public,
            parts=[p for p in e.parts if viewer.may_see(p.audience)],
            digests=e.digests,
            hash=e.hash,
        )
        for e in log[:length]
    ]
    report = verify(shown, schema=plain.TOY)
    assert statuses(report) == [NOT_CHECKED] * 5 + [PASSED, NOT_CHECKED, NOT_CHECKED]
    assert all("not yet revealed" in report.checks[i].detail for i in range(5))
    assert exit_status(report) == 3


def test_a_log_without_the_opened_parts_fails_once_it_is_revealed(plain: SimpleNamespace, file: bytes) -> None:
    log = list(read_export([file]).entries)
    for entry in log:
        del entry.parts[:]
    assert failed(verify(log))[Check.CHAIN] == 1


def test_analysis_allows_what_is_set_by_hand_and_says_so(plain: SimpleNamespace) -> None:
    steps = plain.finished(ANALYSIS)
    steps[5].draws[0].results[0] = (steps[5].draws[0].results[0] + 1) % 102
    steps[4].events.insert(3, plain.event("position_arranged", size=1, cards=["ruby"]))
    report = verify(plain.write(steps), schema=plain.TOY)
    assert statuses(report)[:6] == [PASSED] * 6
    assert "set by hand" in detail(report, Check.DRAWS)


@pytest.mark.parametrize(("opened", "reason"), [(0, "not_opened"), (1, "not_opened")])
def test_a_voided_handshake_holds_without_a_joint_seed(plain: SimpleNamespace, opened: int, reason: str) -> None:
    report = verify(plain.write(plain.voided(opened, reason=reason)), schema=plain.TOY, rules_walk=WALKED)
    assert statuses(report) == [PASSED] * 6 + [NOT_CHECKED, PASSED]
    assert "never ended" in detail(report, Check.NONCES)
    assert "no joint seed" in detail(report, Check.JOINT_SEED)
    assert "never started" in detail(report, Check.DEAL_DIGEST)


def test_a_seat_that_never_sealed_voids_too(plain: SimpleNamespace) -> None:
    steps = plain.voided(0, reason="not_sealed", seats=[1])
    del steps[2]
    report = verify(plain.write(steps), rules_walk=WALKED)
    assert exit_status(report) == 0
    assert "1 of 2 seats sealed, 0 opened" in detail(report, Check.NONCES)


def test_the_host_may_void_at_any_time(plain: SimpleNamespace) -> None:
    assert (
        exit_status(verify(plain.write(plain.voided(1, reason="maintenance", seats=[], by=2)), rules_walk=WALKED)) == 0
    )
    steps = plain.finished()
    steps[7].events[0] = plain.event("match_voided", by=2, reason="maintenance")
    steps[7].actor = plain.HOST
    assert exit_status(verify(plain.write(steps), rules_walk=WALKED)) == 0


def test_secrets_may_be_opened_when_a_whole_event_ends(plain: SimpleNamespace) -> None:
    steps = plain.finished()
    reveal = steps[7].events.pop()
    steps[0].events[0].reveal.CopyFrom(match_pb2.Reveal(event_end=match_pb2.EventEnd(event_id="cup", latest_ms=9)))
    closed = plain.write(steps)
    assert statuses(verify(closed))[:6] == [NOT_CHECKED] * 5 + [PASSED]
    steps.append(plain.Step([reveal], actor=plain.HOST, type="reveal"))
    assert exit_status(verify(plain.write(steps), rules_walk=WALKED)) == 0


def test_a_seal_may_be_replaced_until_the_last_one_is_in(plain: SimpleNamespace) -> None:
    steps = plain.finished()
    steps.insert(1, plain.Step([plain.event("nonce_sealed", seat=0, seal=bytes(32))], seat=0, type="seal_nonce"))
    assert exit_status(verify(plain.write(steps), rules_walk=WALKED)) == 0


def test_fields_of_a_later_schema_are_no_lie(plain: SimpleNamespace) -> None:
    """Protos only grow: an older verifier meets fields it does not know."""

    def grown(public: bytes) -> bytes:
        events = match_pb2.Events.FromString(public)
        for event in events.events:
            event.body += b"\xfa\x3f\x01x"  # field 1023, one byte
        return events.SerializeToString()

    steps = plain.finished()
    for step in steps[:-1]:
        step.touch_public = grown
    assert exit_status(verify(plain.write(steps), schema=plain.TOY, rules_walk=WALKED)) == 0


# ---- every byte ------------------------------------------------------------------------------------------------------


def judge(data: bytes, plain: SimpleNamespace) -> Report:
    try:
        export = read_export([data])
    except ExportError as error:
        return unreadable(error)
    return verify_export(export, schema=plain.TOY)


@pytest.mark.parametrize(("viewer", "length"), [(ALL, 8), (Viewer.of_seat(0), 5), (PUBLIC, 7)])
def test_a_changed_byte_anywhere_is_found_on_its_line(plain: SimpleNamespace, viewer: Viewer, length: int) -> None:
    """Every single byte of the file; the line named is the line changed."""
    log = plain.write(plain.finished())[:length]
    file = b"".join(write_export(plain.GAME, plain.MATCH, log, viewer, logged(log)))
    assert failed(judge(file, plain)) == {}
    chance = random.Random(7)
    line = 1
    for position, byte in enumerate(file):
        changed = bytearray(file)
        changed[position] = chance.choice([b for b in b'AZaz09+/="{}[],: \n' if b != byte])
        report = judge(bytes(changed), plain)
        lie = first_lie(report)
        assert lie is not None, f"byte {position} of line {line} changed unseen"
        assert exit_status(report) == 1
        # Game and match of the first line are denied by the first entry, on line 2.
        assert lie.line == line or (line, lie.line) == (1, 2), f"byte {position} of line {line}: {lie}"
        line += byte == 10


@pytest.mark.parametrize("field", ["header", "public", "salt", "body", "digest", "hash"])
@pytest.mark.parametrize("index", range(8))
def test_a_flipped_byte_of_every_field_is_found_at_its_entry(
    plain: SimpleNamespace, log: list[Entry], field: str, index: int
) -> None:
    entry = log[index]
    holder = entry.parts[-1] if field in ("salt", "body") else entry.digests[-1] if field == "digest" else entry
    value = bytearray(getattr(holder, field))
    value[len(value) // 2] ^= 0x40
    setattr(holder, field, bytes(value))
    report = verify(log, schema=plain.TOY)
    assert failed(report)[Check.CHAIN] == index + 1
    lie = first_lie(report)
    assert lie is not None
    assert lie.version == index + 1


@pytest.mark.parametrize(
    ("shuffle", "version"),
    [
        (lambda e: e[1:], 1),
        (lambda e: e[:3] + e[4:], 4),
        (lambda e: [*e[:5], e[6], e[5], e[7]], 6),
        (lambda e: [*e[:3], e[2], *e[3:]], 4),
        (lambda e: e + e[-1:], 9),
        (lambda e: e[:1] + e, 2),
        (lambda e: list(reversed(e)), 1),
    ],
)
def test_removed_swapped_and_repeated_entries_are_found(
    log: list[Entry], shuffle: Callable[[list[Entry]], list[Entry]], version: int
) -> None:
    report = verify(shuffle(log))
    assert failed(report)[Check.CHAIN] == version


def test_an_entry_put_in_is_found(plain: SimpleNamespace, log: list[Entry]) -> None:
    steps = plain.finished()
    steps.insert(6, plain.Step([plain.event("turn_passed", seat=0)], command_id=bytes(16)))
    inserted = plain.write(steps)[6]
    assert failed(verify([*log[:6], inserted, *log[6:]], schema=plain.TOY))[Check.CHAIN] == 8


def test_an_entry_of_another_match_is_found(plain: SimpleNamespace, log: list[Entry]) -> None:
    assert failed(verify(log, match_id="other"))[Check.CHAIN] == 1
    steps = plain.finished()
    steps[5].match_id = "other"
    assert failed(verify(plain.write(steps)))[Check.CHAIN] == 6


def test_a_log_of_another_game_is_found(log: list[Entry]) -> None:
    assert failed(verify(log, game="two_towers")) == {Check.CHAIN: 1}


def test_the_end_line_must_name_the_head(plain: SimpleNamespace, log: list[Entry], file: bytes) -> None:
    end = file.rindex(b'"head":"') + 8
    report = judge(file[:end] + file[end : end + 4][::-1] + file[end + 4 :], plain)
    lie = first_lie(report)
    assert lie is not None
    assert (lie.number, lie.line, "another head" in lie.detail) == (Check.CHAIN, 10, True)
    assert (exit_status(report), report.passed) == (1, False)


def test_an_unreadable_file_names_its_line(plain: SimpleNamespace, file: bytes) -> None:
    report = judge(file[:-30], plain)
    assert [c.line for c in report.checks if c.status == FAILED] == [10]
    assert "cannot be read" in detail(report, Check.CHAIN)
    assert statuses(report) == [NOT_CHECKED] * 5 + [FAILED, NOT_CHECKED, NOT_CHECKED]
    assert exit_status(report) == 1


# ---- lies that hang together: the whole chain is made anew around them -----------------------------------------------

Steps = list
Lie = Callable[[SimpleNamespace, Steps], object]


def _reveal(steps: Steps) -> match_pb2.FairnessRevealed:
    return steps[7].events[1]


def _other_seed(p: SimpleNamespace, steps: Steps) -> None:
    _reveal(steps).server_seed = bytes([1]) * 32


def _swap_seals(p: SimpleNamespace, steps: Steps) -> None:
    steps[2], steps[3] = steps[3], steps[2]


def _late_seal(p: SimpleNamespace, steps: Steps) -> None:
    steps.insert(4, p.Step([p.event("nonce_sealed", seat=1, seal=bytes(32))], seat=1, type="seal_nonce"))


def _use_label_again(p: SimpleNamespace, steps: Steps) -> None:
    steps[6].draws = [steps[5].draws[0]]


def _draw_early(p: SimpleNamespace, steps: Steps) -> None:
    steps[3].draws = [steps[5].draws[2]]


def _strange(kind: str, bound: int, results: list[int], label: str = "odd") -> Lie:
    def lie(p: SimpleNamespace, steps: Steps) -> None:
        steps[6].draws = [p.draw(label, kind, bound, results)]

    return lie


def _arrange(p: SimpleNamespace, steps: Steps) -> None:
    steps[4].events.insert(3, p.event("position_arranged", size=1))


def _position(p: SimpleNamespace, steps: Steps) -> None:
    steps[0].payload = match_pb2.CreateMatch(game=p.GAME, position=b"x").SerializeToString()


def _set(step: int, event: int, field: str, value: object) -> Lie:
    def lie(p: SimpleNamespace, steps: Steps) -> None:
        message = steps[step].events[event]
        if isinstance(value, list):
            message.ClearField(field)
            getattr(message, field).extend(value)
        else:
            setattr(message, field, value)

    return lie


def _result(step: int, draw: int, at: int) -> Lie:
    def lie(p: SimpleNamespace, steps: Steps) -> None:
        results = steps[step].draws[draw].results
        results[at] = (results[at] + 1) % 2

    return lie


def _swap_order(p: SimpleNamespace, steps: Steps) -> None:
    order = steps[4].draws[1].results
    order[0], order[1] = order[1], order[0]


def _drop_draw(p: SimpleNamespace, steps: Steps) -> None:
    """Leaving out the first of two asks of one label: the second is then not the stream's first."""
    del steps[5].draws[0]


LIES: dict[str, tuple[Lie, Check, int]] = {
    "seed": (_other_seed, Check.COMMITMENT, 8),
    "short seed": (lambda p, s: setattr(_reveal(s), "server_seed", b"x"), Check.COMMITMENT, 8),
    "no seed": (lambda p, s: setattr(_reveal(s), "server_seed", b""), Check.COMMITMENT, 8),
    "commitment": (_set(0, 0, "server_commitment", bytes(32)), Check.COMMITMENT, 8),
    "seal": (_set(1, 0, "seal", bytes(32)), Check.NONCES, 4),
    "opening": (_set(3, 0, "nonce", bytes(32)), Check.NONCES, 4),
    "short opening": (_set(3, 0, "nonce", b"x"), Check.NONCES, 4),
    "revealed nonce": (lambda p, s: setattr(s[4].events[1].nonces[0], "nonce", bytes(32)), Check.NONCES, 5),
    "revealed twice": (lambda p, s: s[4].events[1].nonces.append(s[4].events[1].nonces[0]), Check.NONCES, 5),
    "one not revealed": (lambda p, s: s[4].events[1].nonces.pop(), Check.NONCES, 5),
    "last word": (lambda p, s: _reveal(s).nonces.pop(), Check.NONCES, 8),
    "opened before all sealed": (_swap_seals, Check.NONCES, 3),
    "sealed after all sealed": (_late_seal, Check.NONCES, 5),
    "joint seed": (lambda p, s: setattr(_reveal(s), "joint_seed", bytes(32)), Check.JOINT_SEED, 8),
    "no joint seed": (lambda p, s: setattr(_reveal(s), "joint_seed", b""), Check.JOINT_SEED, 8),
    "below": (_result(5, 0, 0), Check.DRAWS, 6),
    "second below": (_result(5, 1, 0), Check.DRAWS, 6),
    "left out": (_drop_draw, Check.DRAWS, 6),
    "order": (_swap_order, Check.DRAWS, 5),
    "sample": (_result(5, 2, 0), Check.DRAWS, 6),
    "bound": (lambda p, s: setattr(s[5].draws[0], "bound", 103), Check.DRAWS, 6),
    "label": (lambda p, s: setattr(s[4].draws[1], "label", "deck/2"), Check.DRAWS, 5),
    "label again": (_use_label_again, Check.DRAWS, 7),
    "drawn early": (_draw_early, Check.DRAWS, 4),
    "no kind": (lambda p, s: setattr(s[5].draws[0], "kind", 0), Check.DRAWS, 6),
    "no label": (_strange("below", 2, [0], label=""), Check.DRAWS, 7),
    "bad label": (_strange("below", 2, [0], label="A b"), Check.DRAWS, 7),
    "no bound": (_strange("below", 0, [0]), Check.DRAWS, 7),
    "vast bound": (_strange("below", 2**63, [0]), Check.DRAWS, 7),
    "two results": (_strange("below", 2, [0, 1]), Check.DRAWS, 7),
    "vast shuffle": (_strange("shuffle", 2**32, [0, 1]), Check.DRAWS, 7),
    "vast sample": (_strange("sample", 2**32, [0, 1]), Check.DRAWS, 7),
    "sample of too many": (_strange("sample", 1, [0, 1]), Check.DRAWS, 7),
    "arranged": (_arrange, Check.DRAWS, 5),
    "created from a position": (_position, Check.DRAWS, 1),
    "creation unreadable": (lambda p, s: setattr(s[0], "payload", b"\xff\xff"), Check.DRAWS, 1),
    "digest": (_set(4, 2, "deal_digest", bytes(32)), Check.DEAL_DIGEST, 5),
    "lines": (_set(4, 2, "deal_lines", ["0", "ruby"]), Check.DEAL_DIGEST, 5),
    "lines of other letters": (_set(4, 2, "deal_lines", ["ä"]), Check.DEAL_DIGEST, 5),
    "lines with a feed": (_set(4, 2, "deal_lines", ["0\n1"]), Check.DEAL_DIGEST, 5),
    "salt": (lambda p, s: setattr(_reveal(s), "salt", bytes(32)), Check.DEAL_DIGEST, 8),
    "version": (lambda p, s: setattr(s[5], "version", 7), Check.CHAIN, 6),
    "time": (lambda p, s: setattr(s[5], "time_ms", 5), Check.CHAIN, 6),
    "command id again": (lambda p, s: setattr(s[5], "command_id", s[4].command_id or b"x"), Check.CHAIN, 6),
    "record of another": (lambda p, s: setattr(s[5], "record_seat", 9), Check.CHAIN, 6),
    "nobody acted": (lambda p, s: setattr(s[6], "actor", 0), Check.CHAIN, 7),
    "no such seat": (lambda p, s: setattr(s[5], "seat", 7), Check.CHAIN, 6),
    "sealed by another": (lambda p, s: setattr(s[1], "seat", 1), Check.CHAIN, 2),
    "part salt": (lambda p, s: s[5].salts.update(command=bytes(16)), Check.CHAIN, 6),
    "created twice": (lambda p, s: s[1].events.append(s[0].events[0]), Check.CHAIN, 2),
    "not created": (lambda p, s: s[0].events.clear(), Check.CHAIN, 1),
    "too many seats": (
        lambda p, s: s[0].events[0].seats.extend(match_pb2.SeatOccupant(seat=n) for n in range(2, 70)),
        Check.CHAIN,
        1,
    ),
    "no seats": (_set(0, 0, "seats", []), Check.CHAIN, 1),
    "started twice": (lambda p, s: s[5].events.append(s[4].events[2]), Check.CHAIN, 6),
    "dealt before the digest": (lambda p, s: s[4].events.insert(2, s[4].events.pop(3)), Check.CHAIN, 5),
    "played before the start": (lambda p, s: s[2].events.append(p.event("turn_passed")), Check.CHAIN, 3),
    "started before the nonces": (lambda p, s: s[4].events.insert(1, s[4].events.pop(2)), Check.CHAIN, 5),
    "nonces twice": (lambda p, s: s[5].events.append(s[4].events[1]), Check.CHAIN, 6),
    "closed twice": (lambda p, s: s[7].events.insert(1, s[7].events[0]), Check.CHAIN, 8),
    "played on": (lambda p, s: s[7].events.insert(1, p.event("turn_passed")), Check.CHAIN, 8),
    "after the reveal": (lambda p, s: s[7].events.append(p.event("turn_passed")), Check.CHAIN, 8),
    "entry after the reveal": (lambda p, s: s.append(p.Step([])), Check.CHAIN, 9),
    "secrets twice": (lambda p, s: s[7].events.append(s[7].events[1]), Check.CHAIN, 8),
    "revealed before the end": (lambda p, s: s[7].events.reverse(), Check.CHAIN, 8),
    "never closed": (lambda p, s: s[7].events.pop(0), Check.CHAIN, 8),
    "reveal in another entry": (
        lambda p, s: s.append(p.Step([s[7].events.pop()], actor=p.HOST, type="reveal")),
        Check.CHAIN,
        9,
    ),
    "never revealed": (lambda p, s: s[7].events.pop(), Check.CHAIN, 8),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_that_hangs_together_is_found_by_its_check(plain: SimpleNamespace, lie: str) -> None:
    tell, check, version = LIES[lie]
    steps = plain.finished()
    if lie == "command id again":
        steps[4].command_id = bytes([5]) * 16
    tell(plain, steps)
    report = verify(plain.write(steps), schema=plain.TOY, rules_walk=WALKED)
    assert failed(report).get(check) == version, report
    assert exit_status(report) == 1
    assert not report.passed


@pytest.mark.parametrize(
    "lie", [name for name, (_, check, _) in LIES.items() if check in (Check.COMMITMENT, Check.NONCES)]
)
def test_draws_are_not_called_false_when_there_is_no_seed_to_trust(plain: SimpleNamespace, lie: str) -> None:
    steps = plain.finished()
    LIES[lie][0](plain, steps)
    report = verify(plain.write(steps))
    assert statuses(report)[3:5] == [NOT_CHECKED, NOT_CHECKED]


@pytest.mark.parametrize(
    ("opened", "seats", "reason"),
    [(1, [0], "not_opened"), (1, [], "not_opened"), (1, [1], "not_sealed"), (0, [1], "not_opened")],
)
def test_a_void_that_blames_the_wrong_seats_is_found(
    plain: SimpleNamespace, opened: int, seats: list[int], reason: str
) -> None:
    report = verify(plain.write(plain.voided(opened, seats=seats, reason=reason)))
    assert failed(report) == {Check.NONCES: 4 + opened}


def test_a_void_that_claims_a_joint_seed_is_found(plain: SimpleNamespace) -> None:
    steps = plain.voided(1)
    steps[-1].events[1].joint_seed = bytes(32)
    assert failed(verify(plain.write(steps))) == {Check.JOINT_SEED: 5}


def test_a_void_that_reveals_other_nonces_is_found(plain: SimpleNamespace) -> None:
    steps = plain.voided(1)
    steps[-1].events[1].nonces[0].nonce = bytes(32)
    assert failed(verify(plain.write(steps))) == {Check.NONCES: 5}


# ---- who may see what ------------------------------------------------------------------------------------------------


def _without(audience: str) -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda parts: {a: b for a, b in parts.items() if a != audience}


def _with(audience: str, body: bytes = b"") -> Callable[[dict[str, bytes]], dict[str, bytes]]:
    return lambda parts: {**parts, audience: body}


def _piece(index: int, body: bytes) -> bytes:
    return match_pb2.PartEvents(events=[match_pb2.PartEvent(index=index, body=body)]).SerializeToString()


def _swap(parts: dict[str, bytes]) -> dict[str, bytes]:
    return {**parts, "seat/0": parts["seat/1"], "seat/1": parts["seat/0"]}


def _card(card: str) -> bytes:
    return b"\x12" + bytes([len(card)]) + card.encode()


@pytest.mark.parametrize(
    ("step", "touch", "reason"),
    [
        (4, _without("seat/0"), "its events need a part 'seat/0'"),
        (4, _without("sealed"), "its events need a part 'sealed'"),
        (5, _without("command"), "no command part"),
        (5, _with("seat/0"), "part 'seat/0', which its events do not need"),
        (5, _with("sealed"), "part 'sealed', which its events do not need"),
        (5, _with("seat/2"), "no audience 'seat/2'"),
        (5, _with("seat/00"), "no audience 'seat/00'"),
        (5, _with("referee"), "no audience 'referee'"),
        (5, _with("seat/0", _piece(0, _card("ruby"))), "other parts than the schema says"),
        (5, _with("seat/0", _piece(9, _card("ruby"))), "does not follow the public events"),
        (5, _with("seat/0", b"\xff"), "part 'seat/0' cannot be read"),
        (4, _swap, "other parts than the schema says"),
        (6, _with("seat/0", _piece(0, b"\x12\x08\x08\x01\x12\x04ruby")), "field of another audience"),
        (6, _with("seat/0", _piece(0, b"\x0a\x03all")), "field of another audience"),
    ],
)
def test_parts_are_exactly_those_the_schema_asks_for(
    plain: SimpleNamespace, step: int, touch: Callable[[dict[str, bytes]], dict[str, bytes]], reason: str
) -> None:
    steps = plain.finished()
    steps[step].touch_parts = touch
    report = verify(plain.write(steps), schema=plain.TOY)
    assert failed(report)[Check.CHAIN] == step + 1
    assert reason in detail(report, Check.CHAIN)


def test_a_missing_part_is_found_while_the_rest_is_hidden(plain: SimpleNamespace) -> None:
    """Which parts there are follows from public facts, so everybody can check it, live."""
    steps = plain.finished()[:7]
    steps[6].touch_parts = _without("seat/1")
    log = plain.write(steps)
    for entry in log:
        del entry.parts[:]
    report = verify(log, schema=plain.TOY)
    assert failed(report) == {Check.CHAIN: 7}
    assert "need a part 'seat/1'" in detail(report, Check.CHAIN)
    assert failed(verify(log)) == {}  # without the game's schema its events are opaque


def test_a_hidden_field_published_to_all_is_found(plain: SimpleNamespace) -> None:
    def publish(public: bytes) -> bytes:
        events = match_pb2.Events.FromString(public)
        events.events[3].body += _card("ruby")
        return events.SerializeToString()

    steps = plain.finished()
    steps[4].touch_public = publish
    report = verify(plain.write(steps), schema=plain.TOY)
    assert failed(report) == {Check.CHAIN: 5}
    assert "not public" in detail(report, Check.CHAIN)


# ---- hostile logs ----------------------------------------------------------------------------------------------------


def test_an_empty_log_fails() -> None:
    report = verify([])
    assert exit_status(report) == 1
    assert "names no match" in detail(report, Check.CHAIN)


@pytest.mark.parametrize("match_id", ["", "a b", "x" * 65, "\u2028"])
def test_a_log_without_a_proper_match_id_fails(match_id: str) -> None:
    header = match_pb2.EntryHeader(match_id=match_id, version=1).SerializeToString()
    report = verify([Entry(header=header)])
    assert (exit_status(report), report.match_id) == (1, "")


def test_a_game_that_is_none_is_not_repeated(plain: SimpleNamespace) -> None:
    steps = plain.finished()
    steps[0].events[0].game = "\x1b[2J"
    report = verify(plain.write(steps))
    assert (report.game, failed(report)[Check.COMMITMENT]) == ("", 1)


@pytest.mark.parametrize("part", ["header", "public", "command"])
def test_bytes_that_are_no_messages_are_no_exception(plain: SimpleNamespace, part: str) -> None:
    steps = plain.finished()
    if part == "public":
        steps[5].touch_public = lambda _: b"\xff\xff"
    if part == "command":
        steps[5].touch_parts = _with("command", b"\xff\xff")
    log = plain.write(steps)
    if part == "header":
        log[5].header = b"\xff\xff"
    assert failed(verify(log, schema=plain.TOY))[Check.CHAIN] == 6


def test_random_bytes_in_every_place_never_raise(plain: SimpleNamespace) -> None:
    chance = random.Random(11)
    for _ in range(300):
        log = plain.write(plain.finished())
        entry = log[chance.randrange(8)]
        holder = chance.choice([entry, *entry.parts, *entry.digests])
        fields = [f.name for f in holder.DESCRIPTOR.fields if f.type == f.TYPE_BYTES]
        setattr(holder, chance.choice(fields), chance.randbytes(chance.choice([0, 1, 16, 32, 200])))
        assert exit_status(verify(log, schema=plain.TOY)) == 1


def test_a_mass_of_events_costs_no_memory_of_its_own(plain: SimpleNamespace) -> None:
    """Only the first lie is kept, however many there are."""
    steps = plain.finished()[:3]
    steps[2].events += [plain.event("nonce_sealed", seat=5, seal=b"")] * 10_000
    report = verify(plain.write(steps))
    assert failed(report)[Check.CHAIN] == 3
    assert report.ByteSize() < 4_000
