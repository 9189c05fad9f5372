"""Two owners in one process: who serves what, and what becomes of commands and watchers when it moves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest

from grimoire.bus import BusError, NoOwnerError
from grimoire.eventstore import NewEntry, partition_of
from grimoire.plugins import load_game
from grimoire.runtime.config import Config
from grimoire.v1 import envelope_pb2, match_pb2, rules_pb2
from tests.support.crowd import until
from tests.support.rules import PUBLIC, rules_of
from tests.support.table import Table, accepted, broker, refused, submission, table

GAME = "two_towers"
Sit = Callable[..., Awaitable[Table]]


class Held:
    """A real store whose appends can be held up."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.gate = asyncio.Event()
        self.gate.set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, entries: Sequence[NewEntry]) -> None:
        await self.gate.wait()
        await self._store.append(entries)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[tuple[Config, Sit, AsyncExitStack]]:
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))

        async def sit(**more: Any) -> Table:
            return await stack.enter_async_context(table(config, keys, load_game(GAME).game, **more))

        yield config, sit, stack


def counts(*running: Table) -> list[int]:
    return sorted(len(one.owner.partitions.held) for one in running)


def on_the_move(first: Table, second: Table) -> Callable[[], bool]:
    return lambda: (
        counts(first, second) == [32, 32]
        and all(held.served for one in (first, second) for held in one.owner.partitions.held.values())
    )


async def only_heartbeats(call: Any) -> None:
    while True:
        assert (await call.read()).frame.HasField("heartbeat")


def any_command(running: Table, state: Any, seed: int = 1) -> envelope_pb2.Submission:
    return running.random_command(state, random.Random(seed))


async def test_a_newcomer_gets_its_share_and_leaves_it_behind(place: tuple[Config, Sit, AsyncExitStack]) -> None:
    config, sit, _ = place
    first = await sit(instance="first")
    states = [await first.begin(f"m{n}") for n in range(12)]
    own = AsyncExitStack()
    second = await own.enter_async_context(table(config, first.keys, load_game(GAME).game, instance="second"))
    await until(on_the_move(first, second))
    assert not first.owner.partitions.held.keys() & second.owner.partitions.held.keys()
    for state in states:
        assert accepted(await first.ask(any_command(first, state))).version == state.version + 1
    served = {
        one.owner: sum(state.match_id in one.owner._cache._matches for state in states) for one in (first, second)
    }
    assert sum(served.values()) == len(states)
    assert all(served.values())
    await own.aclose()
    await until(lambda: counts(first) == [64])
    for state in states:
        now = await first.state(state.match_id)
        assert accepted(await first.ask(any_command(first, now))).version == state.version + 2


async def test_a_hand_over_waits_for_what_is_on_its_way_and_nothing_falls_between(
    place: tuple[Config, Sit, AsyncExitStack],
) -> None:
    _, sit, _ = place
    first = await sit(instance="first", wrap=Held)
    store: Any = first.store
    states = [await first.begin(f"m{n}") for n in range(40)]
    store.gate.clear()
    asked = [asyncio.create_task(first.ask(any_command(first, state))) for state in states]
    await until(lambda: first.owner._committer.queued == len(states))
    second = await sit(instance="second")
    await until(lambda: sum(held.leaving for held in first.owner.partitions.held.values()) == 32)
    # These come too late for the old owner, and too early for the new one.
    between = [asyncio.create_task(first.ask(any_command(first, state, 2))) for state in states]
    done, _ = await asyncio.wait(asked, timeout=0.3)
    assert not done
    assert counts(second) == [0]
    store.gate.set()
    for state, reply in zip(states, await asyncio.gather(*asked), strict=True):
        assert accepted(reply).version == state.version + 1
    await until(on_the_move(first, second))
    assert {refused(reply) for reply in await asyncio.gather(*between)} == {"stale_prompt"}
    for state in states:
        log = await first.store.read(state.match_id)
        assert [entry.version for entry in log] == list(range(1, state.version + 2))


async def test_a_hand_over_does_not_wait_for_ever(place: tuple[Config, Sit, AsyncExitStack]) -> None:
    """What is still on its way when patience ends is fenced off, and its sender finds the new owner."""
    _, sit, _ = place
    first = await sit(instance="first", wrap=Held)
    store: Any = first.store
    states = [await first.begin(f"m{n}") for n in range(12)]
    store.gate.clear()
    data = [any_command(first, state).SerializeToString() for state in states]
    asked = [
        asyncio.create_task(first.edge.request_command(GAME, state.match_id, one, reply_s=30, owner_s=30))
        for state, one in zip(states, data, strict=True)
    ]
    await until(lambda: first.owner._committer.queued == len(states))
    second = await sit(instance="second")
    await until(lambda: counts(first, second) == [32, 32])
    store.gate.set()
    for state, reply in zip(states, await asyncio.gather(*asked), strict=True):
        assert accepted(envelope_pb2.CommandReply.FromString(reply)).version == state.version + 1
        assert len(await second.store.read(state.match_id)) == state.version + 1


async def test_commands_for_a_partition_that_is_just_being_taken_wait(
    place: tuple[Config, Sit, AsyncExitStack], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sit, _ = place
    first = await sit(instance="first")
    state = await first.begin("m1")
    partition = partition_of("m1")
    held = first.owner.partitions.held[partition]
    held.served = False
    asked = asyncio.create_task(first.ask(any_command(first, state)))
    await until(lambda: len(first.owner._deferred) == 1)
    done, _ = await asyncio.wait({asked}, timeout=0.2)
    assert not done
    held.served = True
    first.owner.partitions.hurry()
    assert accepted(await asked).version == state.version + 1


async def test_what_cannot_be_served_is_given_back(
    place: tuple[Config, Sit, AsyncExitStack], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner that nobody can reach would be worse than none."""
    from grimoire.runtime.owner import Owner

    _, sit, _ = place
    listen = Owner.listen
    failures = 0

    async def deaf(self: Owner, taken: Any) -> None:
        nonlocal failures
        failures += 1
        await listen(self, taken if failures > 2 else dict(list(taken.items())[:3]))
        if failures <= 2:
            raise BusError("no room for more subscriptions")

    monkeypatch.setattr(Owner, "listen", deaf)
    only = await sit(instance="only")
    assert only.owner.partitions.held == {}
    with pytest.raises(NoOwnerError):
        await only.edge.request(f"cmd.{GAME}.{partition_of('m1')}.m1", b"", reply_s=1, responder_s=0)
    await until(lambda: counts(only) == [64])
    state = await only.begin("m1")
    accepted(await only.ask(any_command(only, state)))


async def test_watchers_of_a_moved_match_are_sent_to_its_new_owner(
    place: tuple[Config, Sit, AsyncExitStack],
) -> None:
    config, sit, stack = place
    first = await sit(instance="first")
    rules = await stack.enter_async_context(rules_of(first, load_game(GAME), config, heartbeat_s=0.2))
    streams = {}
    for n in range(12):
        state = await first.begin(f"m{n}")
        call = rules.WatchMatch(rules_pb2.WatchMatchRequest(match_id=f"m{n}", viewer=PUBLIC))
        assert (await call.read()).frame.snapshot.head.version == state.version
        streams[f"m{n}"] = call
    second = await sit(instance="second")
    there = await stack.enter_async_context(rules_of(second, load_game(GAME), config, heartbeat_s=0.2))
    await until(on_the_move(first, second))
    moved = 0
    for match_id, call in streams.items():
        version = (await first.state(match_id)).version
        if partition_of(match_id) in first.owner.partitions.held:
            assert (await call.read()).frame.HasField("heartbeat")
            call.cancel()
            continue
        moved += 1
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await only_heartbeats(call)
        assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        again = rules_pb2.WatchMatchRequest(match_id=match_id, viewer=PUBLIC, since_version=version)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await rules.WatchMatch(again).read()
        assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        # What needs no owner is still answered by the wrong one.
        view = await rules.GetView(rules_pb2.GetViewRequest(match_id=match_id, viewer=PUBLIC))
        assert view.snapshot.head.version == version
        resumed = there.WatchMatch(again)
        assert (await resumed.read()).frame.snapshot.head.version == version
        resumed.cancel()
    assert moved


async def test_an_owner_whose_part_has_died_says_so(place: tuple[Config, Sit, AsyncExitStack]) -> None:
    _, sit, _ = place
    only = await sit(instance="only")
    failing = asyncio.create_task(only.owner.failed())

    def broken(_: Any) -> None:
        raise RuntimeError("a bug")

    only.owner._committer._committed = broken
    state_less = submission(
        "m1",
        "create_match",
        match_pb2.CreateMatch(
            game=GAME,
            mode=match_pb2.MATCH_MODE_CASUAL,
            seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
        ),
        host=True,
    )
    await only.edge.publish(f"cmd.{GAME}.{partition_of('m1')}.m1", state_less.SerializeToString())
    with pytest.raises(RuntimeError, match="a bug"):
        await asyncio.wait_for(failing, 20)
