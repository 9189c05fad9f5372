"""Two versions of one game's rules side by side: a match ends under the rules it began with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grimoire.engine import ALL, PUBLIC, Game, Viewer
from grimoire.fairness.export import write_export
from grimoire.fairness.verify import exit_status
from grimoire.match import FrameFold, MatchState, Referee, Rulebook, RulesNotInstalledError, created_in, redecide
from grimoire.match.driver import BotPlayers, play_match
from grimoire.match.golden import check_golden, record_golden
from grimoire.match.offline import OfflineError, audit_bytes, audit_file, frames_of_file
from grimoire.match.parsed import Parsed
from grimoire.match.table import Table
from grimoire.plugins import GamePlugin, load_game
from grimoire.v1 import audit_pb2, envelope_pb2
from tests.support.toy import PLUGIN as FIRST
from tests.support.toy import Toy
from tests.support.toy import schema as pb
from tests.support.toy.install import ROOT, write_entry_point
from tests.support.toy.second import FORGETFUL, ToySecond
from tests.support.toy.second import PLUGIN as BOTH
from tests.support.transparency import logged

LEVELS = ("careful", "random")
OPTIONS = {"mode": "duel", "rounds": "3"}


def played(plugin: GamePlugin) -> Table:
    """A whole match under the newest rules of a plug-in."""
    return play_match(plugin, LEVELS, f"versions-{plugin.game.rules_version}", "versions", OPTIONS)


def serving(table: Table, game: Game[Any], *older: Game[Any]) -> Referee[Any]:
    """A referee with these rules that knows this table's secret."""
    return Referee(game, lambda *_: table.seed, host_key_id="table", older=older)


def refolded(referee: Referee[Any], table: Table) -> MatchState[Any]:
    """A table's log, folded by another referee."""
    state: MatchState[Any] | None = None
    for entry in table.entries:
        state = referee.fold(state, entry.header, entry.public, dict(entry.parts), entry.hash)
    assert state is not None
    return state


def export_of(table: Table) -> bytes:
    log = table.log(ALL)
    return b"".join(write_export("toy", table.match_id, log, ALL, logged(log)))


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Installs a plug-in of the toy for this test, by its name in `tests.support.toy.second`."""

    def under(name: str) -> None:
        path = write_entry_point(tmp_path / f"installed-{name}", f"tests.support.toy.second:{name}")
        monkeypatch.syspath_prepend(str(path))
        load_game.cache_clear()

    yield under
    load_game.cache_clear()


# ---- play ------------------------------------------------------------------------------------------------------------


def test_a_match_begun_under_the_old_rules_ends_under_them() -> None:
    old = played(FIRST)
    moved = Table(Toy(), match_id=old.match_id, seats=2, options=OPTIONS, seed=old.seed, nonces=old.nonces)
    moved.begin()
    players = BotPlayers(moved, FIRST, LEVELS, "versions")
    for _ in range(4):
        players.step()

    # The service is restarted with new rules: all it knows of the match comes from the log.
    moved.referee = serving(moved, ToySecond(), Toy())
    moved.state = refolded(moved.referee, moved)
    players.finish()

    assert [entry.hash for entry in moved.entries] == [entry.hash for entry in old.entries]
    assert moved.running == old.running


def test_new_matches_begin_under_the_newest_rules() -> None:
    table = Table(ToySecond(), match_id="m1", seats=2)
    table.referee = serving(table, ToySecond(), Toy())
    table.create()

    created = created_in(table.log(PUBLIC))

    assert created is not None
    assert (created.rules_version, created.rules_digest) == (2, ToySecond.rules_digest)
    assert table.running.rules_version == 2


def test_the_versions_differ_in_what_they_decide_and_in_what_they_fold() -> None:
    omens = {
        version: max(e.omen for entry in played(plugin).entries for e in entry.events if isinstance(e, pb.RuneBurnt))
        for version, plugin in ((1, FIRST), (2, BOTH))
    }
    assert omens[1] <= 2 < omens[2]
    old = played(FIRST)
    first = second = Toy().initial(old.running.setup)
    for entry in old.entries:
        for event in entry.events:
            if event.DESCRIPTOR.file is pb.DESCRIPTOR:
                first, second = Toy().evolve(first, event), ToySecond().evolve(second, event)
    assert first == old.running.game
    assert second != first


def test_without_its_rules_a_match_is_never_folded_by_others() -> None:
    old = played(FIRST)
    referee = serving(old, ToySecond())
    with pytest.raises(RulesNotInstalledError, match=r"rules version 1 of toy is not installed \(installed: 2\)") as e:
        refolded(referee, old)
    assert (e.value.game, e.value.rules_version, e.value.installed) == ("toy", 1, (2,))
    with pytest.raises(RulesNotInstalledError):
        FrameFold(referee, PUBLIC).advance(
            old.entries[0].header, old.entries[0].public, dict(old.entries[0].parts), old.entries[0].hash
        )
    # Nor is a state that is there already judged or shown by them.
    with pytest.raises(RulesNotInstalledError):
        referee.rules(old.running.rules_version)


def test_a_command_is_read_by_the_rules_of_its_match() -> None:
    class Later(ToySecond):
        standing: frozenset[str] = frozenset()

    table = Table(Toy(), match_id="m1", seats=2)
    table.begin()
    referee = serving(table, Later(), Toy())
    command = table.envelope(0, "set_stance", pb.SetStance(always_pass=True).SerializeToString())
    # Under the older rules a stance answers no prompt.
    assert isinstance(referee.read(command, "seat-0", 1), Parsed)
    assert isinstance(referee.read(command, "seat-0"), envelope_pb2.Rejection)
    with pytest.raises(RulesNotInstalledError):
        referee.read(command, "seat-0", 7)


def test_each_frame_shows_the_rules_of_its_match() -> None:
    for plugin in (FIRST, BOTH):
        table = played(plugin)
        fold = FrameFold(serving(table, ToySecond(), Toy()), Viewer.of_seat(0))
        own = FrameFold(serving(table, plugin.game), Viewer.of_seat(0))
        for entry in table.entries:
            told = (entry.header, entry.public, dict(entry.parts), entry.hash)
            assert fold.frame(*told) == own.frame(*told)


# ---- audits and records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plugin", [FIRST, BOTH], ids=["version 1", "version 2"])
def test_logs_of_every_version_are_judged_by_their_own_rules(plugin: GamePlugin) -> None:
    log = played(plugin).log(ALL)
    assert redecide(BOTH.game, log, BOTH.older).status == audit_pb2.CHECK_STATUS_PASSED
    for game in BOTH.games:
        alone = redecide(game, log)
        own = game.rules_version == plugin.game.rules_version
        assert alone.status == (audit_pb2.CHECK_STATUS_PASSED if own else audit_pb2.CHECK_STATUS_NOT_CHECKED)


def test_a_log_that_claims_other_rules_than_it_was_played_by_lies() -> None:
    table = played(BOTH)

    class Disguised(Toy):
        rules_version = 2
        rules_digest = ToySecond.rules_digest

    check = redecide(Disguised(), table.log(ALL))
    assert check.status == audit_pb2.CHECK_STATUS_FAILED
    first = next(e.version for e in table.entries if any(isinstance(x, pb.RuneBurnt) for x in e.events))
    assert check.version == first


@pytest.mark.parametrize("plugin", [FIRST, BOTH], ids=["version 1", "version 2"])
def test_golden_logs_of_every_version_come_out_as_recorded(tmp_path: Path, plugin: GamePlugin) -> None:
    record_golden(tmp_path, "one", played(plugin))
    assert check_golden(tmp_path, "one", BOTH) == ""


def test_a_golden_log_whose_rules_were_thrown_away_is_reported(tmp_path: Path) -> None:
    record_golden(tmp_path, "one", played(FIRST))
    assert check_golden(tmp_path, "one", FORGETFUL).startswith("check 8: 8 not re-decided: rules version 1 of toy")


def test_files_of_every_version_are_audited_and_shown(install: Callable[[str], None], tmp_path: Path) -> None:
    install("PLUGIN")
    for plugin in (FIRST, BOTH):
        table = played(plugin)
        path = tmp_path / "match.jsonl"
        path.write_bytes(export_of(table))
        assert exit_status(audit_file(path)) == 0
        frames = list(frames_of_file(path, ALL))
        assert len(frames) == len(table.entries)
        assert frames[-1].view == plugin.game.view(table.running.game, ALL).SerializeToString()


def test_without_its_rules_a_file_is_verified_up_to_them_and_not_shown(
    install: Callable[[str], None], tmp_path: Path
) -> None:
    install("FORGETFUL")
    path = tmp_path / "match.jsonl"
    path.write_bytes(export_of(played(FIRST)))
    report = audit_file(path)
    assert exit_status(report) == 3
    assert report.checks[7].status == audit_pb2.CHECK_STATUS_NOT_CHECKED
    assert "rules version 1 of toy not installed" in report.checks[7].detail
    with pytest.raises(OfflineError, match="rules version 1 of toy, under which this match was played"):
        list(frames_of_file(path, ALL))
    assert exit_status(audit_bytes(export_of(played(FORGETFUL)))) == 0


def test_the_command_line_says_so_with_status_3(tmp_path: Path) -> None:
    entry_points = write_entry_point(tmp_path / "installed", "tests.support.toy.second:FORGETFUL")
    path = tmp_path / "match.jsonl"
    path.write_bytes(export_of(played(FIRST)))
    done = subprocess.run(
        [sys.executable, "-c", "from grimoire.cli import main; main()", "audit", str(path)],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{entry_points}:{ROOT}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "rules version 1 of toy not installed" in done.stdout


# ---- the rulebook ----------------------------------------------------------------------------------------------------


def test_a_rulebook_knows_its_versions() -> None:
    book = Rulebook(ToySecond(), [Toy()])
    assert book.versions == (2, 1)
    assert book.newest.game.rules_version == 2
    assert book.of(1).game.rules_version == 1
    with pytest.raises(RulesNotInstalledError):
        book.of(3)


def test_a_rulebook_takes_older_versions_of_its_own_game_only() -> None:
    class Stranger(Toy):
        id = "stranger"

    for game, older in ((ToySecond(), Stranger()), (ToySecond(), ToySecond()), (Toy(), ToySecond())):
        with pytest.raises(ValueError, match="is no older version of toy"):
            Rulebook(game, [older])


def test_a_plugin_finds_its_rules() -> None:
    assert [game.rules_version for game in BOTH.games] == [2, 1]
    first = BOTH.rules(1)
    assert first is not None
    assert first.rules_version == 1
    assert FORGETFUL.rules(1) is None


def test_a_log_that_begins_otherwise_names_no_rules() -> None:
    log = played(FIRST).log(ALL)
    assert created_in([]) is None
    assert created_in(log[1:]) is None
    log[0].public = b"\xff\xff"
    assert created_in(log) is None
    assert redecide(Toy(), log).version == 1
