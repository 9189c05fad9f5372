"""The line to a server: one channel, one session token, failures turned into this library's exceptions."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from typing import Final, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from grimoire import tracing
from grimoire.client.errors import ClientError, NotSignedInError, Rejected, UnavailableError
from grimoire.v1 import (
    account_pb2_grpc,
    chat_pb2_grpc,
    envelope_pb2,
    matchmaking_pb2_grpc,
    play_pb2_grpc,
    replay_pb2_grpc,
    transparency_pb2_grpc,
)

__all__ = ["REJECTION_KEY", "Connection"]

REJECTION_KEY: Final = "grimoire-rejection-bin"
"""Trailing metadata of a refused call: a serialised `Rejection`."""

_CALL_S: Final = 10.0
_FIRST_PAUSE_S: Final = 0.05
_LAST_PAUSE_S: Final = 2.0
_LOST: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
_OPTIONS: Final = (
    # A view and its entries may be larger than the four megabytes that are the default.
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)

R = TypeVar("R", bound=Message)
T = TypeVar("T")


class Connection:
    """One channel to a server. Requests are repeated while it is away, for all of them are harmless to repeat.

    Args:
        address: `host:port`, or `grpcs://host:port` for TLS with the system's certificates.
        token: session token; None: not signed in yet.
        patience_s: how long a request is repeated before it fails with `UnavailableError`.
    """

    def __init__(self, address: str, token: str | None, patience_s: float) -> None:
        scheme, separator, rest = address.rpartition("://")
        if scheme not in ("", "grpc", "grpcs"):
            raise ValueError(f"{address!r}: write host:port, or grpcs://host:port for TLS")
        self.address = rest
        self.token = token
        self.patience_s = patience_s
        if separator and scheme == "grpcs":
            self.channel = grpc.aio.secure_channel(rest, grpc.ssl_channel_credentials(), options=_OPTIONS)
        else:
            self.channel = grpc.aio.insecure_channel(rest, options=_OPTIONS)
        self.session = play_pb2_grpc.SessionServiceStub(self.channel)
        self.account = account_pb2_grpc.AccountServiceStub(self.channel)
        self.chat = chat_pb2_grpc.ChatServiceStub(self.channel)
        self.play = play_pb2_grpc.PlayServiceStub(self.channel)
        self.matchmaking = matchmaking_pb2_grpc.MatchmakingServiceStub(self.channel)
        self.replay = replay_pb2_grpc.ReplayServiceStub(self.channel)
        self.transparency = transparency_pb2_grpc.TransparencyServiceStub(self.channel)

    def with_token(self, token: str | None) -> Connection:
        """Another session over the same channel."""
        other = copy.copy(self)
        other.token = token
        return other

    async def ready(self, timeout_s: float) -> None:
        """Waits until the server answers.

        Raises:
            UnavailableError: if it does not within `timeout_s`.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self.channel.channel_ready()
        except TimeoutError:
            raise UnavailableError(f"no server answers at {self.address}") from None

    async def close(self) -> None:
        """Hangs up."""
        await self.channel.close()

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What every call carries."""
        metadata = (("authorization", f"Bearer {self.token}"),) if self.token else ()
        if tracing.on() and (traceparent := tracing.traceparent()):
            return (*metadata, ("traceparent", traceparent))
        return metadata

    async def ask(
        self,
        method: grpc.aio.UnaryUnaryMultiCallable[T, R],
        request: T,
        *,
        timeout_s: float = _CALL_S,
        patience_s: float | None = None,
        command_id: bytes = b"",
    ) -> R:
        """One request and its reply, repeated while the server is away.

        Args:
            method: of a stub.
            request: its message; sending it twice must be harmless.
            timeout_s: for each try.
            patience_s: how long to repeat; None: as this connection does.
            command_id: of the command it carries, for the exception.

        Raises:
            UnavailableError: if there is still no reply.
            Rejected, NotSignedInError, ClientError: what the server said instead.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + (self.patience_s if patience_s is None else patience_s)
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return await method(request, timeout=timeout_s, metadata=self.metadata())
            except grpc.aio.AioRpcError as error:
                if error.code() not in _LOST:
                    raise failure(error) from None
                if loop.time() + pause > give_up:
                    raise UnavailableError(_said(error) or "the server does not answer", command_id) from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_PAUSE_S)

    async def stream(
        self, method: grpc.aio.UnaryStreamMultiCallable[T, R], request: T, *, silence_s: float | None = None
    ) -> AsyncGenerator[R, None]:
        """The replies to one request.

        Args:
            method: of a stub.
            request: its message.
            silence_s: a stream from which nothing comes for so long counts as lost; None: never.

        Raises:
            UnavailableError: if the stream breaks; ask again for the rest.
            Rejected, NotSignedInError, ClientError: what the server said instead.
        """
        call = method(request, metadata=self.metadata())
        try:
            while True:
                # Not wait_for: it may swallow a cancellation that comes together with a response.
                async with asyncio.timeout(silence_s):
                    response = await _read(call)
                if response is None:
                    return
                yield response
        except TimeoutError:
            raise UnavailableError("the server has fallen silent") from None
        except grpc.aio.AioRpcError as error:
            if error.code() in _LOST:
                raise UnavailableError(_said(error) or "the connection was lost") from None
            raise failure(error) from None
        finally:
            call.cancel()

    async def upload(
        self,
        method: Callable[..., Awaitable[R]],
        requests: AsyncIterable[Message],
    ) -> R:
        """Many messages for one reply; not repeated. Raises as `ask`."""
        try:
            return await method(requests, metadata=self.metadata())
        except grpc.aio.AioRpcError as error:
            if error.code() in _LOST:
                raise UnavailableError(_said(error) or "the connection was lost") from None
            raise failure(error) from None


def failure(error: grpc.aio.AioRpcError) -> ClientError:
    """The exception for a call that was refused."""
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return NotSignedInError(_said(error) or "the server does not accept this session")
    rejection = _rejection(error)
    if rejection is not None:
        return Rejected(rejection)
    if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return Rejected(envelope_pb2.Rejection(code="too_large", message=_said(error)))
    return ClientError(f"{error.code().name}: {_said(error)}")


def _rejection(error: grpc.aio.AioRpcError) -> envelope_pb2.Rejection | None:
    for key, value in error.trailing_metadata() or ():
        if key == REJECTION_KEY and isinstance(value, bytes):
            try:
                return envelope_pb2.Rejection.FromString(value)
            except DecodeError:
                return None
    return None


def _said(error: grpc.aio.AioRpcError) -> str:
    return error.details() or ""


async def _read(call: grpc.aio.UnaryStreamCall[T, R]) -> R | None:
    response = await call.read()
    return response if isinstance(response, Message) else None  # type: ignore[return-value]
