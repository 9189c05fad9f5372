"""The single writer over a real broker and a real store."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grimoire.bus import Bus, event_subject
from grimoire.eventstore import NewEntry, partition_of
from grimoire.match import Phase
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2
from tests.support.table import Clock, Table, accepted, broker, refused, submission, table
from two_towers.rules import TwoTowers


@pytest.fixture
async def seated(tmp_path: Path) -> AsyncIterator[Table]:
    async with broker(tmp_path) as (config, keys), table(config, keys, TwoTowers()) as running:
        yield running


async def test_a_whole_match_is_stored_published_and_folds_to_the_same_state(seated: Table) -> None:
    published: list[frame_pb2.ViewerEntry] = []
    listening = await seated.edge.serve(
        event_subject("two_towers"), lambda m: published.append(frame_pb2.ViewerEntry.FromString(m.data))
    )
    await seated.begin("m1")
    state = await seated.play("m1", random.Random(5))
    assert state.phase is Phase.CLOSED
    stored = await seated.store.read("m1", parts=True)
    assert [e.version for e in stored] == list(range(1, state.version + 1))
    folded = None
    for entry in stored:
        parts = {p.audience: p.body for p in match_pb2.Parts.FromString(entry.parts or b"").parts}
        folded = seated.owner.referee.fold(folded, entry.header, entry.public, parts, entry.hash)
    assert folded == state
    while len(published) < len(stored):
        await asyncio.sleep(0.01)
    assert [p.hash for p in published] == [e.hash for e in stored]
    assert all(not p.parts for p in published)
    await listening.stop()


async def test_hidden_parts_never_reach_the_broker(seated: Table) -> None:
    seen: list[bytes] = []
    await seated.edge.serve(event_subject("two_towers"), lambda m: seen.append(m.data))
    state = await seated.begin("m1")
    hand = state.game.seats[0].hand
    while len(seen) < state.version:
        await asyncio.sleep(0.01)
    assert not any(card and card.encode() in data for data in seen for card in hand)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"seat": 1, "occupant": "o0"}, "not_a_seat"),
        ({"seat": 0, "occupant": "stranger"}, "not_a_seat"),
        ({"seat": 7, "occupant": "o0"}, "not_a_seat"),
        ({"seat": None, "occupant": "o0"}, "not_a_seat"),
        ({"prompt_id": 99}, "stale_prompt"),
        ({"kind": "expire", "prompt_id": None, "message": match_pb2.Expire(prompt_id=1)}, "not_authorised"),
        ({"kind": "void", "prompt_id": None, "message": match_pb2.Void()}, "not_authorised"),
        ({"kind": "no_such_thing"}, "malformed"),
        ({"prompt_id": None}, "malformed"),
        ({"command_id": b"short"}, "malformed"),
        ({"match_id": "m2"}, "unknown_match"),
    ],
)
async def test_bad_commands_are_refused_and_leave_nothing(seated: Table, change: dict, code: str) -> None:
    state = await seated.begin("m1", {"first_player": "seat_0"})
    good = seated.random_command(state, random.Random(1)).command
    arguments = {
        "match_id": "m1",
        "kind": good.type,
        "message": match_pb2.Resign.FromString(b""),
        "seat": 0,
        "prompt_id": 1,
        **change,
    }
    asked = submission(arguments.pop("match_id"), arguments.pop("kind"), arguments.pop("message"), **arguments)
    if "message" not in change:
        asked.command.payload = good.payload
    assert refused(await seated.ask(asked)) == code
    assert (await seated.state("m1")).version == state.version
    head = await seated.store.head("m1")
    assert head is not None
    assert head.version == state.version


async def test_the_other_seat_is_told_that_it_is_not_asked(seated: Table) -> None:
    state = await seated.begin("m1", {"first_player": "seat_0"})
    command = seated.random_command(state, random.Random(1))
    command.command.seat, command.occupant_id = 1, "o1"
    assert refused(await seated.ask(command)) == "not_your_prompt"


@pytest.mark.parametrize("data", [b"", b"\xff" * 40, secrets.token_bytes(500), b"x" * 70_000])
async def test_garbage_gets_a_typed_answer(seated: Table, data: bytes) -> None:
    reply = await seated.edge.request_command("two_towers", "m1", data)
    assert b"malformed" in reply or b"too_large" in reply


async def test_a_repeated_command_gets_its_first_reply_and_acts_once(seated: Table) -> None:
    state = await seated.begin("m1")
    command = seated.random_command(state, random.Random(1))
    first, second = await asyncio.gather(seated.ask(command), seated.ask(command))
    third = await seated.ask(command)
    versions = {accepted(r).version for r in (first, second, third)}
    assert versions == {state.version + 1}
    assert third.accepted.duplicate
    assert (await seated.state("m1")).version == state.version + 1


async def test_an_id_used_for_something_else_is_refused(seated: Table) -> None:
    state = await seated.begin("m1")
    command = seated.random_command(state, random.Random(1))
    accepted(await seated.ask(command))
    other = submission("m1", "resign", match_pb2.Resign(), seat=0, command_id=command.command.command_id)
    assert refused(await seated.ask(other)) == "command_id_reused"


@pytest.mark.parametrize("late", [False, True], ids=["on its way to disk", "on disk"])
async def test_an_id_used_for_another_prompt_is_refused(seated: Table, late: bool) -> None:
    """The same move for another prompt is another command: its sender must not be told that it was done."""
    state = await seated.begin("m1")
    command = seated.random_command(state, random.Random(1))
    other = envelope_pb2.Submission.FromString(command.SerializeToString())
    other.command.prompt_id += 1
    first, second = await asyncio.gather(seated.ask(command), seated.ask(other))
    accepted(first)
    assert refused(await seated.ask(other) if late else second) == "command_id_reused"


async def test_creation_is_idempotent_and_refuses_bad_options(seated: Table) -> None:
    create = match_pb2.CreateMatch(
        game="two_towers",
        mode=match_pb2.MATCH_MODE_CASUAL,
        seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
    )
    asked = submission("m1", "create_match", create, host=True)
    assert accepted(await seated.ask(asked)).version == 1
    again = accepted(await seated.ask(asked))
    assert (again.version, again.duplicate) == (1, True)
    assert refused(await seated.ask(submission("m1", "create_match", create, host=True))) == "match_exists"
    assert refused(await seated.create("m2", {"turn_time_s": "9"})) == "bad_option"
    assert refused(await seated.create("m2", {"colour": "red"})) == "bad_option"
    assert await seated.store.head("m2") is None


async def test_a_handshake_that_nobody_opens_is_void_and_revealed(seated: Table) -> None:
    accepted(await seated.create("m1", handshake_s=1))
    state = await seated.state("m1")
    while not state.over:
        await asyncio.sleep(0.05)
        state = await seated.state("m1")
    assert state.phase is Phase.VOID
    assert state.revealed
    last = (await seated.store.read("m1"))[-1]
    kinds = [e.type for e in match_pb2.Events.FromString(last.public).events]
    assert kinds == ["match_voided", "fairness_revealed"]


async def test_a_command_after_the_deadline_is_stale_and_the_clock_acts(seated: Table) -> None:
    state = await seated.begin("m1", {"turn_time_s": "10"})
    late = seated.random_command(state, random.Random(1))
    await seated.pass_time(10_500)
    assert refused(await seated.ask(late)) == "stale_prompt"
    after = await seated.state("m1")
    assert after.version == state.version + 1
    last = (await seated.store.read("m1"))[-1]
    assert match_pb2.EntryHeader.FromString(last.header).actor == match_pb2.ACTOR_KIND_CLOCK


async def test_a_suspended_owner_gives_its_silence_back(seated: Table) -> None:
    state = await seated.begin("m1", {"turn_time_s": "10"})
    seated.clock.ahead_ms += 60_000  # as after SIGSTOP and SIGCONT, or a lid that was closed
    accepted(await seated.ask(seated.random_command(state, random.Random(1))))
    last = (await seated.store.read("m1"))[-1]
    assert match_pb2.Events.FromString(last.public).events[0].type == "clock_extended"


async def test_down_time_is_given_back_before_the_next_command(tmp_path: Path) -> None:
    async with broker(tmp_path) as (config, keys):
        async with table(config, keys, TwoTowers(), instance="first") as first:
            state = await first.begin("m1", {"turn_time_s": "10"})
        # A graceful stop leaves its time behind; nobody serves for 30 s.
        clock = Clock()
        clock.ahead_ms = 30_000
        async with table(config, keys, TwoTowers(), instance="second", clock=clock) as second:
            accepted(await second.ask(second.random_command(await second.state("m1"), random.Random(1))))
            last = (await second.store.read("m1"))[-1]
            event = match_pb2.Events.FromString(last.public).events[0]
            assert event.type == "clock_extended"
            extended = match_pb2.ClockExtended.FromString(event.body)
            assert extended.prompt_id == 1
            assert 29_000 <= extended.by_ms <= 31_000
            assert (await second.state("m1")).version == state.version + 1


async def test_a_foreign_entry_makes_the_owner_reload_and_go_on(seated: Table) -> None:
    """Somebody wrote into the log behind the owner's back: nothing is lost, nobody is answered wrongly."""
    state = await seated.begin("m1")
    other = await seated.begin("m2")
    rogue = seated.owner.referee
    command = seated.random_command(state, random.Random(1))
    parsed = rogue.read(command.command, command.occupant_id)
    from grimoire.engine import Actor

    entry = rogue.judge(state, Actor.of_seat(command.command.seat), parsed, state.time_ms)  # type: ignore[arg-type]
    epoch = seated.owner.partitions.held[partition_of("m1")].epoch
    await seated.store.append(
        [
            NewEntry(
                "m1", "two_towers", entry.version, entry.command_id, entry.server_time_ms, entry.header, entry.public,
                entry.stored_digests(), entry.hash, entry.stored_parts(), 2, entry.state.next_deadline_ms, 1, epoch,
            )
        ]
    )  # fmt: skip
    stale = seated.random_command(state, random.Random(2))
    fine = seated.random_command(other, random.Random(2))
    answers = await asyncio.gather(seated.ask(stale), seated.ask(fine), seated.ask(command))
    assert refused(answers[0]) == "stale_prompt"
    assert accepted(answers[1]).version == other.version + 1
    assert accepted(answers[2]).duplicate
    assert (await seated.state("m1")).version == state.version + 1


async def test_an_owner_that_lost_its_partitions_steps_back(tmp_path: Path) -> None:
    async with broker(tmp_path) as (config, keys), table(config, keys, TwoTowers(), instance="old") as old:
        state = await old.begin("m1")
        command = old.random_command(state, random.Random(1))
        late = old.random_command(state, random.Random(2))
        thief = Clock()
        thief.ahead_ms = 60_000
        async with table(config, keys, TwoTowers(), instance="new", clock=thief) as new:
            # Both hear it; the old owner's append is refused by its epoch, whoever answers first.
            reply = await old.ask(command)
            while reply.rejection.code == "overloaded":
                reply = await old.ask(command)
            assert accepted(reply).version == state.version + 1
            assert refused(await new.ask(late)) == "stale_prompt"
            assert [e.version for e in await new.store.read("m1")] == list(range(1, state.version + 2))
            while old.owner.partitions.held:
                await asyncio.sleep(0.02)


async def test_bus_role_of_the_gateway_is_what_tests_speak_with(seated: Table) -> None:
    assert isinstance(seated.edge, Bus)
    assert seated.edge.role == "gateway"
