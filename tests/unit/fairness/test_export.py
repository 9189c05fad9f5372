"""The file of a match: one way to write it, read strictly and within limits."""

from __future__ import annotations

import base64
import itertools
import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness import export as form
from grimoire.fairness.export import ExportError, ExportReader, ExportWriter, read_export, write_export
from grimoire.fairness.transparency import Evidence
from grimoire.v1 import frame_pb2
from tests.support.transparency import logged


@pytest.fixture(scope="module")
def log(plain: SimpleNamespace) -> list[frame_pb2.ViewerEntry]:
    return plain.write(plain.finished())


@pytest.fixture(scope="module")
def file(plain: SimpleNamespace, log: list[frame_pb2.ViewerEntry]) -> bytes:
    return b"".join(write_export(plain.GAME, plain.MATCH, log, ALL))


def reading_fails(data: bytes) -> ExportError:
    with pytest.raises(ExportError) as failed:
        read_export([data])
    return failed.value


def test_comes_back_as_it_was_written(plain: SimpleNamespace, log: list, file: bytes) -> None:
    read = read_export([file])
    assert (read.game, read.match_id, read.head) == (plain.GAME, plain.MATCH, log[-1].hash)
    assert list(read.entries) == log


def test_the_same_log_gives_the_same_bytes(plain: SimpleNamespace, log: list, file: bytes) -> None:
    assert b"".join(write_export(plain.GAME, plain.MATCH, iter(log), ALL)) == file
    assert b"".join(write_export(plain.GAME, plain.MATCH, read_export([file]).entries, ALL)) == file


def test_the_form_is_the_one_written_down(plain: SimpleNamespace, log: list, file: bytes) -> None:
    """Built a second time with the standard library's JSON, from the README's words."""

    def b64(data: bytes) -> str:
        return base64.b64encode(data).decode()

    records: list[dict] = [{"kind": "grimoire-export", "format": 1, "game": plain.GAME, "match_id": plain.MATCH}]
    records += [
        {
            "kind": "entry",
            "header": b64(e.header),
            "public": b64(e.public),
            "parts": [{"audience": p.audience, "salt": b64(p.salt), "body": b64(p.body)} for p in e.parts],
            "digests": [{"audience": d.audience, "digest": b64(d.digest)} for d in e.digests],
            "hash": b64(e.hash),
        }
        for e in log
    ]
    records.append({"kind": "end", "entries": len(log), "head": b64(log[-1].hash)})
    assert file == b"".join(json.dumps(r, separators=(",", ":")).encode() + b"\n" for r in records)


def test_proofs_of_the_log_stand_before_the_last_line(plain: SimpleNamespace, log: list, file: bytes) -> None:
    evidence = logged(log)
    proved = b"".join(write_export(plain.GAME, plain.MATCH, log, ALL, evidence))
    before, _, after = proved.rpartition(b'{"kind":"log"')
    line, end = after.split(b"\n", 1)
    assert before + end == file
    assert json.loads(b'{"kind":"log"' + line) == {
        "kind": "log",
        "key": evidence.key,
        "checkpoint": base64.b64encode(evidence.checkpoint).decode(),
        "leaves": [
            {
                "number": leaf.number,
                "leaf": base64.b64encode(leaf.leaf).decode(),
                "path": [base64.b64encode(step).decode() for step in leaf.path],
            }
            for leaf in evidence.leaves
        ],
    }
    assert read_export([proved]).evidence == evidence
    assert read_export([file]).evidence is None


def test_no_proofs_are_no_line(plain: SimpleNamespace, log: list, file: bytes) -> None:
    nothing = Evidence("key", b"checkpoint", ())
    assert b"".join(write_export(plain.GAME, plain.MATCH, log, ALL, nothing)) == file
    writer = ExportWriter(plain.GAME, plain.MATCH, ALL)
    assert writer.log(nothing) == b""


def test_proofs_stand_nowhere_else_and_only_once(plain: SimpleNamespace, log: list) -> None:
    file = b"".join(write_export(plain.GAME, plain.MATCH, log, ALL, logged(log)))
    lines = file.splitlines(keepends=True)
    assert "only the end line" in reading_fails(b"".join([*lines[:9], lines[9], *lines[9:]])).reason
    assert "only the end line" in reading_fails(b"".join([*lines[:8], lines[9], lines[8], lines[10]])).reason
    writer = ExportWriter(plain.GAME, plain.MATCH, ALL)
    writer.log(logged(log))
    with pytest.raises(ValueError, match="come before the proofs"):
        writer.entry(log[0])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"number":2', b'"number":2.0'),
        (b'"number":2', b'"number":-2'),
        (b'"number":2', b'"number":99999999999999999999'),
        (b'"leaves":[', b'"leaves":[],"x":['),
        (b'"path":[', b'"path":[null,'),
        (b'{"kind":"log","key":', b'{"kind":"log","key":1,"x":'),
        (b'"checkpoint":"', b'"checkpoint":"!'),
    ],
)
def test_a_line_of_proofs_must_be_one(plain: SimpleNamespace, log: list, before: bytes, after: bytes) -> None:
    file = b"".join(write_export(plain.GAME, plain.MATCH, log, ALL, logged(log)))
    assert before in _line(file, 10)
    assert reading_fails(_with_line(file, 10, _line(file, 10).replace(before, after, 1))).line == 10


@given(st.lists(st.integers(1, 12_000), max_size=12))
def test_may_arrive_cut_anywhere(file: bytes, log: list, cuts: list[int]) -> None:
    edges = [0, *sorted(c for c in cuts if c < len(file)), len(file)]
    chunks = [file[a:b] for a, b in itertools.pairwise(edges)]
    assert list(read_export(chunks).entries) == log


@pytest.mark.parametrize(
    ("viewer", "seen"), [(PUBLIC, set()), (Viewer.of_seat(0), {"seat/0"}), (Viewer.of_seat(1), {"seat/1"})]
)
def test_a_viewer_gets_its_own_parts_and_all_digests(
    plain: SimpleNamespace, log: list, viewer: Viewer, seen: set[str]
) -> None:
    read = read_export(write_export(plain.GAME, plain.MATCH, log[:5], viewer))
    assert {p.audience for e in read.entries for p in e.parts} == seen
    assert [list(e.digests) for e in read.entries] == [list(e.digests) for e in log[:5]]
    assert read.head == log[4].hash


def test_everything_is_exported_only_after_the_reveal(plain: SimpleNamespace, log: list) -> None:
    with pytest.raises(PermissionError, match="only after the reveal"):
        list(write_export(plain.GAME, plain.MATCH, log[:-1], ALL))


@pytest.mark.parametrize(("game", "match_id"), [("", "m"), ("toy\n", "m"), ("toy", ""), ("toy", 'm"'), ("Toy", "m")])
def test_names_that_are_none_are_not_written(game: str, match_id: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        ExportWriter(game, match_id, PUBLIC)


def _line(file: bytes, number: int) -> bytes:
    return file.split(b"\n")[number - 1]


def _with_line(file: bytes, number: int, line: bytes | None) -> bytes:
    lines = file.split(b"\n")[:-1]
    lines[number - 1 : number] = [] if line is None else [line]
    return b"".join(each + b"\n" for each in lines)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line: line.replace(b'","', b'", "', 1),
        lambda line: b" " + line,
        lambda line: line + b" ",
        lambda line: line + b"\r",
        lambda line: line.replace(b"seat/", b"seat\\/", 1) if b"seat/" in line else line + b"\t",
        lambda line: line.replace(b'"kind"', b'"\\u006bind"', 1),
        lambda line: line[:-1] + b',"note":1}',
        lambda line: line[:-1] + b',"kind":"entry"}',
        lambda line: b"{" + b",".join(reversed(line[1:-1].split(b","))) + b"}",
        lambda line: b"\xef\xbb\xbf" + line,
        lambda line: line[:-1],
        lambda line: b"",
        lambda line: b"null",
        lambda line: b"\xff" * 40,
        lambda line: b"[" * 100_000,
        lambda line: b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        lambda line: b'{"kind":"entry","header":' + b"[" * 100_000,
        lambda line: b'{"kind":"entry","parts":[' + b"{" * 100_000,
    ],
)
@pytest.mark.parametrize("number", [1, 4, 9, 10])
def test_a_line_written_in_any_other_way_is_refused_by_its_number(file: bytes, number: int, spoil) -> None:
    before = _line(file, number)
    after = spoil(before)
    assert after != before
    assert reading_fails(_with_line(file, number, after)).line == number


def test_base64_has_one_way_to_be_written(file: bytes) -> None:
    """The last character before the padding has bits that decode to nothing."""
    line = _line(file, 3)
    at = line.rindex(b'="}')
    assert line[at - 1 : at] in b"AEIMQUYcgkosw048"
    spoiled = line[: at - 1] + bytes([line[at - 1] + 1]) + line[at:]
    assert reading_fails(_with_line(file, 3, spoiled)).line == 3
    assert reading_fails(_with_line(file, 3, line[:at] + line[at + 1 :])).line == 3


@pytest.mark.parametrize(
    ("cut", "line", "reason"),
    [
        (lambda f: b"", 1, "cut off"),
        (lambda f: f[:-1], 10, "cut off within"),
        (lambda f: f[:-20], 10, "cut off within"),
        (lambda f: f[: f.rindex(b'{"kind":"end"')], 10, "end line is missing"),
        (lambda f: f[: f.index(b"\n") + 1], 2, "end line is missing"),
        (lambda f: f + b"\n", 11, "follows the end"),
        (lambda f: f + f, 11, "follows the end"),
        (lambda f: f + b"x", 11, "cut off within"),
    ],
)
def test_a_file_that_is_cut_or_goes_on_is_refused(file: bytes, cut, line: int, reason: str) -> None:
    failed = reading_fails(cut(file))
    assert (failed.line, reason in failed.reason) == (line, True), failed


def test_every_beginning_of_a_file_is_refused(file: bytes) -> None:
    for length in range(0, len(file), 37):
        reading_fails(file[:length])


def test_the_end_line_must_count_and_name_the_head(plain: SimpleNamespace, file: bytes) -> None:
    end = _line(file, 10)
    assert "counts 7" in reading_fails(_with_line(file, 10, end.replace(b'"entries":8', b'"entries":7'))).reason
    assert "counts 8" in reading_fails(_with_line(file, 5, None)).reason
    for entries in (b"-1", b"50001", b"8.0", b"1e99", b'"8"', b"true"):
        assert reading_fails(_with_line(file, 10, end.replace(b":8,", b":" + entries + b","))).line == 10


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"format":1', b'"format":2'),
        (b'"format":1', b'"format":true'),
        (b'"game":"toy"', b'"game":"TOY"'),
        (b'"game":"toy"', b'"game":"toy\\n"'),
        (b'"game":"toy"', b'"game":"' + b"t" * 65 + b'"'),
        (b"Match/1", b"Match 1"),
        (b"grimoire-export", b"entry"),
    ],
)
def test_the_first_line_must_be_right(file: bytes, before: bytes, after: bytes) -> None:
    assert before in _line(file, 1)
    assert reading_fails(file.replace(before, after, 1)).line == 1


def test_a_stranger_cannot_put_control_characters_into_the_reason(file: bytes) -> None:
    reason = reading_fails(_with_line(file, 2, b'{"kind":"\\u001b[2J\\r' + b"x" * 4000 + b'"}')).reason
    assert reason.isprintable()
    assert len(reason) < 300


# ---- limits: none of these may cost memory or time beyond the limit --------------------------------------------------


def test_a_line_without_end_is_refused_early(file: bytes) -> None:
    def endless():
        yield file[: file.index(b"\n") + 1]
        while True:
            yield b"x" * 65_536

    with pytest.raises(ExportError, match="line 2: the line is longer"):
        read_export(endless())


def test_a_file_without_end_is_refused_early(plain: SimpleNamespace, log: list, file: bytes) -> None:
    first, second, *_ = file.split(b"\n")
    endless = itertools.chain([first + b"\n"], itertools.repeat((second + b"\n") * 1000))
    with pytest.raises(ExportError, match=f"longer than {form.MAX_FILE_BYTES}"):
        read_export(endless)


def test_too_many_entries_are_refused(plain: SimpleNamespace, file: bytes) -> None:
    reader = ExportReader()
    reader.feed(_line(file, 1) + b"\n")
    tiny = b'{"kind":"entry","header":"","public":"","parts":[],"digests":[],"hash":""}\n'
    for _ in range(form.MAX_ENTRIES // 1000):
        assert len(reader.feed(tiny * 1000)) == 1000
    with pytest.raises(ExportError, match="more than 50000 entries"):
        reader.feed(tiny)


def test_an_entry_has_a_size(plain: SimpleNamespace, log: list) -> None:
    def sized(size: int) -> frame_pb2.ViewerEntry:
        return frame_pb2.ViewerEntry(
            header=b"h" * 100,
            public=bytes(size - 300),
            parts=[frame_pb2.OpenedPart(audience="seat/0", salt=bytes(16), body=bytes(200))],
            hash=bytes(32),
        )

    largest = b"".join(write_export("toy", "m", [sized(form.MAX_ENTRY_BYTES)], Viewer.of_seat(0)))
    assert len(read_export([largest]).entries) == 1
    with pytest.raises(ExportError, match="at most 262144 bytes"):
        list(write_export("toy", "m", [sized(form.MAX_ENTRY_BYTES + 1)], Viewer.of_seat(0)))
    grown = base64.b64encode(bytes(form.MAX_ENTRY_BYTES - 300)), base64.b64encode(bytes(form.MAX_ENTRY_BYTES - 299))
    assert "more than 262144 bytes" in reading_fails(largest.replace(*grown)).reason


def test_what_is_beyond_the_limits_is_not_written(plain: SimpleNamespace) -> None:
    writer = ExportWriter("toy", "m", PUBLIC)
    writer.begin()
    tiny = frame_pb2.ViewerEntry(hash=bytes(32))
    for _ in range(form.MAX_ENTRIES):
        writer.entry(tiny)
    with pytest.raises(ExportError, match="at most 50000 entries"):
        writer.entry(tiny)
    big = frame_pb2.ViewerEntry(public=bytes(200_000), hash=bytes(32))
    with pytest.raises(ExportError, match=f"at most {form.MAX_FILE_BYTES} bytes"):
        list(write_export("toy", "m", [big] * 100, PUBLIC))
