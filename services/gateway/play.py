"""Playing and watching: the handlers of `PlayService`, free of any transport."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

import grpc
import msgspec
import structlog
from google.protobuf.message import DecodeError

from gateway.catalogue import Catalogue
from gateway.delay import newest_before, shown_later
from gateway.feeds import Feeds, Upstreams, rebound, viewer_message
from gateway.limits import RateLimiter
from gateway.matches import Matches, MatchFacts
from gateway.presence import Presence
from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from grimoire.bus import BusError, RequestTimeoutError
from grimoire.engine import MatchId, Viewer, ViewerKind
from grimoire.match.codes import NOT_HELD, RULES_NOT_INSTALLED, reject
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.identity import Identity
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import envelope_pb2, play_pb2, rules_pb2, rules_pb2_grpc

__all__ = ["Commands", "Play", "PlayLimits"]

_log = structlog.get_logger(__name__)

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
_COMMAND_ID_BYTES = 16
_MOVED = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.FAILED_PRECONDITION)

R = TypeVar("R")


class Commands(Protocol):
    """The way of a command to the owner of its match."""

    async def request_command(
        self, game: str, match_id: str, submission: bytes, *, reply_s: float = 5.0, owner_s: float = 5.0
    ) -> bytes:
        """Sends a `Submission`, returns a `CommandReply`; see `grimoire.bus.Bus.request_command`."""
        ...


class PlayLimits(msgspec.Struct, frozen=True):
    """What one caller may ask of the edge.

    Attributes:
        command_bytes: of a whole command.
        commands_per_s: commands of one account and seat in the long run.
        command_burst: commands that may come at once.
        reads_per_s: looks, explanations, new streams and looking matches up, of one account in the long run.
        read_burst: of these, at once.
        streams: open streams of one account.
        owner_s: how long a command or question is repeated while its match has no owner that answers.
        reply_s: after this long without a reply the same bytes are sent again.
    """

    command_bytes: int = 8 * 1024
    commands_per_s: float = 10.0
    command_burst: int = 30
    reads_per_s: float = 50.0
    read_burst: int = 200
    streams: int = 64
    owner_s: float = 5.0
    reply_s: float = 2.0


class Play:
    """The handlers of `PlayService`.

    Args:
        matches: who holds which seat.
        commands: way to the owners.
        upstreams: finds owners for questions.
        feeds: shared streams.
        catalogue: the games.
        presence: told who follows which match.
        limits: what one caller may ask.
    """

    def __init__(
        self,
        matches: Matches,
        commands: Commands,
        upstreams: Upstreams,
        feeds: Feeds,
        catalogue: Catalogue,
        presence: Presence,
        limits: PlayLimits | None = None,
    ) -> None:
        self._matches = matches
        self._commands = commands
        self._upstreams = upstreams
        self._feeds = feeds
        self._catalogue = catalogue
        self._presence = presence
        self._limits = limits or PlayLimits()
        self._command_rate = RateLimiter(self._limits.commands_per_s, self._limits.command_burst)
        self._read_rate = RateLimiter(self._limits.reads_per_s, self._limits.read_burst)
        self._streams: Counter[str] = Counter()

    async def list_games(
        self, identity: Identity | None, request: play_pb2.ListGamesRequest
    ) -> play_pb2.ListGamesResponse:
        """Every game that can be played now."""
        del identity
        return play_pb2.ListGamesResponse(
            games=[
                play_pb2.GameSummary(
                    game=m.game, name=m.name, min_seats=m.min_seats, max_seats=m.max_seats, manifest_digest=m.digest
                )
                for m in await self._catalogue.all(request.language)
            ]
        )

    async def describe_game(
        self, identity: Identity | None, request: play_pb2.DescribeGameRequest
    ) -> play_pb2.DescribeGameResponse:
        """A game in words and tables, or that it is still what the caller has."""
        del identity
        manifest = await self._catalogue.manifest(request.game, request.language)
        if manifest.digest and manifest.digest == request.known_digest:
            return play_pb2.DescribeGameResponse(unchanged=True)
        return play_pb2.DescribeGameResponse(manifest=manifest)

    async def submit(self, identity: Identity, request: play_pb2.SubmitRequest) -> play_pb2.SubmitResponse:
        """Sends a command to the owner of its match; the reply means: committed.

        What is wrong with a command is a `Rejection` in the reply, checked in the platform's order; only an owner that
        cannot be reached is a refusal of the call, because then nobody knows whether the command took effect.

        Raises:
            Refused: unavailable; the same command may be sent again.
        """
        command = request.command
        judged = self._read(command) or await self._admit(identity, command)
        if isinstance(judged, MatchFacts):
            reply = await self._send(judged, self._submission(identity, command).SerializeToString())
        else:
            reply = envelope_pb2.CommandReply(rejection=judged)
        METRICS.edge_commands.labels(reply.rejection.code or "accepted").inc()
        return play_pb2.SubmitResponse(reply=reply)

    async def explain(self, identity: Identity, request: play_pb2.ExplainRequest) -> play_pb2.ExplainResponse:
        """What sending this command would answer; nothing happens.

        Raises:
            Refused: unavailable, or asked too often.
        """
        command = request.command
        judged = self._read(command)
        if judged is not None:
            return play_pb2.ExplainResponse(rejection=judged)
        self._count_read(identity)
        facts = await self._seated(identity, command)
        if isinstance(facts, envelope_pb2.Rejection):
            return play_pb2.ExplainResponse(rejection=facts)
        question = rules_pb2.WhyNotRequest(submission=self._submission(identity, command))
        answer = await self._ask(facts, lambda stub: stub.WhyNot(question, timeout=self._limits.owner_s))
        response = play_pb2.ExplainResponse(version=answer.version)
        if answer.HasField("rejection"):
            response.rejection.CopyFrom(answer.rejection)
        return response

    async def watch(
        self, identity: Identity, request: play_pb2.WatchRequest
    ) -> AsyncGenerator[play_pb2.WatchResponse, None]:
        """Frames of a match through the caller's eyes, until it is over.

        Raises:
            Refused: unknown match, a seat that is not the caller's, or a connection that does not keep up.
        """
        self._count_read(identity)
        seat = request.seat if request.HasField("seat") else None
        facts = await self._matches.facts_for(identity, request.match_id, seat)
        viewer = self._matches.viewer(facts, identity, seat, request.as_public)
        delay_s = facts.delay_for(viewer)
        feed = self._feeds.watch(
            facts.game,
            facts.match_id,
            viewer,
            request.since_version,
            request.since_hash,
            delay_s=delay_s,
            holder=self._matches.holder(facts, identity, viewer),
        )
        with self._stream_of(identity), self._present(identity, facts, viewer):
            async with contextlib.aclosing(feed) as responses:
                async for response in responses:
                    yield response

    async def look(self, identity: Identity, request: play_pb2.LookRequest) -> play_pb2.LookResponse:
        """One screen: the view at the head, or at an earlier version.

        Raises:
            Refused: as `watch`; or there is no such version.
        """
        self._count_read(identity)
        seat = request.seat if request.HasField("seat") else None
        facts = await self._matches.facts_for(identity, request.match_id, seat)
        viewer = self._matches.viewer(facts, identity, seat, request.as_public)
        version = request.version
        delay_s = facts.delay_for(viewer)
        if delay_s:
            version = await self._shown_by_now(facts, version, delay_s)
        eyes = viewer_message(viewer, self._matches.holder(facts, identity, viewer))
        question = rules_pb2.GetViewRequest(match_id=facts.match_id, viewer=eyes, version=version)
        answer = await self._ask(facts, lambda stub: stub.GetView(question, timeout=self._limits.owner_s))
        own = viewer.kind is ViewerKind.SEAT
        return play_pb2.LookResponse(
            snapshot=answer.snapshot, prompts=[p for p in answer.snapshot.prompts if own and p.seat == viewer.seat]
        )

    async def _shown_by_now(self, facts: MatchFacts, asked: int, delay_s: int) -> int:
        """The version to show to who sees a match later: the one asked for, or the newest that may be seen.

        Raises:
            Refused: `shown_later`.
        """
        newest = await self._ask(facts, lambda stub: newest_before(stub, facts.match_id, now_ms() - delay_s * 1000))
        if not newest or asked > newest:
            raise shown_later(delay_s)
        return asked or newest

    # ---- a command's way --------------------------------------------------------------------------------------------

    def _read(self, command: envelope_pb2.Command) -> envelope_pb2.Rejection | None:
        """`malformed` and `too_large`, as far as they can be told without the game."""
        if len(command.command_id) != _COMMAND_ID_BYTES:
            return reject("malformed", detail="command_id must be 16 bytes", field="command_id")
        if not command.match_id:
            return reject("malformed", detail="match_id is missing", field="match_id")
        if not _TYPE.fullmatch(command.type):
            return reject("malformed", detail="its type is no snake_case code", field="type")
        if not command.HasField("seat"):
            return reject("malformed", detail="seat is missing", field="seat")
        size, limit = command.ByteSize(), self._limits.command_bytes
        return reject("too_large", size=size, limit=limit) if size > limit else None

    async def _admit(self, identity: Identity, command: envelope_pb2.Command) -> MatchFacts | envelope_pb2.Rejection:
        facts = await self._seated(identity, command)
        if isinstance(facts, MatchFacts):
            retry_after_ms = self._command_rate.take((identity.account_id, facts.match_id, command.seat))
            if retry_after_ms:
                return reject("rate_limited", retry_after_ms=retry_after_ms)
        return facts

    async def _seated(self, identity: Identity, command: envelope_pb2.Command) -> MatchFacts | envelope_pb2.Rejection:
        retry_after_ms = 0 if self._matches.knows(command.match_id) else self._read_rate.take(identity.account_id)
        if retry_after_ms:
            return reject("rate_limited", retry_after_ms=retry_after_ms)
        try:
            facts = await self._matches.facts(command.match_id)
            if facts.changing and not self._holds(identity, facts, command.seat):
                # It may have been given the seat a moment ago.
                retry_after_ms = self._read_rate.take(identity.account_id)
                if retry_after_ms:
                    return reject("rate_limited", retry_after_ms=retry_after_ms)
                facts = await self._matches.facts_for(identity, command.match_id, command.seat)
        except Refused as refused:
            if refused.kind is RefusalKind.UNKNOWN:
                return refused.rejection
            raise
        if not self._holds(identity, facts, command.seat):
            return reject("not_a_seat", field="seat", seat=command.seat)
        return facts

    def _holds(self, identity: Identity, facts: MatchFacts, seat: int) -> bool:
        return seat in facts.seats_of(self._matches.occupant(identity, facts.match_id))

    def _submission(self, identity: Identity, command: envelope_pb2.Command) -> envelope_pb2.Submission:
        return envelope_pb2.Submission(
            command=command, occupant_id=self._matches.occupant(identity, MatchId(command.match_id))
        )

    async def _send(self, facts: MatchFacts, submission: bytes) -> envelope_pb2.CommandReply:
        """The owner's reply. The same bytes are sent again while it is not there: the command's id makes that safe."""
        give_up = time.monotonic() + self._limits.owner_s
        try:
            while True:
                left = give_up - time.monotonic()
                try:
                    reply = await self._commands.request_command(
                        facts.game, facts.match_id, submission, reply_s=min(self._limits.reply_s, left), owner_s=left
                    )
                    return envelope_pb2.CommandReply.FromString(reply)
                except RequestTimeoutError:
                    if time.monotonic() >= give_up:
                        raise
        except BusError as error:
            _log.warning("command_unanswered", match_id=facts.match_id, why=type(error).__name__)
        except DecodeError:
            _log.error("command_reply_malformed", match_id=facts.match_id)
        raise unavailable("The service of this match does not answer now; send the same command again.")

    @contextlib.contextmanager
    def _stream_of(self, identity: Identity) -> Iterator[None]:
        """Counts an open stream."""
        account_id = identity.account_id
        if self._streams[account_id] >= self._limits.streams:
            sentence = f"At most {self._limits.streams} streams may be open at once; close one first."
            raise Refused(RefusalKind.BUSY, rejection("too_many_streams", sentence))
        self._streams[account_id] += 1
        try:
            yield
        finally:
            self._streams[account_id] -= 1
            if not self._streams[account_id]:
                del self._streams[account_id]

    def _present(self, identity: Identity, facts: MatchFacts, viewer: Viewer) -> AbstractContextManager[None]:
        """Counts who follows; who sits in the match and looks at it as the public does is no watcher."""
        if viewer.kind is ViewerKind.SEAT:
            return self._presence.follow(facts.match_id, viewer.seat)
        if facts.seats_of(self._matches.occupant(identity, facts.match_id)):
            return contextlib.nullcontext()
        return self._presence.follow(facts.match_id, None)

    # ---- questions --------------------------------------------------------------------------------------------------

    def _count_read(self, identity: Identity) -> None:
        retry_after_ms = self._read_rate.take(identity.account_id)
        if retry_after_ms:
            raise Refused(RefusalKind.BUSY, reject("rate_limited", retry_after_ms=retry_after_ms))

    async def _ask(
        self, facts: MatchFacts, question: Callable[[rules_pb2_grpc.RulesServiceAsyncStub], Awaitable[R]]
    ) -> R:
        """An owner's answer; asked again while the match moves."""
        give_up = time.monotonic() + self._limits.owner_s
        pause = 0.02
        while True:
            try:
                return await question(await self._upstreams.stub(facts.game, facts.match_id))
            except grpc.aio.AioRpcError as error:
                if error.code() not in _MOVED:
                    raise _refused(error) from None
            except ConnectionError:
                pass
            self._upstreams.forget(facts.game, facts.match_id)
            if time.monotonic() + pause > give_up:
                raise unavailable("The service of this match cannot be reached now; try again.")
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.5)


def _refused(error: grpc.aio.AioRpcError) -> Refused:
    """A game service's answer as the caller's."""
    code, details = error.code(), error.details() or ""
    if code is grpc.StatusCode.NOT_FOUND:
        return Refused(RefusalKind.UNKNOWN, reject("unknown_match", field="match_id"))
    if code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OUT_OF_RANGE):
        return Refused(RefusalKind.MALFORMED, rejection("malformed", details))
    if code is grpc.StatusCode.DATA_LOSS:
        return Refused(RefusalKind.NOT_NOW, reject("match_broken"))
    if details == RULES_NOT_INSTALLED:
        return Refused(RefusalKind.NOT_NOW, reject(RULES_NOT_INSTALLED))
    if details == NOT_HELD:
        return rebound()
    if code is grpc.StatusCode.PERMISSION_DENIED:
        return Refused(RefusalKind.FORBIDDEN, rejection("forbidden", details))
    _log.warning("question_unanswered", code=code.name)
    return unavailable("The service of this match does not answer now; try again.")
