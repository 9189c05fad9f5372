"""For every test of the project."""

from __future__ import annotations

import math
import os

# gRPC's fork handlers disturb the processes that tests start; must be set before gRPC is imported.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import pytest
from hypothesis import settings

# A test never asserts wall time: a busy machine may be slow with an example.
settings.register_profile("grimoire", deadline=None)
settings.load_profile("grimoire")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`. Many tests wait for clocks, browsers and processes; others use the processor meanwhile."""
    asked = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(asked) if asked else math.ceil(1.5 * cores)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Modules with long tests come first: workers that run out of tests can then still share what is left.

    How long a test is, its limit tells. A module stays together: its tests share what they have started.
    """
    longest: dict[str, float] = {}
    for item in items:
        mark = item.get_closest_marker("timeout")
        module = item.nodeid.partition("::")[0]
        longest[module] = max(longest.get(module, 0), mark.args[0] if mark and mark.args else 0)
    items.sort(key=lambda item: -longest[item.nodeid.partition("::")[0]])
