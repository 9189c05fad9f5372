"""A function of the rules with one piece of its text exchanged."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

__all__ = ["exchanged"]


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
