"""From the store to the screen: `python -m tests.benchmarks.bench_replay [matches]`.

Whole matches are written to SQLite; then this process folds them and checks their chains as an owner does when a match
is asked for, on the same event loop and looking for garbage as seldom, and an owner in a process of its own streams
their frames over gRPC, view and prompts and all.
"""

from __future__ import annotations

import random
import secrets
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from grimoire.engine import Actor
from grimoire.eventstore import EventStore, NewEntry, partition_of
from grimoire.match import Entry, MatchState, Parsed, Referee
from grimoire.runtime.cache import MatchCache
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.identity import new_match_id
from grimoire.runtime.lifecycle import run_loop, settle
from grimoire.runtime.loader import Loader
from grimoire.runtime.rpc import dialer
from grimoire.v1 import frame_pb2, rules_pb2, rules_pb2_grpc
from tests.benchmarks.bench_idle import opened, row
from tests.benchmarks.machine import told, wait_until_idle
from tests.support.cluster import Cluster, cluster
from tests.support.crowd import Crowd
from two_towers.rules import TwoTowers

EVENTS = 300
"""At most this many events: the match as long as a usual one."""


def played(referee: Referee, rng: random.Random) -> tuple[str, list[NewEntry], int]:
    """A match of about `EVENTS` events, or a whole one if it is shorter: id, rows, events."""
    match_id = new_match_id()
    rows, events = list[NewEntry](), 0
    state: MatchState | None = None
    for entry in opened(referee, match_id):
        rows.append(row(entry))
        events += len(entry.events)
        state = entry.state
    while state is not None and not state.over and events < EVENTS:
        prompt = state.prompts[0]
        legal = rng.choice(referee.game.legal(state.game, prompt.prompt.seat, prompt.prompt))
        message = referee.schema.command(legal.type, legal.fixed)
        parsed = Parsed(
            secrets.token_bytes(16), legal.type, message, message.SerializeToString(), prompt.prompt_id, "o"
        )
        entry = referee.judge(state, Actor.of_seat(prompt.prompt.seat), parsed, now_ms())
        assert isinstance(entry, Entry), entry
        rows.append(row(entry))
        events += len(entry.events)
        state = entry.state
    return match_id, rows, events


async def folding(referee: Referee, store: EventStore, ids: list[str]) -> list[float]:
    """Milliseconds until each match is open, from the store, its chain checked."""
    loader = Loader(
        referee, store, MatchCache(8, 60.0), lambda _: None, lambda: True, waiting=8, waiting_match=8
    )  # fmt: skip
    times = list[float]()
    for match_id in ids:
        began = time.perf_counter()
        live = await loader.fold(match_id, partition_of(match_id), 1)
        times.append((time.perf_counter() - began) * 1e3)
        assert live.committed is not None
    return times


async def streaming(running: Cluster, ids: list[str], viewer: frame_pb2.Viewer) -> tuple[int, int, float]:
    """Frames, events and seconds of all matches, one after the other over one channel."""
    owner = await running.add()
    frames = events = 0
    async with dialer(running.config, running.keys)(owner.address) as channel:
        stub = rules_pb2_grpc.RulesServiceStub(channel)
        for match_id in ids[:2]:
            async for _ in stub.GetFrames(rules_pb2.GetFramesRequest(match_id=match_id, viewer=viewer)):
                pass
        began = time.perf_counter()
        for match_id in ids:
            async for answer in stub.GetFrames(rules_pb2.GetFramesRequest(match_id=match_id, viewer=viewer)):
                frames += len(answer.frames)
                events += sum(len(frame.events) for frame in answer.frames)
        took = time.perf_counter() - began
    await owner.drain()
    return frames, events, took


async def main(matches: int = 100) -> None:
    """Measures; prints."""
    say(told(wait_until_idle()))
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        running = await stack.enter_async_context(cluster(home))
        crowd = Crowd(TwoTowers(), running.keys, running.edge, running.store)
        rng = random.Random(1)
        made = [played(crowd.referee, rng) for _ in range(matches)]
        for _, rows, _ in made:
            await running.store.append(rows)
        ids, events = [match_id for match_id, _, _ in made], sum(count for _, _, count in made)
        settle()
        await folding(crowd.referee, running.store, ids[:10])
        times = await folding(crowd.referee, running.store, ids)
        long = [ms for ms, (_, _, count) in zip(times, made, strict=True) if count >= EVENTS]
        say(
            f"fold and verify from the store: {events / sum(times) * 1e3:,.0f} events/s (target 100,000); a match of "
            f"{EVENTS} events is open after {statistics.median(long or times):.1f} ms (target 3)"
        )
        for name, viewer in (
            ("public", frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_PUBLIC)),
            ("a seat", frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_SEAT, seat=0)),
        ):
            frames, shown, took = await streaming(running, ids, viewer)
            say(
                f"replay stream over gRPC, {name}: {shown / took:,.0f} events/s (target 80,000), "
                f"{frames / took:,.0f} frames/s, each with its whole view"
            )


def say(text: str) -> None:
    """Prints at once."""
    print(text, flush=True)


if __name__ == "__main__":
    run_loop(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
