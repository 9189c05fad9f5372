"""How long an answer takes at a steady pace: `python -m tests.benchmarks.bench_latency [rate] [matches] [seconds]`.

Commands of many matches come at fixed times, whether or not the one before has been answered, so that a pause of the
service is felt by all who come in it. Beside it the bare pipeline (`floor.py`) with one command at a time: a request
over the broker and one commit.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from grimoire.v1 import match_pb2
from tests.benchmarks.bench_owner import Script, accepted, floor_process, script
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.cluster import GAME, Cluster, cluster
from tests.support.crowd import Crowd
from two_towers.rules import TwoTowers

BARE_COMMANDS = 1_000


async def bare_p50(running: Cluster, commands: list[tuple[str, bytes]]) -> float:
    """Milliseconds of the median, one command at a time."""
    times = list[float]()
    async with floor_process(running, 6):
        for match_id, data in commands:
            asked = time.perf_counter()
            accepted(await running.edge.request_command(GAME, match_id, data))
            times.append((time.perf_counter() - asked) * 1e3)
    return statistics.median(times[len(times) // 10 :])


async def paced(running: Cluster, scripts: list[Script], rate: float, seconds: float) -> list[float]:
    """Milliseconds of every answer at this many commands a second over all matches, from when each was due."""
    bus = running.edge
    for one in scripts:
        for data in one.opening:
            accepted(await bus.request_command(GAME, one.match_id, data))
    times = list[float]()
    start = time.perf_counter() + 0.2

    async def table(number: int, one: Script) -> None:
        every = len(scripts) / rate
        for turn, data in enumerate(one.plays):
            due = start + number / rate + turn * every
            if due > start + seconds:
                return
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            accepted(await bus.request_command(GAME, one.match_id, data))
            times.append((time.perf_counter() - due) * 1e3)

    await asyncio.gather(*(table(number, one) for number, one in enumerate(scripts)))
    return sorted(times)


async def main(rate: float = 1_000.0, matches: int = 256, seconds: float = 8.0) -> None:
    """Measures; prints."""
    print(told(wait_until_idle()), flush=True)
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        running = await stack.enter_async_context(cluster(home))
        crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
        rng = random.Random(2)
        scripts = [script(crowd, rng, match_pb2.MATCH_MODE_ANALYSIS) for _ in range(matches)]
        commands = [(one.match_id, data) for one in scripts for data in one.plays][:BARE_COMMANDS]
        bare = await bare_p50(running, commands)
        owner = await running.add()
        times = await paced(running, scripts, rate, seconds)
        await owner.drain()
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"bare request and commit, one at a time: p50 {bare:.2f} ms")
    print(
        f"{len(times) / seconds:,.0f} commands/s over {matches} matches: p50 {p50:.2f} ms, p99 {p99:.2f} ms, "
        f"{p99 / bare:.1f} times the bare p50 (target 5)"
    )


if __name__ == "__main__":
    given = [float(one) for one in sys.argv[1:]]
    rate, matches, seconds = (*given, *(1_000.0, 256.0, 8.0)[len(given) :])
    asyncio.run(main(rate, int(matches), seconds))
