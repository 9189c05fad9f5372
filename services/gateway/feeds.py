"""One upstream for many watchers: what a pair of eyes sees of a match is fetched once and shared.

A `Feed` is a match seen through one viewer's eyes. It holds one `RulesService.WatchMatch` open while anybody watches,
reopens it by version when the match's owner moves or falls silent, and hands every frame to its subscribers. A
subscriber that resumes gets exactly the entries it lacks; one that does not keep up is dropped and resumes by version.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any, Protocol

import grpc
import msgspec
import structlog

from gateway.delay import Held, due_ms, newest_before, shown_later
from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from grimoire import tracing
from grimoire.engine import MatchId, Viewer, ViewerKind
from grimoire.fairness.chain import genesis
from grimoire.match.codes import NOT_HELD, RULES_NOT_INSTALLED, reject
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import frame_pb2, play_pb2, rules_pb2, rules_pb2_grpc

__all__ = ["FeedLimits", "Feeds", "Upstreams", "rebound", "viewer_message"]

_log = structlog.get_logger(__name__)

_OVER = (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID)
_REBOUND = b"seat_bound"


class Upstreams(Protocol):
    """Finds the service that owns a match."""

    async def stub(self, game: str, match_id: MatchId) -> rules_pb2_grpc.RulesServiceAsyncStub:
        """The owner's RulesService."""
        ...

    def forget(self, game: str, match_id: MatchId) -> None:
        """The owner did not answer, or is no longer the owner."""
        ...


class FeedLimits(msgspec.Struct, frozen=True):
    """Sizes and times of feeds.

    Attributes:
        queue: frames a subscriber may lag behind before it is dropped.
        kept_entries: latest entries held for those who resume; older ones are fetched.
        delta_entries: entries in one frame at most.
        first_frame_s: how long a new subscriber waits for an owner that cannot be reached.
        silence_s: an upstream from which nothing comes, not even heartbeats, is given up after this.
        retry_s: first pause before the upstream is reopened; doubles up to `retry_max_s`.
        retry_max_s: longest such pause.
    """

    queue: int = 64
    kept_entries: int = 256
    delta_entries: int = 256
    first_frame_s: float = 5.0
    silence_s: float = 30.0
    retry_s: float = 0.05
    retry_max_s: float = 1.0


class _GapError(Exception):
    """The upstream skipped entries, or moved; it has to be reopened by version."""


class _Subscriber:
    """One client's queue of frames."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._queue: deque[play_pb2.WatchResponse] = deque()
        self._news = asyncio.Event()
        self._ended = False
        self._refusal: Refused | None = None

    def offer(self, response: play_pb2.WatchResponse) -> bool:
        """Queues a frame; False if there is no room."""
        if len(self._queue) >= self._size:
            return False
        self._queue.append(response)
        self._news.set()
        return True

    def end(self, refusal: Refused | None = None, *, at_once: bool = False) -> None:
        """Nothing follows what is queued (or, at once, nothing at all)."""
        if at_once:
            self._queue.clear()
        self._refusal = refusal
        self._ended = True
        self._news.set()

    async def frames(self) -> AsyncGenerator[play_pb2.WatchResponse, None]:
        """Frames until the end.

        Raises:
            Refused: if that is how it ended.
        """
        while True:
            while self._queue:
                yield self._queue.popleft()
            if self._ended:
                break
            self._news.clear()
            await self._news.wait()
        if self._refusal is not None:
            raise self._refusal


class Feed:
    """A match through one viewer's eyes."""

    def __init__(
        self,
        game: str,
        match_id: MatchId,
        viewer: Viewer,
        upstreams: Upstreams,
        limits: FeedLimits,
        rebound: Callable[[MatchId], None],
        delay_s: int = 0,
        holder: str = "",
    ) -> None:
        self.game = game
        self.match_id = match_id
        self.viewer = viewer
        self.version = 0
        self.users = 0
        """Who has asked for it and not left."""
        self._upstreams = upstreams
        self._limits = limits
        self._rebound = rebound
        self.delay_s = delay_s
        """By so much later everything is shown."""
        self.holder = holder
        """Whose eyes they are, where the seat may change hands."""
        self._hash = b""
        self._snapshot: frame_pb2.Snapshot | None = None
        self._kept: deque[frame_pb2.ViewerEntry] = deque(maxlen=limits.kept_entries)
        self._subscribers: set[_Subscriber] = set()
        self._ready = asyncio.Event()
        self._failure: Refused | None = None
        self._over = False
        self._moved = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"feed {match_id} {viewer}")

    @property
    def _eyes(self) -> frame_pb2.Viewer:
        return viewer_message(self.viewer, self.holder)

    @property
    def watchers(self) -> int:
        """Subscribers now."""
        return len(self._subscribers)

    async def watch(self, since_version: int, since_hash: bytes) -> AsyncGenerator[play_pb2.WatchResponse, None]:
        """Frames for one more subscriber.

        Args:
            since_version: what it has seen; 0 with no hash: it begins with a snapshot; 0 with the chain's first
                hash: it gets every entry.
            since_hash: of that version; where it differs, a snapshot says what is true.

        Raises:
            Refused: unknown match, owner out of reach, or too slow.
        """
        await self._wait_ready()
        subscriber = _Subscriber(self._limits.queue)
        self._subscribers.add(subscriber)
        try:
            # No await between joining and looking: what comes later is in the queue, what came before is here.
            async for response in self._catch_up(since_version, since_hash):
                yield response
            if self._over:
                subscriber.end()
            async with contextlib.aclosing(subscriber.frames()) as frames:
                async for response in frames:
                    yield response
        finally:
            self._subscribers.discard(subscriber)

    def move(self) -> None:
        """The owner has changed: the upstream is reopened at once."""
        self._moved.set()

    async def close(self) -> None:
        """Lets go of the upstream and of every subscriber."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._end(unavailable("This service is stopping; connect again."))

    # ---- the subscriber's beginning ---------------------------------------------------------------------------------

    async def _wait_ready(self) -> None:
        try:
            async with asyncio.timeout(self._limits.first_frame_s):
                await self._ready.wait()
        except TimeoutError:
            raise unavailable("The service of this match cannot be reached now; try again.") from None
        if self._failure is not None:
            raise self._failure

    async def _catch_up(self, since_version: int, since_hash: bytes) -> AsyncIterator[play_pb2.WatchResponse]:
        snapshot, version, head = self._snapshot, self.version, self._hash
        assert snapshot is not None  # noqa: S101 - ready means there is one
        if since_version == 0 and not since_hash:
            yield _response(snapshot=snapshot)
        elif since_version > version or (since_version == version and since_hash == head):
            # Ahead of us: another edge was faster than our upstream; what it lacks will come.
            yield _response(heartbeat=frame_pb2.Heartbeat(version=version, server_time_ms=snapshot.server_time_ms))
        else:
            entries = await self._entries_after(since_version, since_hash)
            if entries is None:
                yield _response(snapshot=snapshot)
                return
            for delta in _deltas(since_version, entries, snapshot, self._limits.delta_entries):
                yield _response(delta=delta)

    async def _entries_after(self, after: int, after_hash: bytes) -> list[frame_pb2.ViewerEntry] | None:
        """Entries from after+1 to the version shown now, if the hash fits the history; None: it does not."""
        kept, last = list(self._kept), self.version
        first_kept = last - len(kept) + 1
        if after >= first_kept:
            return kept[after - first_kept + 1 :] if kept[after - first_kept].hash == after_hash else None
        if after == 0:
            return await self._fetch(1, last) if after_hash == genesis(self.match_id) else None
        return _linked(await self._fetch(after, last), after_hash)

    async def _fetch(self, first: int, last: int) -> list[frame_pb2.ViewerEntry]:
        request = rules_pb2.GetEntriesRequest(match_id=self.match_id, viewer=self._eyes, to=last, **{"from": first})
        entries: list[frame_pb2.ViewerEntry] = []
        try:
            stub = await self._upstreams.stub(self.game, self.match_id)
            async for part in stub.GetEntries(request):
                entries += part.entries
        except grpc.aio.AioRpcError as error:
            if error.details() == NOT_HELD:
                raise rebound() from None
            self._upstreams.forget(self.game, self.match_id)
            raise unavailable("Earlier entries of this match cannot be fetched now; try again.") from error
        if len(entries) != last - first + 1:
            raise unavailable("Earlier entries of this match cannot be fetched now; try again.")
        return entries

    # ---- the upstream -----------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        pause = self._limits.retry_s
        while not self._over:
            self._moved.clear()
            version = self.version
            try:
                stub = await self._upstreams.stub(self.game, self.match_id)
                await self._follow(stub)
                self._upstreams.forget(self.game, self.match_id)
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.NOT_FOUND:
                    self._fail(Refused(RefusalKind.UNKNOWN, reject("unknown_match")))
                    return
                if error.code() is grpc.StatusCode.DATA_LOSS:
                    self._fail(Refused(RefusalKind.NOT_NOW, reject("match_broken")))
                    return
                if error.details() == RULES_NOT_INSTALLED:
                    self._fail(Refused(RefusalKind.NOT_NOW, reject(RULES_NOT_INSTALLED)))
                    return
                if error.details() == NOT_HELD:
                    self._rebound(self.match_id)
                    self._fail(rebound())
                    return
                _log.info("feed_lost", match_id=self.match_id, viewer=str(self.viewer), code=error.code().name)
                self._upstreams.forget(self.game, self.match_id)
            except (_GapError, Refused, TimeoutError, ConnectionError) as error:
                if isinstance(error, Refused) and error.kind is RefusalKind.NOT_NOW:
                    # Nothing of it may be seen yet: whoever asks is told so, and asks again.
                    self._fail(error)
                    return
                _log.info("feed_reopened", match_id=self.match_id, viewer=str(self.viewer), why=type(error).__name__)
                self._upstreams.forget(self.game, self.match_id)
            except Exception:
                _log.exception("feed_broken", match_id=self.match_id, viewer=str(self.viewer))
                self._fail(unavailable("This match cannot be shown now; try again."))
                return
            if self.version > version:
                pause = self._limits.retry_s
            if not self._over:
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._limits.retry_max_s)

    async def _follow(self, stub: rules_pb2_grpc.RulesServiceAsyncStub) -> None:
        if self.delay_s and self._snapshot is None:
            await self._begin_late(stub)
        call = stub.WatchMatch(
            rules_pb2.WatchMatchRequest(
                match_id=self.match_id,
                viewer=self._eyes,
                since_version=self.version,
                since_hash=self._hash,
            )
        )
        moved = asyncio.ensure_future(self._moved.wait())
        reading: asyncio.Future[rules_pb2.WatchMatchResponse | None] | None = None
        held, loop = Held(), asyncio.get_running_loop()
        heard_s = loop.time()
        try:
            while not self._over:
                if reading is None and not held.is_full:
                    reading = asyncio.ensure_future(_read(call))
                waiting: set[asyncio.Future[Any]] = {moved} if reading is None else {moved, reading}
                silent_s = heard_s + self._limits.silence_s - loop.time()
                due_s = held.wait_s(_now_ms())
                done, _ = await asyncio.wait(
                    waiting,
                    timeout=silent_s if due_s is None else min(silent_s, due_s),
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if reading is not None and reading in done:
                    response, reading, heard_s = reading.result(), None, loop.time()
                    if response is None:
                        return
                    await self._hold(response.frame, held)
                elif moved in done:
                    raise _GapError("moved")
                elif loop.time() - heard_s >= self._limits.silence_s:
                    raise _GapError("silent")
                while (frame := held.next(_now_ms())) is not None:
                    await self._take(frame)
        finally:
            moved.cancel()
            if reading is not None:
                reading.cancel()
            call.cancel()

    async def _begin_late(self, stub: rules_pb2_grpc.RulesServiceAsyncStub) -> None:
        """Shows what may be seen by now, to go on from there."""
        version = await newest_before(stub, self.match_id, _now_ms() - self.delay_s * 1000)
        if not version:
            raise shown_later(self.delay_s)
        request = rules_pb2.GetViewRequest(match_id=self.match_id, viewer=self._eyes, version=version)
        self._show((await stub.GetView(request)).snapshot)

    async def _hold(self, frame: frame_pb2.Frame, held: Held) -> None:
        """Takes a frame, or keeps it back until it may be seen."""
        if not self.delay_s:
            await self._take(frame)
        elif frame.HasField("heartbeat"):
            # How far the match is by now is not shown either.
            beat = frame_pb2.Heartbeat(version=self.version, server_time_ms=frame.heartbeat.server_time_ms)
            await self._take(frame_pb2.Frame(heartbeat=beat))
        else:
            held.hold(frame, due_ms(frame, self.delay_s * 1000))

    async def _take(self, frame: frame_pb2.Frame) -> None:
        kind = frame.WhichOneof("kind")
        if kind == "delta":
            self._take_delta(frame.delta)
        elif kind == "snapshot":
            await self._take_snapshot(frame.snapshot)
        elif kind == "heartbeat":
            if frame.heartbeat.version > self.version:
                raise _GapError("behind")
            if self._ready.is_set():
                self._publish(_response(heartbeat=frame.heartbeat))

    async def _take_snapshot(self, snapshot: frame_pb2.Snapshot) -> None:
        head = snapshot.head
        if self._snapshot is None or (head.version, head.hash) == (self.version, self._hash):
            self._show(snapshot)
            return
        if head.version > self.version > 0:
            entries = _linked(await self._fetch(self.version, head.version), self._hash)
            if entries is not None:
                for delta in _deltas(self.version, entries, snapshot, self._limits.delta_entries):
                    self._take_delta(delta)
                return
        # What was shown before is not this match's history: everybody is told what is.
        _log.warning("feed_history_differs", match_id=self.match_id, shown=self.version, now=head.version)
        self._kept.clear()
        self._show(snapshot)
        self._publish(_response(snapshot=snapshot))

    def _take_delta(self, delta: frame_pb2.Delta) -> None:
        begin = getattr(delta, "from")
        if delta.to <= self.version:
            return
        if begin > self.version or delta.to - begin != len(delta.entries):
            raise _GapError("gap")
        if begin < self.version:
            shown = delta.snapshot if delta.HasField("snapshot") else None
            delta = _delta(self.version, delta.entries[self.version - begin :], shown)
        began_ns = time.time_ns()
        self._kept.extend(delta.entries)
        self.version, self._hash = delta.to, delta.entries[-1].hash
        if delta.HasField("snapshot"):
            self._show(delta.snapshot)
        else:
            # More entries follow before there is a view again; new subscribers wait for it.
            self._ready.clear()
        self._publish(_response(delta=delta))
        if delta.traceparent:
            about: tracing.Attributes = {
                "viewer": str(self.viewer),
                "version": delta.to,
                "watchers": len(self._subscribers),
            }
            tracing.record("gateway frame", delta.traceparent, began_ns, attributes=about)
        if any(_REBOUND in entry.public for entry in delta.entries):
            self._let_go()
        if self._over:
            self._end()

    def _show(self, snapshot: frame_pb2.Snapshot) -> None:
        self._snapshot = snapshot
        self.version, self._hash = snapshot.head.version, snapshot.head.hash
        self._over = snapshot.head.status in _OVER and snapshot.head.revealed
        self._ready.set()

    def _let_go(self) -> None:
        """A seat changed hands: whoever watches through it must ask again who they are."""
        self._rebound(self.match_id)
        if self.viewer.kind is ViewerKind.SEAT:
            self._end(rebound())

    def _publish(self, response: play_pb2.WatchResponse) -> None:
        for subscriber in list(self._subscribers):
            if not subscriber.offer(response):
                self._subscribers.discard(subscriber)
                METRICS.slow_watchers.inc()
                slow = rejection("slow_client", "Your connection did not keep up; connect again, resuming by version.")
                subscriber.end(Refused(RefusalKind.BUSY, slow), at_once=True)

    def _fail(self, refusal: Refused) -> None:
        self._failure = refusal
        self._ready.set()
        self._end(refusal)

    def _end(self, refusal: Refused | None = None) -> None:
        for subscriber in self._subscribers:
            subscriber.end(refusal)
        self._subscribers.clear()

    @property
    def is_spent(self) -> bool:
        """Nothing more will come of it."""
        return self._failure is not None


class Feeds:
    """All feeds of this edge.

    Args:
        upstreams: finds owners.
        limits: sizes and times.
        rebound: told when a seat of a match changed hands.
    """

    def __init__(
        self,
        upstreams: Upstreams,
        limits: FeedLimits | None = None,
        rebound: Callable[[MatchId], None] = lambda _: None,
    ) -> None:
        self._upstreams = upstreams
        self._limits = limits or FeedLimits()
        self._rebound = rebound
        self._feeds: dict[tuple[MatchId, Viewer, int, str], Feed] = {}

    def __len__(self) -> int:
        """Open upstreams."""
        return len(self._feeds)

    @property
    def watchers(self) -> int:
        """Subscribers of all feeds."""
        return sum(feed.watchers for feed in self._feeds.values())

    async def watch(
        self,
        game: str,
        match_id: MatchId,
        viewer: Viewer,
        since_version: int,
        since_hash: bytes,
        *,
        delay_s: int = 0,
        holder: str = "",
    ) -> AsyncGenerator[play_pb2.WatchResponse, None]:
        """Frames of a match through these eyes; see `Feed.watch`. Viewer and delay have been judged by the caller.

        With a `holder` the match's owner judges once more whether the seat is still this pseudonym's.
        """
        feed = self._feed(game, match_id, viewer, delay_s, holder)
        feed.users += 1
        METRICS.watchers.inc()
        try:
            async with contextlib.aclosing(feed.watch(since_version, since_hash)) as frames:
                async for response in frames:
                    yield response
        finally:
            METRICS.watchers.dec()
            feed.users -= 1
            if not feed.users:
                await self._drop(feed)

    def moved(self, match_moved: Callable[[str, MatchId], bool]) -> None:
        """Reopens the upstreams of the matches that have a new owner."""
        for feed in self._feeds.values():
            if match_moved(feed.game, feed.match_id):
                feed.move()

    async def close(self) -> None:
        """Ends every feed; subscribers are told to connect again."""
        feeds, self._feeds = list(self._feeds.values()), {}
        for feed in feeds:
            await feed.close()

    def _feed(self, game: str, match_id: MatchId, viewer: Viewer, delay_s: int, holder: str) -> Feed:
        feed = self._feeds.get((match_id, viewer, delay_s, holder))
        if feed is None or feed.is_spent:
            feed = Feed(game, match_id, viewer, self._upstreams, self._limits, self._rebound, delay_s, holder)
            self._feeds[match_id, viewer, delay_s, holder] = feed
            METRICS.feeds.inc()
        return feed

    async def _drop(self, feed: Feed) -> None:
        key = (feed.match_id, feed.viewer, feed.delay_s, feed.holder)
        if self._feeds.get(key) is feed:
            del self._feeds[key]
        METRICS.feeds.dec()
        await feed.close()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def rebound() -> Refused:
    """The caller's seat may be somebody else's by now."""
    return Refused(RefusalKind.BUSY, rejection("seat_rebound", "A seat changed hands; connect again to go on."))


def viewer_message(viewer: Viewer, holder: str = "") -> frame_pb2.Viewer:
    """The viewer as requests carry it, with whose eyes they shall be."""
    seat = viewer.seat if viewer.kind is ViewerKind.SEAT else 0
    return frame_pb2.Viewer(kind=frame_pb2.ViewerKind.ValueType(viewer.kind.value), seat=seat, occupant_id=holder)


def _linked(entries: list[frame_pb2.ViewerEntry], first_hash: bytes) -> list[frame_pb2.ViewerEntry] | None:
    """The entries behind the first, if that has this hash."""
    return entries[1:] if entries[0].hash == first_hash else None


def _deltas(
    after: int, entries: list[frame_pb2.ViewerEntry], snapshot: frame_pb2.Snapshot, size: int
) -> list[frame_pb2.Delta]:
    """The entries after a version in frames of bounded size; the view comes with the last."""
    deltas = [_delta(after + i, entries[i : i + size]) for i in range(0, len(entries), size)]
    deltas[-1].snapshot.CopyFrom(snapshot)
    return deltas


def _delta(
    after: int, entries: Sequence[frame_pb2.ViewerEntry], snapshot: frame_pb2.Snapshot | None = None
) -> frame_pb2.Delta:
    delta = frame_pb2.Delta(to=after + len(entries), entries=entries, snapshot=snapshot)
    # The field is called as a keyword of this language is.
    setattr(delta, "from", after)
    return delta


def _response(**kind: frame_pb2.Snapshot | frame_pb2.Delta | frame_pb2.Heartbeat) -> play_pb2.WatchResponse:
    return play_pb2.WatchResponse(frame=frame_pb2.Frame(**kind))  # type: ignore[arg-type]


async def _read(
    call: grpc.aio.UnaryStreamCall[rules_pb2.WatchMatchRequest, rules_pb2.WatchMatchResponse],
) -> rules_pb2.WatchMatchResponse | None:
    response = await call.read()
    return response if isinstance(response, rules_pb2.WatchMatchResponse) else None
