"""Installs the toy for one process (and its children) the way every game is installed: by an entry point."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[3]


def write_entry_point(folder: Path, plugin: str = "tests.support.toy:PLUGIN") -> Path:
    """Makes a folder that, on the module path, installs the toy under the name `toy`.

    In this process: `monkeypatch.syspath_prepend(folder)`; for a child: into `PYTHONPATH`, with `ROOT` behind it.

    Args:
        folder: is made.
        plugin: `module:attribute`; `tests.support.toy.second` has others.
    """
    info = folder / "toy-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[grimoire.games]\ntoy = {plugin}\n")
    return folder
