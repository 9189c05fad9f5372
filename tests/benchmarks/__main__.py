"""`make bench`: every benchmark in one run, on a machine that is otherwise idle. Some names choose some of them."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

BENCHES: Final = {
    "engine": ("bench_engine",),
    "owner": ("bench_owner",),
    "latency": ("bench_latency",),
    "boardgame": ("bench_boardgame",),
    "replay": ("bench_replay",),
    "eventstore": ("bench_eventstore",),
    "takeover": ("bench_takeover", "3"),
    "idle": ("bench_idle", "50000"),
    "gateway": ("bench_gateway",),
    "web": ("bench_web",),
}
"""Module and arguments. Each runs in a process of its own, so that none pays for another's memory."""


def main(names: list[str]) -> int:
    """Runs them one after the other; returns how many could not be measured."""
    failed = 0
    for name in names or BENCHES:
        module, *arguments = BENCHES[name]
        print(f"\n== {name} ({module})", flush=True)
        command = [sys.executable, "-m", f"tests.benchmarks.{module}", *arguments]
        failed += subprocess.run(command, check=False).returncode != 0
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
