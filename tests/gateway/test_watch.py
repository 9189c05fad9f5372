"""Watching: whose eyes, one upstream for many, resuming by version, slow readers, moved matches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio

from gateway.feeds import FeedLimits
from gateway.play import PlayLimits
from gateway.refusals import Refused
from gateway.service import Gateway
from grimoire.client.witness import whole_events
from grimoire.engine import PUBLIC, MatchId
from grimoire.fairness import genesis
from grimoire.fairness.livechain import LiveChain
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import frame_pb2, match_pb2, play_pb2
from tests.gateway.house import House, house
from tests.gateway.tables import Table, open_table, running_table
from tests.support.toy import schema as toy_pb

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def table(home_house: House) -> AsyncIterator[Table]:
    async with running_table(home_house) as running:
        yield running


async def until(condition: Any, within_s: float = 60.0) -> None:
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.005)


async def first(frames: AsyncIterator[frame_pb2.Frame], kind: str = "") -> frame_pb2.Frame:
    async with aclosing(frames):  # type: ignore[type-var]
        async for frame in frames:
            if not kind or frame.WhichOneof("kind") == kind:
                return frame
    raise AssertionError("the stream ended")


def entries_of(frame: frame_pb2.Frame) -> tuple[int, int, int]:
    delta = frame.delta
    return getattr(delta, "from"), delta.to, len(delta.entries)


# ---- whose eyes -----------------------------------------------------------------------------------------------------


async def test_a_seat_sees_its_own_part_and_no_other(table: Table) -> None:
    frame = await first(table.watch(since_hash=genesis(table.match_id)))
    assert (frame.delta.snapshot.viewer.kind, frame.delta.snapshot.viewer.seat) == (frame_pb2.VIEWER_KIND_SEAT, 0)
    opened = {part.audience for entry in frame.delta.entries for part in entry.parts}
    assert opened == {"seat/0"}
    hands = toy_pb.View.FromString(frame.delta.snapshot.view).seats
    assert len(hands[0].hand) == 3
    assert not hands[1].hand


async def test_a_spectator_sees_what_is_public_and_no_part(table: Table) -> None:
    spectator = await table.house.client("Eve")
    metadata = (("authorization", f"Bearer {spectator.token}"),)
    frame = await first(table.watch(metadata, since_hash=genesis(table.match_id)))
    assert frame.delta.snapshot.viewer.kind == frame_pb2.VIEWER_KIND_PUBLIC
    assert not [part for entry in frame.delta.entries for part in entry.parts]
    assert not [prompt for prompt in frame.delta.snapshot.prompts if prompt.legal]
    raw = frame.SerializeToString()
    own = toy_pb.View.FromString(table.sessions[0].view).seats[0].hand
    assert own
    assert not [rune for rune in own if rune.encode() in raw]
    await spectator.close()


@pytest.mark.parametrize("method", ["Watch", "Look"])
@pytest.mark.parametrize("seat", [0, 1, 2, 2**32 - 1])
async def test_a_seat_that_is_not_held_is_refused_not_made_less(table: Table, method: str, seat: int) -> None:
    spectator = await table.house.client("Eve")
    metadata = (("authorization", f"Bearer {spectator.token}"),)
    request = {"Watch": play_pb2.WatchRequest, "Look": play_pb2.LookRequest}[method]
    call = table.channel.unary_stream(f"/grimoire.v1.PlayService/{method}")(
        request(match_id=table.match_id, seat=seat).SerializeToString(), metadata=metadata
    )
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        async for _ in call:
            pass
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    await spectator.close()


async def test_the_other_players_seat_is_refused_too(table: Table) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await first(table.watch(seat=1))
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED


async def test_a_player_may_look_as_anybody_does(table: Table) -> None:
    frame = await first(table.watch(as_public=True))
    assert frame.snapshot.viewer.kind == frame_pb2.VIEWER_KIND_PUBLIC
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await first(table.watch(as_public=True, seat=0))
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_one_account_may_hold_two_seats_and_name_which(home_house: House) -> None:
    client = await home_house.client("Aino")
    match_id = await home_house.create([client, client])
    async with await client.open_match(match_id) as one, await client.open_match(match_id, 1) as other:
        assert (one.seat, other.seat) == (0, 1)
    await client.close()


@pytest.mark.parametrize("match_id", ["0" * 26, "", ">", "x" * 5000])
async def test_a_match_that_is_not_there_is_unknown(table: Table, match_id: str) -> None:
    for call in (
        table.play.Watch(play_pb2.WatchRequest(match_id=match_id), metadata=table.metadata()).read(),
        table.play.Look(play_pb2.LookRequest(match_id=match_id), metadata=table.metadata()),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND


async def test_looking_at_a_version_that_is_not_there_is_an_error_of_the_caller(table: Table) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await table.play.Look(play_pb2.LookRequest(match_id=table.match_id, version=10_000), metadata=table.metadata())
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    earlier = await table.play.Look(play_pb2.LookRequest(match_id=table.match_id, version=1), metadata=table.metadata())
    assert (earlier.snapshot.head.version, earlier.snapshot.view) == (1, b"")


# ---- one upstream for many ------------------------------------------------------------------------------------------


def upstreams_ended() -> float:
    """WatchMatch calls that the game's service has seen end."""
    return sum(
        sample.value
        for metric in METRICS.rpc_calls.collect()
        for sample in metric.samples
        if sample.name.endswith("_total") and sample.labels["method"] == "grimoire.v1.RulesService/WatchMatch"
    )


async def test_two_hundred_watchers_share_one_upstream_and_all_see_everything(home_house: House) -> None:
    async with running_table(home_house) as table, AsyncExitStack() as stack:
        feeds = home_house.gateway.feeds
        assert feeds is not None
        open_before, watchers_before = len(feeds), feeds.watchers
        spectators = [await home_house.client(f"Guest {n}") for n in range(4)]
        start = table.sessions[0].version
        seen: list[list[int]] = []

        async def follow(metadata: Any) -> None:
            versions = seen[-1]
            async for frame in table.watch(metadata, since_hash=genesis(table.match_id)):
                if frame.WhichOneof("kind") == "delta":
                    versions += range(getattr(frame.delta, "from") + 1, frame.delta.to + 1)

        tasks = []
        for n in range(200):
            seen.append([])
            metadata = (("authorization", f"Bearer {spectators[n % 4].token}"),)
            tasks.append(asyncio.create_task(follow(metadata)))
            await asyncio.sleep(0)
        stack.callback(lambda: [task.cancel() for task in tasks])
        await until(lambda: feeds.watchers - watchers_before == 200)
        assert len(feeds) - open_before == 1
        last = 0
        for _ in range(5):
            last = await table.move()
        await until(lambda: all(versions and versions[-1] == last for versions in seen))
        assert all(versions == list(range(1, last + 1)) for versions in seen)
        assert last > start
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # With its last watcher the upstream goes.
        await until(lambda: len(feeds) == open_before)
        for spectator in spectators:
            await spectator.close()


async def test_the_stream_ends_when_the_match_is_over_and_open(home_house: House) -> None:
    async with running_table(home_house) as table:
        ended = upstreams_ended()
        frames = table.watch(as_public=True)
        assert (await anext(frames)).HasField("snapshot")
        spectator = asyncio.create_task(_collect(frames))
        await table.sessions[0].resign()
        closing = (await spectator)[-1].delta
        assert closing.snapshot.head.status == frame_pb2.MATCH_STATUS_CLOSED
        assert closing.snapshot.head.revealed
        # From the reveal on every part is open to everybody.
        assert "command" in {p.audience for e in closing.entries for p in e.parts}
        # Whoever comes later gets everything, and the end.
        late = await _collect(table.watch(as_public=True, since_hash=genesis(table.match_id)))
        assert late[-1].delta.to == closing.to
        await until(lambda: upstreams_ended() > ended)


async def _collect(frames: AsyncIterator[frame_pb2.Frame]) -> list[frame_pb2.Frame]:
    return [frame async for frame in frames if frame.WhichOneof("kind") != "heartbeat"]


# ---- resuming -------------------------------------------------------------------------------------------------------


async def test_resuming_gives_exactly_what_is_missing(table: Table) -> None:
    known = table.sessions[0]
    version, head = known.version, known.head.hash
    last = [await table.move() for _ in range(3)][-1]
    frame = await first(table.watch(since_version=version, since_hash=head))
    assert entries_of(frame) == (version, last, last - version)
    chain = LiveChain(table.match_id, version, head)
    for entry in frame.delta.entries:
        chain.feed(entry)
    assert chain.head == frame.delta.snapshot.head.hash


async def test_resuming_at_the_head_gives_what_comes_next(table: Table) -> None:
    version = await table.move()
    await table.sessions[0].reached(version)
    frames = table.watch(since_version=version, since_hash=table.sessions[0].head.hash)
    assert (await anext(frames)).WhichOneof("kind") == "heartbeat"
    following = await table.move()
    assert entries_of(await anext(frames)) == (version, following, 1)
    await frames.aclose()  # type: ignore[attr-defined]


async def test_a_hash_that_is_not_of_this_history_gets_what_is_true(table: Table) -> None:
    last = [await table.move() for _ in range(2)][-1]
    for version in (1, last - 1, last):
        frame = await first(table.watch(since_version=version, since_hash=bytes(32)))
        assert frame.snapshot.head.version == last
    frame = await first(table.watch(since_hash=bytes(32)))
    assert frame.snapshot.head.version == last


async def test_a_version_that_is_not_there_yet_waits_without_harm(table: Table) -> None:
    frames = table.watch(since_version=10_000, since_hash=bytes(32))
    assert (await anext(frames)).WhichOneof("kind") == "heartbeat"
    await frames.aclose()  # type: ignore[attr-defined]


async def test_entries_no_longer_at_hand_are_fetched_in_frames_of_bounded_size(tmp_path: Path) -> None:
    gateway = Gateway(feed_limits=FeedLimits(kept_entries=2, delta_entries=3))
    async with house(tmp_path, gateway) as home, running_table(home) as table:
        # A watcher keeps the feed alive, so that what it holds is short.
        keeper = table.watch(as_public=True)
        await anext(keeper)
        last = [await table.move() for _ in range(7)][-1]
        await first(keeper, "delta")
        chain = LiveChain(table.match_id)
        sizes = []
        views = []
        async with aclosing(table.watch(as_public=True, since_hash=genesis(table.match_id))) as frames:  # type: ignore[type-var]
            async for frame in frames:
                for entry in frame.delta.entries:
                    chain.feed(entry)
                sizes.append(len(frame.delta.entries))
                views.append(frame.delta.HasField("snapshot"))
                if chain.version == last:
                    break
        assert max(sizes) == 3
        # The view comes once, with the last of them.
        assert views == [False] * (len(views) - 1) + [True]


# ---- slow readers ---------------------------------------------------------------------------------------------------


async def test_a_reader_that_does_not_keep_up_is_dropped_and_others_are_not(tmp_path: Path) -> None:
    gateway = Gateway(feed_limits=FeedLimits(queue=4))
    async with house(tmp_path, gateway) as home, running_table(home) as table:
        feeds = gateway.feeds
        assert feeds is not None
        dropped = METRICS.slow_watchers._value.get()
        slow = feeds.watch("toy", MatchId(table.match_id), PUBLIC, 0, b"")
        assert (await anext(slow)).frame.HasField("snapshot")
        version = table.sessions[0].version
        quick = table.watch(as_public=True)
        await anext(quick)
        for _ in range(12):
            last = await table.move()
            frame = await first_delta(quick)
            assert frame.delta.to == last
        with pytest.raises(Refused) as refused:
            async for _ in slow:
                pass
        assert refused.value.rejection.code == "slow_client"
        assert METRICS.slow_watchers._value.get() == dropped + 1
        # It resumes by version and has lost nothing.
        frame = await first(table.watch(as_public=True, since_hash=genesis(table.match_id)))
        assert entries_of(frame) == (0, last, last)
        assert last == version + 12
        await quick.aclose()  # type: ignore[attr-defined]


async def first_delta(frames: AsyncIterator[frame_pb2.Frame]) -> frame_pb2.Frame:
    async for frame in frames:
        if frame.WhichOneof("kind") == "delta":
            return frame
    raise AssertionError("the stream ended")


async def test_one_account_cannot_open_streams_without_end(tmp_path: Path) -> None:
    async with house(tmp_path, Gateway(PlayLimits(streams=3))) as home, running_table(home) as table:
        # The player's own session is the first.
        open_streams = [table.watch(as_public=True) for _ in range(2)]
        for frames in open_streams:
            await anext(frames)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await first(table.watch(as_public=True))
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        for frames in open_streams:
            await frames.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(60):
            while True:
                try:
                    await first(table.watch(as_public=True))
                    break
                except grpc.aio.AioRpcError:
                    await asyncio.sleep(0.01)


# ---- moved matches --------------------------------------------------------------------------------------------------


async def test_a_stream_goes_on_where_it_was_when_the_owner_changes(tmp_path: Path) -> None:
    async with house(tmp_path) as home, running_table(home) as table:
        frames = table.watch(as_public=True, since_hash=genesis(table.match_id))
        frame = await anext(frames)
        chain = LiveChain(table.match_id)
        for entry in frame.delta.entries:
            chain.feed(entry)
        for _ in range(2):
            async with home.no_game():
                pass
            last = await table.move()
            while chain.version < last:
                frame = await anext(frames)
                # No gap, nothing twice: the chain takes every entry once.
                for entry in frame.delta.entries:
                    chain.feed(entry)
        assert chain.version == last
        await frames.aclose()  # type: ignore[attr-defined]


async def test_a_new_watcher_is_told_when_nobody_shows_the_match(tmp_path: Path) -> None:
    gateway = Gateway(feed_limits=FeedLimits(first_frame_s=0.3))
    async with house(tmp_path, gateway) as home:
        table = await open_table(home)
        async with home.no_game():
            for session in table.sessions:
                await session.close()
            feeds = gateway.feeds
            assert feeds is not None
            await until(lambda: len(feeds) == 0)
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await first(table.watch())
            assert refused.value.code() is grpc.StatusCode.UNAVAILABLE
        await table.close()


async def test_heartbeats_come_in_quiet_times_and_carry_the_servers_clock(table: Table) -> None:
    frames = table.watch(since_version=table.sessions[0].version, since_hash=table.sessions[0].head.hash)
    beat = (await anext(frames)).heartbeat
    assert beat.version == table.sessions[0].version
    assert abs(beat.server_time_ms - table.sessions[0].server_time_ms) < 60_000
    await frames.aclose()  # type: ignore[attr-defined]


async def test_the_public_events_are_the_same_for_all_eyes(table: Table) -> None:
    await table.move()
    mine = await first(table.watch(since_hash=genesis(table.match_id)))
    theirs = await first(table.watch(as_public=True, since_hash=genesis(table.match_id)))
    assert [e.public for e in mine.delta.entries] == [e.public for e in theirs.delta.entries]
    assert [e.hash for e in mine.delta.entries] == [e.hash for e in theirs.delta.entries]
    dealt = next(event for entry in mine.delta.entries for event in whole_events(entry) if event.type == "runes_dealt")
    hands = toy_pb.RunesDealt.FromString(dealt.body).hands
    assert [hand.seat for hand in hands] == [0]
    assert match_pb2.EntryHeader.FromString(mine.delta.entries[0].header).match_id == table.match_id
