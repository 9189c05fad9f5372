"""A service's connection to the broker: commands out and in, events out and in, one role each."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, final

import nats.errors
import structlog
from nats.aio.client import Client, Server
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as _NatsSubscription

from grimoire import tracing
from grimoire.bus import correlation
from grimoire.bus.errors import (
    BusError,
    NoOwnerError,
    NotPermittedError,
    OldServerError,
    RequestTimeoutError,
    TooLargeError,
    UnreachableError,
)
from grimoire.bus.subjects import (
    command_subject,
    event_subject,
    free_subject,
    inbox_prefix,
    owner_subject,
    partition_of,
    who_subject,
)
from grimoire.bus.version import check_server_version
from grimoire.fairness.secret import Secret

__all__ = ["Bus", "BusLimits", "BusSettings", "Message", "Subscription"]

_log: Final = structlog.stdlib.get_logger(__name__)

_NO_RESPONDERS: Final = "503"
_STATUS: Final = "Status"
_FIRST_RETRY_S: Final = 0.02
_LAST_RETRY_S: Final = 0.2
_LAST_RECONNECT_S: Final = 2.0
_STOP_S: Final = 2.0
_LATE_S: Final = 10.0


@final
class Message(Msg):
    """A received message: `subject`, `reply`, `data`, `headers`. Its text never shows the data."""

    def __repr__(self) -> str:
        return f"Message({self.subject}, {len(self.data)} bytes)"

    __str__ = __repr__


@final
class _Client(Client):
    msg_class = Message


@dataclass(frozen=True, slots=True)
class BusLimits:
    """Bounds of one connection.

    Attributes:
        connect_s: how long the first connection may take.
        pending_messages: received but unhandled messages a subscription holds; beyond it they are dropped and logged.
        pending_bytes: the same in bytes.
        outgoing_bytes: what is kept for sending while the broker is away.
        drain_s: how long a graceful close may take.
    """

    connect_s: float = 10.0
    pending_messages: int = 65_536
    pending_bytes: int = 64 * 1024 * 1024
    outgoing_bytes: int = 8 * 1024 * 1024
    drain_s: float = 5.0


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Where the broker is and who one is to it.

    Attributes:
        servers: URLs, e.g. `nats://127.0.0.1:4222`. A user and password in a URL win over the role's.
        role: see `grimoire.bus.roles`.
        password: of that role; its bytes as hex are what is sent.
        limits: bounds of the connection.
    """

    servers: tuple[str, ...]
    role: str
    password: Secret
    limits: BusLimits = BusLimits()

    def __repr__(self) -> str:
        return f"BusSettings(role={self.role!r})"


class Subscription:
    """One subject one listens to."""

    def __init__(self, inner: _NatsSubscription, client: Client, ping: Callable[[float], Awaitable[bool]]) -> None:
        self._inner = inner
        self._client = client
        self._ping = ping

    @property
    def pending(self) -> int:
        """Messages that arrived and wait for their handler."""
        return self._inner.pending_msgs

    async def stop(self) -> None:
        """Listens no more; what has arrived is still handled. Stopping twice does no harm."""
        inner = self._inner
        if inner._closed or self._client.is_closed:
            return
        inner._closed = True
        # Not nats-py's own drain: given up half-way, it breaks the connection when its ping is answered after all.
        try:
            await self._client._send_unsubscribe(inner._id)
            await self._ping(_STOP_S)
            await inner._pending_queue.join()
        except (nats.errors.Error, OSError) as error:
            _log.debug("bus_not_unsubscribed", subject=inner.subject, error=type(error).__name__)
        finally:
            inner._stop_processing()
            self._client._remove_sub(inner._id)


class Bus:
    """A connection under one role; make it with `Bus.connect`."""

    def __init__(self, client: _Client, settings: BusSettings, replies: _Replies) -> None:
        self._client = client
        self._settings = settings
        self._replies = replies
        self._refused: list[str] = []
        self._lost = asyncio.Event()
        self._unanswered = 0
        self._line = 0
        self._renewed_s = -_LATE_S
        self._on_reconnect: list[Callable[[], Awaitable[None]]] = []

    @classmethod
    async def connect(cls, settings: BusSettings, *, name: str = "") -> Bus:
        """Connects, and stays connected: a lost connection is renewed for ever, subscriptions included.

        Args:
            settings: where, and as whom.
            name: of this connection, shown by the broker's own tools.

        Raises:
            UnreachableError: if there is no connection within `limits.connect_s`, or the credentials are refused.
            OldServerError: if the broker is too old.
        """
        client = _Client()
        bus = cls(client, settings, _Replies(client, settings.role))
        await bus._connect(name or settings.role)
        return bus

    @property
    def role(self) -> str:
        """As whom one is connected."""
        return self._settings.role

    @property
    def connected(self) -> bool:
        """There is a connection at this moment."""
        return bool(self._client.is_connected)

    @property
    def line(self) -> int:
        """Counts the connections there have been. A request can be answered only on the line that it came by."""
        return self._line

    @property
    def closed(self) -> bool:
        """It was closed, and will not come back."""
        return bool(self._client.is_closed)

    @property
    def max_payload(self) -> int:
        """Largest message the broker takes, in bytes."""
        return int(self._client.max_payload)

    @property
    def server_version(self) -> str:
        """Version of the broker one is connected to."""
        return str(self._client.connected_server_version._server_version)

    def on_reconnect(self, callback: Callable[[], Awaitable[None]]) -> None:
        """Calls back after each renewed connection: what was published in between has been missed."""
        self._on_reconnect.append(callback)

    async def request_command(
        self, game: str, match_id: str, submission: bytes, *, reply_s: float = 5.0, owner_s: float = 5.0
    ) -> bytes:
        """Sends a command to the owner of its match.

        While nobody owns the match's partition the same bytes are sent again: the command's id makes that safe. They
        are also sent again when the connection broke while the reply was awaited.

        Args:
            game: the game.
            match_id: the match.
            submission: a serialised `Submission`.
            reply_s: seconds to wait for the reply, from the last sending.
            owner_s: seconds to wait for an owner.

        Returns:
            A serialised `CommandReply`.

        Raises:
            SubjectError: if game or match id cannot be part of a subject.
            NoOwnerError: if nobody owns the match.
            RequestTimeoutError: if no reply came.
            TooLargeError: if the submission exceeds the broker's limit.
        """
        subject = command_subject(game, match_id)
        if not tracing.on():
            return await self.request(subject, submission, reply_s=reply_s, responder_s=owner_s)
        about: tracing.Attributes = {"game": game, "match_id": match_id, "partition": partition_of(match_id)}
        with tracing.span("bus command", about, kind=tracing.SpanKind.PRODUCER):
            return await self.request(subject, submission, reply_s=reply_s, responder_s=owner_s)

    async def who(self, game: str, partition: int, *, reply_s: float = 2.0) -> str:
        """The gRPC address of the instance that owns a partition.

        Raises:
            NoOwnerError: if nobody owns it now.
            RequestTimeoutError: if the owner does not answer.
        """
        return (await self.request(who_subject(game, partition), b"", reply_s=reply_s)).decode()

    async def request(self, subject: str, data: bytes, *, reply_s: float, responder_s: float = 0.0) -> bytes:
        """Sends a request and waits for its reply.

        Args:
            subject: where to.
            data: what.
            reply_s: seconds to wait for the reply, from the last sending.
            responder_s: seconds for which it is repeated while nobody listens; 0: asked once.

        Raises:
            NoOwnerError: if nobody listens.
            RequestTimeoutError: if no reply came.
            TooLargeError: if the data exceed the broker's limit.
        """
        self._check_size(data)
        headers = correlation.outgoing()
        loop = asyncio.get_running_loop()
        give_up = loop.time() + responder_s
        pause = _FIRST_RETRY_S
        while True:
            reply = await self._replies.ask(subject, data, headers, reply_s)
            if reply is _Replies.LOST:
                continue
            if not isinstance(reply, Message):
                raise RequestTimeoutError(f"no reply on {subject} within {reply_s} s")
            if reply.data or reply.headers is None or reply.headers.get(_STATUS) != _NO_RESPONDERS:
                return bytes(reply.data)
            if loop.time() + pause > give_up:
                raise NoOwnerError(f"nobody listens on {subject}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_RETRY_S)

    async def serve(self, subject: str, handler: Callable[[Message], None], *, queue: str = "") -> Subscription:
        """Listens to a subject with a plain function, called in order, one message after the other, with no task each.

        The handler must be quick; what it raises is logged once and the next message follows. It runs outside of any
        correlation id; where it logs or sends, it opens the message's with `correlation.incoming(message.headers)`.

        Args:
            subject: what to listen to, wildcards allowed; from `grimoire.bus.subjects`, never from a person.
            handler: gets each message.
            queue: listeners with the same queue name share the messages.

        Raises:
            NotPermittedError: if this role may not listen there.
            BusError: if the broker is away or the connection closed.
        """

        async def deliver(message: Msg) -> None:
            try:
                # nats-py builds messages by `msg_class`, but its signatures know only the base.
                handler(message)  # type: ignore[arg-type]
            except Exception:
                _log.exception("bus_handler_failed", role=self.role, subject=message.subject)

        return await self._subscribe(subject, deliver, queue)

    async def serve_async(
        self, subject: str, handler: Callable[[Message], Awaitable[None]], *, queue: str = ""
    ) -> Subscription:
        """Listens with a coroutine function, under the message's correlation id.

        The next message waits until the handler is done with this one. Otherwise as `serve`.
        """

        async def deliver(message: Msg) -> None:
            with correlation.incoming(message.headers):
                try:
                    await handler(message)  # type: ignore[arg-type]
                except Exception:
                    _log.exception("bus_handler_failed", role=self.role, subject=message.subject)

        return await self._subscribe(subject, deliver, queue)

    async def reply(self, request: Message, data: bytes) -> None:
        """Answers a request; a message that asked for no answer is passed over.

        Raises:
            TooLargeError: if the data exceed the broker's limit.
            BusError: as `publish`.
        """
        if request.reply:
            await self._send(request.reply, data, None)

    async def decline(self, request: Message) -> None:
        """Answers a request as if nobody listened: whoever sent it looks for another listener, and asks again.

        Raises:
            BusError: as `publish`.
        """
        if request.reply:
            await self._send(request.reply, b"", {_STATUS: _NO_RESPONDERS})

    async def publish(self, subject: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Sends a message to whoever listens; the correlation id travels with it.

        Raises:
            TooLargeError: if the data exceed the broker's limit.
            BusError: if the connection is closed, or the broker is away and `limits.outgoing_bytes` wait already.
        """
        own = correlation.outgoing()
        await self._send(subject, data, {**(own or {}), **(headers or {})} or None)

    async def publish_event(
        self, game: str, match_id: str, data: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Publishes what one committed command did, once. Errors as `publish`."""
        await self.publish(event_subject(game, match_id), data, headers)

    async def announce_owner(self, game: str, partition: int, data: bytes) -> None:
        """Says that this instance owns a partition from now on. Errors as `publish`."""
        await self.publish(owner_subject(game, partition), data)

    async def announce_free(self, game: str) -> None:
        """Tells the instances of a game that partitions have become free. Errors as `publish`."""
        await self.publish(free_subject(game), b"")

    async def alive(self, within_s: float) -> bool:
        """Whether the broker answers at this moment: a connection that looks open may be dead.

        One that does not answer twice in a row is given up, and renewed.
        """
        if not self._client.is_connected:
            return False
        if await self._ping(within_s):
            self._unanswered = 0
            return True
        self._unanswered += 1
        if self._unanswered > 1 and self._client.is_connected:
            self._unanswered = 0
            self._cut()
            await self._client._process_op_err(nats.errors.StaleConnectionError())
        return False

    async def _ping(self, within_s: float) -> bool:
        # Not `Client.flush`: the answer to a ping that was given up breaks the connection when it comes after all.
        pong: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        try:
            await self._client._send_ping(pong)
        except (nats.errors.Error, OSError):
            return False
        await asyncio.wait({pong}, timeout=within_s)
        return pong.done() and not pong.cancelled()

    def _cut(self) -> None:
        """Ends the line at once: a polite end would wait for the other side to take what lies unsent."""
        writer = getattr(self._client._transport, "_io_writer", None)
        if writer is not None:
            writer.transport.abort()

    async def flush(self, within_s: int = 5) -> None:
        """Waits until the broker has all that was sent.

        Raises:
            BusError: if it does not answer in time.
        """
        # nats-py writes a ping past what its own buffer still holds; only the second comes after all of it.
        for _ in range(2):
            if self._client.is_closed or not await self._ping(within_s):
                raise BusError("the broker does not answer")

    async def close(self) -> None:
        """Handles what has arrived, sends what waits, and leaves; without a broker, at once.

        It takes `limits.drain_s` at most. Closing twice does no harm.
        """
        self._replies.fail_all()
        if self._client.is_closed:
            return
        draining = asyncio.ensure_future(self._drain())
        lost = asyncio.ensure_future(self._lost.wait())
        await asyncio.wait({draining, lost}, timeout=self._settings.limits.drain_s, return_when=asyncio.FIRST_COMPLETED)
        if not draining.done():
            _log.warning("bus_drain_incomplete", role=self.role, connected=not self._lost.is_set())
        for task in (draining, lost):
            task.cancel()
        await asyncio.gather(draining, lost, return_exceptions=True)
        await self._leave()
        # A request that was under way when this began must not wait for its whole timeout.
        self._replies.fail_all()

    async def _leave(self) -> None:
        # nats-py fails half-way, with its tasks and socket left, where bytes still wait for a connection that is lost.
        for subscription in self._client._subs.values():
            subscription._stop_processing()
        with contextlib.suppress(nats.errors.Error, OSError):
            await self._client.close()
        if self._client._transport is not None:
            self._client._transport.close()  # type: ignore[no-untyped-call]

    async def _drain(self) -> None:
        # Not `Client.drain`: that one waits for a broker that is gone, and cannot be told not to.
        subscriptions = list(self._client._subs.values())
        await asyncio.gather(*(subscription.drain() for subscription in subscriptions))  # type: ignore[no-untyped-call]
        await self._client.flush()

    async def _send(self, subject: str, data: bytes, headers: dict[str, str] | None) -> None:
        self._check_size(data)
        try:
            await self._client.publish(subject, data, headers=headers)
        except (nats.errors.Error, OSError) as error:
            raise BusError(f"cannot publish on {subject}: {type(error).__name__}") from None

    async def _connect(self, name: str) -> None:
        settings = self._settings
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def on_error(error: Exception) -> None:
            self._note_error(error)
            if not refused.done() and "authorization" in str(error).lower():
                refused.set_result(None)

        connecting = asyncio.ensure_future(
            self._client.connect(
                servers=list(settings.servers),
                name=name,
                user=settings.role,
                password=settings.password.open().hex(),
                inbox_prefix=inbox_prefix(settings.role),
                allow_reconnect=True,
                max_reconnect_attempts=-1,
                reconnect_time_wait=1,
                reconnect_to_server_handler=_next_attempt,
                connect_timeout=2,
                ping_interval=5,
                max_outstanding_pings=2,
                pending_size=settings.limits.outgoing_bytes,
                error_cb=on_error,
                disconnected_cb=self._note_disconnected,
                reconnected_cb=self._note_reconnected,
                closed_cb=self._note_closed,
            )
        )
        await asyncio.wait({connecting, refused}, timeout=settings.limits.connect_s, return_when="FIRST_COMPLETED")
        if not connecting.done() or connecting.exception() is not None:
            connecting.cancel()
            await asyncio.gather(connecting, return_exceptions=True)
            await self._leave()
            why = f"it refuses the role {settings.role!r}" if refused.done() else "it does not answer"
            raise UnreachableError(f"no connection to the broker: {why}")
        await self._check_version()

    async def _check_version(self) -> None:
        try:
            check_server_version(self.server_version)
        except OldServerError:
            await self._client.close()
            raise

    async def _subscribe(self, subject: str, deliver: Callable[[Msg], Awaitable[None]], queue: str) -> Subscription:
        limits = self._settings.limits
        try:
            inner = await self._client.subscribe(
                subject,
                queue=queue,
                cb=deliver,
                pending_msgs_limit=limits.pending_messages,
                pending_bytes_limit=limits.pending_bytes,
            )
        except nats.errors.Error as error:
            raise BusError(f"cannot listen to {subject}: {type(error).__name__}") from None
        try:
            # The broker's refusal arrives before its answer to the ping.
            await self.flush()
            if any(f'for subscription to "{subject.lower()}"' in text for text in self._refused):
                raise NotPermittedError(f"{self.role} may not listen to {subject}")
        except BaseException:
            # Nobody would know of it, but the broker would take it for a listener.
            await self._abandon(inner)
            raise
        return Subscription(inner, self._client, self._ping)

    async def _abandon(self, inner: _NatsSubscription) -> None:
        self._client._remove_sub(inner._id)
        inner._stop_processing()
        if self._client.is_connected:
            with contextlib.suppress(nats.errors.Error, OSError):
                await self._client._send_unsubscribe(inner._id)

    def _check_size(self, data: bytes) -> None:
        if len(data) > self._client.max_payload:
            raise TooLargeError(f"{len(data)} bytes; the broker takes {self._client.max_payload}")

    def _note_error(self, error: Exception) -> None:
        text = str(error)
        if isinstance(error, nats.errors.SlowConsumerError):
            _log.warning("bus_slow_consumer", role=self.role, subject=error.subject)
        elif 'violation for publish to "_inbox' in text.lower() and self._is_line_fresh():
            # An answer that was on its way when the line was lost: it is allowed on that one only.
            _log.info("bus_answer_too_late", role=self.role, reason=text)
        elif "permissions violation" in text.lower():
            self._refused.append(text.lower())
            del self._refused[:-64]
            _log.error("bus_not_permitted", role=self.role, reason=text)
        elif self._client.is_connected:
            _log.warning("bus_error", role=self.role, error=type(error).__name__, reason=text)
        else:
            # Every vain attempt to connect again; the loss itself has been told.
            _log.debug("bus_unreachable", role=self.role, error=type(error).__name__, reason=text)

    def _is_line_fresh(self) -> bool:
        return self._lost.is_set() or time.monotonic() < self._renewed_s + _LATE_S

    async def _note_disconnected(self) -> None:
        self._lost.set()
        if not self._client.is_closed:
            _log.warning("bus_disconnected", role=self.role)

    async def _note_reconnected(self) -> None:
        _log.info("bus_reconnected", role=self.role)
        self._lost.clear()
        self._line += 1
        self._renewed_s = time.monotonic()
        self._replies.lost()
        for callback in self._on_reconnect:
            try:
                await callback()
            except Exception:
                _log.exception("bus_reconnect_callback_failed", role=self.role)

    async def _note_closed(self) -> None:
        _log.debug("bus_closed", role=self.role)
        self._replies.fail_all()


def _next_attempt(servers: list[Server], _info: dict[str, object]) -> tuple[Server | None, float]:
    """Which broker to try next, and after how many seconds: soon at first, then slower, never all services at once."""
    failed = min(server.reconnects for server in servers)
    pause = min(_FIRST_RETRY_S * 2**failed, _LAST_RECONNECT_S)
    # Spreads a herd; nothing secret hangs on it.
    return None, pause * random.uniform(0.5, 1.0)  # noqa: S311


class _Replies:
    """Matches replies to requests over one wildcard inbox, with one timer each and no task.

    A future ends with the reply, with `LOST` (the connection was renewed: ask again) or with `EXPIRED`.
    """

    LOST: Final = object()
    EXPIRED: Final = object()

    def __init__(self, client: _Client, role: str) -> None:
        self._client = client
        self._prefix = f"{inbox_prefix(role)}.{secrets.token_hex(11)}."
        self._numbers = itertools.count()
        self._waiting: dict[str, asyncio.Future[object]] = {}
        self._started = False

    async def _listen(self) -> None:
        self._started = True
        await self._client.subscribe(f"{self._prefix}*", cb=self._arrived)

    async def _arrived(self, message: Msg) -> None:
        future = self._waiting.get(message.subject[len(self._prefix) :])
        if future is not None and not future.done():
            future.set_result(message)

    async def ask(self, subject: str, data: bytes, headers: dict[str, str] | None, reply_s: float) -> object:
        if not self._started:
            await self._listen()
        loop = asyncio.get_running_loop()
        number = f"{next(self._numbers):x}"
        future: asyncio.Future[object] = loop.create_future()
        self._waiting[number] = future
        timer = loop.call_later(reply_s, self._end, future, self.EXPIRED)
        try:
            await self._client.publish(subject, data, reply=self._prefix + number, headers=headers)
            return await future
        except (nats.errors.Error, OSError) as error:
            raise BusError(f"cannot ask on {subject}: {type(error).__name__}") from None
        finally:
            timer.cancel()
            del self._waiting[number]

    def lost(self) -> None:
        for future in self._waiting.values():
            self._end(future, self.LOST)

    def fail_all(self) -> None:
        for future in self._waiting.values():
            self._end(future, self.EXPIRED)

    @staticmethod
    def _end(future: asyncio.Future[object], result: object) -> None:
        if not future.done():
            future.set_result(result)
