"""How long a match is without an owner: `python -m tests.benchmarks.bench_takeover [rounds] [sqlite|postgresql]`.

Two instances share 64 matches. In each somebody asks ten times a second, and asks again until there is an answer.
One instance is killed (kill -9); then, after a newcomer has its share, another is stopped gracefully (SIGTERM). For
every match that moved: seconds from the signal to its first answered command.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from grimoire.eventstore import partition_of
from grimoire.v1 import match_pb2
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.cluster import Cluster, Service, cluster
from tests.support.crowd import Crowd
from tests.support.postgres import PostgresServer
from two_towers.rules import TwoTowers

MATCHES = 64
PACE_S = 0.1


class Prober:
    """Somebody who plays match after match, one of them always in the same partition."""

    def __init__(self, crowd: Crowd, match_id: str) -> None:
        self.crowd = crowd
        self.match_id = match_id
        self.answers: list[float] = []

    async def play(self) -> None:
        """A command that is always refused asks its owner as well as any other, and never ends the match."""
        while True:
            await self.crowd.send(self.match_id, match_pb2.SealNonce(seal=bytes(32)), seat=0)
            self.answers.append(time.monotonic())
            await asyncio.sleep(PACE_S)

    def first_after(self, moment: float) -> float:
        """Seconds until the first command that was sent after a moment is answered."""
        after = [answer - moment for answer in self.answers if answer > moment]
        # The first may have been under way already.
        return after[0] if after[0] > PACE_S else after[1]


async def measure(running: Cluster, rounds: int) -> tuple[list[float], list[float]]:
    """Seconds after kill -9, and after SIGTERM, for every match that moved."""
    crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
    crowd.reply_s = 2.0
    killed, stopped = list[float](), list[float]()
    await running.until_balanced(await running.add(), await running.add())
    probers = [Prober(crowd, await crowd.begin()) for _ in range(MATCHES)]
    playing = [asyncio.create_task(prober.play()) for prober in probers]
    for _ in range(rounds):
        for signal, seconds in (("kill", killed), ("drain", stopped)):
            first, second = (service for service in running.services if service.alive)
            seconds += await moved(running, probers, first, second, signal)
            await running.until_balanced(second, await running.add())
            await asyncio.sleep(1)
    for task in playing:
        task.cancel()
    await asyncio.gather(*playing, return_exceptions=True)
    return killed, stopped


async def moved(running: Cluster, probers: list[Prober], going: Service, staying: Service, signal: str) -> list[float]:
    """Ends one instance; gives the seconds of the matches it had."""
    its = {owner.partition for owner in await running.owners() if owner.address == going.address}
    theirs = [prober for prober in probers if partition_of(prober.match_id) in its]
    began = time.monotonic()
    await (going.kill() if signal == "kill" else going.drain())
    await running.until_balanced(staying)
    await asyncio.sleep(1)
    return [prober.first_after(began) for prober in theirs]


def say_distribution(name: str, seconds: list[float]) -> None:
    """Prints quantiles."""
    seconds.sort()
    quantiles = ", ".join(f"p{q} {seconds[min(len(seconds) - 1, len(seconds) * q // 100)]:.2f} s" for q in (10, 50, 90))
    say(f"{name}: {quantiles}, longest {seconds[-1]:.2f} s ({len(seconds)} moved matches)")


def say(text: str) -> None:
    """Prints at once."""
    print(text, flush=True)


async def main(rounds: int, database: str) -> None:
    """Measures on one database."""
    say(told(wait_until_idle()))
    async with AsyncExitStack() as stack:
        url = None
        if database == "postgresql":
            server = PostgresServer(fsync=True)
            stack.callback(server.remove)
            url = server.create_database()
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        killed, stopped = await measure(await stack.enter_async_context(cluster(home, url)), rounds)
    say_distribution(f"{database}, kill -9", killed)
    say_distribution(f"{database}, SIGTERM", stopped)


if __name__ == "__main__":
    given = sys.argv[1:]
    asyncio.run(main(int(given[0]) if given else 5, given[1] if len(given) > 1 else "sqlite"))
