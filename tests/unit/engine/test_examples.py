"""The examples in the docstrings of the engine, and of what boards share, are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import grimoire.boards
import grimoire.engine

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (grimoire.engine, grimoire.boards)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
