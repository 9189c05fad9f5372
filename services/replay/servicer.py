"""The gRPC face of replay: who calls, what they may see, and answers in bounded pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import grpc
import msgspec

from grimoire.engine import PUBLIC, MatchId, Seat, Viewer
from grimoire.fairness.export import ExportError, ExportWriter
from grimoire.fairness.transparency import Evidence
from grimoire.match.frames import viewer_message, viewer_of
from grimoire.runtime.identity import occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.rpc import account_of
from grimoire.v1 import frame_pb2, replay_pb2, replay_pb2_grpc
from replay.access import best_viewer, check_viewer, held_seats, unmoved, viewers
from replay.audits import Auditor
from replay.bench import Bench
from replay.chunks import in_chunks
from replay.limits import Gate, ReplayLimits
from replay.matches import Match, Matches
from replay.refusals import RefusalKind, Refused, answered
from replay.rules import Rules
from replay.shelf import Shelf, is_import_id
from replay.timeline import Timelines
from replay.transparency.proofs import Proofs
from replay.uploads import Importer

__all__ = ["ReplayService"]

Context = grpc.aio.ServicerContext[Any, Any]


class _Caller(msgspec.Struct, frozen=True):
    """Who calls, as the edge says; the account is empty where nobody is signed in."""

    account_id: str
    keys: KeyRing

    def held(self, head: frame_pb2.MatchHead) -> tuple[Seat, ...]:
        """The caller's seats in a match."""
        if not self.account_id:
            return ()
        return held_seats(head, occupant_id(self.keys, MatchId(head.match_id), self.account_id))


class ReplayService(replay_pb2_grpc.ReplayServiceServicer):
    """Serves replays, files and audits to the edge.

    The server around it lets in services of the platform only; on whose behalf they call stands in the metadata that
    the edge sets. Which viewer the caller may be is judged here, for every call.

    Args:
        rules: the games.
        shelf: the imported logs.
        keys: of this installation; pseudonyms come from them.
        proofs: from the transparency log.
        limits: of this instance.
    """

    def __init__(self, rules: Rules, shelf: Shelf, keys: KeyRing, proofs: Proofs, limits: ReplayLimits) -> None:
        self._keys = keys
        self._proofs = proofs
        self._limits = limits
        self._bench = Bench(limits.bench_threads)
        self._matches = Matches(rules, shelf, self._bench, limits)
        self._auditor = Auditor(rules, self._bench, proofs, limits)
        self._importer = Importer(rules, self._auditor, self._bench, shelf, limits)
        self._timelines = Timelines(limits.timeline_marks)
        self._streams = Gate(limits.streams, limits.streams_per_account)
        self._heavy = Gate(limits.heavy, limits.heavy_per_account)

    def close(self) -> None:
        """Lets go of its threads; no call runs any more."""
        self._bench.close()

    @property
    def streams(self) -> int:
        """Frame streams and exports that run now."""
        return self._streams.inside

    @property
    def heavy(self) -> int:
        """Imports, audits and timelines that run now."""
        return self._heavy.inside

    async def GetMatch(self, request: replay_pb2.GetMatchRequest, context: Context) -> replay_pb2.GetMatchResponse:
        """The head, and whose eyes the caller may ask for now."""
        async with answered(context):
            head = await self._matches.head(request.match_id)
            allowed = viewers(head, self._caller(context).held(head))
            return replay_pb2.GetMatchResponse(
                head=head if allowed else unmoved(head),
                viewers=[viewer_message(viewer) for viewer in allowed],
                imported=is_import_id(request.match_id),
            )

    async def StreamFrames(
        self, request: replay_pb2.StreamFramesRequest, context: Context
    ) -> AsyncIterator[replay_pb2.StreamFramesResponse]:
        """What a viewer saw at each version of a range, in chunks; taken from the games only as fast as it is read."""
        caller = self._caller(context)
        async with answered(context):
            viewer = _viewer(request.viewer)
            with self._streams.enter(caller.account_id):
                head = await self._matches.head(request.match_id)
                check_viewer(head, caller.held(head), viewer)
                first, last = _range(getattr(request, "from"), request.to, head.version)
                match = await self._matches.find(head)
                chunks = in_chunks(
                    match.frames(viewer, first, last), self._limits.chunk_frames, self._limits.chunk_bytes
                )
                async with aclosing(chunks):
                    async for chunk in chunks:
                        yield chunk

    async def GetMarks(self, request: replay_pb2.GetMarksRequest, context: Context) -> replay_pb2.GetMarksResponse:
        """The timeline: start, turns, key events, end."""
        async with answered(context):
            caller = self._caller(context)
            with self._heavy.enter(caller.account_id):
                head = await self._matches.head(request.match_id)
                check_viewer(head, caller.held(head), PUBLIC)
                match = await self._matches.find(head)
                return replay_pb2.GetMarksResponse(marks=await self._timelines.marks(match))

    async def Export(
        self, request: replay_pb2.ExportRequest, context: Context
    ) -> AsyncIterator[replay_pb2.ExportResponse]:
        """The self-contained file: whole after the reveal, before it as the caller may see the match."""
        caller = self._caller(context)
        async with answered(context):
            with self._streams.enter(caller.account_id):
                head = await self._matches.head(request.match_id)
                if is_import_id(request.match_id):
                    file = await self._matches.file(request.match_id)
                    size = self._limits.file_chunk_bytes
                    for start in range(0, len(file), size):
                        yield replay_pb2.ExportResponse(chunk=file[start : start + size])
                    return
                match = await self._matches.find(head)
                evidence = await self._proofs.of(head)
                chunks = _file(match, best_viewer(head, caller.held(head)), evidence, self._limits.file_chunk_bytes)
                async with aclosing(chunks):
                    async for chunk in chunks:
                        yield replay_pb2.ExportResponse(chunk=chunk)

    async def Import(
        self, requests: AsyncIterator[replay_pb2.ImportRequest], context: Context
    ) -> replay_pb2.ImportResponse:
        """Takes a file, audits it, and keeps it under its own id if it holds."""
        account_id = self._caller(context).account_id
        async with answered(context):
            if not account_id:
                raise Refused(RefusalKind.FORBIDDEN, "not_authorised", "Sign in to bring a file along.")
            with self._heavy.enter(account_id):
                return await self._importer.take(account_id, requests)

    async def ImportFile(
        self, request: replay_pb2.ImportFileRequest, context: Context
    ) -> replay_pb2.ImportFileResponse:
        """As `Import`, for a caller that cannot send a stream."""

        async def whole() -> AsyncIterator[replay_pb2.ImportRequest]:
            yield replay_pb2.ImportRequest(chunk=request.file)

        reply = await self.Import(whole(), context)
        return replay_pb2.ImportFileResponse(match_id=reply.match_id, report=reply.report)

    async def Audit(self, request: replay_pb2.AuditRequest, context: Context) -> replay_pb2.AuditResponse:
        """All checks of the audit, as far as the caller may see the match."""
        caller = self._caller(context)
        async with answered(context):
            with self._heavy.enter(caller.account_id):
                head = await self._matches.head(request.match_id)
                match = await self._matches.find(head)
                viewer = best_viewer(head, caller.held(head))
                return replay_pb2.AuditResponse(report=await self._auditor.audit(match, viewer))

    def _caller(self, context: Context) -> _Caller:
        account = account_of(context)
        return _Caller("" if account is None else account.account_id, self._keys)


def _viewer(message: frame_pb2.Viewer) -> Viewer:
    try:
        return viewer_of(message)
    except ValueError:
        raise Refused(
            RefusalKind.MALFORMED, "malformed", "Name a viewer: one of the seats, public, or all.", "viewer"
        ) from None


def _range(first: int, last: int, head: int) -> tuple[int, int]:
    """The asked versions, 0 being the first and the head; what lies beyond the head is left away.

    >>> _range(0, 0, 7), _range(3, 100, 7)
    ((1, 7), (3, 7))
    """
    first, last = max(first, 1), last or head
    if not first <= last or first > head:
        raise Refused(
            RefusalKind.MALFORMED,
            "malformed",
            f"There is no such range: this match has the versions 1 to {head}.",
            "from",
        )
    return first, min(last, head)


async def _file(match: Match, viewer: Viewer, evidence: Evidence | None, size: int) -> AsyncGenerator[bytes, None]:
    """The lines of a match's file, joined to pieces of about `size` bytes."""
    writer = ExportWriter(match.head.game, match.head.match_id, viewer)
    piece = bytearray(writer.begin())
    try:
        async with aclosing(match.entries(viewer)) as entries:
            async for entry in entries:
                piece += writer.entry(entry)
                while len(piece) >= size:
                    yield bytes(piece[:size])
                    del piece[:size]
        if evidence is not None:
            piece += writer.log(evidence)
        piece += writer.end()
    except ExportError as error:
        raise Refused(
            RefusalKind.NOT_NOW, "too_large", f"This match does not fit into a file: {error.reason}."
        ) from None
    for start in range(0, len(piece), size):
        yield bytes(piece[start : start + size])
