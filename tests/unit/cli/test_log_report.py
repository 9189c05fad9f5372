"""One match of a log judged; the report on a whole log as people read it."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from grimoire.cli.wholelog.findings import Doubt, Findings, KeyFrom, MatchDoubt, Sums
from grimoire.cli.wholelog.judge import Judged, judge
from grimoire.cli.wholelog.show import show
from grimoire.engine import ALL, PUBLIC
from grimoire.fairness.export import Export, read_export, write_export
from grimoire.fairness.statistics import Row
from grimoire.fairness.transparency import LeafKind, leaves_of
from grimoire.fairness.transparency.summary import FOR_EVER, Awaited
from grimoire.fairness.transparency.wholelog import WholeLog
from grimoire.v1 import match_pb2
from tests.support.transparency import KEY, OTHER_KEY, Log

GOLDEN = Path(__file__).parents[2] / "golden" / "two_towers" / "crystal_garden_standard.jsonl.gz"


@pytest.fixture(scope="module")
def match() -> Export:
    return read_export([gzip.decompress(GOLDEN.read_bytes())])


def the_log(match: Export, before: int = 0, key=KEY) -> Log:
    log = Log(key)
    for number in range(before):
        log.append(b"grimoire/log/reveal/1\nm%d\n" % number)
    for leaf in leaves_of(match.entries):
        log.append(leaf.encode())
    return log


def read(log: Log) -> WholeLog:
    whole = WholeLog()
    for leaf in log.leaves:
        whole.take(leaf)
    return whole


def judged(match: Export, shown: Log | None, log: Log, viewer=ALL) -> Judged:
    evidence = None if shown is None else shown.evidence(match.match_id)
    data = b"".join(write_export(match.game, match.match_id, match.entries, viewer, evidence))
    whole = read(log)
    return judge(data, whole.stories[match.match_id], whole, KEY.verifier)


def test_a_match_that_the_log_has_stands_and_gives_its_draws(match: Export) -> None:
    log = the_log(match)
    result = judged(match, log, log)
    assert (result.doubt, result.what) == (None, "")
    assert {draw.kind for draw in result.draws} >= {match_pb2.DRAW_KIND_SHUFFLE}
    grown = the_log(match)
    grown.fill(9)
    assert judged(match, log, grown).doubt is None


def test_a_file_that_shows_another_log_lies(match: Export) -> None:
    log = the_log(match)
    assert "carries no proofs" in judged(match, None, log).what
    assert "the log's key is" in judged(match, the_log(match, key=OTHER_KEY), log).what
    assert "checkpoint of another log" in judged(match, the_log(match, before=1), log).what
    assert "checkpoint of another log" in judged(match, the_log(match, before=40), log).what


def test_a_file_that_shows_too_little_lies(match: Export) -> None:
    log = the_log(match)
    less = Log()
    for leaf in log.leaves[:3]:
        less.append(leaf)
    assert judged(match, less, log).what == "its file shows other leaves than the log"
    # Proved by the log as it was before the reveal, and otherwise the whole match.
    assert judged(match, log, log, PUBLIC).doubt is Doubt.LIES


def test_what_is_no_file_lies(match: Export) -> None:
    whole = read(the_log(match))
    result = judge(b"nonsense\n", whole.stories[match.match_id], whole, KEY.verifier)
    assert result.doubt is Doubt.LIES
    assert "cannot be read" in result.what


# ---- the report ------------------------------------------------------------------------------------------------------

FINE = Findings("here:1", key="k", key_from=KeyFrom.PINNED, checkpoint="o\n1\nr=\n\n— o sig\n", size=1, audited=1)
SUMS = Sums("toy", "2026-11", 9, 8, 0, 0, 7, 0, 5, 2, missing_starts=1, missing_closes=1)
ROW = Row("toy", "2026-11", "rises", 9.0, 0, 100, 100, 1e-12, 1e-11)


def shown(found: Findings) -> str:
    out = io.StringIO()
    show(found, Console(file=out, width=200, no_color=True))
    return out.getvalue()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, 0),
        ({"draws": [ROW]}, 0),
        ({"matches": [MatchDoubt("m", "toy", Doubt.UNJUDGED, "w")]}, 3),
        ({"matches": [MatchDoubt("m", "toy", Doubt.UNANSWERED, "w")]}, 3),
        ({"matches": [MatchDoubt("m", "toy", Doubt.WITHHELD, "w")]}, 1),
        ({"matches": [MatchDoubt("m", "toy", Doubt.LIES, "w")]}, 1),
        ({"missing": [Awaited("m", "toy", LeafKind.CLOSE, 1)]}, 1),
        ({"faults": ["f"]}, 1),
    ],
)
def test_what_it_ends_with(change: dict[str, object], status: int) -> None:
    found = msgspec.structs.replace(FINE, **change)
    assert found.status == status
    verdicts = {0: "every match in it hold", 1: "does not hold", 3: "not everything could be checked"}
    assert verdicts[status] in shown(found)


def test_everything_that_was_found_is_said() -> None:
    found = msgspec.structs.replace(
        FINE,
        seen_before=1,
        faults=["leaf 3: [bold]nonsense"],
        sums=[SUMS],
        outcomes={"toy": {"win": 7, "void_host": 1}},
        missing=[Awaited("lost", "toy", LeafKind.CLOSE, 0), Awaited("gone", "toy", LeafKind.START, FOR_EVER)],
        matches=[MatchDoubt("liar", "toy", Doubt.LIES, "check 4: [/] a draw")],
        draws=[ROW, msgspec.structs.replace(ROW, test="gaps", degrees=3, corrected=1.0)],
    )
    text = shown(found)
    for piece in (
        "as it was when it was first seen from here",
        "leaf 3: [bold]nonsense",
        "void_host 1, win 7",
        "began and never ended",
        "1970-01-01 00:00 UTC",
        "neither began",
        "check 4: [/] a draw",
        "promised 9 = begun 8 + void 0 + in their handshake 0 + missing 1",
        "begun 8 = ended 7 + running 0 + missing 1",
        "ended or void 7 = opened 5 + not open yet 2 + missing 0",
        "z = +9.00",
        "χ²(3)",
        "1 of 2 tests come out as chance alone hardly ever does",
    ):
        assert piece in text


def test_long_lists_are_cut_and_counted() -> None:
    text = shown(msgspec.structs.replace(FINE, faults=[f"fault {number}" for number in range(73)]))
    assert "fault 49" in text
    assert "fault 50" not in text
    assert "23 more" in text


def test_the_report_is_json_with_nothing_left_out() -> None:
    found = msgspec.structs.replace(FINE, sums=[SUMS], draws=[ROW], missing=[Awaited("m", "toy", LeafKind.CLOSE, 1)])
    assert msgspec.json.decode(msgspec.json.encode(found), type=Findings) == found
