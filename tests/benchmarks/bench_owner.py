"""One owner beside the floor: `python -m tests.benchmarks.bench_owner [matches] [seconds] [rounds]`.

The owner is the real service in a process of its own, over the real broker, with SQLite on disk. The players' commands
are made beforehand, from the same seeds, so that here only bytes are sent: whoever measures must not be what is
measured. Owner and floor take turns; the ratio is that of their medians.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from grimoire.engine import HOST, Actor
from grimoire.fairness.commitments import nonce_seal
from grimoire.match import Entry, MatchState, Parsed
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.identity import new_match_id
from grimoire.v1 import envelope_pb2, match_pb2
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.cluster import GAME, ROOT, Cluster, cluster
from tests.support.crowd import Crowd
from two_towers.rules import TwoTowers

WARM_S = 1.5
GAMES = 32
"""Matches prepared for each table; enough for the whole run."""


@dataclass
class Script:
    """A match's commands in order, ready to be sent, and how many events its plays write on average."""

    match_id: str
    opening: list[bytes] = field(default_factory=list)
    plays: list[bytes] = field(default_factory=list)
    events: int = 0


def script(crowd: Crowd, rng: random.Random, mode: int) -> Script:
    """Plays a match here; the same seeds make it the same there."""
    made = Script(new_match_id())
    state: MatchState | None = None
    nonces = [rng.randbytes(32) for _ in (0, 1)]
    create = match_pb2.CreateMatch(
        game=GAME,
        mode=mode,  # type: ignore[arg-type]
        seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
    )
    seals = [match_pb2.SealNonce(seal=nonce_seal(GAME, made.match_id, n, nonce)) for n, nonce in enumerate(nonces)]
    opens = [match_pb2.OpenNonce(nonce=nonce) for nonce in nonces]
    steps: list[tuple[int | None, int | None, object]] = [
        (None, None, create),
        *((n, None, seal) for n, seal in enumerate(seals)),
        *((n, None, nonce) for n, nonce in enumerate(opens)),
    ]
    while state is None or not state.over:
        if steps:
            seat, prompt_id, message = steps.pop(0)
        else:
            assert state is not None
            opened = state.prompts[0]
            legal = rng.choice(crowd.game.legal(state.game, opened.prompt.seat, opened.prompt))
            seat, prompt_id = opened.prompt.seat, opened.prompt_id
            message = crowd.referee.schema.command(legal.type, legal.fixed)
        kind, payload = crowd.referee.schema.code(message), message.SerializeToString()
        command = envelope_pb2.Command(
            command_id=rng.randbytes(16), match_id=made.match_id, seat=seat, prompt_id=prompt_id, type=kind,
            payload=payload,
        )  # fmt: skip
        sent = envelope_pb2.Submission(
            command=command, occupant_id="" if seat is None else f"o{seat}", host=seat is None
        )
        actor = HOST if seat is None else Actor.of_seat(seat)
        parsed = Parsed(command.command_id, kind, message, payload, prompt_id, sent.occupant_id)
        if state is None:
            entry = crowd.referee.create(made.match_id, parsed, now_ms())
        else:
            entry = crowd.referee.judge(state, actor, parsed, now_ms())
        assert isinstance(entry, Entry), entry
        (made.opening if state is None or state.joint is None else made.plays).append(sent.SerializeToString())
        made.events += len(entry.events) if state is not None and state.joint is not None else 0
        state = entry.state
    return made


@dataclass
class Outcome:
    """What one run came to; `cpu_us` is the service's own processor time a command, whatever else the machine does."""

    rate: float
    p50_ms: float
    p99_ms: float
    cpu_us: float


async def drive(running: Cluster, tables: list[list[Script]], seconds: float, pid: int) -> Outcome:
    """Every table sends its next command as soon as the last is answered."""
    bus, counts, waits, everything = running.edge, [0], list[float](), [0]
    before = cpu_s(pid)
    start = time.perf_counter() + WARM_S
    end = start + seconds

    async def table(scripts: list[Script]) -> None:
        while scripts:
            one = scripts.pop()
            for data in one.opening:
                accepted(await bus.request_command(GAME, one.match_id, data))
                everything[0] += 1
            for data in one.plays:
                asked = time.perf_counter()
                accepted(await bus.request_command(GAME, one.match_id, data))
                everything[0] += 1
                now = time.perf_counter()
                if now > end:
                    return
                if now > start:
                    waits.append(now - asked)
                    counts[0] += 1
        raise RuntimeError("too few matches were prepared for this machine")

    await asyncio.gather(*(table(scripts) for scripts in tables))
    waits.sort()
    return Outcome(
        counts[0] / seconds,
        waits[len(waits) // 2] * 1e3,
        waits[len(waits) * 99 // 100] * 1e3,
        (cpu_s(pid) - before) / everything[0] * 1e6,
    )


def cpu_s(pid: int) -> float:
    """Processor time a process has used."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def accepted(reply: bytes) -> None:
    """Every command was made to be right."""
    answer = envelope_pb2.CommandReply.FromString(reply)
    assert answer.HasField("accepted"), answer


@asynccontextmanager
async def floor_process(running: Cluster, events: int) -> AsyncIterator[int]:
    """The floor, until the block ends; gives its pid."""
    process = subprocess.Popen(  # noqa: ASYNC220 (it returns at once)
        [sys.executable, "-m", "tests.benchmarks.floor", str(running.config.home), running.broker.url, str(events)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        yield process.pid
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
        with contextlib.suppress(ValueError):
            process.stdout.close()  # type: ignore[union-attr]


async def main(matches: int, seconds: float, rounds: int) -> None:
    """Measures; prints."""
    busy = wait_until_idle()
    say(told(busy))
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        running = await stack.enter_async_context(cluster(home))
        crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
        rng = random.Random(1)
        ours, theirs = list[Outcome](), list[Outcome]()
        for _ in range(rounds):
            # Matches for analysis: they owe the transparency log nothing, which is another service's work.
            played = [[script(crowd, rng, match_pb2.MATCH_MODE_ANALYSIS) for _ in range(GAMES)] for _ in range(matches)]
            plays = [one for scripts in played for one in scripts]
            events = round(sum(one.events for one in plays) / sum(len(one.plays) for one in plays))
            bare = [[Script(one.match_id, [], list(one.plays)) for one in scripts] for scripts in played]
            async with floor_process(running, events) as pid:
                theirs.append(await drive(running, bare, seconds, pid))
            owner = await running.add()
            ours.append(await drive(running, played, seconds, owner.pid))
            await owner.drain()
            say(f"floor {theirs[-1].rate:7.0f}/s   owner {ours[-1].rate:7.0f}/s   ({events} events an entry)")
        say_all("floor", theirs)
        say_all("owner", ours)
        ratio = statistics.median(one.rate for one in ours) / statistics.median(one.rate for one in theirs)
        say(f"owner at {ratio:.2f} of the floor, {matches} matches")


def say_all(name: str, outcomes: list[Outcome]) -> None:
    """Medians of all rounds."""
    rate, p50, p99, cpu = (
        statistics.median(getattr(one, of) for one in outcomes) for of in ("rate", "p50_ms", "p99_ms", "cpu_us")
    )
    say(f"{name}: {rate:.0f} commands/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms, {cpu:.0f} µs of processor a command")


def say(text: str) -> None:
    """Prints at once."""
    print(text, flush=True)


if __name__ == "__main__":
    given = [float(one) for one in sys.argv[1:]]
    matches, seconds, rounds = (*given, *(64, 6, 3)[len(given) :])
    asyncio.run(main(int(matches), seconds, int(rounds)))
