"""A feed over an upstream that misbehaves in every way: gaps, silence, repeats, other histories, seats that change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from gateway.feeds import FeedLimits, Feeds
from gateway.refusals import RefusalKind, Refused
from grimoire.engine import PUBLIC, MatchId, Viewer
from grimoire.fairness import genesis
from grimoire.v1 import frame_pb2, match_pb2, rules_pb2, rules_pb2_grpc

MATCH = MatchId("f" * 26)
SEAT = Viewer.of_seat(0)
HANG = "hang"


def digest(version: int, history: str = "a") -> bytes:
    return genesis(MATCH) if version == 0 else f"{history}{version:031d}".encode()


def entry(version: int, history: str = "a", event: str = "") -> frame_pb2.ViewerEntry:
    events = match_pb2.Events(events=[match_pb2.Event(type=event)] if event else [])
    return frame_pb2.ViewerEntry(public=events.SerializeToString(), hash=digest(version, history))


def snapshot(version: int, history: str = "a", *, over: bool = False) -> frame_pb2.Snapshot:
    head = frame_pb2.MatchHead(match_id=MATCH, version=version, hash=digest(version, history), revealed=over)
    head.status = frame_pb2.MATCH_STATUS_CLOSED if over else frame_pb2.MATCH_STATUS_RUNNING
    return frame_pb2.Snapshot(head=head)


def shown(version: int, history: str = "a") -> frame_pb2.Frame:
    return frame_pb2.Frame(snapshot=snapshot(version, history))


def delta(first: int, last: int, *, event: str = "", over: bool = False, view: bool = True) -> frame_pb2.Frame:
    """Entries first..last."""
    made = frame_pb2.Delta(to=last, entries=[entry(v, event=event) for v in range(first, last + 1)])
    setattr(made, "from", first - 1)
    if view:
        made.snapshot.CopyFrom(snapshot(last, over=over))
    return frame_pb2.Frame(delta=made)


def beat(version: int) -> frame_pb2.Frame:
    return frame_pb2.Frame(heartbeat=frame_pb2.Heartbeat(version=version))


Step = frame_pb2.Frame | grpc.StatusCode | str


class Upstream(rules_pb2_grpc.RulesServiceServicer):
    """Plays one script for each WatchMatch; also the `Upstreams` of the feeds under test."""

    def __init__(self, *scripts: Sequence[Step]) -> None:
        self.scripts = list(scripts)
        self.asked: list[tuple[int, bytes]] = []
        self.forgotten = 0
        self.log = 0
        """Entries that GetEntries has."""
        self.go = asyncio.Event()
        self.channel: grpc.aio.Channel | None = None

    async def stub(self, game: str, match_id: MatchId) -> Any:
        assert self.channel is not None
        return rules_pb2_grpc.RulesServiceStub(self.channel)

    def forget(self, game: str, match_id: MatchId) -> None:
        self.forgotten += 1

    async def WatchMatch(
        self, request: rules_pb2.WatchMatchRequest, context: Any
    ) -> AsyncIterator[rules_pb2.WatchMatchResponse]:
        self.asked.append((request.since_version, request.since_hash))
        script = self.scripts.pop(0) if self.scripts else [HANG]
        for step in script:
            if isinstance(step, frame_pb2.Frame):
                yield rules_pb2.WatchMatchResponse(frame=step)
            elif step == "go":
                await self.go.wait()
                self.go.clear()
            elif isinstance(step, grpc.StatusCode):
                await context.abort(step, "trouble")
            else:
                await asyncio.Event().wait()

    async def GetEntries(
        self, request: rules_pb2.GetEntriesRequest, context: Any
    ) -> AsyncIterator[rules_pb2.GetEntriesResponse]:
        first, last = getattr(request, "from"), min(request.to, self.log)
        yield rules_pb2.GetEntriesResponse(entries=[entry(v) for v in range(first, last + 1)])


@asynccontextmanager
async def feeds_over(upstream: Upstream, rebound: Any = None, **limits: Any) -> AsyncIterator[Feeds]:
    server = grpc.aio.server()
    rules_pb2_grpc.add_RulesServiceServicer_to_server(upstream, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    upstream.channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    feeds = Feeds(upstream, FeedLimits(retry_s=0.01, **limits), rebound or (lambda _: None))
    try:
        yield feeds
    finally:
        await feeds.close()
        await upstream.channel.close()
        await server.stop(0)


class Watcher:
    """One subscriber, and what it has been shown."""

    def __init__(self, feeds: Feeds, viewer: Viewer = PUBLIC, since: int = 0, since_hash: bytes = b"") -> None:
        self._frames = feeds.watch("toy", MATCH, viewer, since, since_hash)
        self.version = since

    async def next(self) -> frame_pb2.Frame:
        async with asyncio.timeout(60):
            frame = (await anext(self._frames)).frame
        kind = frame.WhichOneof("kind")
        if kind == "delta":
            assert getattr(frame.delta, "from") == self.version, "a gap, or something twice"
            assert [e.hash for e in frame.delta.entries] == [
                digest(v) for v in range(self.version + 1, frame.delta.to + 1)
            ]
            self.version = frame.delta.to
        elif kind == "snapshot":
            self.version = frame.snapshot.head.version
        return frame

    async def until(self, version: int) -> None:
        while self.version < version:
            await self.next()

    async def close(self) -> None:
        await self._frames.aclose()


@pytest.mark.parametrize(
    "script",
    [
        [delta(3, 3), grpc.StatusCode.UNAVAILABLE],
        [delta(3, 3), grpc.StatusCode.INTERNAL],
        [delta(3, 3)],  # an orderly end in the middle
        [delta(3, 3), delta(5, 6)],  # a gap
        [delta(3, 3), beat(5)],  # a heartbeat that is ahead
        [delta(3, 3), "hang"],  # silence
    ],
)
async def test_a_broken_upstream_is_reopened_by_version(script: list[Step]) -> None:
    upstream = Upstream([shown(2), "go", *script], [delta(4, 6), HANG])
    async with feeds_over(upstream, silence_s=0.3) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        upstream.go.set()
        await watcher.until(6)
        assert upstream.asked == [(0, b""), (3, digest(3))]
        assert upstream.forgotten
        await watcher.close()


async def test_what_was_shown_already_is_not_shown_again() -> None:
    upstream = Upstream([shown(2), "go", delta(1, 2), delta(2, 4), delta(3, 5), HANG])
    async with feeds_over(upstream) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        upstream.go.set()
        await watcher.until(5)
        assert len(upstream.asked) == 1
        await watcher.close()


async def test_a_snapshot_after_reopening_is_filled_up_to_entries() -> None:
    upstream = Upstream([shown(2), "go", grpc.StatusCode.UNAVAILABLE], [shown(9), HANG])
    upstream.log = 9
    async with feeds_over(upstream, delta_entries=3) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        upstream.go.set()
        frames = []
        while watcher.version < 9:
            frames.append(await watcher.next())
        assert [len(f.delta.entries) for f in frames] == [3, 3, 1]
        assert [f.delta.HasField("snapshot") for f in frames] == [False, False, True]
        await watcher.close()


async def test_another_history_is_shown_as_it_is() -> None:
    upstream = Upstream([shown(4), "go", grpc.StatusCode.UNAVAILABLE], [shown(4, "b"), HANG])
    async with feeds_over(upstream) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        upstream.go.set()
        frame = await watcher.next()
        assert frame.snapshot.head.hash == digest(4, "b")
        await watcher.close()


async def test_entries_without_a_view_are_passed_on_and_newcomers_wait_for_the_view() -> None:
    upstream = Upstream([shown(1), "go", delta(2, 3, view=False), "go", delta(4, 5), HANG])
    async with feeds_over(upstream) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        upstream.go.set()
        await watcher.until(3)
        newcomer = Watcher(feeds)
        waiting = asyncio.create_task(newcomer.next())
        await asyncio.sleep(0)
        upstream.go.set()
        assert (await waiting).snapshot.head.version == 5
        await watcher.until(5)
        await watcher.close()
        await newcomer.close()


async def test_when_a_seat_changes_hands_its_watchers_must_ask_again_who_they_are() -> None:
    forgotten: list[MatchId] = []
    script: list[Step] = [shown(1), "go", delta(2, 2, event="seat_bound"), HANG]
    upstream = Upstream(script, list(script))
    async with feeds_over(upstream, forgotten.append) as feeds:
        seat = Watcher(feeds, SEAT)
        await seat.next()
        upstream.go.set()
        await seat.until(2)
        with pytest.raises(Refused) as refused:
            await seat.next()
        assert refused.value.rejection.code == "seat_rebound"
        assert forgotten == [MATCH]
        public = Watcher(feeds)
        await public.next()
        upstream.go.set()
        await public.until(2)  # what everybody sees goes on
        await public.close()


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (grpc.StatusCode.NOT_FOUND, RefusalKind.UNKNOWN, "unknown_match"),
        (grpc.StatusCode.DATA_LOSS, RefusalKind.NOT_NOW, "match_broken"),
    ],
)
async def test_what_cannot_be_shown_at_all_is_refused(status: grpc.StatusCode, kind: RefusalKind, code: str) -> None:
    upstream = Upstream([status], [shown(1), HANG])
    async with feeds_over(upstream) as feeds:
        with pytest.raises(Refused) as refused:
            await Watcher(feeds).next()
        assert (refused.value.kind, refused.value.rejection.code) == (kind, code)
        # The next one asks anew.
        watcher = Watcher(feeds)
        assert (await watcher.next()).HasField("snapshot")
        await watcher.close()


async def test_a_new_owner_is_asked_at_once() -> None:
    upstream = Upstream([shown(1), HANG], [delta(2, 2), HANG])
    async with feeds_over(upstream, silence_s=3600) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        feeds.moved(lambda game, match_id: (game, match_id) == ("toy", "another"))
        feeds.moved(lambda game, match_id: (game, match_id) == ("toy", MATCH))
        await watcher.until(2)
        assert upstream.asked == [(0, b""), (1, digest(1))]
        await watcher.close()


async def test_the_end_of_the_match_ends_the_stream_after_the_last_frame() -> None:
    upstream = Upstream([shown(1), "go", delta(2, 2, over=True), HANG])
    async with feeds_over(upstream) as feeds:
        watcher = Watcher(feeds)
        await watcher.next()
        upstream.go.set()
        await watcher.until(2)
        with pytest.raises(StopAsyncIteration):
            await watcher.next()
        assert len(feeds) == 0


async def test_earlier_entries_that_cannot_be_had_now_are_no_reason_to_lie() -> None:
    upstream = Upstream([shown(5), HANG])
    upstream.log = 3
    async with feeds_over(upstream) as feeds:
        with pytest.raises(Refused) as refused:
            await Watcher(feeds, since_hash=genesis(MATCH)).next()
        assert refused.value.kind is RefusalKind.UNAVAILABLE
