"""`grimoire scenario`: the rules as examples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from rich.progress import track

from grimoire.cli.say import ERRORS, OUT, fail
from grimoire.match.scenario import ScenarioResult, run_file, summary

__all__ = ["scenario"]


def scenario(paths: Sequence[Path], *, as_json: bool) -> int:
    """Runs scenario files and says how each came out.

    Args:
        paths: files, or folders whose `*.yaml` are taken, in order of their names.
        as_json: prints all results as JSON.

    Returns:
        0 if all pass, 1 if one fails, 2 if there is nothing to run.
    """
    files = list(_files(paths))
    if not files:
        fail("There is no scenario file (*.yaml) there.", code=2)
    results: list[ScenarioResult] = []
    for file in track(files, "Playing scenarios", console=ERRORS, transient=True):
        results += run_file(file)
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(results), indent=2).decode())
    else:
        for result in results:
            OUT.print(result.text(), style=None if result.passed else "red", highlight=False, markup=False)
        OUT.print(summary(results), highlight=False, markup=False)
    return 0 if all(result.passed for result in results) else 1


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(path.rglob("*.yaml"))
        elif path.exists():
            yield path
        else:
            fail(f"There is no file {path}.", code=2)
