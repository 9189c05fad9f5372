"""What becomes of commands when the store's answer is lost, late, or no: everybody is told the truth, and once."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from grimoire.bus import NoOwnerError, event_subject
from grimoire.eventstore import EventStore, NewEntry, StoreError, Unavailable, partition_of
from grimoire.runtime.owner import OwnerLimits
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2
from tests.support.crowd import until
from tests.support.table import Clock, Table, accepted, broker, refused, submission, table
from two_towers.rules import TwoTowers

Seat = Callable[..., Any]


class Fickle:
    """A real store whose next appends go as the test wants."""

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self.before: list[Callable[[Sequence[NewEntry]], Any]] = []
        self.after: list[Callable[[], Any]] = []
        self.appends = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, entries: Sequence[NewEntry]) -> None:
        self.appends += 1
        if self.before:
            await _settled(self.before.pop(0)(entries))
        await self._store.append(entries)
        if self.after:
            await _settled(self.after.pop(0)())


async def _settled(answer: Any) -> None:
    if answer is not None:
        await answer


def fails(error: Exception) -> Callable[..., None]:
    def fail(*_: Any) -> None:
        raise error

    return fail


@pytest.fixture
async def tables(tmp_path: Path) -> AsyncIterator[Seat]:
    async with AsyncExitStack() as stack:
        config, keys = await stack.enter_async_context(broker(tmp_path))

        async def sit(**more: Any) -> tuple[Table, Fickle]:
            running = await stack.enter_async_context(table(config, keys, TwoTowers(), wrap=Fickle, **more))  # type: ignore[arg-type]
            return running, running.store  # type: ignore[return-value]

        yield sit


@pytest.fixture
async def seated(tables: Seat) -> tuple[Table, Fickle]:
    return await tables()


async def published(running: Table) -> list[frame_pb2.ViewerEntry]:
    heard: list[frame_pb2.ViewerEntry] = []
    await running.edge.serve(
        event_subject(running.game), lambda message: heard.append(frame_pb2.ViewerEntry.FromString(message.data))
    )
    return heard


def any_command(running: Table, state: Any, seed: int = 1) -> envelope_pb2.Submission:
    return running.random_command(state, random.Random(seed))


class TestUnknownFate:
    async def test_stored_although_the_answer_was_lost(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state = await running.begin("m1")
        heard = await published(running)
        store.after = [fails(Unavailable("the line was cut"))]
        command = any_command(running, state)
        reply = accepted(await running.ask(command))
        assert (reply.version, reply.duplicate) == (state.version + 1, False)
        assert store.appends >= 2
        log = await running.store.read("m1")
        assert [entry.version for entry in log] == list(range(1, state.version + 2))
        await until(lambda: len(heard) == 1)
        assert heard[0].hash == log[-1].hash
        assert accepted(await running.ask(command)).duplicate

    async def test_not_stored_and_tried_again(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state = await running.begin("m1")
        store.before = [fails(Unavailable("locked"))] * 4
        assert accepted(await running.ask(any_command(running, state))).version == state.version + 1
        assert len(await running.store.read("m1")) == state.version + 1

    async def test_nobody_is_told_that_nothing_happened_while_nobody_knows(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state, other = await running.begin("m1"), await running.begin("m2")
        away = True

        async def gone(entries: Sequence[NewEntry]) -> None:
            store.before.insert(0, gone)
            if away:
                raise Unavailable("restarting")
            store.before.clear()

        store.before = [gone]
        asked = asyncio.create_task(running.ask(any_command(running, state)))
        await until(lambda: running.owner._committer.stalled)
        # Whoever comes now can be told for sure; whoever is under way cannot.
        turned_away = await running.ask(any_command(running, other))
        assert refused(turned_away) == "overloaded"
        assert turned_away.rejection.retry_after_ms >= 500
        assert not asked.done()
        away = False
        assert accepted(await asked).version == state.version + 1
        assert accepted(await running.ask(any_command(running, other))).version == other.version + 1

    async def test_those_behind_a_slow_group_are_told_to_come_again(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        states = [await running.begin(f"m{n}") for n in range(3)]
        release = asyncio.Event()
        store.before = [lambda _: release.wait()]
        first = asyncio.create_task(running.ask(any_command(running, states[0])))
        await until(lambda: running.owner._committer.queued == 1)
        # The second of the same match rests on the first; the others on nothing.
        ahead = running.owner._cache.get("m0").ahead
        behind = [
            asyncio.create_task(running.ask(any_command(running, ahead))),
            *(asyncio.create_task(running.ask(any_command(running, state))) for state in states[1:]),
        ]
        replies = await asyncio.gather(*behind)
        assert {refused(reply) for reply in replies} == {"overloaded"}
        assert not first.done()
        release.set()
        assert accepted(await first).version == states[0].version + 1
        assert accepted(await running.ask(any_command(running, ahead))).version == states[0].version + 2
        for state in states[1:]:
            assert (await running.state(state.match_id)).version == state.version
            accepted(await running.ask(any_command(running, state)))

    async def test_stored_and_then_taken_over(self, tables: Seat) -> None:
        old, store = await tables(instance="old")
        state = await old.begin("m1")
        thief = Clock()
        thief.ahead_ms = 60_000
        taken: list[Table] = []

        async def taken_over() -> None:
            new, _ = await tables(instance="new", clock=thief)
            taken.append(new)
            raise Unavailable("the line was cut")

        store.after = [taken_over]
        command = any_command(old, state)
        data = command.SerializeToString()
        # Both owners hear it now and then; whoever answers says the same.
        reply = envelope_pb2.CommandReply.FromString(
            await old.edge.request_command(old.game, "m1", data, reply_s=30, owner_s=10)
        )
        assert accepted(reply).version == state.version + 1
        assert accepted(await taken[0].ask(command)).version == state.version + 1
        assert len(await old.store.read("m1")) == state.version + 1
        await until(lambda: not old.owner.partitions.held)


class TestPoison:
    async def test_an_entry_that_cannot_be_stored_hurts_nobody_else(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        states = [await running.begin(f"m{n}") for n in range(6)]

        def poisoned(entries: Sequence[NewEntry]) -> None:
            store.before.insert(0, poisoned)
            if any(entry.match_id == "m3" for entry in entries):
                raise StoreError("value too large")

        release = asyncio.Event()
        store.before = [lambda _: release.wait(), poisoned]
        blocker = asyncio.create_task(running.ask(any_command(running, states[0])))
        await until(lambda: running.owner._committer.queued == 1)
        asked = [asyncio.create_task(running.ask(any_command(running, state))) for state in states[1:]]
        await until(lambda: running.owner._committer.queued == 6)
        release.set()
        replies = dict(zip(range(1, 6), await asyncio.gather(*asked), strict=True))
        accepted(await blocker)
        assert refused(replies.pop(3)) == "not_judged"
        for number, reply in replies.items():
            assert accepted(reply).version == states[number].version + 1
        store.before.clear()
        assert accepted(await running.ask(any_command(running, states[3]))).version == states[3].version + 1

    async def test_a_command_that_breaks_the_rules_code_hurts_nobody_else(
        self, seated: tuple[Table, Fickle], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        running, _ = seated
        state, other = await running.begin("m1"), await running.begin("m2")
        decide = running.owner.referee.game.decide

        def broken(game_state: Any, actor: Any, command: Any, prompt: Any, draws: Any) -> Any:
            if isinstance(command, match_pb2.Resign):
                raise KeyError("ruby")
            return decide(game_state, actor, command, prompt, draws)

        monkeypatch.setattr(running.owner.referee.game, "decide", broken)
        for _ in range(3):
            resign = submission("m1", "resign", match_pb2.Resign(), seat=0)
            assert refused(await running.ask(resign)) == "not_judged"
        accepted(await running.ask(any_command(running, state)))
        accepted(await running.ask(any_command(running, other)))
        assert (await running.state("m1")).version == state.version + 1


class TestRejections:
    async def test_a_rejection_waits_for_what_it_rests_on(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state = await running.begin("m1")
        release = asyncio.Event()
        store.before = [lambda _: release.wait()]
        first = asyncio.create_task(running.ask(any_command(running, state, 1)))
        await until(lambda: running.owner._committer.queued == 1)
        # It answers a prompt that the first has closed, which is not on disk yet.
        second = asyncio.create_task(running.ask(any_command(running, state, 2)))
        stranger = asyncio.create_task(
            running.ask(submission("m1", "resign", match_pb2.Resign(), seat=0, occupant="nobody"))
        )
        done, _ = await asyncio.wait({first, second, stranger}, timeout=0.3)
        assert not done
        release.set()
        assert accepted(await first).version == state.version + 1
        assert refused(await second) == "stale_prompt"
        assert refused(await stranger) == "not_a_seat"

    async def test_it_is_judged_anew_where_that_never_gets_there(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state = await running.begin("m1")
        release = asyncio.Event()

        async def refuse(_: Sequence[NewEntry]) -> None:
            await release.wait()
            raise StoreError("never")

        store.before = [refuse]
        first = asyncio.create_task(running.ask(any_command(running, state, 1)))
        await until(lambda: running.owner._committer.queued == 1)
        second = asyncio.create_task(running.ask(any_command(running, state, 2)))
        await asyncio.sleep(0.05)
        release.set()
        assert refused(await first) == "not_judged"
        assert accepted(await second).version == state.version + 1

    async def test_they_do_not_pile_up(self, tables: Seat) -> None:
        running, store = await tables(limits=OwnerLimits(queued_match=4))
        state = await running.begin("m1")
        release = asyncio.Event()
        store.before = [lambda _: release.wait()]
        first = asyncio.create_task(running.ask(any_command(running, state, 1)))
        await until(lambda: running.owner._committer.queued == 1)
        rest = [asyncio.create_task(running.ask(any_command(running, state, n))) for n in range(2, 40)]
        done: set[asyncio.Task[Any]] = set()
        async with asyncio.timeout(60):
            while len(done) < 30:
                done, _ = await asyncio.wait(rest, timeout=0.02)
        assert {refused(task.result()) for task in done} == {"overloaded"}
        release.set()
        accepted(await first)
        codes = [refused(reply) for reply in await asyncio.gather(*rest)]
        assert codes.count("stale_prompt") == 4


class TestManyAsks:
    async def test_the_same_command_a_hundred_times_while_it_is_under_way(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state = await running.begin("m1")
        release = asyncio.Event()
        store.before = [lambda _: release.wait()]
        command = any_command(running, state)
        data = command.SerializeToString()
        for _ in range(100):
            await running.edge.publish(f"cmd.two_towers.{partition_of('m1')}.m1", data)
        asked = asyncio.create_task(running.ask(command))
        await until(lambda: running.owner._committer.queued == 1)
        pending = running.owner._cache.get("m1").pending[command.command.command_id]
        await asyncio.sleep(0.1)
        assert len(pending.replies) <= 8
        release.set()
        assert accepted(await asked).version == state.version + 1
        assert (await running.state("m1")).version == state.version + 1

    async def test_another_command_under_an_id_that_is_under_way(self, seated: tuple[Table, Fickle]) -> None:
        running, store = seated
        state = await running.begin("m1")
        release = asyncio.Event()
        store.before = [lambda _: release.wait()]
        command = any_command(running, state)
        first = asyncio.create_task(running.ask(command))
        await until(lambda: running.owner._committer.queued == 1)
        same_id = submission("m1", "resign", match_pb2.Resign(), seat=0, command_id=command.command.command_id)
        second = asyncio.create_task(running.ask(same_id))
        await asyncio.sleep(0.05)
        release.set()
        accepted(await first)
        assert refused(await second) == "command_id_reused"

    async def test_asking_for_matches_that_are_not_there_pushes_none_out(self, tables: Seat) -> None:
        running, _ = await tables(limits=OwnerLimits(cached_matches=4))
        for number in range(3):
            await running.begin(f"m{number}")
        kept = set(running.owner._cache._matches)
        for number in range(20):
            asked = submission(f"none{number}", "resign", match_pb2.Resign(), seat=0)
            assert refused(await running.ask(asked)) == "unknown_match"
        assert set(running.owner._cache._matches) == kept


class TestForgery:
    async def test_a_reply_goes_to_inboxes_only(self, seated: tuple[Table, Fickle]) -> None:
        running, _ = seated
        state = await running.begin("m1")
        heard = await published(running)
        command = any_command(running, state)
        subject = f"cmd.two_towers.{partition_of('m1')}.m1"
        await running.edge._client.publish(subject, command.SerializeToString(), reply="evt.two_towers.m1")
        await running.edge._client.publish(subject, b"garbage", reply="evt.two_towers.m1")
        await until(lambda: len(heard) == 1)
        # Only what was committed; the answers to both went nowhere.
        accepted(await running.ask(submission("m1", "resign", match_pb2.Resign(), seat=0)))
        await until(lambda: len(heard) == 2)
        assert [match_pb2.EntryHeader.FromString(entry.header).version for entry in heard] == [
            state.version + 1,
            state.version + 2,
        ]

    async def test_a_command_on_another_partitions_subject_is_nobodys(self, seated: tuple[Table, Fickle]) -> None:
        running, _ = seated
        state = await running.begin("m1")
        wrong = (partition_of("m1") + 1) % 64
        data = any_command(running, state).SerializeToString()
        for _ in range(2):
            with pytest.raises(NoOwnerError):
                await running.edge.request(f"cmd.two_towers.{wrong}.m1", data, reply_s=2, responder_s=0)
            if (live := running.owner._cache.get("m1")) is not None:
                running.owner._cache.remove(live)  # the second time it would have to be loaded
        assert (await running.state("m1")).version == state.version

    async def test_a_seat_without_a_name_is_nobody(self, seated: tuple[Table, Fickle]) -> None:
        running, _ = seated
        await running.begin("m1")
        for occupant in ("", "o1", "O0", "o0 ", secrets.token_hex(8)):
            asked = submission("m1", "resign", match_pb2.Resign(), seat=0, occupant=occupant)
            assert refused(await running.ask(asked)) == "not_a_seat"
        nameless = submission("m1", "resign", match_pb2.Resign(), seat=None, occupant="o0")
        assert refused(await running.ask(nameless)) == "not_a_seat"
