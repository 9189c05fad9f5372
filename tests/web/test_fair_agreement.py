"""Two verifiers, written apart from one page in two languages, give the same verdict on the same logs (W-AUD-8)."""

from __future__ import annotations

import base64
import json
import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness.chain import genesis, link, part_digest
from grimoire.fairness.export import ExportError, read_export
from grimoire.fairness.statistics import Tally
from grimoire.fairness.verify import unreadable, verify_export
from grimoire.match.driver import play_match
from grimoire.plugins import load_game
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2
from tests.web.built import WEB, node

GAME = "two_towers"
LEVELS = ("random", "heuristic")
STATUS = {
    audit_pb2.CHECK_STATUS_PASSED: "passed",
    audit_pb2.CHECK_STATUS_FAILED: "failed",
    audit_pb2.CHECK_STATUS_NOT_CHECKED: "open",
}

Verdict = tuple[tuple[int, str, int], ...]
"""Of checks 1 to 7: number, status, version of the entry that lies."""


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The browser's verifier as a command."""
    folder = tmp_path_factory.mktemp("verifier")
    program, environment = node()
    bundler = WEB / "node_modules" / "rolldown" / "bin" / "cli.mjs"
    options = ["--dir", str(folder), "--platform", "node", "--entry-file-names", "command.mjs"]
    subprocess.run(
        [program, str(bundler), str(WEB / "src" / "fair" / "command.ts"), *options],
        check=True,
        capture_output=True,
        cwd=WEB,
        env=environment,
        timeout=120,
    )
    return [program, str(folder / "command.mjs"), "--not-in-log"]


def played(number: int) -> Iterator[frame_pb2.ViewerEntry]:
    """A whole random match, or what one viewer sees of one that goes on."""
    chance = random.Random(f"agreement/{number}")
    options = {"deck_type": chance.choice(["standard", "endless"])}
    levels = [chance.choice(LEVELS) for _ in range(2)]
    table = play_match(load_game(GAME), levels, f"agree-{number}", str(number), options)
    entries = table.log(ALL)
    if number % 4 != 3:
        yield from entries
        return
    viewer = chance.choice([PUBLIC, Viewer.of_seat(0), Viewer.of_seat(1)])
    for entry in entries[: chance.randint(1, len(entries) - 1)]:
        parts = [part for part in entry.parts if part.audience != "command" and viewer.may_see(part.audience)]
        shown = frame_pb2.ViewerEntry()
        shown.CopyFrom(entry)
        del shown.parts[:]
        shown.parts.extend(parts)
        yield shown


def lied(entries: Sequence[frame_pb2.ViewerEntry], match_id: str, chance: random.Random) -> list[frame_pb2.ViewerEntry]:
    """The same log with one thing changed; half of the liars hash everything anew."""
    changed = [frame_pb2.ViewerEntry.FromString(entry.SerializeToString()) for entry in entries]
    at = chance.randrange(len(changed))
    entry = changed[at]
    match chance.choice(["header", "public", "body", "salt", "digest", "hash", "remove", "swap"]):
        case "header":
            entry.header = _flipped(entry.header, chance)
        case "public":
            entry.public = _flipped(entry.public, chance)
        case "hash":
            entry.hash = _flipped(entry.hash, chance)
        case "digest":
            one = chance.choice(entry.digests)
            one.digest = _flipped(one.digest, chance)
        case "body" if entry.parts:
            part = chance.choice(entry.parts)
            part.body = _flipped(part.body, chance)
        case "salt" if entry.parts:
            part = chance.choice(entry.parts)
            part.salt = _flipped(part.salt, chance)
        case "swap" if at + 1 < len(changed):
            changed[at], changed[at + 1] = changed[at + 1], changed[at]
        case _:
            del changed[at]
    return _rehashed(changed, match_id) if chance.random() < 0.5 else changed


def _flipped(data: bytes, chance: random.Random) -> bytes:
    if not data:
        return b"\x01"
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _rehashed(entries: list[frame_pb2.ViewerEntry], match_id: str) -> list[frame_pb2.ViewerEntry]:
    before = genesis(match_id)
    for entry in entries:
        opened = {part.audience: part_digest(part.audience, part.salt, part.body) for part in entry.parts}
        for digest in entry.digests:
            digest.digest = opened.get(digest.audience, digest.digest)
        before = link(before, entry.header, entry.public, [(d.audience, d.digest) for d in entry.digests])
        entry.hash = before
    return entries


def _file(match_id: str, entries: Sequence[frame_pb2.ViewerEntry]) -> Iterator[str]:
    """The file, written as the README says and not by the library: a liar's log goes through no checks."""

    def line(**fields: object) -> str:
        return json.dumps(fields, separators=(",", ":")) + "\n"

    def text(data: bytes) -> str:
        return base64.b64encode(data).decode()

    yield line(kind="grimoire-export", format=1, game=GAME, match_id=match_id)
    for entry in entries:
        yield line(
            kind="entry",
            header=text(entry.header),
            public=text(entry.public),
            parts=[{"audience": p.audience, "salt": text(p.salt), "body": text(p.body)} for p in entry.parts],
            digests=[{"audience": d.audience, "digest": text(d.digest)} for d in entry.digests],
            hash=text(entry.hash),
        )
    yield line(kind="end", entries=len(entries), head=text(entries[-1].hash if entries else genesis(match_id)))


def python_verdict(path: Path) -> Verdict:
    """What the Python implementation says of a file."""
    try:
        report = verify_export(read_export([path.read_bytes()]), in_log=False)
    except ExportError as error:
        report = unreadable(error)
    return tuple((check.number, STATUS[check.status], check.version) for check in report.checks[:7])


def browser_verdicts(verifier: list[str], paths: Sequence[Path]) -> Iterator[Verdict]:
    """What the browser's implementation says of files."""
    said = subprocess.run([*verifier, *map(str, paths)], check=True, capture_output=True, text=True, timeout=300)
    for line in said.stdout.splitlines():
        checks = json.loads(line)["checks"][:7]
        yield tuple((check["number"], check["status"], check["version"]) for check in checks)


def compare(verifier: list[str], folder: Path, numbers: range) -> None:
    """Both judge every match and a lie made of it."""
    paths = []
    for number in numbers:
        match_id, entries = f"agree-{number}", list(played(number))
        lies = lied(entries, match_id, random.Random(f"lie/{number}"))
        for name, log in ((f"{number}", entries), (f"{number}-lie", lies)):
            path = folder / f"{name}.jsonl"
            path.write_text("".join(_file(match_id, log)))
            paths.append(path)
    told = list(browser_verdicts(verifier, paths))
    assert len(told) == len(paths)
    differing = {
        path.stem: (python, browser)
        for path, python, browser in zip(paths, map(python_verdict, paths), told, strict=True)
        if python != browser
    }
    assert not differing
    honest = [verdict for path, verdict in zip(paths, told, strict=True) if not path.stem.endswith("-lie")]
    assert not any(status == "failed" for verdict in honest for _, status, _ in verdict)
    caught = [verdict for path, verdict in zip(paths, told, strict=True) if path.stem.endswith("-lie")]
    # Who hashes everything anew is often caught only by the transparency log, which is not asked here.
    assert sum(any(status == "failed" for _, status, _ in verdict) for verdict in caught) > 0.5 * len(caught)


def test_both_verifiers_agree_on_fifty_random_matches_and_fifty_lies(verifier: list[str], tmp_path: Path) -> None:
    compare(verifier, tmp_path, range(50))


def test_both_count_the_same_statistics(verifier: list[str], tmp_path: Path) -> None:
    tally, paths = Tally(), []
    for number in range(1, 100):
        if number % 4 == 3:
            continue
        log = list(played(number))
        path = tmp_path / f"{number:03}.jsonl"
        path.write_text("".join(_file(f"agree-{number}", log)))
        paths.append(path)
        tally.match(draw for entry in log for draw in _draws(entry))
    said = subprocess.run(
        [*verifier, "--tally", *map(str, paths)], check=True, capture_output=True, text=True, timeout=300
    )
    found = json.loads(said.stdout.splitlines()[-1])["tally"]
    expected = tally.results()
    assert [one.test for one in expected] == ["positions", "neighbours", "rises", "runs", "gaps"]
    assert [one["test"] for one in found] == [one.test for one in expected]
    for python, browser in zip(expected, found, strict=True):
        assert (browser["degrees"], browser["draws"]) == (python.degrees, python.draws), python.test
        assert browser["statistic"] == pytest.approx(python.statistic, rel=1e-9), python.test
        assert browser["p"] == pytest.approx(python.p, rel=1e-6), python.test


def _draws(entry: frame_pb2.ViewerEntry) -> Iterator[match_pb2.Draw]:
    for part in entry.parts:
        if part.audience == "command":
            yield from match_pb2.CommandRecord.FromString(part.body).draws


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_both_verifiers_agree_on_a_thousand_random_matches_and_lies(verifier: list[str], tmp_path: Path) -> None:
    for begin in range(50, 1050, 100):
        compare(verifier, tmp_path, range(begin, begin + 100))
        for path in tmp_path.iterdir():
            path.unlink()
