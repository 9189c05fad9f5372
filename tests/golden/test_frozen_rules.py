"""Rules that were frozen before they were changed still judge the logs that were played by them."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import two_towers
from grimoire.match.golden import check_golden, golden_names
from grimoire.plugins import GamePlugin, game_names, load_game
from tests.two_towers.mutants import MUTANTS

ROOT = Path(__file__).parents[2]
LOGS = Path(__file__).parent / "two_towers"
SERVICES = ROOT / "services"


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("freeze_rules", ROOT / "tools" / "freeze_rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def frozen(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GamePlugin]:
    """Two Towers as it will be: version 1 frozen, and beside it a version 2 that anybody may change."""
    tool.freeze(SERVICES / "two_towers", tmp_path)
    monkeypatch.setattr(two_towers, "__path__", [*two_towers.__path__, str(tmp_path)])
    first = importlib.import_module("two_towers.rules_1").TwoTowers()
    newest = type("TwoTowersSecond", (type(two_towers.PLUGIN.game),), {"rules_version": 2})()
    yield msgspec.structs.replace(two_towers.PLUGIN, game=newest, older=(first,))
    for name in [name for name in sys.modules if name.startswith("two_towers.rules_1")]:
        del sys.modules[name]
    del two_towers.rules_1


def test_frozen_rules_judge_every_golden_log(frozen: GamePlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever becomes of the rules in use, the frozen ones do not hear of it.
    changed = {mutant.name for mutant in MUTANTS if mutant.rule in ("TT-4.1", "TT-4.9", "TT-8.3", "TT-2.4")}
    for mutant in MUTANTS:
        if mutant.name in changed:
            mutant.make(monkeypatch)
    names = golden_names(LOGS)
    assert names
    for name in names:
        assert check_golden(LOGS, name, frozen) == ""


def test_a_frozen_package_imports_nothing_of_the_game_but_itself(frozen: GamePlugin) -> None:
    game = frozen.rules(1)
    assert game is not None
    assert type(game).__module__ == "two_towers.rules_1.rules"
    assert game.rules_digest == two_towers.PLUGIN.game.rules_digest
    code = (
        "import importlib, sys, two_towers; two_towers.__path__.append(sys.argv[1]);"
        "before = set(sys.modules); importlib.import_module('two_towers.rules_1');"
        "print(sorted(m for m in set(sys.modules) - before if m.startswith('two_towers.') and 'rules_1' not in m))"
    )
    folder = str(Path(sys.modules["two_towers.rules_1"].__file__ or "").parents[1])
    said = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_a_version_is_frozen_once(tool: ModuleType, tmp_path: Path) -> None:
    tool.freeze(SERVICES / "two_towers", tmp_path)
    with pytest.raises(tool.FrozenError, match="version 1 is frozen; raise rules_version"):
        tool.freeze(SERVICES / "two_towers", tmp_path)


def test_rules_that_cannot_be_frozen_are_refused_whole(tool: ModuleType, tmp_path: Path) -> None:
    game = tmp_path / "some_game"
    game.mkdir()
    rules = game / "rules.py"
    rules.write_text("class Game: ...\n")
    with pytest.raises(tool.FrozenError, match="does not say its rules_version"):
        tool.freeze(game)
    rules.write_text("import some_game.other\n\nclass Game:\n    rules_version: int = 3\n")
    with pytest.raises(tool.FrozenError, match="write `from some_game import"):
        tool.freeze(game)
    rules.write_text("from some_game.other import x\n\nclass Game:\n    rules_version: int = 3\n")
    with pytest.raises(tool.FrozenError, match=r"other.py is imported by the rules and is no module"):
        tool.freeze(game)
    rules.write_text("class Game:\n    rules_version: int = 3\n")
    with pytest.raises(tool.FrozenError, match="must export its game alone"):
        tool.freeze(game)
    assert sorted(path.name for path in game.iterdir()) == ["rules.py"]


@pytest.mark.parametrize("game", game_names())
def test_every_frozen_folder_is_installed(game: str) -> None:
    """A version that lies in its folder but is not named by the plug-in would leave its matches stranded."""
    package = SERVICES / game
    folders = {int(path.name.removeprefix("rules_")) for path in package.glob("rules_[0-9]*") if path.is_dir()}
    assert folders == {older.rules_version for older in load_game(game).older}
