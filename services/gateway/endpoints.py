"""Everything the edge answers, in one table that any transport can serve."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import msgspec
from google.protobuf.message import DecodeError, Message

from gateway.play import Play
from gateway.refusals import RefusalKind, Refused, rejection
from gateway.sessions import Sessions
from grimoire.match.codes import reject
from grimoire.runtime.identity import Identity
from grimoire.v1 import envelope_pb2, play_pb2

__all__ = ["ANYBODY", "Endpoint", "Forwarded", "endpoints"]

Unary: TypeAlias = Callable[[Any, Any], Awaitable[Message]]
Streaming: TypeAlias = Callable[[Any, Any], AsyncGenerator[Message, None]]

ANYBODY = True
"""An endpoint that needs no session."""


class Endpoint(msgspec.Struct, frozen=True):
    """One method of a service, handled here.

    Attributes:
        service: full name, e.g. `grimoire.v1.PlayService`.
        method: name, e.g. `Submit`.
        request: message type.
        unary: handler of identity and request; None for a stream.
        streaming: handler that yields responses; None for one response.
        anybody: needs no session; the handler is given whatever identity there is.
        malformed: the response that says that the bytes are no request; None: the call is refused.
    """

    service: str
    method: str
    request: type[Message]
    unary: Unary | None = None
    streaming: Streaming | None = None
    anybody: bool = False
    malformed: Callable[[envelope_pb2.Rejection], Message] | None = None

    def read(self, data: bytes) -> Message:
        """The request in these bytes.

        Raises:
            Refused: `malformed`.
        """
        try:
            return self.request.FromString(data)
        except DecodeError:
            raise Refused(
                RefusalKind.MALFORMED, reject("malformed", detail=f"it is no {self.request.__name__}")
            ) from None

    def admit(self, identity: Identity | None) -> Identity | None:
        """The caller, if this endpoint is for it.

        Raises:
            Refused: unauthenticated.
        """
        if identity is None and not self.anybody:
            sentence = "Sign in first: call SessionService.CreateGuest, and show its token with every call."
            raise Refused(RefusalKind.UNAUTHENTICATED, rejection("unauthenticated", sentence))
        return identity


class Forwarded(msgspec.Struct, frozen=True):
    """One method of an internal service, answered there with the caller's account beside the same bytes.

    Attributes:
        service: full name.
        method: name.
        owner: which service of the platform answers.
        unary: handler of identity, path and request bytes.
        streaming: the same, with many responses.
        uploading: the same, with many requests.
    """

    service: str
    method: str
    owner: str
    unary: Callable[[Identity, str, bytes], Awaitable[bytes]] | None = None
    streaming: Callable[[Identity, str, bytes], AsyncGenerator[bytes, None]] | None = None
    uploading: Callable[[Identity, str, AsyncIterator[bytes]], Awaitable[bytes]] | None = None

    @property
    def path(self) -> str:
        """As it stands in a request, e.g. `/grimoire.v1.ReplayService/Export`."""
        return f"/{self.service}/{self.method}"


def endpoints(sessions: Sessions, play: Play) -> tuple[Endpoint, ...]:
    """What this edge handles itself."""
    session_service, play_service = "grimoire.v1.SessionService", "grimoire.v1.PlayService"
    pb = play_pb2
    return (
        Endpoint(session_service, "CreateGuest", pb.CreateGuestRequest, sessions.create_guest, anybody=ANYBODY),
        Endpoint(session_service, "WhoAmI", pb.WhoAmIRequest, sessions.who_am_i),
        Endpoint(play_service, "ListGames", pb.ListGamesRequest, play.list_games, anybody=ANYBODY),
        Endpoint(play_service, "DescribeGame", pb.DescribeGameRequest, play.describe_game, anybody=ANYBODY),
        Endpoint(play_service, "Submit", pb.SubmitRequest, play.submit, malformed=_submit_malformed),
        Endpoint(play_service, "Explain", pb.ExplainRequest, play.explain, malformed=_explain_malformed),
        Endpoint(play_service, "Watch", pb.WatchRequest, streaming=play.watch),
        Endpoint(play_service, "Look", pb.LookRequest, play.look),
    )


def _submit_malformed(why: envelope_pb2.Rejection) -> Message:
    return play_pb2.SubmitResponse(reply=envelope_pb2.CommandReply(rejection=why))


def _explain_malformed(why: envelope_pb2.Rejection) -> Message:
    return play_pb2.ExplainResponse(rejection=why)
