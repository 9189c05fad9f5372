"""The chain followed live, by one viewer, with the rest still hidden."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from grimoire.engine import PUBLIC, Viewer
from grimoire.fairness.livechain import ChainBroken, LiveChain
from grimoire.v1 import frame_pb2, match_pb2

Entry = frame_pb2.ViewerEntry


def seen_by(viewer: Viewer, log: list[Entry]) -> list[Entry]:
    shown = []
    for entry in log:
        copy = Entry()
        copy.CopyFrom(entry)
        del copy.parts[:]
        copy.parts.extend(p for p in entry.parts if viewer.may_see(p.audience))
        shown.append(copy)
    return shown


@pytest.fixture
def log(plain: SimpleNamespace) -> list[Entry]:
    return plain.write(plain.finished())


@pytest.mark.parametrize("viewer", [PUBLIC, Viewer.of_seat(0), Viewer.of_seat(1)])
def test_redacted_and_full_log_have_the_same_head(plain: SimpleNamespace, log: list[Entry], viewer: Viewer) -> None:
    full, redacted = LiveChain(plain.MATCH), LiveChain(plain.MATCH)
    for whole, shown in zip(log, seen_by(viewer, log), strict=True):
        full.feed(whole)
        header = redacted.feed(shown)
        assert (redacted.head, redacted.version) == (full.head, full.version) == (whole.hash, header.version)


def test_goes_on_from_a_known_entry(plain: SimpleNamespace, log: list[Entry]) -> None:
    chain = LiveChain(plain.MATCH, 4, log[3].hash)
    for entry in log[4:]:
        chain.feed(entry)
    assert chain.head == log[-1].hash


def test_a_known_entry_needs_its_hash(plain: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="takes its hash"):
        LiveChain(plain.MATCH, 4)


def _flip(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


def _header(entry: Entry, **fields: object) -> None:
    header = match_pb2.EntryHeader.FromString(entry.header)
    for name, value in fields.items():
        setattr(header, name, value)
    entry.header = header.SerializeToString()


def _swap_digests(entry: Entry) -> None:
    first, second = list(entry.digests)[:2]
    del entry.digests[:]
    entry.digests.extend([second, first])


LIES: dict[str, tuple[Callable[[Entry], object], str]] = {
    "header": (lambda e: setattr(e, "header", b"\xff\xff"), "header cannot be read"),
    "match": (lambda e: _header(e, match_id="other"), "names match 'other'"),
    "version": (lambda e: _header(e, version=6), "version 6 where 5 is due"),
    "time": (lambda e: _header(e, server_time_ms=1), "goes back"),
    "time forward": (lambda e: _header(e, server_time_ms=2**60), "hash does not follow"),
    "command id": (lambda e: _header(e, command_id=bytes(16)), "hash does not follow"),
    "public": (lambda e: setattr(e, "public", _flip(e.public)), "hash does not follow"),
    "hash": (lambda e: setattr(e, "hash", _flip(e.hash)), "hash does not follow"),
    "no hash": (lambda e: setattr(e, "hash", b""), "hash does not follow"),
    "digest": (lambda e: setattr(e.digests[0], "digest", _flip(e.digests[0].digest)), "hash does not follow"),
    "short digest": (lambda e: setattr(e.digests[0], "digest", b"x"), "not 32 bytes"),
    "digest gone": (lambda e: e.digests.pop(0), "hash does not follow"),
    "own digest gone": (lambda e: e.digests.pop(), "without a digest"),
    "digest twice": (lambda e: e.digests.append(e.digests[-1]), "digests are not in byte order"),
    "digests swapped": (_swap_digests, "digests are not in byte order"),
    "digest renamed": (lambda e: setattr(e.digests[0], "audience", "common"), "hash does not follow"),
    "body": (lambda e: setattr(e.parts[0], "body", _flip(e.parts[0].body)), "does not fit its digest"),
    "salt": (lambda e: setattr(e.parts[0], "salt", _flip(e.parts[0].salt)), "does not fit its digest"),
    "long salt": (lambda e: setattr(e.parts[0], "salt", bytes(17)), "not 16 bytes"),
    "part renamed": (lambda e: setattr(e.parts[0], "audience", "sealed"), "does not fit its digest"),
    "part made up": (lambda e: e.parts.add(audience="seat/7", salt=bytes(16), body=b"x"), "without a digest"),
    "part twice": (lambda e: e.parts.append(e.parts[0]), "parts are not in byte order"),
}


@pytest.mark.parametrize("lie", LIES)
def test_the_first_entry_that_lies_is_refused(plain: SimpleNamespace, log: list[Entry], lie: str) -> None:
    tamper, reason = LIES[lie]
    shown = seen_by(Viewer.of_seat(1), log)
    chain = LiveChain(plain.MATCH)
    for entry in shown[:4]:
        chain.feed(entry)
    true = Entry()
    true.CopyFrom(shown[4])
    tamper(shown[4])
    with pytest.raises(ChainBroken, match=r"^entry 5: ") as broken:
        chain.feed(shown[4])
    assert broken.value.version == 5
    assert reason in broken.value.reason
    chain.feed(true)  # a refused entry changes nothing
    assert chain.version == 5


@pytest.mark.parametrize("order", [[0, 2], [1], [0, 1, 1], [0, 1, 2, 4]])
def test_gaps_repeats_and_wrong_beginnings_are_refused(
    plain: SimpleNamespace, log: list[Entry], order: list[int]
) -> None:
    chain = LiveChain(plain.MATCH)
    for index in order[:-1]:
        chain.feed(log[index])
    with pytest.raises(ChainBroken, match="is due"):
        chain.feed(log[order[-1]])
