"""gRPC as every service speaks it: servers with health, reflection and limits; channels that name their caller."""

from __future__ import annotations

import asyncio
import hmac
import inspect
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote

import grpc
import structlog
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import DecodeError
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_reflection.v1alpha import reflection

from grimoire import tracing
from grimoire.bus import correlation
from grimoire.bus.errors import NoOwnerError, RequestTimeoutError, UnreachableError
from grimoire.fairness.secret import Secret
from grimoire.runtime.config import Address, Config, ConfigError, TlsFiles
from grimoire.runtime.identity import Identity
from grimoire.runtime.keys import KeyRing
from grimoire.runtime.metrics import METRICS, Metrics

__all__ = [
    "ACCOUNT_BOT_KEY",
    "ACCOUNT_KEY",
    "ACCOUNT_NAME_KEY",
    "MAX_MESSAGE",
    "SERVICE_TOKEN_KEY",
    "RpcServer",
    "account_metadata",
    "account_of",
    "dialer",
    "is_serving",
    "open_channel",
]

_log: Final = structlog.stdlib.get_logger(__name__)

SERVICE_TOKEN_KEY: Final = "grimoire-service-token"  # noqa: S105 (the name of the key, no token)
"""Metadata by which services of the platform know each other."""
ACCOUNT_KEY: Final = "grimoire-account"
"""Metadata in which the edge names the account that calls: its id."""
ACCOUNT_NAME_KEY: Final = "grimoire-account-name"
"""The account's shown name, percent-encoded UTF-8."""
ACCOUNT_BOT_KEY: Final = "grimoire-account-bot"
"""`1` if a program plays, else `0`."""

MAX_MESSAGE: Final = 4 * 1024 * 1024
"""Largest gRPC message, in bytes; larger things are streamed."""

_KEEPALIVE: Final = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)
_SIZES: Final = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
)
_SERVER_OPTIONS: Final = (
    *_KEEPALIVE,
    *_SIZES,
    # Two servers on one port would share its calls by chance; the second must fail instead.
    ("grpc.so_reuseport", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.max_metadata_size", 16 * 1024),
    # Whoever connects and says nothing is let go of.
    ("grpc.server_handshake_timeout_ms", 10_000),
)
_SERVICE_CONFIG: Final = json.dumps(
    {
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 4,
                    "initialBackoff": "0.05s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ]
    }
)
_CHANNEL_OPTIONS: Final = (
    *_KEEPALIVE,
    *_SIZES,
    ("grpc.service_config", _SERVICE_CONFIG),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)
_OPEN_TO_ALL: Final = "/grpc.health.v1.Health/"
_CODE_NAMES: Final = {code.value[0]: code.name for code in grpc.StatusCode}
_UNREACHABLE: Final = (NoOwnerError, RequestTimeoutError, UnreachableError, ConnectionError)
_UNREACHABLE_CODES: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Behaviour: TypeAlias = Callable[[Any, _Context], Any]


def account_metadata(identity: Identity) -> tuple[tuple[str, str], ...]:
    """How the edge tells an internal service on whose behalf it calls.

    >>> account_metadata(Identity("a1", "Väinö"))[1]
    ('grimoire-account-name', 'V%C3%A4in%C3%B6')
    """
    return (
        (ACCOUNT_KEY, identity.account_id),
        (ACCOUNT_NAME_KEY, quote(identity.name, safe="")),
        (ACCOUNT_BOT_KEY, "1" if identity.bot else "0"),
    )


def account_of(context: _Context) -> Identity | None:
    """On whose behalf the edge makes this call; None if on nobody's. Only for servers that check the service token."""
    metadata = dict(context.invocation_metadata() or ())
    account = metadata.get(ACCOUNT_KEY)
    if not account:
        return None
    return Identity(
        str(account), unquote(str(metadata.get(ACCOUNT_NAME_KEY, ""))), metadata.get(ACCOUNT_BOT_KEY) == "1"
    )


class RpcServer:
    """A gRPC server with health, reflection, limits, metrics and one place where failures are logged.

    Add servicers to `raw`, then `start`, make ready, `set_serving(True)`; at the end `stop`.

    Args:
        address: where to listen; port 0 takes any free one.
        services: descriptors of what it serves, e.g. `rules_pb2.DESCRIPTOR.services_by_name["RulesService"]`.
        token: callers must show it, health checks excepted; None: open to all (the edge).
        tls: callers must have a certificate; None: plain.
        metrics: counts calls.
    """

    def __init__(
        self,
        address: Address,
        services: Sequence[ServiceDescriptor],
        *,
        token: Secret | None,
        tls: TlsFiles | None = None,
        metrics: Metrics = METRICS,
    ) -> None:
        self._address = address
        self._tls = tls
        self._services = tuple(service.full_name for service in services)
        self._health = HealthServicer()
        self.raw: grpc.aio.Server = grpc.aio.server(
            interceptors=[_Doorkeeper(token, metrics)], options=list(_SERVER_OPTIONS)
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self.raw)
        health_name = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
        reflection.enable_server_reflection((*self._services, health_name, reflection.SERVICE_NAME), self.raw)

    @classmethod
    def internal(cls, config: Config, service: str, keys: KeyRing, services: Sequence[ServiceDescriptor]) -> RpcServer:
        """For a service that only services of the platform call.

        Raises:
            ConfigError: if it would listen beyond this machine without TLS.
        """
        address = config.address(service)
        if not (address.is_loopback or config.tls or config.private_network):
            raise ConfigError(
                f"{service} would listen on {address} without TLS: set GRIMOIRE_TLS_CERTIFICATE, GRIMOIRE_TLS_KEY and"
                " GRIMOIRE_TLS_AUTHORITY, or GRIMOIRE_PRIVATE_NETWORK=yes if nobody else can reach that network"
            )
        return cls(address, services, token=keys.service_token, tls=config.tls)

    @property
    def address(self) -> Address:
        """Where it listens; after `start` with the port as bound."""
        return self._address

    async def start(self) -> Address:
        """Begins to listen; health says NOT_SERVING until `set_serving`.

        Returns:
            The address with the port as bound.

        Raises:
            ConfigError: if the address cannot be listened on.
        """
        await self.set_serving(False)
        try:
            if self._tls is None:
                port = self.raw.add_insecure_port(str(self._address))
            else:
                port = self.raw.add_secure_port(str(self._address), _server_credentials(self._tls))
        except RuntimeError:
            raise ConfigError(f"cannot listen on {self._address}: is it in use? Choose another, or port 0") from None
        await self.raw.start()
        self._address = Address(self._address.host, port)
        return self._address

    async def set_serving(self, serving: bool, service: str | None = None) -> None:
        """Says by the health service whether calls will be answered.

        Args:
            serving: whether they will.
            service: full name of one service; None: all of them and the server as such.
        """
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *self._services) if service is None else (service,):
            await self._health.set(name, status)

    async def stop(self, grace_s: float = 2.0) -> None:
        """Says NOT_SERVING, takes no new calls, lets running ones end within `grace_s` seconds, then cancels them."""
        await self._health.enter_graceful_shutdown()
        await self.raw.stop(grace_s)


def open_channel(address: str, *, token: Secret | None = None, tls: TlsFiles | None = None) -> grpc.aio.Channel:
    """A channel whose calls carry the service token, the correlation id and the trace context.

    It connects when first used and again whenever it must. Calls that end as UNAVAILABLE are tried up to four times
    with growing pauses: everything internal may be repeated.

    Args:
        address: `host:port`.
        token: shown to internal services.
        tls: this side's certificate and whom it trusts; None: plain.
    """
    add = _Callcard(token)
    interceptors = [_UnaryUnary(add), _UnaryStream(add), _StreamUnary(add), _StreamStream(add)]
    if tls is None:
        return grpc.aio.insecure_channel(address, options=list(_CHANNEL_OPTIONS), interceptors=interceptors)
    return grpc.aio.secure_channel(
        address, _channel_credentials(tls), options=list(_CHANNEL_OPTIONS), interceptors=interceptors
    )


def dialer(config: Config, keys: KeyRing) -> Callable[[str], grpc.aio.Channel]:
    """Opens channels to internal services by address."""
    return lambda address: open_channel(address, token=keys.service_token, tls=config.tls)


async def is_serving(channel: grpc.aio.Channel, service: str = "", *, within_s: float = 1.0) -> bool:
    """Whether the other side says it is healthy now."""
    request = health_pb2.HealthCheckRequest(service=service)
    try:
        reply = await health_pb2_grpc.HealthStub(channel).Check(request, timeout=within_s)
    except grpc.aio.AioRpcError:
        return False
    return bool(reply.status == health_pb2.HealthCheckResponse.SERVING)


def _server_credentials(tls: TlsFiles) -> grpc.ServerCredentials:
    pair = (tls.key.read_bytes(), tls.certificate.read_bytes())
    return grpc.ssl_server_credentials([pair], tls.authority.read_bytes(), require_client_auth=True)


def _channel_credentials(tls: TlsFiles) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(tls.authority.read_bytes(), tls.key.read_bytes(), tls.certificate.read_bytes())


class _UnreadableError(Exception):
    """The bytes are no request of this method."""


class _Doorkeeper(grpc.aio.ServerInterceptor):
    """Lets in who shows the token; follows each call to its end."""

    def __init__(self, token: Secret | None, metrics: Metrics) -> None:
        self._token = token
        self._metrics = metrics
        self._watched: dict[str, tuple[_Handler, _Handler]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> _Handler | None:
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        metadata = _texts(handler_call_details.invocation_metadata)
        correlation.adopt(metadata)
        known = self._watched.get(method)
        # Handlers are made once per method, so the watching ones are too.
        if known is None or known[0] is not handler:
            known = self._watched[method] = (handler, _rebuilt(handler, self._watch(handler, method)))
        if self._token is not None and not method.startswith(_OPEN_TO_ALL) and not self._is_ours(metadata):
            return _rebuilt(handler, self._refusal(method))
        return known[1]

    def _is_ours(self, metadata: Mapping[str, str]) -> bool:
        shown = metadata.get(SERVICE_TOKEN_KEY, "")
        return self._token is not None and hmac.compare_digest(shown.encode(), self._token.open().hex().encode())

    def _refusal(self, method: str) -> _Behaviour:
        async def refuse(_request: Any, context: _Context) -> None:
            _log.warning("rpc_refused", method=method, peer=context.peer())
            self._metrics.rpc_calls.labels(method[1:], "UNAUTHENTICATED").inc()
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "only services of the platform may call this")

        return refuse

    def _watch(self, handler: _Handler, method: str) -> _Behaviour:
        behaviour, read = _behaviour(handler), _reader(handler)
        metrics = self._metrics
        name = method.rpartition(".")[2]

        async def answer(request: Any, context: _Context) -> Any:
            if not tracing.on():
                async with _Call(method, context, metrics):
                    return await behaviour(read(request), context)
            with tracing.span(f"rpc {name}", {"method": name}, kind=tracing.SpanKind.SERVER) as span:
                async with _Call(method, context, metrics):
                    answered = await behaviour(read(request), context)
                if span is not None:
                    span.set_attribute("code", _code_name(context))
                return answered

        async def stream(request: Any, context: _Context) -> AsyncIterator[Any]:
            async with _Call(method, context, metrics):
                async for message in behaviour(read(request), context):
                    yield message

        return stream if inspect.isasyncgenfunction(behaviour) else answer


class _Call:
    """One call being served: counted when it ends; what escapes from it is logged here and nowhere else."""

    def __init__(self, method: str, context: _Context, metrics: Metrics) -> None:
        self._method = method
        self._context = context
        self._metrics = metrics
        self._since = time.perf_counter()

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace_back: TracebackType | None
    ) -> None:
        # gRPC's own: an answer that cannot be sent, because whoever asked has hung up meanwhile.
        cancelled = isinstance(error, (asyncio.CancelledError, GeneratorExit, grpc.aio.InternalError))
        try:
            if isinstance(error, Exception) and not cancelled and not isinstance(error, grpc.aio.AbortError):
                await self._abort(error)
        finally:
            name = self._method[1:]
            code = "CANCELLED" if cancelled else _code_name(self._context)
            self._metrics.rpc_calls.labels(name, code).inc()
            self._metrics.rpc_seconds.labels(name).observe(time.perf_counter() - self._since)

    async def _abort(self, error: Exception) -> None:
        if isinstance(error, _UnreadableError):
            await self._context.abort(grpc.StatusCode.INVALID_ARGUMENT, "these bytes are no request of this method")
        unreachable = isinstance(error, _UNREACHABLE) or (
            isinstance(error, grpc.aio.AioRpcError) and error.code() in _UNREACHABLE_CODES
        )
        if unreachable:
            _log.warning("rpc_unreachable", method=self._method, error=type(error).__name__)
            await self._context.abort(grpc.StatusCode.UNAVAILABLE, "a service behind this one does not answer")
        _log.error("rpc_failed", method=self._method, exc_info=error)
        reference = correlation.correlation_id()
        await self._context.abort(grpc.StatusCode.INTERNAL, f"internal error; it is logged as {reference}")


def _code_name(context: _Context) -> str:
    code: Any = context.code()
    if code is None:
        return "OK"
    return code.name if isinstance(code, grpc.StatusCode) else _CODE_NAMES.get(code, "UNKNOWN")


def _texts(metadata: Iterable[tuple[str, str | bytes]] | None) -> dict[str, str]:
    return {key: value for key, value in metadata or () if isinstance(value, str)}


def _behaviour(handler: _Handler) -> _Behaviour:
    found: Any = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
    if found is None:
        raise TypeError("a handler without a behaviour")
    behaviour: _Behaviour = found
    return behaviour


def _reader(handler: _Handler) -> Callable[[Any], Any]:
    """Turns what comes over the wire, bytes or a stream of bytes, into what a handler takes.

    gRPC's own reading answers bytes that are no message with UNKNOWN, and with a trace in the log for each of them.
    """
    parse = handler.request_deserializer
    if parse is None:
        return lambda data: data

    def read(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            raise _UnreadableError from None

    async def read_each(stream: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        async for data in stream:
            yield read(data)

    return read_each if handler.request_streaming else read


def _rebuilt(handler: _Handler, behaviour: _Behaviour) -> _Handler:
    """The same kind of handler, with another behaviour, which is given the bytes."""
    make: Any
    if handler.request_streaming:
        make = (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )
    else:
        make = (
            grpc.unary_stream_rpc_method_handler if handler.response_streaming else grpc.unary_unary_rpc_method_handler
        )
    made: _Handler = make(
        behaviour,
        response_serializer=handler.response_serializer,
    )
    return made


class _Callcard:
    """What is added to the metadata of every call that is made."""

    def __init__(self, token: Secret | None) -> None:
        self._token = token

    def __call__(self, details: grpc.aio.ClientCallDetails) -> grpc.aio.ClientCallDetails:
        metadata = grpc.aio.Metadata(*(details.metadata or ()))
        if self._token is not None:
            metadata.add(SERVICE_TOKEN_KEY, self._token.open().hex())
        for key, value in (correlation.outgoing() or {}).items():
            metadata.add(key, value)
        return grpc.aio.ClientCallDetails(
            details.method, details.timeout, metadata, details.credentials, details.wait_for_ready
        )


class _UnaryUnary(grpc.aio.UnaryUnaryClientInterceptor):
    def __init__(self, add: _Callcard) -> None:
        self._add = add

    async def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await continuation(self._add(client_call_details), request)


class _UnaryStream(grpc.aio.UnaryStreamClientInterceptor):
    def __init__(self, add: _Callcard) -> None:
        self._add = add

    async def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return await continuation(self._add(client_call_details), request)


class _StreamUnary(grpc.aio.StreamUnaryClientInterceptor):
    def __init__(self, add: _Callcard) -> None:
        self._add = add

    async def intercept_stream_unary(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return await continuation(self._add(client_call_details), request_iterator)


class _StreamStream(grpc.aio.StreamStreamClientInterceptor):
    def __init__(self, add: _Callcard) -> None:
        self._add = add

    async def intercept_stream_stream(self, continuation: Any, client_call_details: Any, request_iterator: Any) -> Any:
        return await continuation(self._add(client_call_details), request_iterator)
