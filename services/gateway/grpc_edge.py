"""The edge over gRPC: bytes in, the caller known by its token, handlers called, refusals as statuses."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Final, NoReturn, TypeAlias
from urllib.parse import unquote

import grpc
from google.protobuf.message import Message

from gateway.callers import Caller, calling_from, unauthenticated
from gateway.endpoints import Endpoint, Forwarded
from gateway.proxy import REJECTION_KEY
from gateway.refusals import RefusalKind, Refused
from gateway.sessions import Sessions

__all__ = ["handlers"]

_STATUS: Final = {
    RefusalKind.MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    RefusalKind.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    RefusalKind.FORBIDDEN: grpc.StatusCode.PERMISSION_DENIED,
    RefusalKind.UNKNOWN: grpc.StatusCode.NOT_FOUND,
    RefusalKind.NOT_NOW: grpc.StatusCode.FAILED_PRECONDITION,
    RefusalKind.BUSY: grpc.StatusCode.RESOURCE_EXHAUSTED,
    RefusalKind.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
}
_BEARER: Final = "Bearer "

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


def handlers(
    sessions: Sessions, endpoints: Iterable[Endpoint], forwarded: Iterable[Forwarded]
) -> tuple[grpc.GenericRpcHandler, ...]:
    """What a gRPC server needs to serve everything the edge answers.

    Args:
        sessions: tell whom a token speaks for.
        endpoints: handled here.
        forwarded: handled by internal services.
    """
    services: defaultdict[str, dict[str, _Handler]] = defaultdict(dict)
    for endpoint in endpoints:
        services[endpoint.service][endpoint.method] = _endpoint_handler(sessions, endpoint)
    for method in forwarded:
        services[method.service][method.method] = _forwarding_handler(sessions, method)
    return tuple(grpc.method_handlers_generic_handler(name, methods) for name, methods in services.items())


def _endpoint_handler(sessions: Sessions, endpoint: Endpoint) -> _Handler:
    if endpoint.streaming is not None:
        return grpc.unary_stream_rpc_method_handler(
            _streaming(sessions, endpoint, endpoint.streaming), response_serializer=_serialised
        )
    if endpoint.unary is not None:
        return grpc.unary_unary_rpc_method_handler(
            _unary(sessions, endpoint, endpoint.unary), response_serializer=_serialised
        )
    raise TypeError(f"{endpoint.method} has no handler")


def _unary(
    sessions: Sessions, endpoint: Endpoint, handle: Callable[[Any, Any], Awaitable[Message]]
) -> Callable[[bytes, _Context], Awaitable[Message]]:
    async def answer(data: bytes, context: _Context) -> Message:
        try:
            with _calling(context):
                caller = endpoint.admit(await _caller(sessions, context))
                try:
                    request = endpoint.read(data)
                except Refused as refused:
                    if endpoint.malformed is None:
                        raise
                    return endpoint.malformed(refused.rejection)
                return await handle(caller, request)
        except Refused as refused:
            await _abort(context, refused)

    return answer


def _streaming(
    sessions: Sessions, endpoint: Endpoint, handle: Callable[[Any, Any], AsyncGenerator[Message, None]]
) -> Callable[[bytes, _Context], AsyncIterator[Message]]:
    async def stream(data: bytes, context: _Context) -> AsyncIterator[Message]:
        try:
            caller = endpoint.admit(await _caller(sessions, context))
            with _calling(context):
                responses = handle(caller, endpoint.read(data))
            async with contextlib.aclosing(sessions.while_open(caller, responses)) as lasting:
                async for response in lasting:
                    yield response
        except Refused as refused:
            await _abort(context, refused)

    return stream


def _forwarding_handler(sessions: Sessions, method: Forwarded) -> _Handler:
    unary, streaming, uploading = method.unary, method.streaming, method.uploading
    if unary is not None:

        async def answer(data: bytes, context: _Context) -> bytes:
            try:
                return await unary(method.admit(await _caller(sessions, context)), method.path, data)
            except Refused as refused:
                await _abort(context, refused)

        return grpc.unary_unary_rpc_method_handler(answer)
    if streaming is not None:

        async def stream(data: bytes, context: _Context) -> AsyncIterator[bytes]:
            try:
                caller = method.admit(await _caller(sessions, context))
                responses = streaming(caller, method.path, data)
                async with contextlib.aclosing(sessions.while_open(caller, responses)) as lasting:
                    async for response in lasting:
                        yield response
            except Refused as refused:
                await _abort(context, refused)

        return grpc.unary_stream_rpc_method_handler(stream)
    if uploading is not None:

        async def upload(requests: AsyncIterator[bytes], context: _Context) -> bytes:
            try:
                return await uploading(method.admit(await _caller(sessions, context)), method.path, requests)
            except Refused as refused:
                await _abort(context, refused)

        return grpc.stream_unary_rpc_method_handler(upload)
    raise TypeError(f"{method.path} has no handler")


async def _caller(sessions: Sessions, context: _Context) -> Caller | None:
    """Who calls; None where no token is shown.

    Raises:
        Refused: unauthenticated, where one is shown that is not good.
    """
    shown = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
    if not shown:
        return None
    text = shown[0]
    if len(shown) == 1 and isinstance(text, str) and text.startswith(_BEARER):
        caller = await sessions.caller(text[len(_BEARER) :])
        if caller is not None:
            return caller
    raise unauthenticated("This session token is not valid here, or no longer; sign in again.")


def _calling(context: _Context) -> AbstractContextManager[None]:
    """Within the block it is known where the call comes from."""
    kind, _, rest = context.peer().partition(":")
    host = unquote(rest).rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else ""
    return calling_from(host)


def _serialised(message: Message) -> bytes:
    return message.SerializeToString()


async def _abort(context: _Context, refused: Refused) -> NoReturn:
    why = refused.rejection
    await context.abort(
        _STATUS[refused.kind], why.message, trailing_metadata=((REJECTION_KEY, why.SerializeToString()),)
    )
    raise AssertionError("abort returns never")
