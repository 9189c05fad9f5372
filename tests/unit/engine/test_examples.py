"""The examples in the engine's docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import grimoire.engine

MODULES = [f"grimoire.engine.{module.name}" for module in pkgutil.iter_modules(grimoire.engine.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
