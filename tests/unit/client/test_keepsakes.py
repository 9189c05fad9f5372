"""Where keepsakes lie: for their owner alone, whole or not at all."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

import pytest

from grimoire.client import Keepsakes
from grimoire.fairness import Secret
from grimoire.fairness.keepsake import Keepsake, KeepsakeError

MATCH = "k" * 26


def keepsake(seat: int = 0, match_id: str = MATCH) -> Keepsake:
    return Keepsake.make("toy", match_id, seat, bytes(32), Secret(secrets.token_bytes(32)))


def test_what_was_saved_is_loaded_again(tmp_path: Path) -> None:
    kept = Keepsakes(tmp_path / "deep" / "down")
    mine = keepsake()
    mine.saw(1, bytes([1]) * 32)
    kept.save(mine, to_disk=True)
    mine.saw(2, bytes([2]) * 32)
    kept.save(mine)
    assert kept.load(MATCH, 0) == mine
    assert kept.load(MATCH, 1) is None
    assert [p.name for p in kept.folder.iterdir()] == [f"{MATCH}.seat0.keepsake"]


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    kept = Keepsakes(tmp_path / "keepsakes")
    kept.save(keepsake())
    kept.note_sent(MATCH, 0, bytes(16))
    kept.keep_evidence(MATCH, 0, b"frame")
    assert stat.S_IMODE(kept.folder.stat().st_mode) == 0o700
    modes = {p.suffix: stat.S_IMODE(p.stat().st_mode) for p in kept.folder.iterdir()}
    assert modes == {".keepsake": 0o600, ".sent": 0o600, ".evidence": 0o600}


def test_a_file_of_another_seat_or_match_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    kept = Keepsakes(tmp_path)
    kept.save(keepsake(seat=1))
    kept.path(MATCH, 1).rename(kept.path(MATCH, 0))
    with pytest.raises(KeepsakeError):
        kept.load(MATCH, 0)


def test_a_damaged_file_is_an_error_and_not_a_fresh_start(tmp_path: Path) -> None:
    kept = Keepsakes(tmp_path)
    kept.save(keepsake())
    path = kept.path(MATCH, 0)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(KeepsakeError):
        kept.load(MATCH, 0)


def test_ids_that_were_sent_outlive_a_half_written_line(tmp_path: Path) -> None:
    kept = Keepsakes(tmp_path)
    ids = [secrets.token_bytes(16) for _ in range(3)]
    for command_id in ids:
        kept.note_sent(MATCH, 0, command_id)
    with next(tmp_path.glob("*.sent")).open("a") as file:
        file.write("0011")
    assert kept.sent(MATCH, 0) == set(ids)
    assert kept.sent(MATCH, 1) == set()


def test_what_is_removed_is_gone(tmp_path: Path) -> None:
    kept = Keepsakes(tmp_path)
    kept.save(keepsake())
    kept.note_sent(MATCH, 0, bytes(16))
    kept.remove(MATCH, 0)
    kept.remove(MATCH, 0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("match_id", ["", ".", "..", "a/b", "../x", "x" * 65, "a\x00b", "ä"])
def test_a_match_id_cannot_lead_out_of_the_folder(tmp_path: Path, match_id: str) -> None:
    with pytest.raises(ValueError, match="cannot name a file"):
        Keepsakes(tmp_path).path(match_id, 0)
