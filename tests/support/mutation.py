"""Mutants: a function of the rules with one piece of its text exchanged, and the scenario file that notices it."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grimoire.match.scenario import run_file
from grimoire.plugins import load_game

__all__ = ["Mutant", "exchanged", "passes"]

_SCENARIOS = Path(__file__).parents[1] / "scenarios"


class Mutant(NamedTuple):
    """One changed rule.

    Attributes:
        rule: which one.
        name: what is wrong now.
        where: the function, `module.name` or `module.Class.name`.
        old: a piece of its text.
        new: what stands there instead.
        seen: the scenario file that fails.
    """

    rule: str
    name: str
    where: str
    old: str
    new: str
    seen: str


def passes(name: str) -> bool:
    """Whether a scenario file passes; not either where changed rules lead to something that cannot be."""
    try:
        return all(result.passed for result in run_file(_SCENARIOS / f"{name}.yaml", load_game))
    except (ValueError, LookupError, RuntimeError):
        return False


def exchanged(where: str, old: str, new: str) -> Callable[[pytest.MonkeyPatch], None]:
    """Changes the function `package.module.name` or `package.module.Class.name`: `new` stands where `old` did."""
    package, module_name, *path = where.split(".")
    module = importlib.import_module(f"{package}.{module_name}")
    function: Any = module
    for part in path:
        function = getattr(function, part)
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{where} does not hold {old!r} once"
    made: dict[str, Any] = {}
    exec(compile("from __future__ import annotations\n" + source.replace(old, new), where, "exec"), vars(module), made)
    code = made[path[-1]].__code__
    # The code, not the name: whoever has imported the function gets the mutant too.
    return lambda patch: patch.setattr(function, "__code__", code)
