"""Audits over the wire: good logs, logs that are not yet open, and a store somebody has written into."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from grimoire.fairness.verify import exit_status
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import audit_pb2, match_pb2
from replay.limits import ReplayLimits
from tests.replay.house import House, Refusal, house

PASSED, FAILED, NOT_CHECKED = (
    audit_pb2.CHECK_STATUS_PASSED,
    audit_pb2.CHECK_STATUS_FAILED,
    audit_pb2.CHECK_STATUS_NOT_CHECKED,
)


def statuses(report: audit_pb2.AuditReport) -> list[int]:
    return [check.status for check in report.checks]


async def test_a_finished_match_holds_in_every_check(home: House) -> None:
    match_id = await home.play()

    report = await home.caller("").audit(match_id)

    assert report.passed
    assert (report.match_id, report.game) == (match_id, "toy")
    assert [check.number for check in report.checks] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert statuses(report) == [PASSED] * 8
    assert all(check.detail for check in report.checks)
    assert "signed by grimoire/" in report.checks[6].detail
    assert report.limits
    head = (await home.caller("").get(match_id)).head
    assert (report.head, report.entries) == (head.hash, head.version)


@pytest.mark.parametrize("account", ["ada", "carl", ""])
async def test_of_a_running_match_the_chain_can_be_checked_by_anybody(home: House, account: str) -> None:
    match_id = await home.play(entries=9)

    report = await home.caller(account).audit(match_id)

    # The nonces were shown when all were in; what they make with the server's seed is still closed.
    assert statuses(report) == [NOT_CHECKED] * 5 + [PASSED, NOT_CHECKED, NOT_CHECKED]
    assert "not yet revealed" in report.checks[7].detail
    assert exit_status(report) == 3
    assert not report.passed


async def test_a_match_in_its_handshake_can_be_audited(home: House) -> None:
    for entries in (1, 2, 4):
        report = await home.caller("").audit(await home.play(entries=entries))
        assert report.checks[5].status == PASSED
        assert FAILED not in statuses(report)


@pytest.mark.parametrize("column", ["header", "public", "digests", "hash", "server_time_ms"])
async def test_a_store_somebody_has_written_into_is_found_out(home: House, column: str) -> None:
    match_id = await home.play()
    before = _failures_counted()

    _write_into(home, match_id, 6, "entries", column, _other)
    report = await home.caller("ada").audit(match_id)

    if column == "server_time_ms":
        # A copy for the store's own use; what counts is hashed.
        assert report.passed
        return
    assert not report.passed
    assert report.checks[5].status == FAILED
    assert report.checks[5].version in (6, 7)
    assert report.checks[5].line == 0
    assert report.checks[7].status == NOT_CHECKED
    assert _failures_counted() == before + 1


async def test_hidden_parts_somebody_has_written_into_are_found_out(home: House) -> None:
    match_id = await home.play()

    def longer(blob: bytes) -> bytes:
        parts = match_pb2.Parts.FromString(blob)
        parts.parts[-1].body += b"\x0a\x00"
        return parts.SerializeToString()

    _write_into(home, match_id, 5, "hidden", "parts", longer)
    report = await home.caller("ada").audit(match_id)

    assert report.checks[5].status == FAILED
    assert report.checks[5].version == 5


async def test_an_imported_log_is_audited_again_with_its_lines(home: House) -> None:
    caller = home.caller("ada")
    played = await home.play()
    kept = (await caller.bring(await caller.export(played))).match_id

    report = await home.caller("carl").audit(kept)

    assert report.passed
    assert statuses(report) == [PASSED] * 8
    assert report.match_id == played


async def test_without_its_game_a_log_is_audited_up_to_the_rules(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(takeover_s=0.1)) as running:
        caller = running.caller("ada")
        kept = (await caller.bring(await caller.export(await running.play()))).match_id

        await running.stop("toy")
        report = await caller.audit(kept)

    assert statuses(report) == [PASSED] * 7 + [NOT_CHECKED]
    assert "cannot be reached" in report.checks[7].detail
    assert exit_status(report) == 3


async def test_a_log_too_large_for_memory_is_not_audited_in_one_go(toy: None, tmp_path: Path) -> None:
    async with house(tmp_path / "home", ReplayLimits(log_bytes=2_000)) as running:
        match_id = await running.play()
        with pytest.raises(Refusal, match="audit its file instead") as refused:
            await running.caller("ada").audit(match_id)
        assert refused.value.status is grpc.StatusCode.RESOURCE_EXHAUSTED


def _failures_counted() -> float:
    return METRICS.registry.get_sample_value("grimoire_verifier_failures_total", {"check": "6"}) or 0.0


def _write_into(
    home: House, match_id: str, version: int, table: str, column: str, change: Callable[[Any], Any]
) -> None:
    """What somebody with the database's file can do, who takes its own guards away first."""
    store = sqlite3.connect(home.config.database_url("toy").removeprefix("sqlite:///"))
    with store:
        for (trigger,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            store.execute(f'DROP TRIGGER "{trigger}"')
        where = "WHERE match_id = ? AND version = ?"
        (value,) = store.execute(f"SELECT {column} FROM {table} {where}", (match_id, version)).fetchone()
        store.execute(f"UPDATE {table} SET {column} = ? {where}", (change(value), match_id, version))
    store.close()


def _other(value: int | bytes) -> int | bytes:
    return value + 1 if isinstance(value, int) else bytes([*value[:-1], value[-1] ^ 1])
