"""Entries as large as they may be: no answer outgrows a message, and none larger is ever written."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.engine import Actor, Decision, Draws, Illegal, Prompt
from grimoire.fairness.export import MAX_ENTRY_BYTES
from grimoire.runtime.config import Address
from grimoire.runtime.rpc import MAX_MESSAGE
from grimoire.v1 import frame_pb2, match_pb2, rules_pb2
from tests.support.rules import rules_of
from tests.support.table import Table, accepted, broker, refused, submission, table
from tests.support.toy import PLUGIN, Toy
from tests.support.toy import schema as toy

LARGE = 200 * 1024
ALL = frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_ALL)
PUBLIC = frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_PUBLIC)


class Talkative(Toy):
    """The toy, with much to say whenever somebody takes a stance."""

    says = LARGE

    def decide(
        self, state: Any, actor: Actor, command: Message, prompt: Prompt | None, draws: Draws
    ) -> Decision[Any] | Illegal:
        decision = super().decide(state, actor, command, prompt, draws)
        if isinstance(decision, Illegal) or not isinstance(command, toy.SetStance):
            return decision
        said = toy.PassedOn(seat=actor.seat, serial=0, cause="x" * self.says)
        return Decision((*decision.events, said), self.evolve(decision.state, said))


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[tuple[Table, Any, Talkative]]:
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))
        addresses = {**config.addresses, Talkative.id: Address("127.0.0.1", 0)}
        config, game = dataclasses.replace(config, addresses=addresses), Talkative()
        running = await stack.enter_async_context(table(config, keys, game))
        rules = await stack.enter_async_context(rules_of(running, replace(PLUGIN, game=game), config, heartbeat_s=60))
        yield running, rules, game


async def talk(running: Table, times: int) -> int:
    """Has large entries written; gives the match's version."""
    for number in range(times):
        stance = toy.SetStance(always_pass=bool(number % 2))
        accepted(await running.ask(submission("m1", "set_stance", stance, seat=0)))
    return (await running.state("m1")).version


async def test_no_answer_outgrows_a_message(home: tuple[Table, Any, Talkative]) -> None:
    running, rules, _ = home
    await running.begin("m1")
    assert LARGE * 30 > MAX_MESSAGE
    await talk(running, 30)
    accepted(await running.ask(submission("m1", "resign", match_pb2.Resign(), seat=0)))
    last = (await running.state("m1")).version
    entries = []
    async for part in rules.GetEntries(rules_pb2.GetEntriesRequest(match_id="m1", viewer=ALL, **{"from": 1})):
        entries += part.entries
    assert len(entries) == last
    frames = []
    async for part in rules.GetFrames(rules_pb2.GetFramesRequest(match_id="m1", viewer=ALL, **{"from": 1})):
        frames += part.frames
    assert [frame.version for frame in frames] == list(range(1, last + 1))

    async def log() -> AsyncIterator[rules_pb2.ProjectRequest]:
        yield rules_pb2.ProjectRequest(start=rules_pb2.ProjectStart(viewer=ALL))
        for entry in entries:
            yield rules_pb2.ProjectRequest(entry=entry)

    projected = []
    async for part in rules.Project(log()):
        projected += part.frames
    assert [frame.hash for frame in projected] == [frame.hash for frame in frames]


async def test_who_was_away_for_long_and_who_reads_slowly_get_whole_frames(home: tuple[Table, Any, Talkative]) -> None:
    running, rules, _ = home
    since = (await running.begin("m1")).version
    first = (await running.store.read("m1", since))[0]
    watching = rules_pb2.WatchMatchRequest(match_id="m1", viewer=PUBLIC, since_version=since, since_hash=first.hash)
    slow = rules.WatchMatch(watching)
    assert (await slow.read()).frame.delta.to == since
    last = await talk(running, 30)
    away = await rules.WatchMatch(watching).read()
    # Too much for one frame: the screen as it is, and the entries by asking for them.
    assert away.frame.snapshot.head.version == last
    version = since
    async with asyncio.timeout(20):
        while version < last:
            delta = (await slow.read()).frame.delta
            assert getattr(delta, "from") == version
            assert len(delta.entries) == delta.to - version
            version = delta.to
    assert delta.snapshot.head.version == last
    slow.cancel()


async def test_an_entry_above_the_limit_is_never_written(home: tuple[Table, Any, Talkative]) -> None:
    running, _, game = home
    version = (await running.begin("m1")).version
    game.says = MAX_ENTRY_BYTES
    stance = submission("m1", "set_stance", toy.SetStance(always_pass=True), seat=0)
    assert refused(await running.ask(stance)) == "not_judged"
    assert (await running.state("m1")).version == version
    game.says = MAX_ENTRY_BYTES - 1024
    assert accepted(await running.ask(stance)).version == version + 1
