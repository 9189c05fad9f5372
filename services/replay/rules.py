"""What replay asks of the games: frames, entries and judgements, from whichever instance answers for the match.

Replay holds no game code. A stored match is asked of its owner, who alone holds its hidden parts; an imported log is
folded by any instance of its game. A stream that breaks because an instance went away goes on where it stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar

import grpc
import structlog

from grimoire.engine import MatchId, Viewer
from grimoire.match.codes import RULES, RULES_NOT_INSTALLED
from grimoire.match.frames import viewer_message
from grimoire.runtime.directory import NoOwnerFoundError
from grimoire.v1 import audit_pb2, frame_pb2, rules_pb2, rules_pb2_grpc
from replay.limits import ReplayLimits
from replay.refusals import RefusalKind, Refused

__all__ = ["Directory", "Rules", "UnjudgedError", "fault"]

_log = structlog.stdlib.get_logger(__name__)

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.5
_BROKEN = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS)
_BROKEN_SENTENCE = "This match is out of order and has been set aside; nothing of it is lost."
# A service that breaks on this many versions of one request is broken, not a version of it.
_MOST_BREAKS = 8


class UnjudgedError(Exception):
    """The rules gave no judgement of a log; the message says what became of the walk."""


class Directory(Protocol):
    """Finds the game services (`grimoire.runtime.directory.RulesDirectory`)."""

    games: tuple[str, ...]
    """The games of this installation."""

    async def find(self, match_id: MatchId) -> frame_pb2.MatchHead | None:
        """A match's head, whatever its game; raises NoOwnerFoundError if that cannot be said now."""
        ...

    async def stub(self, game: str, match_id: MatchId) -> rules_pb2_grpc.RulesServiceAsyncStub:
        """The owner of a match; raises NoOwnerFoundError."""
        ...

    async def any_stub(self, game: str) -> rules_pb2_grpc.RulesServiceAsyncStub:
        """Any instance of a game; raises NoOwnerFoundError."""
        ...

    def forget(self, game: str, match_id: MatchId) -> None:
        """The owner did not answer."""
        ...


class _Frames(Protocol):
    """An answer that carries frames."""

    @property
    def frames(self) -> Sequence[rules_pb2.ReplayFrame]: ...


class _Call(Protocol[R_co]):
    """A call whose answers are read one at a time."""

    def __aiter__(self) -> AsyncIterator[R_co]: ...

    def cancel(self) -> bool: ...


def fault(version: int, message: str = "This version cannot be shown; its neighbours can.") -> rules_pb2.ReplayFrame:
    """What stands in a stream of frames for a version that cannot be shown."""
    frame = rules_pb2.ReplayFrame(version=version)
    frame.fault.code = "match_broken"
    frame.fault.message = message
    frame.fault.version = version
    return frame


class Rules:
    """The games' services, as replay uses them.

    Args:
        directory: finds them.
        limits: how long they may be silent, or away.
    """

    def __init__(self, directory: Directory, limits: ReplayLimits) -> None:
        self._directory = directory
        self._limits = limits

    @property
    def games(self) -> tuple[str, ...]:
        """The games of this installation."""
        return self._directory.games

    async def head(self, match_id: str) -> frame_pb2.MatchHead | None:
        """A stored match; None if no game knows it.

        Raises:
            Refused: unavailable, if the game that might know it does not answer in time.
        """
        patience = _Patience(self._limits.takeover_s)
        while True:
            try:
                return await self._directory.find(MatchId(match_id))
            except NoOwnerFoundError:
                await patience.pause()

    def frames(
        self, game: str, match_id: str, viewer: Viewer, first: int, last: int
    ) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """Frames of a stored match, one for every version from `first` to `last`."""

        async def call(due: int) -> _Call[rules_pb2.GetFramesResponse]:
            stub = await self._directory.stub(game, MatchId(match_id))
            return stub.GetFrames(
                rules_pb2.GetFramesRequest(
                    match_id=match_id, viewer=viewer_message(viewer), **{"from": due, "to": last}
                )
            )

        return self._frames(call, lambda: self._directory.forget(game, MatchId(match_id)), first, last)

    def project(
        self, game: str, entries: Iterable[frame_pb2.ViewerEntry], viewer: Viewer, first: int, last: int
    ) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """Frames of a revealed log, one for every version from `first` to `last`.

        Args:
            game: code name.
            entries: all, from version 1 to the reveal; gone through anew whenever the service goes away.
            viewer: whose eyes.
            first: from 1.
            last: at most the number of entries.
        """

        async def call(due: int) -> _Call[rules_pb2.ProjectResponse]:
            stub = await self._directory.any_stub(game)
            start = rules_pb2.ProjectStart(viewer=viewer_message(viewer), **{"from": due, "to": last})

            async def requests() -> AsyncIterator[rules_pb2.ProjectRequest]:
                yield rules_pb2.ProjectRequest(start=start)
                # All of them, whatever the range: the secrets that open the log stand in its last entry.
                for entry in entries:
                    yield rules_pb2.ProjectRequest(entry=entry)

            return stub.Project(requests())

        return self._frames(call, lambda: None, first, last)

    async def entries(
        self, game: str, match_id: str, viewer: Viewer, last: int
    ) -> AsyncGenerator[frame_pb2.ViewerEntry, None]:
        """Entries 1 to `last` of a stored match, as far as a viewer may see them.

        Raises:
            Refused: unavailable, if the owner does not answer in time, or leaves entries out.
        """
        due = 1
        patience = _Patience(self._limits.takeover_s)
        while due <= last:
            try:
                stub = await self._directory.stub(game, MatchId(match_id))
                request = rules_pb2.GetEntriesRequest(
                    match_id=match_id, viewer=viewer_message(viewer), **{"from": due, "to": last}
                )
                async with aclosing(self._responses(stub.GetEntries(request))) as responses:
                    async for response in responses:
                        for entry in response.entries[: last + 1 - due]:
                            yield entry
                            due += 1
                            patience.renew()
                if due <= last:
                    raise _unavailable()
            except (NoOwnerFoundError, TimeoutError):
                self._directory.forget(game, MatchId(match_id))
                await patience.pause()
            except grpc.aio.AioRpcError as error:
                self._directory.forget(game, MatchId(match_id))
                await patience.pause_after(error)

    async def redecide(self, game: str, entries: Iterable[frame_pb2.ViewerEntry]) -> audit_pb2.AuditCheck:
        """Check 8 of the audit.

        Args:
            game: code name.
            entries: all of a revealed log, from version 1.

        Raises:
            UnjudgedError: the rules do not come to an end within `redecide_s`, or break on this log.
            Refused: unavailable, if no instance answers in time.
        """
        patience = _Patience(self._limits.takeover_s)
        while True:
            try:
                stub = await self._directory.any_stub(game)
                requests = (rules_pb2.RedecideRequest(entry=entry) for entry in entries)
                return (await stub.Redecide(requests, timeout=self._limits.redecide_s)).check
            except NoOwnerFoundError:
                await patience.pause()
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise UnjudgedError(f"did not come to an end within {self._limits.redecide_s:g} s") from None
                if error.code() in _BROKEN or error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
                    _log.error("rules_walk_failed", game=game, status=error.code().name, details=error.details())
                    raise UnjudgedError("could not be brought to an end") from None
                await patience.pause_after(error)

    async def _frames(
        self,
        call: Callable[[int], Awaitable[_Call[_Frames]]],
        forget: Callable[[], None],
        first: int,
        last: int,
    ) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """One frame a version without gaps: what the service leaves out or breaks on is a fault; the next follows."""
        due, breaks = first, 0
        patience = _Patience(self._limits.takeover_s)
        while due <= last:
            try:
                async with aclosing(self._responses(await call(due))) as responses:
                    async for response in responses:
                        for frame in response.frames:
                            if not due <= frame.version <= last:
                                _log.error("frame_out_of_order", version=frame.version, due=due)
                                raise _unavailable()
                            for missing in range(due, frame.version):
                                yield fault(missing)
                            yield frame
                            due = frame.version + 1
                            patience.renew()
                for missing in range(due, last + 1):
                    yield fault(missing)
                return
            except (NoOwnerFoundError, TimeoutError):
                forget()
                await patience.pause()
            except grpc.aio.AioRpcError as error:
                forget()
                if error.code() not in _BROKEN or breaks == _MOST_BREAKS:
                    await patience.pause_after(error)
                    continue
                _log.error("version_cannot_be_shown", version=due, status=error.code().name)
                yield fault(due)
                due, breaks = due + 1, breaks + 1

    async def _responses(self, call: _Call[R]) -> AsyncGenerator[R, None]:
        """What a call streams; the call is given up when nobody reads on.

        Raises:
            TimeoutError: if the service is silent for `silence_s`.
            grpc.aio.AioRpcError: if the call fails.
        """
        answers = aiter(call)
        try:
            while True:
                async with asyncio.timeout(self._limits.silence_s):
                    response = await anext(answers, None)
                if response is None:
                    return
                yield response
        finally:
            call.cancel()


class _Patience:
    """Pauses between tries, longer every time, until too much time has passed without any progress."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pause_s = _FIRST_PAUSE_S
        self._until: float | None = None

    def renew(self) -> None:
        """There was progress."""
        self._until = None

    async def pause(self) -> None:
        """Waits before the next try.

        Raises:
            Refused: unavailable, if it has been tried for long enough.
        """
        now = time.monotonic()
        if self._until is None:
            self._until, self._pause_s = now + self._seconds, _FIRST_PAUSE_S
        if now >= self._until:
            raise _unavailable() from None
        await asyncio.sleep(min(self._pause_s, self._until - now))
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    async def pause_after(self, error: grpc.aio.AioRpcError) -> None:
        """The same, where the failure is one that goes away; any other becomes a refusal, logged once."""
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            await self.pause()
            return
        if error.code() is grpc.StatusCode.NOT_FOUND:
            raise Refused(RefusalKind.UNKNOWN, "unknown_match", "There is no such match.", "match_id") from None
        if error.details() == RULES_NOT_INSTALLED:
            raise Refused(RefusalKind.NOT_NOW, RULES_NOT_INSTALLED, RULES[RULES_NOT_INSTALLED]) from None
        _log.error("rules_service_failed", status=error.code().name, details=error.details())
        if error.code() in _BROKEN:
            raise Refused(RefusalKind.NOT_NOW, "match_broken", _BROKEN_SENTENCE) from None
        raise _unavailable() from None


def _unavailable() -> Refused:
    return Refused(
        RefusalKind.UNAVAILABLE, "unavailable", "The service of this match cannot be reached now; try again."
    )
