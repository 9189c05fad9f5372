"""Files audited and shown without any running service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.engine import ALL, PUBLIC, Viewer
from grimoire.fairness import Secret, server_seed
from grimoire.fairness.export import write_export
from grimoire.fairness.keepsake import Keepsake, KeepsakeError
from grimoire.fairness.verify import exit_status, first_lie
from grimoire.match import FrameFold, Referee, offline
from grimoire.match.offline import OfflineError, audit_file, frames_of_file, head_of_file
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import audit_pb2, frame_pb2, match_pb2, rules_pb2
from tests.replay.logs import GAME, HOST_KEY, file_of, play
from tests.replay.tampering import changed_lines, rewritten
from tests.support.toy import PLUGIN, Toy
from tests.support.toy import schema as pb
from tests.support.toy.install import write_entry_point

PASSED, FAILED, NOT_CHECKED = (
    audit_pb2.CHECK_STATUS_PASSED,
    audit_pb2.CHECK_STATUS_FAILED,
    audit_pb2.CHECK_STATUS_NOT_CHECKED,
)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(write_entry_point(tmp_path / "entry-points")))
    yield
    load_game.cache_clear()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path, file_of(play("m1"), ALL))


def write(folder: Path, file: bytes) -> Path:
    path = folder / "match.grimoire"
    path.write_bytes(file)
    return path


def statuses(report: audit_pb2.AuditReport) -> list[int]:
    return [check.status for check in report.checks]


# ---- audits ---------------------------------------------------------------------------------------------------------


def test_a_good_file_holds(toy: None, path: Path) -> None:
    report = audit_file(path)

    assert report.passed
    assert exit_status(report) == 0
    assert statuses(report) == [PASSED] * 8


def test_without_its_game_a_file_is_verified_up_to_the_rules(path: Path) -> None:
    load_game.cache_clear()

    report = audit_file(path)

    assert statuses(report) == [PASSED] * 7 + [NOT_CHECKED]
    assert report.checks[7].detail == "not checked: the game toy is not installed here"
    assert exit_status(report) == 3


def test_every_changed_field_is_found(toy: None, tmp_path: Path) -> None:
    for name, line, file in changed_lines(file_of(play("m1", entries=6), PUBLIC)):
        lie = first_lie(audit_file(write(tmp_path, file)))
        assert lie is not None, name
        assert lie.line == line or (line == 1 and lie.line == 2), f"{name}: found on line {lie.line}"


def test_what_only_the_rules_can_tell_is_found_with_its_line(toy: None, tmp_path: Path) -> None:
    log = play("m1")
    burnt = next(e.version for e in log if any(isinstance(v, pb.RuneBurnt) for v in e.events))

    def more_light(events: list) -> None:
        next(e for e in events if isinstance(e, pb.RuneBurnt)).light += 1

    report = audit_file(write(tmp_path, rewritten(log, burnt, more_light)))

    assert statuses(report) == [PASSED] * 7 + [FAILED]
    assert (report.checks[7].version, report.checks[7].line) == (burnt, burnt + 1)
    assert exit_status(report) == 1


def test_the_file_of_a_running_match_is_verified_as_far_as_it_is_open(toy: None, tmp_path: Path) -> None:
    report = audit_file(write(tmp_path, file_of(play("m1", entries=8), Viewer.of_seat(1))))

    assert report.checks[5].status == PASSED
    assert report.checks[7].detail == "not checked: the match is not yet revealed"
    assert exit_status(report) == 3


@pytest.mark.parametrize("garbage", [b"", b"\x00" * 1000, b"[" * 200_000, b"hello\n"])
def test_garbage_gives_a_report_too(tmp_path: Path, garbage: bytes) -> None:
    report = audit_file(write(tmp_path, garbage))

    assert exit_status(report) == 1
    assert report.checks[5].line == 1


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        audit_file(tmp_path / "nothing")


def test_rules_that_break_on_a_log_judge_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Breaks(Toy):
        def decide(self, *arguments: object) -> object:
            raise ZeroDivisionError

    install(monkeypatch, Breaks())

    report = audit_file(path)

    assert report.checks[7].status == NOT_CHECKED
    assert "ZeroDivisionError" in report.checks[7].detail
    assert exit_status(report) == 3


# ---- keepsakes ------------------------------------------------------------------------------------------------------


def keepsake(log: list) -> Keepsake:
    """What seat 0's program has kept."""
    created = match_pb2.MatchCreated.FromString(log[0].state.created)
    kept = Keepsake.make(GAME, log[0].match_id, 0, created.server_commitment, Secret(log[-1].state.nonces[0]))
    for entry in log:
        kept.saw(entry.version, entry.hash)
        record = match_pb2.CommandRecord.FromString(dict(entry.parts)["command"])
        if record.occupant_id == "ada":
            kept.sent(entry.command_id)
    return kept


def test_a_file_that_agrees_with_a_keepsake_says_so(toy: None, path: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    kept.write_bytes(keepsake(play("m1")).to_json())

    report = audit_file(path, kept)

    assert report.passed
    assert "keepsake of seat 0" in report.checks[1].detail


def test_a_history_rewritten_as_a_whole_is_told_by_the_keepsake_alone(toy: None, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "kept.json"
    other.write_bytes(keepsake(play("m1", seed=2)).to_json())

    assert audit_file(path).passed
    report = audit_file(path, other)

    assert exit_status(report) == 1


def test_a_keepsake_that_is_none_is_an_error(path: Path) -> None:
    with pytest.raises(KeepsakeError):
        audit_file(path, keepsake=path)


# ---- frames ---------------------------------------------------------------------------------------------------------


def folded(log: list, viewer: Viewer) -> list[rules_pb2.ReplayFrame]:
    """The frames as a fold in memory makes them."""
    fold = FrameFold(
        Referee(PLUGIN.game, lambda game, match, _key: server_seed(HOST_KEY, game, match)), viewer, PLUGIN.texts
    )
    return [fold.frame(e.header, e.public, dict(e.parts), e.hash) for e in log]


@pytest.mark.parametrize("viewer", [ALL, PUBLIC, Viewer.of_seat(0), Viewer.of_seat(1)], ids=str)
def test_a_file_is_shown_as_the_match_was_seen(toy: None, path: Path, viewer: Viewer) -> None:
    expected = folded(play("m1"), viewer)

    assert list(frames_of_file(path, viewer)) == expected
    assert list(frames_of_file(path, viewer, 3, 5)) == expected[2:5]
    assert list(frames_of_file(path, viewer, len(expected))) == expected[-1:]


def test_the_head_says_what_the_match_was(path: Path) -> None:
    log = play("m1")

    head = head_of_file(path)

    assert (head.game, head.match_id, head.version, head.hash) == (GAME, "m1", len(log), log[-1].hash)
    assert head.status == frame_pb2.MATCH_STATUS_CLOSED
    assert head.revealed
    assert head.closed == match_pb2.MatchClosed.FromString(log[-1].state.closed)


@pytest.mark.parametrize(
    ("viewer", "first", "last", "sentence"),
    [
        (Viewer.of_seat(2), 1, 0, "no seat 2"),
        (ALL, 0, 0, "versions 1 to"),
        (ALL, 5, 4, "versions 1 to"),
        (ALL, 1, 10_000, "versions 1 to"),
    ],
)
def test_what_is_not_in_a_file_is_refused_at_once(
    toy: None, path: Path, viewer: Viewer, first: int, last: int, sentence: str
) -> None:
    with pytest.raises(OfflineError, match=sentence):
        frames_of_file(path, viewer, first, last)


def test_a_match_that_is_not_revealed_is_not_shown(toy: None, tmp_path: Path) -> None:
    with pytest.raises(OfflineError, match="before the match's secrets were opened"):
        frames_of_file(write(tmp_path, file_of(play("m1", entries=8), PUBLIC)), PUBLIC)


def test_a_game_that_is_not_installed_is_named(path: Path) -> None:
    load_game.cache_clear()
    with pytest.raises(OfflineError, match="the game toy is not installed here"):
        frames_of_file(path, ALL)


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"garbage\n",
        b'{"kind":"grimoire-export","format":1,"game":"toy","match_id":"m"}\n',
    ],
)
def test_a_file_that_is_no_match_is_said_to_be_none(tmp_path: Path, file: bytes) -> None:
    with pytest.raises(OfflineError, match="cannot be read"):
        frames_of_file(write(tmp_path, file), ALL)


def test_an_empty_log_is_no_match(tmp_path: Path) -> None:
    with pytest.raises(OfflineError, match="no log that can be read"):
        head_of_file(write(tmp_path, b"".join(write_export(GAME, "m1", [], PUBLIC))))


def test_a_version_that_cannot_be_shown_leaves_its_neighbours(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Blind(Toy):
        """Cannot show the one screen on which the first rune has been chosen."""

        def view(self, state, viewer):
            if sum(bool(k.chosen) for k in state.keepers) == 1 and state.round_no == 1:
                raise KeyError("a rune nobody knows")
            return super().view(state, viewer)

    install(monkeypatch, Blind())

    frames = list(frames_of_file(path, ALL))

    broken = [f.version for f in frames if f.HasField("fault")]
    assert [f.version for f in frames] == list(range(1, len(play("m1")) + 1))
    assert len(broken) == 1
    assert all(f.view for f in frames[5:] if f.version not in broken)


def test_a_log_that_no_longer_folds_is_shown_up_to_there(toy: None, tmp_path: Path) -> None:
    log = play("m1")

    def nonsense(events: list) -> None:
        events[:] = [pb.Chanted(seat=9, tokens=1)]

    frames = list(frames_of_file(write(tmp_path, rewritten(log, 8, nonsense)), PUBLIC))

    assert [f.version for f in frames] == list(range(1, len(log) + 1))
    assert not any(f.HasField("fault") for f in frames[:7])
    assert frames[7].fault.code == "match_broken"


def install(monkeypatch: pytest.MonkeyPatch, game: Toy) -> None:
    plugin = GamePlugin(game, PLUGIN.bot, PLUGIN.texts, PLUGIN.terminal, PLUGIN.positions)
    monkeypatch.setattr(offline, "load_game", lambda _name: plugin)


def test_importing_it_loads_no_game() -> None:
    check = "import grimoire.match.offline, sys; assert not [m for m in sys.modules if m.startswith('two_towers')]"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
