"""Calls that internal services answer: the caller is known here, the bytes go on as they came."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from typing import Final

import grpc
import structlog
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from gateway.callers import Caller, Scope
from gateway.endpoints import Forwarded
from gateway.refusals import RefusalKind, Refused, rejection, unavailable
from grimoire.runtime.config import Config
from grimoire.runtime.identity import Identity
from grimoire.runtime.rpc import account_metadata
from grimoire.v1 import envelope_pb2, matchmaking_pb2, replay_pb2, transparency_pb2

__all__ = ["FORWARDED_METHODS", "REJECTION_KEY", "Proxy"]

_log: Final = structlog.stdlib.get_logger(__name__)

REJECTION_KEY: Final = "grimoire-rejection-bin"
"""Trailing metadata of a refused call: a serialised `Rejection`."""

FORWARDED_METHODS: Final[Mapping[str, tuple[ServiceDescriptor, tuple[str, ...]]]] = {
    "matchmaking": (
        matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"],
        (
            "CreateChallenge",
            "ListChallenges",
            "GetChallenge",
            "WatchChallenge",
            "JoinChallenge",
            "CancelChallenge",
            "LeaveChallenge",
            "FillChallenge",
            "PlayBot",
            "Rematch",
            "GetTable",
            "WatchTable",
            "VoteOnSeat",
            "ReturnToSeat",
            "ListMatches",
            "CreateAnalysis",
            "EnterQueue",
            "GetTicket",
            "WatchTicket",
            "LeaveQueue",
            "AnswerReadyCheck",
            "ListQueues",
            "CreateParty",
            "JoinParty",
            "LeaveParty",
            "WatchParty",
            "GetRatings",
            "ListRatingChanges",
            "GetLeaderboard",
        ),
    ),
    "replay": (
        replay_pb2.DESCRIPTOR.services_by_name["ReplayService"],
        ("GetMatch", "StreamFrames", "GetMarks", "Export", "Import", "Audit"),
    ),
    "transparency": (
        transparency_pb2.DESCRIPTOR.services_by_name["TransparencyService"],
        ("GetCheckpoint", "GetInclusion", "GetConsistency", "GetLeaves", "GetEvidence", "Summary"),
    ),
}
"""By service of the platform. Written out, so that a new internal method is never open to everybody by accident."""

_READING: Final = frozenset(
    {
        "ListChallenges",
        "GetChallenge",
        "WatchChallenge",
        "GetTable",
        "WatchTable",
        "ListMatches",
        "GetTicket",
        "WatchTicket",
        "ListQueues",
        "WatchParty",
        "GetRatings",
        "ListRatingChanges",
        "GetLeaderboard",
        "GetMatch",
        "StreamFrames",
        "GetMarks",
        "Export",
        "Audit",
        "GetCheckpoint",
        "GetInclusion",
        "GetConsistency",
        "GetLeaves",
        "GetEvidence",
        "Summary",
    }
)
"""Of these, those that change nothing: a token that may only read may call them."""

_HOMES: Final = {"transparency": "replay"}
"""Services that another one serves beside its own."""

_CALL_S: Final = 30.0
_LONG_S: Final = 300.0
_PIECE: Final = 64 * 1024
_KINDS: Final = {
    grpc.StatusCode.INVALID_ARGUMENT: RefusalKind.MALFORMED,
    grpc.StatusCode.OUT_OF_RANGE: RefusalKind.MALFORMED,
    grpc.StatusCode.PERMISSION_DENIED: RefusalKind.FORBIDDEN,
    grpc.StatusCode.NOT_FOUND: RefusalKind.UNKNOWN,
    grpc.StatusCode.FAILED_PRECONDITION: RefusalKind.NOT_NOW,
    grpc.StatusCode.RESOURCE_EXHAUSTED: RefusalKind.BUSY,
}


class Proxy:
    """Forwards calls to internal services.

    Args:
        config: their addresses.
        dial: opens a channel that shows the service token.
    """

    def __init__(self, config: Config, dial: Callable[[str], grpc.aio.Channel]) -> None:
        self._channels = {owner: dial(str(config.address(_HOMES.get(owner, owner)))) for owner in FORWARDED_METHODS}

    def methods(self) -> tuple[Forwarded, ...]:
        """Everything that is forwarded."""
        return tuple(
            self._forwarded(owner, service.methods_by_name[name])
            for owner, (service, names) in FORWARDED_METHODS.items()
            for name in names
        )

    def channel(self, owner: str) -> grpc.aio.Channel:
        """The line to one of these services."""
        return self._channels[owner]

    async def import_file(self, identity: Caller, request: replay_pb2.ImportFileRequest) -> Message:
        """Hands a file on in pieces, as replay takes it."""

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, max(len(request.file), 1), _PIECE):
                chunk = request.file[start : start + _PIECE]
                yield replay_pb2.ImportRequest(chunk=chunk).SerializeToString()

        method = replay_pb2.DESCRIPTOR.services_by_name["ReplayService"].methods_by_name["Import"]
        forwarded = self._forwarded("replay", method)
        assert forwarded.uploading is not None  # noqa: S101 - Import takes a stream
        reply = replay_pb2.ImportResponse.FromString(await forwarded.uploading(identity, forwarded.path, pieces()))
        return replay_pb2.ImportFileResponse(match_id=reply.match_id, report=reply.report)

    async def close(self) -> None:
        """Hangs up."""
        for channel in self._channels.values():
            await channel.close()

    def _forwarded(self, owner: str, method: MethodDescriptor) -> Forwarded:
        service, name, channel = method.containing_service.full_name, method.name, self._channels[owner]

        async def unary(identity: Identity, path: str, request: bytes) -> bytes:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(path)
            timeout = _LONG_S if name in ("Audit", "Summary") else _CALL_S
            try:
                return await call(request, metadata=account_metadata(identity), timeout=timeout)
            except grpc.aio.AioRpcError as error:
                raise _refused(owner, error) from None

        async def streaming(identity: Identity, path: str, request: bytes) -> AsyncGenerator[bytes, None]:
            ask: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(path)
            call = ask(request, metadata=account_metadata(identity))
            try:
                async for response in call:
                    yield response
            except grpc.aio.AioRpcError as error:
                raise _refused(owner, error) from None
            finally:
                call.cancel()

        async def uploading(identity: Identity, path: str, requests: AsyncIterator[bytes]) -> bytes:
            call: grpc.aio.StreamUnaryMultiCallable[bytes, bytes] = channel.stream_unary(path)
            try:
                return await call(requests, metadata=account_metadata(identity), timeout=_LONG_S)
            except grpc.aio.AioRpcError as error:
                raise _refused(owner, error) from None

        request, response = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
        scope = Scope.READ if name in _READING else Scope.PLAY
        if method.client_streaming:
            return Forwarded(service, name, owner, request, response, scope, uploading=uploading)
        if method.server_streaming:
            return Forwarded(service, name, owner, request, response, scope, streaming=streaming)
        return Forwarded(service, name, owner, request, response, scope, unary=unary)


def _refused(owner: str, error: grpc.aio.AioRpcError) -> Refused:
    """An internal service's refusal as the caller's; what is wrong between services is not the caller's business."""
    kind = _KINDS.get(error.code())
    if kind is None:
        _log.warning("forwarding_failed", service=owner, code=error.code().name, details=error.details())
        return unavailable(f"The {owner} service cannot be reached now; try again.")
    for key, value in error.trailing_metadata() or ():
        if key == REJECTION_KEY and isinstance(value, bytes):
            try:
                return Refused(kind, envelope_pb2.Rejection.FromString(value))
            except DecodeError:
                _log.warning("forwarded_rejection_malformed", service=owner)
    return Refused(kind, rejection(kind.value, error.details() or "This cannot be done."))
