"""The edge over Connect: the same handlers for browsers, JSON or binary, over HTTP/1.1.

Only this file knows the `connectrpc` package; see https://connectrpc.com/docs/protocol for what travels.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final, TypeAlias

import structlog
from connectrpc.code import Code
from connectrpc.codec import Codec
from connectrpc.errors import ConnectError, ErrorDetail
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication
from connectrpc.server import Endpoint as ConnectEndpoint
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from google.protobuf.message import DecodeError, Message
from protobuf.wkt import Any as AnyMessage

from gateway.callers import Caller, unauthenticated
from gateway.cookies import cookie_of_call
from gateway.endpoints import CookieEffect, Endpoint, Forwarded
from gateway.refusals import RefusalKind, Refused
from gateway.sessions import Sessions
from grimoire.bus import correlation
from grimoire.match.codes import reject
from grimoire.v1 import envelope_pb2

__all__ = ["FILES_WITH_CALLS", "ConnectApp", "connect_apps"]

_log: Final = structlog.stdlib.get_logger(__name__)

_CODES: Final = {
    RefusalKind.MALFORMED: Code.INVALID_ARGUMENT,
    RefusalKind.UNAUTHENTICATED: Code.UNAUTHENTICATED,
    RefusalKind.FORBIDDEN: Code.PERMISSION_DENIED,
    RefusalKind.UNKNOWN: Code.NOT_FOUND,
    RefusalKind.NOT_NOW: Code.FAILED_PRECONDITION,
    RefusalKind.BUSY: Code.RESOURCE_EXHAUSTED,
    RefusalKind.UNAVAILABLE: Code.UNAVAILABLE,
}
_BEARER: Final = "Bearer "
_DETAIL: Final = "type.googleapis.com/grimoire.v1.Rejection"
FILES_WITH_CALLS: Final = frozenset({"/grimoire.v1.ReplayService/ImportFile"})
"""Methods whose requests may bring a file."""

_Context: TypeAlias = RequestContext[Any, Any]


class _Packed:
    """A response that came in bytes."""

    __slots__ = ("data", "kind")

    def __init__(self, data: bytes, kind: type[Message]) -> None:
        self.data = data
        self.kind = kind


class _Binary(Codec[Any, Any]):
    """Protobuf's bytes. Requests stay bytes here: endpoints read them, as they do for every transport."""

    def __init__(self) -> None:
        self._last: tuple[Message | None, bytes] = (None, b"")

    def name(self) -> str:
        return "proto"

    def encode(self, message: Any) -> bytes:
        if isinstance(message, _Packed):
            return message.data
        last, data = self._last
        # A frame goes to all who watch, one after the other: it is put into bytes once.
        if last is not message:
            data = message.SerializeToString()
            self._last = (message, data)
        return data

    def decode(self, data: bytes | bytearray, message_class: type[Any]) -> Any:
        del message_class
        return bytes(data)


class _Json(Codec[Any, Any]):
    """Protobuf's JSON, turned into bytes on the way in."""

    def name(self) -> str:
        return "json"

    def encode(self, message: Any) -> bytes:
        whole = message.kind.FromString(message.data) if isinstance(message, _Packed) else message
        return MessageToJson(whole, indent=None).encode()

    def decode(self, data: bytes | bytearray, message_class: type[Any]) -> Any:
        message: Message = message_class()
        try:
            Parse(bytes(data) or b"{}", message, ignore_unknown_fields=True, max_recursion_depth=32)
        except (ParseError, UnicodeDecodeError, RecursionError):
            raise _error(
                Refused(RefusalKind.MALFORMED, reject("malformed", detail=f"it is no {message_class.__name__}"))
            ) from None
        return message.SerializeToString()


class ConnectApp(ConnectASGIApplication[None]):
    """An ASGI application for some methods."""

    @property
    def path(self) -> str:
        """All paths are whole ones."""
        return ""


class _Edge:
    """Turns Connect's calls into calls of handlers.

    Args:
        sessions: tell whom a token speaks for.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def endpoint(self, endpoint: Endpoint) -> ConnectEndpoint[Any, Any]:
        """One that is handled here."""
        if endpoint.streaming is not None:
            method = _method(endpoint.service, endpoint.method, endpoint.request, StreamType.SERVER_STREAM)
            return ConnectEndpoint.server_stream(method=method, function=self._streaming(endpoint, endpoint.streaming))
        if endpoint.unary is None:
            raise TypeError(f"{endpoint.method} has no handler")
        method = _method(endpoint.service, endpoint.method, endpoint.request, StreamType.UNARY)
        return ConnectEndpoint.unary(method=method, function=self._unary(endpoint, endpoint.unary))

    def forwarded(self, method: Forwarded) -> ConnectEndpoint[Any, Any]:
        """One that an internal service answers."""
        unary, streaming = method.unary, method.streaming
        if unary is not None:

            async def answer(data: bytes, context: _Context) -> _Packed:
                with _refusing():
                    caller = method.admit(await self._caller(context))
                    return _Packed(await unary(caller, method.path, data), method.response)

            info = _method(method.service, method.method, method.request, StreamType.UNARY)
            return ConnectEndpoint.unary(method=info, function=answer)
        if streaming is None:
            raise TypeError(f"{method.path} has no handler that browsers can use")

        async def stream(data: bytes, context: _Context) -> AsyncIterator[_Packed]:
            with _refusing():
                caller = method.admit(await self._caller(context))
                responses = streaming(caller, method.path, data)
                async with contextlib.aclosing(self._sessions.while_open(caller, responses)) as lasting:
                    async for response in lasting:
                        yield _Packed(response, method.response)

        info = _method(method.service, method.method, method.request, StreamType.SERVER_STREAM)
        return ConnectEndpoint.server_stream(method=info, function=stream)

    def _unary(
        self, endpoint: Endpoint, handle: Callable[[Any, Any], Awaitable[Message]]
    ) -> Callable[[bytes, _Context], Awaitable[Message]]:
        async def answer(data: bytes, context: _Context) -> Message:
            with _refusing():
                caller = endpoint.admit(await self._caller(context))
                try:
                    request = endpoint.read(data)
                except Refused as refused:
                    if endpoint.malformed is None:
                        raise
                    return endpoint.malformed(refused.rejection)
                response = await handle(caller, request)
                _set_cookie(endpoint, response, context)
                return response

        return answer

    def _streaming(
        self, endpoint: Endpoint, handle: Callable[[Any, Any], AsyncGenerator[Message, None]]
    ) -> Callable[[bytes, _Context], AsyncIterator[Message]]:
        async def stream(data: bytes, context: _Context) -> AsyncIterator[Message]:
            with _refusing():
                caller = endpoint.admit(await self._caller(context))
                responses = handle(caller, endpoint.read(data))
                async with contextlib.aclosing(self._sessions.while_open(caller, responses)) as lasting:
                    async for response in lasting:
                        yield response

        return stream

    async def _caller(self, context: _Context) -> Caller | None:
        """Who calls: by token, or in a browser by cookie; None where neither is shown.

        Raises:
            Refused: unauthenticated, where a token is shown that is not good. A cookie that is not is as none: a
                browser cannot take it away by itself.
        """
        shown = context.request_headers.getall("authorization")
        if shown:
            if len(shown) == 1 and shown[0].startswith(_BEARER):
                caller = await self._sessions.caller(shown[0][len(_BEARER) :])
                if caller is not None:
                    return caller
            raise unauthenticated("This session token is not valid here, or no longer; sign in again.")
        cookie = cookie_of_call.get()
        if cookie is None:
            return None
        token = cookie.find(context.request_headers.getall("cookie"))
        return await self._sessions.caller(token) if token is not None else None


def connect_apps(
    sessions: Sessions,
    endpoints: Iterable[Endpoint],
    forwarded: Iterable[Forwarded],
    body_bytes: int,
    file_bytes: int,
) -> dict[str, ConnectApp]:
    """ASGI applications by path of the method.

    Args:
        sessions: tell whom a token speaks for.
        endpoints: handled here.
        forwarded: handled by internal services; those that take a stream are left out, no browser can send one.
        body_bytes: of a request.
        file_bytes: of one with a file in it.
    """
    edge = _Edge(sessions)
    served: dict[str, Any] = {endpoint.path: edge.endpoint(endpoint) for endpoint in endpoints}
    served |= {method.path: edge.forwarded(method) for method in forwarded if method.uploading is None}
    codecs = (_Binary(), _Json())

    def app(most: int) -> ConnectApp:
        return ConnectApp(service=None, endpoints=lambda _: served, read_max_bytes=most, compressions=(), codecs=codecs)

    usual, with_files = app(body_bytes), app(file_bytes)
    return {path: with_files if path in FILES_WITH_CALLS else usual for path in served}


def _method(service: str, name: str, request: type[Message], kind: StreamType) -> MethodInfo[Any, Any]:
    return MethodInfo(
        name=name,
        service_name=service,
        input=request,
        output=Message,
        # Nothing here is asked by GET: a link must never do anything.
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=kind,
    )


def _set_cookie(endpoint: Endpoint, response: Any, context: _Context) -> None:
    """In a browser a session lives in its cookie and nowhere else: no script ever holds the token."""
    cookie = cookie_of_call.get()
    if cookie is None or endpoint.cookie is CookieEffect.NONE:
        return
    if endpoint.cookie is CookieEffect.OPENS:
        context.response_headers.add("set-cookie", cookie.carry(response.token))
        response.token = ""
    else:
        context.response_headers.add("set-cookie", cookie.drop)


class _refusing(contextlib.AbstractContextManager[None]):  # noqa: N801 - reads as a verb where it is used
    """Refusals become Connect's errors; anything else is logged here, once, and told as little of as possible."""

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        if error is None or isinstance(error, ConnectError) or not isinstance(error, Exception):
            return
        if isinstance(error, Refused):
            raise _error(error) from None
        if isinstance(error, DecodeError):
            raise ConnectError(Code.INVALID_ARGUMENT, "malformed") from None
        _log.error("web_call_failed", exc_info=error)
        reference = correlation.correlation_id()
        raise ConnectError(Code.INTERNAL, f"internal error; it is logged as {reference}") from None


def _error(refused: Refused) -> ConnectError:
    why: envelope_pb2.Rejection = refused.rejection
    detail = ErrorDetail(AnyMessage(type_url=_DETAIL, value=why.SerializeToString()))
    return ConnectError(_CODES[refused.kind], why.message, details=[detail])
