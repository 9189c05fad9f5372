"""The edge over gRPC: bytes in, the caller known by its token, handlers called, refusals as statuses."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from typing import Any, Final, NoReturn, TypeAlias

import grpc
from google.protobuf.message import Message

from gateway.endpoints import Endpoint, Forwarded
from gateway.proxy import REJECTION_KEY
from gateway.refusals import RefusalKind, Refused, rejection
from grimoire.runtime.identity import Identity, verify
from grimoire.runtime.keys import KeyRing

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
    keys: KeyRing, endpoints: Iterable[Endpoint], forwarded: Iterable[Forwarded]
) -> tuple[grpc.GenericRpcHandler, ...]:
    """What a gRPC server needs to serve everything the edge answers.

    Args:
        keys: tokens are checked with their session key.
        endpoints: handled here.
        forwarded: handled by internal services.
    """
    services: defaultdict[str, dict[str, _Handler]] = defaultdict(dict)
    for endpoint in endpoints:
        services[endpoint.service][endpoint.method] = _endpoint_handler(keys, endpoint)
    for method in forwarded:
        services[method.service][method.method] = _forwarding_handler(keys, method)
    return tuple(grpc.method_handlers_generic_handler(name, methods) for name, methods in services.items())


def _endpoint_handler(keys: KeyRing, endpoint: Endpoint) -> _Handler:
    if endpoint.streaming is not None:
        return grpc.unary_stream_rpc_method_handler(
            _streaming(keys, endpoint, endpoint.streaming), response_serializer=_serialised
        )
    if endpoint.unary is not None:
        return grpc.unary_unary_rpc_method_handler(
            _unary(keys, endpoint, endpoint.unary), response_serializer=_serialised
        )
    raise TypeError(f"{endpoint.method} has no handler")


def _unary(
    keys: KeyRing, endpoint: Endpoint, handle: Callable[[Any, Any], Awaitable[Message]]
) -> Callable[[bytes, _Context], Awaitable[Message]]:
    async def answer(data: bytes, context: _Context) -> Message:
        try:
            identity = endpoint.admit(_identity(keys, context))
            try:
                request = endpoint.read(data)
            except Refused as refused:
                if endpoint.malformed is None:
                    raise
                return endpoint.malformed(refused.rejection)
            return await handle(identity, request)
        except Refused as refused:
            await _abort(context, refused)

    return answer


def _streaming(
    keys: KeyRing, endpoint: Endpoint, handle: Callable[[Any, Any], AsyncGenerator[Message, None]]
) -> Callable[[bytes, _Context], AsyncIterator[Message]]:
    async def stream(data: bytes, context: _Context) -> AsyncIterator[Message]:
        try:
            identity = endpoint.admit(_identity(keys, context))
            async with contextlib.aclosing(handle(identity, endpoint.read(data))) as responses:
                async for response in responses:
                    yield response
        except Refused as refused:
            await _abort(context, refused)

    return stream


def _forwarding_handler(keys: KeyRing, method: Forwarded) -> _Handler:
    unary, streaming, uploading = method.unary, method.streaming, method.uploading
    if unary is not None:

        async def answer(data: bytes, context: _Context) -> bytes:
            try:
                return await unary(_signed_in(keys, context), method.path, data)
            except Refused as refused:
                await _abort(context, refused)

        return grpc.unary_unary_rpc_method_handler(answer)
    if streaming is not None:

        async def stream(data: bytes, context: _Context) -> AsyncIterator[bytes]:
            try:
                async with contextlib.aclosing(streaming(_signed_in(keys, context), method.path, data)) as responses:
                    async for response in responses:
                        yield response
            except Refused as refused:
                await _abort(context, refused)

        return grpc.unary_stream_rpc_method_handler(stream)
    if uploading is not None:

        async def upload(requests: AsyncIterator[bytes], context: _Context) -> bytes:
            try:
                return await uploading(_signed_in(keys, context), method.path, requests)
            except Refused as refused:
                await _abort(context, refused)

        return grpc.stream_unary_rpc_method_handler(upload)
    raise TypeError(f"{method.path} has no handler")


def _identity(keys: KeyRing, context: _Context) -> Identity | None:
    """Who calls; None where no token is shown.

    Raises:
        Refused: unauthenticated, where one is shown that is not good.
    """
    shown = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
    if not shown:
        return None
    text = shown[0]
    if len(shown) == 1 and isinstance(text, str) and text.startswith(_BEARER):
        identity = verify(keys, text[len(_BEARER) :])
        if identity is not None:
            return identity
    sentence = "This session token is not valid here, or no longer; sign in again."
    raise Refused(RefusalKind.UNAUTHENTICATED, rejection("unauthenticated", sentence))


def _signed_in(keys: KeyRing, context: _Context) -> Identity:
    identity = _identity(keys, context)
    if identity is None:
        sentence = "Sign in first: call SessionService.CreateGuest, and show its token with every call."
        raise Refused(RefusalKind.UNAUTHENTICATED, rejection("unauthenticated", sentence))
    return identity


def _serialised(message: Message) -> bytes:
    return message.SerializeToString()


async def _abort(context: _Context, refused: Refused) -> NoReturn:
    why = refused.rejection
    await context.abort(
        _STATUS[refused.kind], why.message, trailing_metadata=((REJECTION_KEY, why.SerializeToString()),)
    )
    raise AssertionError("abort returns never")
