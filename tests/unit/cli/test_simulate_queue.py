"""`grimoire simulate-queue` from the command line to its figures."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from grimoire.cli.app import app
from grimoire.quickplay import POLICY

runner = CliRunner()


def report(*arguments: str) -> dict[str, object]:
    result = runner.invoke(app, ["simulate-queue", "--json", "--minutes", "120", *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_figures_of_each_rate_with_the_policy_they_come_from() -> None:
    told = report("--rate", "2", "--rate", "30", "--seed", "7")
    few, many = (row["outcome"] for row in told["rows"])
    assert [row["demand"]["per_minute"] for row in told["rows"]] == [2, 30]
    for outcome in (few, many):
        assert outcome["matched"] + outcome["left"] + outcome["not_ready"] + outcome["waiting"] == outcome["arrived"]
        assert outcome["wait_p50_s"] <= outcome["wait_p95_s"]
    assert many["wait_p95_s"] < few["wait_p95_s"]
    assert many["gap_p50"] < few["gap_p50"]
    assert many["fill_rate"] > few["fill_rate"]
    assert told["policy"]["anyone_after_s"] == POLICY.anyone_after_s
    assert told == report("--rate", "2", "--rate", "30", "--seed", "7")
    assert told != report("--rate", "2", "--rate", "30", "--seed", "8")


def test_people_are_as_stated() -> None:
    (patient,) = report("--rate", "3", "--patience", "100000")["rows"]
    (hasty,) = report("--rate", "3", "--patience", "5")["rows"]
    assert hasty["outcome"]["left"] > patient["outcome"]["left"]
    (alike,) = report("--rate", "3", "--rating-sd", "0")["rows"]
    assert alike["outcome"]["gap_p95"] == 0
    (absent,) = report("--rate", "3", "--ready", "0")["rows"]
    assert absent["outcome"]["matches"] == 0
    assert absent["outcome"]["wait_p50_s"] is None
    (four,) = report("--rate", "12", "--seats", "4", "--parties", "0.5")["rows"]
    assert four["outcome"]["matches"] * 4 > four["outcome"]["matched"], "a party is one ticket"


def test_the_table_fits_a_small_screen() -> None:
    result = runner.invoke(app, ["simulate-queue", "--minutes", "30", "--rate", "5"], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert "matched" in result.stdout
    assert "…" not in result.stdout
    assert f"anybody after {POLICY.anyone_after_s:g} s" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "wrong",
    [
        ("--rate", "0"),
        ("--rating-sd", "-1"),
        ("--patience", "0"),
        ("--answer", "0"),
        ("--ready", "1.5"),
        ("--parties", "-0.1"),
        ("--seats", "1"),
        ("--minutes", "0"),
    ],
)
def test_what_cannot_be_is_refused(wrong: tuple[str, str]) -> None:
    assert runner.invoke(app, ["simulate-queue", *wrong]).exit_code == 2
