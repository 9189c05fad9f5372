"""The toy can be installed the way games are, for one process and its children."""

from __future__ import annotations

import os
import subprocess
import sys

from grimoire.plugins import game_names, load_game
from tests.support.toy import PLUGIN
from tests.support.toy.install import ROOT, write_entry_point


def test_the_toy_is_found_by_its_entry_point(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(write_entry_point(tmp_path / "path")))
    assert "toy" in game_names()
    assert load_game("toy") is PLUGIN
    load_game.cache_clear()  # the next test of this process does not know the toy


def test_a_child_process_finds_it_too(tmp_path):
    path = os.pathsep.join((str(write_entry_point(tmp_path / "path")), str(ROOT)))
    said = subprocess.run(
        [sys.executable, "-c", "from grimoire.plugins import load_game; print(load_game('toy').game.id)"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "toy"
