"""Clocks: at the same instant as a command, over restarts and silences, with a store that does not answer."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from grimoire.bus import Bus
from grimoire.eventstore import StoredEntry, Unavailable
from grimoire.match import MatchState
from grimoire.match.clock import merged, overlap
from grimoire.runtime.game_service import now_ms
from grimoire.v1 import envelope_pb2, match_pb2
from tests.support.crowd import fold, until
from tests.support.table import Clock, Table, accepted, broker, refused, submission, table
from two_towers.rules import TwoTowers

Seat = Callable[..., Any]


@pytest.fixture
async def tables(tmp_path: Path) -> AsyncIterator[Seat]:
    """Makes tables over one broker and one store; they end with `await table.leave()` or with the test."""
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))

        async def sit(**more: Any) -> Table:
            own = AsyncExitStack()
            running = await own.enter_async_context(table(config, keys, TwoTowers(), **more))
            running.config = config  # type: ignore[attr-defined]
            running.leave = own.aclose  # type: ignore[attr-defined]
            stack.push_async_callback(own.aclose)
            return running

        yield sit


def actor_of(entry: StoredEntry) -> int:
    return match_pb2.EntryHeader.FromString(entry.header).actor


def events_of(entry: StoredEntry) -> list[str]:
    return [event.type for event in match_pb2.Events.FromString(entry.public).events]


@pytest.mark.slow
async def test_of_a_command_and_the_clock_at_the_same_instant_exactly_one_wins(tables: Seat) -> None:
    """A thousand turns end at one instant, and for each a command is on its way that arrives around it."""
    running: Table = await tables()
    running.clock.stop()
    states: list[MatchState[Any]] = []
    for at in range(0, 1000, 50):
        states += await asyncio.gather(*(running.begin(f"m{n}", {"turn_time_s": "10"}) for n in range(at, at + 50)))
    deadlines = {state.prompts[0].deadline_ms for state in states}
    assert len(deadlines) == 1
    deadline = deadlines.pop()
    await running.pass_time(deadline - 1 - running.clock())
    rng = random.Random(4)
    running.clock.ticks_after = 500  # readings: somewhere among the commands
    replies = await asyncio.gather(*(running.ask(running.random_command(state, rng)) for state in states))
    assert running.clock() == deadline
    won = {match_pb2.ACTOR_KIND_SEAT: 0, match_pb2.ACTOR_KIND_CLOCK: 0}
    for state, reply in zip(states, replies, strict=True):
        log = await running.store.read(state.match_id)
        closed = [
            (entry.version, actor_of(entry))
            for entry in log
            for event in match_pb2.Events.FromString(entry.public).events
            if event.type == "prompt_closed"
            and match_pb2.PromptClosed.FromString(event.body).prompt_id == state.prompts[0].prompt_id
        ]
        winner = match_pb2.ACTOR_KIND_SEAT if reply.HasField("accepted") else match_pb2.ACTOR_KIND_CLOCK
        assert closed == [(state.version + 1, winner)]
        assert reply.accepted.version == state.version + 1 or refused(reply) == "stale_prompt"
        won[winner] += 1
    assert min(won.values()) >= 100


async def test_down_time_is_given_back_exactly_over_many_restarts(tables: Seat) -> None:
    """Three restarts, one with a command in between, two without: nothing is given back twice, nothing is lost."""
    clock = Clock()
    running: Table = await tables(instance="first", clock=clock)
    state = await running.begin("m1", {"turn_time_s": "60"})
    partition = running.owner._cache.get("m1").partition
    opened_ms = state.prompts[0].opened_ms
    for instance, away_ms in (("second", 20_000), ("third", 30_000), ("fourth", 40_000)):
        await running.leave()  # type: ignore[attr-defined]
        clock.ahead_ms += away_ms
        running = await tables(instance=instance, clock=clock)
    down = merged(await running.store.downtime(running.game, partition))
    assert overlap(down, opened_ms, clock()) >= 90_000
    # 90 s have passed, of 60 s: the turn is still open, and all of it is given back in one event.
    before = await running.state("m1")
    assert before.version == state.version
    seat = state.prompts[0].prompt.seat
    resign = submission("m1", "resign", match_pb2.Resign(), seat=1 - seat)
    command = running.random_command(state, random.Random(1))
    accepted(await running.ask(command))
    log = await running.store.read("m1", parts=True)
    assert events_of(log[-1])[0] == "clock_extended"
    extended = match_pb2.ClockExtended.FromString(match_pb2.Events.FromString(log[-1].public).events[0].body)
    assert extended.by_ms == overlap(down, opened_ms, log[-1].server_time_ms)
    # Now that it is given back it is not given back again, by nobody.
    for instance in ("fifth", "sixth"):
        await running.leave()  # type: ignore[attr-defined]
        clock.ahead_ms += 5_000
        running = await tables(instance=instance, clock=clock)
    accepted(await running.ask(resign))
    log = await running.store.read("m1", parts=True)
    after = fold(running.owner.referee, log[:-1])
    down = merged(await running.store.downtime(running.game, partition))
    given = {
        match_pb2.ClockExtended.FromString(event.body).prompt_id: match_pb2.ClockExtended.FromString(event.body).by_ms
        for event in match_pb2.Events.FromString(log[-1].public).events
        if event.type == "clock_extended"
    }
    assert given == {
        prompt.prompt_id: overlap(down, prompt.opened_ms, log[-1].server_time_ms)
        for prompt in after.prompts
        if prompt.limit_ms
    }
    assert all(10_000 <= by_ms < 12_000 for by_ms in given.values())


async def test_a_clock_that_ran_out_while_nobody_served_is_wound_on(tables: Seat) -> None:
    """At a take-over no match is folded to find out that its time is not up; it rings when it is."""
    clock = Clock()
    running: Table = await tables(instance="first", clock=clock)
    state = await running.begin("m1", {"turn_time_s": "10"})
    await running.leave()  # type: ignore[attr-defined]
    clock.ahead_ms += 3_600_000
    running = await tables(instance="second", clock=clock)
    assert len(running.owner._cache) == 0
    (due,) = [entry for entry in running.owner._clockwork._heap if entry[2] == "m1"]
    assert due[0] > clock()
    await running.pass_time(due[0] - clock() + 20)
    running.owner._clockwork._ring()
    running.owner._clockwork._ring()  # the first finds that time has jumped, and lets others speak first
    await until(lambda: running.owner._cache.get("m1") is not None)
    await until(lambda: not running.owner._cache.get("m1").pending)
    log = await running.store.read("m1")
    assert actor_of(log[state.version]) == match_pb2.ACTOR_KIND_CLOCK
    assert events_of(log[state.version])[0] == "clock_extended"


async def test_a_command_that_lay_unread_while_the_loop_stood_still_is_in_time(tables: Seat) -> None:
    running: Table = await tables()
    accepted(await running.create("m1", handshake_s=1))
    deadline = (await running.state("m1")).handshake_deadline_ms
    seal = submission("m1", "seal_nonce", match_pb2.SealNonce(seal=bytes(32)), seat=0)
    ready, go = threading.Event(), threading.Event()
    sent_ms: list[int] = []

    async def send() -> bytes:
        bus = await Bus.connect(running.config.bus_settings(running.keys, "gateway"))
        ready.set()
        go.wait()
        sent_ms.append(now_ms())
        try:
            return await bus.request_command(running.game, "m1", seal.SerializeToString())
        finally:
            await bus.close()

    person = asyncio.create_task(asyncio.to_thread(lambda: asyncio.run(send())))
    await asyncio.to_thread(ready.wait)
    await until(lambda: now_ms() >= deadline - 300)
    go.set()
    time.sleep(0.5)  # noqa: ASYNC251 -- the loop stands still; the command comes and lies in its socket, the deadline passes
    reply = envelope_pb2.CommandReply.FromString(await person)
    assert sent_ms[0] < deadline
    assert accepted(reply).version == 2
    # And then the clock does what it has to.
    async with asyncio.timeout(60):
        while not (await running.state("m1")).over:
            await asyncio.sleep(0.01)


async def test_a_clock_rings_again_when_its_match_could_not_be_had(tables: Seat, monkeypatch: Any) -> None:
    running: Table = await tables()
    accepted(await running.create("m1", handshake_s=1))
    running.owner._cache.remove(running.owner._cache.get("m1"))
    fold_one = running.owner._loader.fold
    tries = 0

    async def away(*args: Any, **named: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise Unavailable("restarting")
        return await fold_one(*args, **named)

    monkeypatch.setattr(running.owner._loader, "fold", away)
    async with asyncio.timeout(20):
        while (await running.store.read("m1"))[-1].version == 1:
            await asyncio.sleep(0.05)
    assert tries == 2
    assert "match_voided" in events_of((await running.store.read("m1"))[-1])
