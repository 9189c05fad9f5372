"""The gRPC face of a game: views, legal commands, live streams, projections, the rules walk. It decides nothing."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from grimoire import tracing
from grimoire.engine import Illegal, Viewer, ViewerKind
from grimoire.eventstore import StoredEntry, Unavailable
from grimoire.fairness.hashing import sha256
from grimoire.fairness.secret import Secret
from grimoire.match import (
    Entry,
    FrameFold,
    MatchState,
    Referee,
    Step,
    created_in,
    opened_entry,
    redecide,
    reject,
    snapshot,
)
from grimoire.match.codes import NOT_HELD, RULES_NOT_INSTALLED, reject_illegal
from grimoire.match.frames import head, prompts_for, viewer_of
from grimoire.match.headline import headline
from grimoire.match.seats import occupants_of
from grimoire.plugins import GamePlugin
from grimoire.runtime.branching import Branching
from grimoire.runtime.faults import discreet
from grimoire.runtime.live import Watch
from grimoire.runtime.owner import BrokenMatchError, MovedError, Owner, UnruledMatchError
from grimoire.v1 import frame_pb2, manifest_pb2, match_pb2, rules_pb2, rules_pb2_grpc

__all__ = ["RulesService"]

HEARTBEAT_S: Final = 10.0
CHUNK: Final = 64
CHUNK_BYTES: Final = 512 * 1024
MAX_LOG_BYTES: Final = 16 * 1024 * 1024
MAX_ENTRIES: Final = 50_000
RESUME_ENTRIES: Final = 256
WALKS: Final = 2

Context = grpc.aio.ServicerContext[Any, Any]
M = TypeVar("M", bound=Message)


class RulesService(rules_pb2_grpc.RulesServiceServicer):
    """Serves one game's matches to the platform's own services.

    Args:
        plugin: the game.
        owner: the matches this instance decides.
        now_ms: the time, UTC ms.
        heartbeat_s: seconds between heartbeats of a quiet stream.
    """

    def __init__(
        self, plugin: GamePlugin, owner: Owner, now_ms: Callable[[], int], *, heartbeat_s: float = HEARTBEAT_S
    ) -> None:
        self._plugin = plugin
        self._owner = owner
        self._referee: Referee[Any] = owner.referee
        self._now_ms = now_ms
        self._heartbeat_s = heartbeat_s
        # Folding whole logs is work for a thread, and not for many at once: commands come first (one GIL).
        self._walks = asyncio.Semaphore(WALKS)
        self._branching = Branching(plugin, owner, self._walks)

    # ---- the game in words ---------------------------------------------------------------------------------------

    @discreet
    async def Describe(self, request: rules_pb2.DescribeRequest, context: Context) -> rules_pb2.DescribeResponse:
        """The manifest in one language."""
        manifest = self._plugin.texts.manifest(request.language or "en")
        if self._plugin.quick_seats:
            told, manifest = manifest, manifest_pb2.Manifest()
            manifest.CopyFrom(told)
            manifest.quick_seats.extend(self._plugin.quick_seats)
            manifest.digest = sha256(told.digest + bytes(self._plugin.quick_seats))
        return rules_pb2.DescribeResponse(manifest=manifest)

    @discreet
    async def CheckOptions(
        self, request: rules_pb2.CheckOptionsRequest, context: Context
    ) -> rules_pb2.CheckOptionsResponse:
        """Options with defaults filled in, or what is wrong with them."""
        game = self._plugin.game
        answer = rules_pb2.CheckOptionsResponse(min_seats=game.min_seats, max_seats=game.max_seats)
        names = [o.name for o in request.options]
        if len(names) != len(set(names)):
            answer.rejection.CopyFrom(reject("bad_option", detail="An option is named twice.", field="options"))
            return answer
        facts = game.configure({o.name: o.value for o in request.options}, request.seats or game.min_seats)
        if isinstance(facts, Illegal):
            answer.rejection.CopyFrom(reject_illegal(facts, 0))
        else:
            answer.options.extend(match_pb2.OptionValue(name=k, value=v) for k, v in facts.options)
            answer.leaving = match_pb2.Leaving.ValueType(facts.leaving.value)
            answer.difficulty.extend(facts.difficulty)
        return answer

    # ---- one match now -------------------------------------------------------------------------------------------

    @discreet
    async def GetHead(self, request: rules_pb2.GetHeadRequest, context: Context) -> rules_pb2.GetHeadResponse:
        """Facts that everybody may know; of a match that was set aside, as far as its log can be read."""
        try:
            state = await self._owner.state(request.match_id)
        except BrokenMatchError as error:
            return rules_pb2.GetHeadResponse(head=await self._unfolded_head(request.match_id, error, context))
        except Unavailable as error:
            await _fail(error, context)
        if state is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
        return rules_pb2.GetHeadResponse(head=head(self._referee, state))

    @discreet
    async def GetView(self, request: rules_pb2.GetViewRequest, context: Context) -> rules_pb2.GetViewResponse:
        """A viewer's screen, at the head or as it was at an earlier version."""
        state, steps = await self._walked(request.match_id, context)
        viewer = await self._viewer(request.viewer, state, context)
        if request.version > state.version:
            await context.abort(grpc.StatusCode.OUT_OF_RANGE, f"the match has {state.version} versions")
        if request.version and request.version < state.version and steps:
            then = steps[request.version - 1].state
            shown = snapshot(self._referee, then, viewer, then.time_ms)
        elif request.version and request.version < state.version:
            fold = FrameFold(self._referee, viewer)
            async for entries in self._chunks(request.match_id, 1, request.version, context):
                async with self._walks:
                    await asyncio.to_thread(_advance, fold, entries)
            if fold.state is None:
                raise AssertionError("an earlier version has entries")
            shown = snapshot(self._referee, fold.state, viewer, fold.state.time_ms)
        else:
            shown = snapshot(self._referee, state, viewer, self._now_ms())
        return rules_pb2.GetViewResponse(snapshot=shown)

    @discreet
    async def ListLegal(self, request: rules_pb2.ListLegalRequest, context: Context) -> rules_pb2.ListLegalResponse:
        """A seat's open prompts with everything it may answer."""
        state = await self._state(request.match_id, context)
        asked = frame_pb2.Viewer(kind=frame_pb2.VIEWER_KIND_SEAT, seat=request.seat)
        viewer = await self._viewer(asked, state, context)
        prompts = [p for p in prompts_for(self._referee, state, viewer) if p.seat == request.seat]
        return rules_pb2.ListLegalResponse(version=state.version, prompts=prompts)

    @discreet
    async def WhyNot(self, request: rules_pb2.WhyNotRequest, context: Context) -> rules_pb2.WhyNotResponse:
        """Dry run: what sending this would be answered."""
        try:
            rejection, version = await self._owner.try_out(request.submission)
        except (MovedError, BrokenMatchError, Unavailable) as error:
            await _fail(error, context)
        return rules_pb2.WhyNotResponse(rejection=rejection, version=version)

    # ---- following a match ---------------------------------------------------------------------------------------

    @discreet
    async def WatchMatch(
        self, request: rules_pb2.WatchMatchRequest, context: Context
    ) -> AsyncIterator[rules_pb2.WatchMatchResponse]:
        """First a snapshot, or the deltas since a version; then what comes, and heartbeats in quiet times."""
        try:
            state, watch, leave = await self._owner.watch(request.match_id)
        except (MovedError, BrokenMatchError, Unavailable) as error:
            await _fail(error, context)
        try:
            if state is None:
                await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
            viewer = await self._viewer(request.viewer, state, context)
            yield _framed(await self._first_frame(request, state, viewer, context))
            async for frame in self._frames(watch, state.version, viewer, request.viewer.occupant_id):
                yield _framed(frame)
        finally:
            leave()
        # The match has moved, this reader was too slow, or its seat is another's: it resumes by version, if it may.
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "moved")

    async def _first_frame(
        self, request: rules_pb2.WatchMatchRequest, state: MatchState[Any], viewer: Viewer, context: Context
    ) -> frame_pb2.Frame:
        since = request.since_version
        if 0 < since <= state.version and state.version - since <= RESUME_ENTRIES:
            entries = await self._read(request.match_id, since, state.version, context)
            if entries and entries[0].hash == request.since_hash:
                log = self._log_of(state)
                pieces = list(_pieces([_opened(log, e, viewer) for e in entries[1:]]))
                if len(pieces) <= 1:
                    return frame_pb2.Frame(delta=self._delta(since, [e for p in pieces for e in p], state, viewer))
        return frame_pb2.Frame(snapshot=snapshot(self._referee, state, viewer, self._now_ms()))

    async def _frames(
        self, watch: Watch, version: int, viewer: Viewer, occupant_id: str
    ) -> AsyncIterator[frame_pb2.Frame]:
        held = True
        while held and not watch.dropped:
            entries = [e for e in await watch.take(self._heartbeat_s) if e.version > version]
            if entries:
                entries, held = _while_held(entries, viewer, occupant_id)
                began_ns = time.time_ns()
                *before, rest = _pieces([self._open_entry(e, viewer) for e in entries])
                for piece in before:
                    # The view comes with the last of them.
                    yield frame_pb2.Frame(delta=_delta(version, piece))
                    version += len(piece)
                delta = self._delta(version, rest, entries[-1].state, viewer)
                version = delta.to
                if watch.traceparent:
                    delta.traceparent, watch.traceparent = watch.traceparent, ""
                    about: tracing.Attributes = {"viewer": str(viewer), "version": version, "entries": len(entries)}
                    tracing.record("rules frame", delta.traceparent, began_ns, attributes=about)
                yield frame_pb2.Frame(delta=delta)
            elif not watch.dropped:
                beat = frame_pb2.Heartbeat(version=version, server_time_ms=self._now_ms())
                yield frame_pb2.Frame(heartbeat=beat)

    def _delta(
        self, first: int, opened: list[frame_pb2.ViewerEntry], state: MatchState[Any], viewer: Viewer
    ) -> frame_pb2.Delta:
        delta = _delta(first, opened)
        delta.snapshot.CopyFrom(snapshot(self._referee, state, viewer, self._now_ms()))
        return delta

    def _open_entry(self, entry: Entry, viewer: Viewer) -> frame_pb2.ViewerEntry:
        state = entry.state
        return opened_entry(
            match_id=entry.match_id,
            version=entry.version,
            header=entry.header,
            public=entry.public,
            digests=entry.stored_digests(),
            hash_=entry.hash,
            parts=dict(entry.parts),
            viewer=viewer,
            revealed=state.revealed,
            seed=self._referee.seed(state),
        )

    # ---- the log -------------------------------------------------------------------------------------------------

    @discreet
    async def GetEntries(
        self, request: rules_pb2.GetEntriesRequest, context: Context
    ) -> AsyncIterator[rules_pb2.GetEntriesResponse]:
        """Entries as one viewer may see them, in chunks."""
        log = await self._log(request.match_id, context)
        viewer = await self._viewer(request.viewer, log, context)
        first, last = max(1, getattr(request, "from")), request.to or log.version
        async for chunk in self._chunks(request.match_id, first, min(last, log.version), context):
            for entries in _pieces([_opened(log, e, viewer) for e in chunk]):
                yield rules_pb2.GetEntriesResponse(entries=entries)

    @discreet
    async def GetFrames(
        self, request: rules_pb2.GetFramesRequest, context: Context
    ) -> AsyncIterator[rules_pb2.GetFramesResponse]:
        """What a viewer saw at each version of a range, in chunks."""
        state, steps = await self._walked(request.match_id, context)
        viewer = await self._viewer(request.viewer, state, context)
        first, last = max(1, getattr(request, "from")), min(request.to or state.version, state.version)
        fold = FrameFold(self._referee, viewer, self._plugin.texts)
        if steps:
            # It had to be folded to be known: to be shown it need not be folded again.
            async for answer in self._shown(fold, steps[first - 1 : last]):
                yield answer
            return
        async for chunk in self._chunks(request.match_id, 1, last, context):
            work = [(e.version, e.header, e.public, _parts(e), e.hash) for e in chunk]
            async with self._walks:
                frames = await asyncio.to_thread(_frames_of, fold, work, first)
            for piece in _pieces(frames):
                yield rules_pb2.GetFramesResponse(frames=piece)

    async def _shown(
        self, fold: FrameFold[Any], steps: Sequence[Step[Any]]
    ) -> AsyncIterator[rules_pb2.GetFramesResponse]:
        for at in range(0, len(steps), CHUNK):
            async with self._walks:
                frames = await asyncio.to_thread(_frames_after, fold, steps[at : at + CHUNK])
            for piece in _pieces(frames):
                yield rules_pb2.GetFramesResponse(frames=piece)

    @discreet
    async def Project(
        self, requests: AsyncIterator[rules_pb2.ProjectRequest], context: Context
    ) -> AsyncIterator[rules_pb2.ProjectResponse]:
        """Folds a given, revealed log: replay of exported matches without game code elsewhere."""
        start, entries = await _received(requests, context)
        viewer = await _viewer_or_abort(start.viewer, context)
        referee = await self._revealed_referee(entries, context)
        first, last = max(1, getattr(start, "from")), start.to or len(entries)
        fold = FrameFold(referee, viewer, self._plugin.texts)
        for at in range(0, min(last, len(entries)), CHUNK):
            chunk = entries[at : min(at + CHUNK, last)]
            work = [
                (at + n + 1, e.header, e.public, {p.audience: p.body for p in e.parts}, e.hash)
                for n, e in enumerate(chunk)
            ]
            async with self._walks:
                frames = await asyncio.to_thread(_frames_of, fold, work, first)
            for piece in _pieces(frames):
                yield rules_pb2.ProjectResponse(frames=piece)

    @discreet
    async def Redecide(
        self, requests: AsyncIterator[rules_pb2.RedecideRequest], context: Context
    ) -> rules_pb2.RedecideResponse:
        """Check 8 of the audit over a given, revealed log."""
        entries: list[frame_pb2.ViewerEntry] = []
        size = 0
        async for request in requests:
            size += request.ByteSize()
            if size > MAX_LOG_BYTES or len(entries) >= MAX_ENTRIES:
                await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "this log is too large")
            entries.append(request.entry)
        async with self._walks:
            check = await asyncio.to_thread(redecide, self._plugin.game, entries, self._plugin.older)
        return rules_pb2.RedecideResponse(check=check)

    # ---- positions to play from ------------------------------------------------------------------------------------

    @discreet
    async def Arrange(self, request: rules_pb2.ArrangeRequest, context: Context) -> rules_pb2.ArrangeResponse:
        """A position judged for an analysis match."""
        return await self._branching.arrange(request)

    @discreet
    async def BranchPosition(
        self, requests: AsyncIterator[rules_pb2.BranchPositionRequest], context: Context
    ) -> rules_pb2.BranchPositionResponse:
        """The position of a revealed log at one version."""
        return await self._branching.branch(requests, context)

    # ---- helpers -------------------------------------------------------------------------------------------------

    async def _state(self, match_id: str, context: Context) -> MatchState[Any]:
        return (await self._walked(match_id, context))[0]

    async def _walked(self, match_id: str, context: Context) -> tuple[MatchState[Any], Sequence[Step[Any]]]:
        try:
            state, steps = await self._owner.walked(match_id)
        except (BrokenMatchError, Unavailable) as error:
            await _fail(error, context)
        if state is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
        return state, steps

    async def _unfolded_head(self, match_id: str, why: BrokenMatchError, context: Context) -> frame_pb2.MatchHead:
        """The head of a match that cannot be folded here: the platform's own events tell most of it."""
        try:
            stored = await self._owner.store.head(match_id)
            ends = [await self._owner.store.read(match_id, v, v) for v in (1, stored.version)] if stored else []
        except Unavailable as error:
            await _fail(error, context)
        if stored is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
        first, last = ([frame_pb2.ViewerEntry(header=e.header, public=e.public) for e in end] for end in ends)
        head = frame_pb2.MatchHead(status=frame_pb2.MATCH_STATUS_BROKEN, created=created_in(first))
        if isinstance(why, UnruledMatchError):
            # Nothing is wrong with this log; only its game's events cannot be read here.
            head = headline(match_id, [*first, *last])
            head.status = frame_pb2.MatchStatus.ValueType(stored.status)
        head.match_id, head.game, head.version, head.hash = match_id, stored.game, stored.version, stored.hash
        head.created_ms, head.updated_ms = stored.created_ms, stored.updated_ms
        return head

    async def _log(self, match_id: str, context: Context) -> _Log:
        """What it takes to show a log: its rules need not be installed."""
        try:
            state = await self._owner.state(match_id)
        except UnruledMatchError as error:
            head = await self._unfolded_head(match_id, error, context)
            seed = self._referee.seed_of(match_id, head.created.host_key_id)
            holders = tuple(seat.occupant_id for _, seat in sorted(occupants_of(head).items()))
            return _Log(head.version, head.revealed, holders, seed)
        except (BrokenMatchError, Unavailable) as error:
            await _fail(error, context)
        if state is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "unknown_match")
        return self._log_of(state)

    def _log_of(self, state: MatchState[Any]) -> _Log:
        holders = tuple(occupant.occupant_id for occupant in state.occupants)
        return _Log(state.version, state.revealed, holders, self._referee.seed(state))

    async def _viewer(self, message: frame_pb2.Viewer, match: MatchState[Any] | _Log, context: Context) -> Viewer:
        """The viewer a trusted caller derived; still never everything before the reveal."""
        viewer = await _viewer_or_abort(message, context)
        seats = len(match.holders if isinstance(match, _Log) else match.occupants)
        if viewer.kind is ViewerKind.ALL and not match.revealed:
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "everything is shown only after the reveal")
        if viewer.kind is ViewerKind.SEAT and viewer.seat >= seats:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the match has no such seat")
        if not _holds(match, viewer, message.occupant_id):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, NOT_HELD)
        return viewer

    async def _read(self, match_id: str, first: int, last: int, context: Context) -> list[StoredEntry]:
        try:
            return await self._owner.store.read(match_id, first, last, parts=True)
        except Unavailable as error:
            await _fail(error, context)

    async def _chunks(self, match_id: str, first: int, last: int, context: Context) -> AsyncIterator[list[StoredEntry]]:
        try:
            async for chunk in self._owner.store.read_chunks(match_id, first, last, parts=True, size=CHUNK):
                yield chunk
        except Unavailable as error:
            await _fail(error, context)

    async def _revealed_referee(self, entries: list[frame_pb2.ViewerEntry], context: Context) -> Referee[Any]:
        seed = _seed_of(entries)
        if seed is None:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "this log is not revealed")
        created = created_in(entries)
        if created is not None and self._plugin.rules(created.rules_version) is None:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, RULES_NOT_INSTALLED)
        return Referee(self._plugin.game, lambda *_: seed, older=self._plugin.older)


class _Log(NamedTuple):
    """What it takes to show a log."""

    version: int
    revealed: bool
    holders: tuple[str, ...]
    seed: Secret


def _holds(match: MatchState[Any] | _Log, viewer: Viewer, occupant_id: str) -> bool:
    """Whether the eyes that are named are still those of the seat."""
    if not occupant_id or viewer.kind is not ViewerKind.SEAT or match.revealed:
        return True
    holders = match.holders if isinstance(match, _Log) else [o.occupant_id for o in match.occupants]
    return holders[viewer.seat] == occupant_id


def _while_held(entries: list[Entry], viewer: Viewer, occupant_id: str) -> tuple[list[Entry], bool]:
    """The entries up to the one that gives the seat to somebody else, and whether none does."""
    for n, entry in enumerate(entries, 1):
        if not _holds(entry.state, viewer, occupant_id):
            return entries[:n], False
    return entries, True


def _opened(log: _Log, stored: StoredEntry, viewer: Viewer) -> frame_pb2.ViewerEntry:
    return opened_entry(
        match_id=stored.match_id,
        version=stored.version,
        header=stored.header,
        public=stored.public,
        digests=stored.digests,
        hash_=stored.hash,
        parts=_parts(stored),
        viewer=viewer,
        revealed=log.revealed,
        seed=log.seed,
    )


def _pieces(messages: Sequence[M]) -> Iterator[list[M]]:
    """The messages in answers of a bounded size; one that is larger by itself goes alone."""
    piece: list[M] = []
    size = 0
    for message in messages:
        weight = message.ByteSize()
        if piece and size + weight > CHUNK_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(message)
        size += weight
    if piece:
        yield piece


def _delta(first: int, entries: Sequence[frame_pb2.ViewerEntry]) -> frame_pb2.Delta:
    delta = frame_pb2.Delta(to=first + len(entries), entries=entries)
    setattr(delta, "from", first)  # the field is called as a keyword of this language is
    return delta


def _framed(frame: frame_pb2.Frame) -> rules_pb2.WatchMatchResponse:
    return rules_pb2.WatchMatchResponse(frame=frame)


def _parts(stored: StoredEntry) -> dict[str, bytes]:
    return {p.audience: p.body for p in match_pb2.Parts.FromString(stored.parts or b"").parts}


def _advance(fold: FrameFold[Any], entries: list[StoredEntry]) -> None:
    for stored in entries:
        fold.advance(stored.header, stored.public, _parts(stored), stored.hash)


_Work = Sequence[tuple[int, bytes, bytes, Mapping[str, bytes], bytes]]


def _frames_of(fold: FrameFold[Any], work: _Work, first: int) -> list[rules_pb2.ReplayFrame]:
    return list(_each_frame(fold, work, first))


def _frames_after(fold: FrameFold[Any], steps: Sequence[Step[Any]]) -> list[rules_pb2.ReplayFrame]:
    return [_frame_or_fault(step.state.version, step.hash, functools.partial(fold.show, step)) for step in steps]


def _each_frame(fold: FrameFold[Any], work: _Work, first: int) -> Iterator[rules_pb2.ReplayFrame]:
    for version, header, public, parts, hash_ in work:
        if version < first:
            with contextlib.suppress(Exception):
                fold.advance(header, public, parts, hash_)
        else:
            yield _frame_or_fault(version, hash_, functools.partial(fold.frame, header, public, parts, hash_))


def _frame_or_fault(version: int, hash_: bytes, make: Callable[[], rules_pb2.ReplayFrame]) -> rules_pb2.ReplayFrame:
    try:
        return make()
    except Exception:
        # One version that cannot be shown, whatever a stranger wrote into it, must not take its neighbours along.
        return rules_pb2.ReplayFrame(version=version, hash=hash_, fault=reject("match_broken", version=version))


def _seed_of(entries: list[frame_pb2.ViewerEntry]) -> Secret | None:
    if not entries:
        return None
    try:
        for event in match_pb2.Events.FromString(entries[-1].public).events:
            if event.type == "fairness_revealed":
                return Secret(match_pb2.FairnessRevealed.FromString(event.body).server_seed)
    except DecodeError:
        pass
    return None


async def _received(
    requests: AsyncIterator[rules_pb2.ProjectRequest], context: Context
) -> tuple[rules_pb2.ProjectStart, list[frame_pb2.ViewerEntry]]:
    start = rules_pb2.ProjectStart()
    entries: list[frame_pb2.ViewerEntry] = []
    size = 0
    async for request in requests:
        size += request.ByteSize()
        if size > MAX_LOG_BYTES or len(entries) >= MAX_ENTRIES:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "this log is too large")
        if request.HasField("start"):
            start = request.start
        else:
            entries.append(request.entry)
    return start, entries


async def _viewer_or_abort(message: frame_pb2.Viewer, context: Context) -> Viewer:
    try:
        return viewer_of(message)
    except ValueError as error:
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))


async def _fail(error: Exception, context: Context) -> NoReturn:
    if isinstance(error, MovedError):
        # Not UNAVAILABLE: the channel would ask the same instance again, and again.
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "moved")
    if isinstance(error, UnruledMatchError):
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, RULES_NOT_INSTALLED)
    if isinstance(error, BrokenMatchError):
        await context.abort(grpc.StatusCode.DATA_LOSS, reject("match_broken").message)
    await context.abort(grpc.StatusCode.UNAVAILABLE, "overloaded")
