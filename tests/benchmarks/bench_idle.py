"""What open idle matches cost one instance: `python -m tests.benchmarks.bench_idle [matches] [sqlite|postgresql]`.

The matches are made without a service (the log is the same), each with its handshake done and its first prompt open.
Then an instance starts in a process of its own and takes them all over. Printed: how long that takes, its memory before
and after, its memory after a command went through every match, and the processor time it uses while nobody plays.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import psutil

from grimoire.engine import HOST, Actor
from grimoire.eventstore import EventStore, NewEntry, open_store
from grimoire.fairness.commitments import nonce_seal
from grimoire.match import Entry, MatchState, Parsed, Referee
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.identity import new_match_id
from grimoire.v1 import match_pb2
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.cluster import GAME, Cluster, Service, cluster
from tests.support.crowd import Crowd
from tests.support.postgres import PostgresServer
from two_towers.rules import TwoTowers

GROUP = 512
AT_ONCE = 64


def opened(referee: Referee, match_id: str) -> Iterator[Entry]:
    """The entries of a match up to its first prompt; nobody's time runs out before a day."""
    state: MatchState | None = None
    nonces = [secrets.token_bytes(32) for _ in (0, 1)]
    create = match_pb2.CreateMatch(
        game=GAME,
        mode=match_pb2.MATCH_MODE_ANALYSIS,  # owes the transparency log nothing
        options=[match_pb2.OptionValue(name="turn_time_s", value="86400")],
        seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
    )
    seals = [match_pb2.SealNonce(seal=nonce_seal(GAME, match_id, n, nonce)) for n, nonce in enumerate(nonces)]
    opens = [match_pb2.OpenNonce(nonce=nonce) for nonce in nonces]
    for actor, message in (
        (HOST, create),
        *((Actor.of_seat(n), seal) for n, seal in enumerate(seals)),
        *((Actor.of_seat(n), nonce) for n, nonce in enumerate(opens)),
    ):
        parsed = Parsed(secrets.token_bytes(16), referee.schema.code(message), message, message.SerializeToString())
        now = now_ms()
        made = referee.create(match_id, parsed, now) if state is None else referee.judge(state, actor, parsed, now)
        assert isinstance(made, Entry), made
        state = made.state
        yield made


async def fill(store: EventStore, crowd: Crowd, matches: int) -> list[str]:
    """Puts open matches into a store."""
    ids = [new_match_id() for _ in range(matches)]
    rows: list[NewEntry] = []
    for match_id in ids:
        rows += [row(entry) for entry in opened(crowd.referee, match_id)]
        if len(rows) >= GROUP:
            await store.append(rows)
            rows = []
    if rows:
        await store.append(rows)
    return ids


def row(entry: Entry) -> NewEntry:
    """An entry as the store takes it."""
    return NewEntry(
        match_id=entry.match_id,
        game=GAME,
        version=entry.version,
        command_id=entry.command_id,
        server_time_ms=entry.server_time_ms,
        header=entry.header,
        public=entry.public,
        digests=entry.stored_digests(),
        hash=entry.hash,
        parts=entry.stored_parts(),
        status=int(entry.state.phase),
        next_deadline_ms=entry.state.next_deadline_ms,
        rules_version=1,
        epoch=0,
    )


async def touch_all(crowd: Crowd, ids: list[str]) -> None:
    """One command through every match."""
    waiting = iter(ids)

    async def some() -> None:
        for match_id in waiting:
            await crowd.play_on(match_id, 1)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


def memory_mib(service: Service) -> float:
    """Resident memory of an instance."""
    return psutil.Process(service.pid).memory_info().rss / 2**20


async def idle_percent(service: Service, seconds: float = 10.0) -> float:
    """Percent of one processor that an instance uses while nobody plays."""
    process = psutil.Process(service.pid)
    before = process.cpu_times()
    await asyncio.sleep(seconds)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / seconds * 100


async def measure(running: Cluster, matches: int) -> None:
    """Fills, takes over, touches, waits; prints."""
    crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
    empty = await running.add()
    say(f"without matches       {memory_mib(empty):7.0f} MiB, idle {await idle_percent(empty):.1f} % of a processor")
    await empty.drain()
    began = time.perf_counter()
    ids = await fill(running.store, crowd, matches)
    say(f"made {matches} open matches in {time.perf_counter() - began:.0f} s")
    began = time.perf_counter()
    full = await running.add()
    started = time.perf_counter() - began
    taken = [line for line in full.lines() if line["event"] == "partitions_taken"]
    say(f"started and took all over in {started:.2f} s (an empty start takes about as long), {len(taken)} moves")
    say(f"after take-over       {memory_mib(full):7.0f} MiB, idle {await idle_percent(full):.1f} % of a processor")
    began = time.perf_counter()
    await touch_all(crowd, ids)
    say(f"a command through each in {time.perf_counter() - began:.0f} s (every one folded from the store)")
    say(f"after that            {memory_mib(full):7.0f} MiB, idle {await idle_percent(full):.1f} % of a processor")
    await full.kill()
    began = time.perf_counter()
    heir = await running.add()
    first = time.perf_counter() - began
    await crowd.play_on(ids[0], 1)
    say(f"killed; the next was up after {first:.2f} s, its first command answered after "
        f"{time.perf_counter() - began:.2f} s")  # fmt: skip
    say(f"the heir              {memory_mib(heir):7.0f} MiB")


def say(text: str) -> None:
    """Prints at once."""
    print(text, flush=True)


async def main(matches: int, database: str) -> None:
    """Measures on one database."""
    say(told(wait_until_idle()))
    async with AsyncExitStack() as stack:
        url = None
        if database == "postgresql":
            server = PostgresServer()
            stack.callback(server.remove)
            url = server.create_database()
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        await (await open_store(url)).close() if url else None
        await measure(await stack.enter_async_context(cluster(home, url)), matches)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    asyncio.run(main(wanted, sys.argv[2] if len(sys.argv) > 2 else "sqlite"))
