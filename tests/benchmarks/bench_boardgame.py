"""Beside boardgame.io, which keeps matches in memory: `python -m tests.benchmarks.bench_boardgame [seconds]`.

Its server and its clients (two a match, over socket.io) are processes of their own, as our broker, owner and client
are; each match's players move as soon as they may. Ours is durable and keeps its chain. Without Node nothing is
measured.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from grimoire.v1 import match_pb2
from tests.benchmarks.bench_owner import drive, script
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.cluster import cluster
from tests.support.crowd import Crowd
from two_towers.rules import TwoTowers

SOURCES = Path(__file__).parent / "boardgame_io"
TARGETS = {1: 1.0, 16: 2.0, 64: 3.0}
"""Ratio to reach, by number of matches."""
MOST_A_TABLE = 24


def theirs(folder: Path, seconds: float) -> dict[int, float]:
    """Moves a second of boardgame.io by number of matches."""
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(["node", "server.js", str(port)], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        while "ready" not in server.stdout.readline():
            pass
        rates = {}
        for matches in TARGETS:
            told_ = subprocess.run(
                ["node", "client.js", str(port), str(matches), str(seconds)],
                cwd=folder, check=True, capture_output=True, text=True,
            )  # fmt: skip
            rates[matches] = float(json.loads(told_.stdout)["rate"])
        return rates
    finally:
        server.kill()
        server.wait()


async def ours(home: Path, seconds: float) -> dict[int, float]:
    """Commands a second of one owner by number of matches."""
    rates = {}
    async with cluster(home) as running:
        crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
        rng = random.Random(3)
        for matches in TARGETS:
            games = MOST_A_TABLE * 4 if matches == 1 else MOST_A_TABLE
            played = [[script(crowd, rng, match_pb2.MATCH_MODE_ANALYSIS) for _ in range(games)] for _ in range(matches)]
            owner = await running.add()
            rates[matches] = (await drive(running, played, seconds, owner.pid)).rate
            await owner.drain()
    return rates


async def main(seconds: float = 4.0) -> None:
    """Measures; prints."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("boardgame.io: not measured, there is no Node here")
        return
    print(told(wait_until_idle()), flush=True)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        bare = await asyncio.to_thread(theirs, folder / "theirs", seconds)
        own = await ours(folder / "ours", seconds)
    for matches, target in TARGETS.items():
        ratio = own[matches] / bare[matches]
        print(
            f"{matches:3} matches: boardgame.io {bare[matches]:6,.0f} moves/s, Grimoire {own[matches]:6,.0f} "
            f"commands/s, {ratio:.1f} times (target {target:.0f})"
        )


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0))
