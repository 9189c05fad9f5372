"""`grimoire audit`: which way it is asked, and the transparency log's key."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grimoire.cli.app import app
from grimoire.engine import ALL
from grimoire.fairness.export import read_export, write_export
from tests.support.transparency import KEY, OTHER_KEY, logged

runner = CliRunner()
GOLDEN = Path(__file__).parents[2] / "golden" / "two_towers" / "mirror_labyrinth_endless.jsonl.gz"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole match with its proofs."""
    export = read_export([gzip.decompress(GOLDEN.read_bytes())])
    path = tmp_path_factory.mktemp("files") / "match.jsonl"
    path.write_bytes(b"".join(write_export(export.game, export.match_id, export.entries, ALL, logged(export.entries))))
    return path


def check_7(output: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(output)["checks"][6]
    return found


def test_the_key_that_is_known_is_compared_with_the_files(file: Path) -> None:
    known = runner.invoke(app, ["audit", str(file), "--json", "--log-key", str(KEY.verifier)])
    assert known.exit_code == 0, known.output
    assert "the key that was asked for" in check_7(known.stdout)["detail"]

    other = runner.invoke(app, ["audit", str(file), "--json", "--log-key", str(OTHER_KEY.verifier)])
    assert other.exit_code == 1
    assert check_7(other.stdout)["status"] == "CHECK_STATUS_FAILED"


def test_without_one_the_files_own_is_named(file: Path) -> None:
    result = runner.invoke(app, ["audit", str(file), "--json"])
    assert result.exit_code == 0
    assert str(KEY.verifier) in check_7(result.stdout)["detail"]
    assert "compare this key" in check_7(result.stdout)["detail"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--all", "m1"],
        ["--all", "--keepsake", "k"],
        ["m1", "--checkpoint", "c"],
        ["m1", "--log-key", "no key"],
        ["--all", "--log-key", "no key"],
    ],
)
def test_what_cannot_be_asked_ends_with_two(arguments: list[str]) -> None:
    assert runner.invoke(app, ["audit", *arguments]).exit_code == 2
