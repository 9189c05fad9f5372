"""Streams of frames: bounded answers, no gaps, resumed where they broke, ended when nobody reads on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from grimoire.engine import ALL, PUBLIC
from grimoire.match.frames import viewer_message
from grimoire.v1 import replay_pb2, rules_pb2
from replay.limits import ReplayLimits
from tests.replay.house import House, Refusal
from tests.replay.scripted import MATCH, Stage, frame, stage, whole

VERSIONS = 200
MIB = 1024 * 1024


@pytest.fixture
async def scripted(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path, VERSIONS) as running:
        yield running


async def until(condition) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


# ---- sizes and ranges -----------------------------------------------------------------------------------------------


async def test_an_answer_has_at_most_64_frames(scripted: Stage) -> None:
    chunks = await scripted.caller.chunks(MATCH, PUBLIC)

    assert [len(c.frames) for c in chunks] == [64, 64, 64, 8]
    assert [f.version for c in chunks for f in c.frames] == list(range(1, VERSIONS + 1))


async def test_an_answer_has_at_most_one_mebibyte(scripted: Stage) -> None:
    async def heavy(first, last, context):
        for version in range(first, last + 1):
            yield [frame(version, 100 * 1024)]

    scripted.rules.script = heavy

    chunks = await scripted.caller.chunks(MATCH, PUBLIC, 1, 50)

    assert [len(c.frames) for c in chunks] == [10, 10, 10, 10, 10]
    assert all(c.ByteSize() <= MIB for c in chunks)


async def test_a_frame_that_does_not_fit_is_a_fault_and_its_neighbours_are_whole(scripted: Stage) -> None:
    async def one_giant(first, last, context):
        yield [frame(version, MIB if version == 3 else 10) for version in range(first, last + 1)]

    scripted.rules.script = one_giant

    frames = await scripted.caller.frames(MATCH, PUBLIC, 1, 5)

    assert faults(frames) == [3]
    assert [len(f.view) for f in frames] == [10, 10, 0, 10, 10]
    assert "too large" in frames[2].fault.message


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [
        (0, 0, range(1, 201)),
        (7, 7, range(7, 8)),
        (190, 0, range(190, 201)),
        (199, 5000, range(199, 201)),
        (200, 200, range(200, 201)),
    ],
)
async def test_ranges_are_inclusive_and_end_at_the_head(scripted: Stage, first: int, last: int, shown: range) -> None:
    assert [f.version for f in await scripted.caller.frames(MATCH, PUBLIC, first, last)] == list(shown)


@pytest.mark.parametrize(("first", "last"), [(201, 0), (5, 4), (2**63, 2**63)])
async def test_a_range_that_is_none_is_refused(scripted: Stage, first: int, last: int) -> None:
    with pytest.raises(Refusal, match="versions 1 to 200") as refused:
        await scripted.caller.frames(MATCH, PUBLIC, first, last)
    assert refused.value.status is grpc.StatusCode.INVALID_ARGUMENT


# ---- faults ---------------------------------------------------------------------------------------------------------


async def test_a_fault_of_the_game_passes_through(scripted: Stage) -> None:
    async def one_fault(first, last, context):
        frames = [frame(version) for version in range(first, last + 1)]
        frames[1] = rules_pb2.ReplayFrame(version=first + 1)
        frames[1].fault.code = "match_broken"
        yield frames

    scripted.rules.script = one_fault

    assert faults(await scripted.caller.frames(MATCH, PUBLIC, 1, 4)) == [2]


async def test_versions_that_are_left_out_are_faults(scripted: Stage) -> None:
    async def gaps(first, last, context):
        yield [frame(version) for version in range(first, last + 1) if version not in (4, 5, 10)]

    scripted.rules.script = gaps

    frames = await scripted.caller.frames(MATCH, PUBLIC, 1, 10)

    assert [f.version for f in frames] == list(range(1, 11))
    assert faults(frames) == [4, 5, 10]


async def test_a_version_the_service_breaks_on_is_a_fault_and_the_next_follows(scripted: Stage) -> None:
    async def breaks(first, last, context):
        for version in range(first, last + 1):
            if version == 4:
                await context.abort(grpc.StatusCode.INTERNAL, "a bug")
            yield [frame(version)]

    scripted.rules.script = breaks

    frames = await scripted.caller.frames(MATCH, PUBLIC, 1, 8)

    assert [f.version for f in frames] == list(range(1, 9))
    assert faults(frames) == [4]
    assert scripted.rules.calls == [(1, 8), (5, 8)]


async def test_a_service_that_breaks_on_everything_is_given_up(scripted: Stage) -> None:
    async def broken(first, last, context):
        await context.abort(grpc.StatusCode.INTERNAL, "a bug")
        yield []

    scripted.rules.script = broken

    with pytest.raises(Refusal) as refused:
        await scripted.caller.frames(MATCH, PUBLIC)
    assert refused.value.status is grpc.StatusCode.FAILED_PRECONDITION
    assert refused.value.code == "match_broken"
    assert len(scripted.rules.calls) < 12


async def test_frames_that_come_twice_are_not_passed_on(scripted: Stage) -> None:
    async def twice(first, last, context):
        yield [frame(1), frame(2), frame(2)]

    scripted.rules.script = twice

    with pytest.raises(Refusal) as refused:
        await scripted.caller.frames(MATCH, PUBLIC, 1, 5)
    assert refused.value.status is grpc.StatusCode.UNAVAILABLE


# ---- an owner that goes away ----------------------------------------------------------------------------------------


async def test_a_stream_goes_on_where_its_owner_went_away(scripted: Stage) -> None:
    async def moves(first, last, context):
        yield [frame(version) for version in range(first, min(first + 30, last + 1))]
        if first + 30 <= last:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "moved")

    scripted.rules.script = moves

    frames = await scripted.caller.frames(MATCH, PUBLIC)

    assert [f.version for f in frames] == list(range(1, VERSIONS + 1))
    assert not faults(frames)
    assert scripted.directory.forgotten


async def test_a_match_without_an_owner_is_waited_for(scripted: Stage) -> None:
    scripted.directory.away = True
    asking = asyncio.create_task(scripted.caller.frames(MATCH, PUBLIC, 1, 3))
    await asyncio.sleep(0)
    assert not asking.done()

    scripted.directory.away = False

    assert len(await asking) == 3


async def test_it_is_not_waited_for_ever(tmp_path: Path) -> None:
    async with stage(tmp_path, 3, ReplayLimits(takeover_s=0.1)) as scripted:
        scripted.directory.away = True
        with pytest.raises(Refusal, match="cannot be reached now") as refused:
            await scripted.caller.frames(MATCH, PUBLIC)
        assert refused.value.status is grpc.StatusCode.UNAVAILABLE
        assert refused.value.code == "unavailable"


async def test_a_silent_service_is_asked_again(tmp_path: Path) -> None:
    async with stage(tmp_path, 3, ReplayLimits(silence_s=0.1)) as scripted:

        async def silent_once(first, last, context):
            if len(scripted.rules.calls) == 1:
                yield [frame(1)]
                await asyncio.Event().wait()
            yield [frame(version) for version in range(first, last + 1)]

        scripted.rules.script = silent_once

        assert [f.version for f in await scripted.caller.frames(MATCH, PUBLIC)] == [1, 2, 3]
        assert scripted.rules.calls == [(1, 3), (2, 3)]


# ---- readers --------------------------------------------------------------------------------------------------------


async def test_a_reader_that_goes_away_ends_the_work_behind_it(scripted: Stage) -> None:
    ended = asyncio.Event()

    async def endless(first, last, context):
        try:
            yield [frame(version) for version in range(first, first + 64)]
            await asyncio.Event().wait()
        finally:
            ended.set()

    scripted.rules.script = endless
    call = scripted.caller.stub.StreamFrames(everything(), metadata=scripted.caller.metadata)
    await call.read()

    call.cancel()

    async with asyncio.timeout(60):
        await ended.wait()
    await until(lambda: scripted.service.streams == 0)


async def test_frames_are_made_only_as_fast_as_they_are_read(tmp_path: Path) -> None:
    versions = 4_000
    made = 0

    async def counted(first, last, context):
        nonlocal made
        for version in range(first, last + 1):
            made = version
            yield [frame(version, 64 * 1024)]

    async with stage(tmp_path, versions) as scripted:
        scripted.rules.script = counted
        call = scripted.caller.stub.StreamFrames(everything(), metadata=scripted.caller.metadata)
        seen = await call.read()
        await stands_still(lambda: made)

        # 4,000 frames are 250 MiB; what is under way fits into the windows of two connections.
        assert made < 1_000
        count = len(seen.frames)
        async for chunk in call:
            count += len(chunk.frames)
        assert count == made == versions


async def stands_still(value) -> None:
    """Waits until a number has not changed for a while."""
    async with asyncio.timeout(20):
        last, since = value(), 0
        while since < 50:
            await asyncio.sleep(0.01)
            since = since + 1 if value() == last else 0
            last = value()


async def test_one_account_has_only_so_many_streams_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path, 3, ReplayLimits(streams_per_account=2)) as scripted:
        block = asyncio.Event()

        async def blocked(first, last, context):
            await block.wait()
            yield [frame(version) for version in range(first, last + 1)]

        scripted.rules.script = blocked
        running = [asyncio.create_task(scripted.caller.frames(MATCH, PUBLIC)) for _ in range(2)]
        await until(lambda: len(scripted.rules.calls) == 2)

        with pytest.raises(Refusal) as refused:
            await scripted.caller.frames(MATCH, PUBLIC)
        assert refused.value.status is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert refused.value.code == "rate_limited"
        assert refused.value.rejection.retry_after_ms > 0

        block.set()
        assert [len(frames) for frames in await asyncio.gather(*running)] == [3, 3]
        assert len(await scripted.caller.frames(MATCH, PUBLIC)) == 3


# ---- timelines ------------------------------------------------------------------------------------------------------


async def test_marks_are_collected_once(scripted: Stage) -> None:
    first = await scripted.caller.marks(MATCH)
    again = await scripted.caller.marks(MATCH)

    assert [m.version for m in first] == list(range(1, VERSIONS + 1))
    assert again == first
    assert scripted.rules.calls == [(1, VERSIONS)]


async def test_marks_of_a_match_that_goes_on_are_those_found_and_the_new_ones(scripted: Stage) -> None:
    await scripted.caller.marks(MATCH)

    scripted.rules.versions += 5

    assert len(await scripted.caller.marks(MATCH)) == VERSIONS + 5
    assert scripted.rules.calls == [(1, VERSIONS), (VERSIONS + 1, VERSIONS + 5)]


async def test_a_timeline_with_a_fault_in_it_is_collected_again(scripted: Stage) -> None:
    async def gap(first, last, context):
        yield [frame(version) for version in range(first, last + 1) if version != 3]

    scripted.rules.script = gap
    assert len(await scripted.caller.marks(MATCH)) == VERSIONS - 1

    scripted.rules.script = whole

    assert len(await scripted.caller.marks(MATCH)) == VERSIONS


async def test_timelines_in_memory_are_bounded(tmp_path: Path) -> None:
    async with stage(tmp_path, 10, ReplayLimits(timeline_marks=5)) as scripted:
        await scripted.caller.marks(MATCH)
        await scripted.caller.marks(MATCH)
        assert len(scripted.rules.calls) == 2


async def test_a_timeline_has_start_turns_key_events_and_end(home: House) -> None:
    match_id = await home.play()

    marks = await home.caller("").marks(match_id)

    kinds = [m.kind for m in marks]
    assert kinds[0] == rules_pb2.MARK_KIND_START
    assert kinds[-1] == rules_pb2.MARK_KIND_END
    assert rules_pb2.MARK_KIND_TURN in kinds
    assert [m.version for m in marks] == sorted(m.version for m in marks)


# ---- the whole house ------------------------------------------------------------------------------------------------


async def test_any_version_of_a_stored_match_can_be_asked_for(home: House) -> None:
    match_id = await home.play()
    caller = home.caller("ada")
    frames = await caller.frames(match_id, ALL)

    for version in (1, 5, len(frames)):
        assert await caller.frames(match_id, ALL, version, version) == frames[version - 1 : version]


async def test_an_unknown_match_is_unknown(home: House) -> None:
    for match_id in ("0" * 26, "import-" + "0" * 26, "", "x" * 5000, "ä"):
        with pytest.raises(Refusal, match="no match with this id") as refused:
            await home.caller("ada").get(match_id)
        assert refused.value.status is grpc.StatusCode.NOT_FOUND
        assert refused.value.code == "unknown_match"


def everything() -> replay_pb2.StreamFramesRequest:
    return replay_pb2.StreamFramesRequest(match_id=MATCH, viewer=viewer_message(PUBLIC))


def faults(frames: list[rules_pb2.ReplayFrame]) -> list[int]:
    return [f.version for f in frames if f.HasField("fault")]
