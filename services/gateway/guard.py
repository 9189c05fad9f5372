"""What stands before everything that browsers reach: who may ask, how much, and what browsers are told to refuse.

A state-changing call is only taken from our own page: browsers say where a call comes from (`Origin`,
`Sec-Fetch-Site`; no script can keep them from it), cookies go with calls of our own site alone (`SameSite=Strict`), and
the content types of Connect cannot be sent by a form. A program that is no browser shows a token instead.
"""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import json
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from email.utils import formatdate
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import structlog

from gateway.callers import address_of_call, calling_from
from gateway.cookies import SessionCookie, cookie_of_call
from gateway.limits import RateLimiter
from gateway.meters import REQUESTS
from gateway.web_settings import WebSettings
from grimoire.bus import correlation

__all__ = ["POLICY", "Guard"]

_log: Final = structlog.stdlib.get_logger(__name__)

Scope: TypeAlias = MutableMapping[str, Any]
Event: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Event]]
Send: TypeAlias = Callable[[Event], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The Content-Security-Policy: nothing from elsewhere, no script or style inside a page, in nobody's frame."""

_HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"),
)
_STRICT_TRANSPORT: Final = (b"strict-transport-security", b"max-age=31536000")
_RPC: Final = "/grimoire."
_CONTENT_TYPES: Final = frozenset(
    {"application/proto", "application/json", "application/connect+proto", "application/connect+json"}
)
_COMPRESSED_FROM: Final = 1024
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?P<port>:[0-9]{1,5})?")


class _No(Exception):  # noqa: N818 - an answer, no error
    """A request that goes no further."""

    def __init__(self, status: int, code: str, message: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers


class Guard:
    """An ASGI application around those of calls and of files.

    Args:
        calls: by path of the method.
        files: everything else.
        settings: of this edge.
        files_with_calls: paths of calls that may bring a file.
        names: of this machine, by which it may be asked; None: found out.
    """

    def __init__(
        self,
        calls: dict[str, App],
        files: App,
        settings: WebSettings,
        files_with_calls: frozenset[str] = frozenset(),
        names: frozenset[str] | None = None,
    ) -> None:
        self._calls = calls
        self._files = files
        self._origins = settings.origins
        self._hosts = frozenset(urlsplit(origin).netloc for origin in settings.origins)
        self._limits = settings.limits
        self._with_file = files_with_calls
        self._rate = RateLimiter(self._limits.requests_per_s, self._limits.request_burst)
        own = socket.gethostname().lower()
        self._names = names if names is not None else frozenset({"localhost", own, f"{own}.local"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            raise RuntimeError(f"no {scope['type']} here")
        request = _Request(scope)
        client = scope.get("client")
        answer = _Answer(send, request)
        with calling_from(client[0] if client else ""), correlation.correlated():
            token = cookie_of_call.set(None)
            try:
                try:
                    await self._pass(request, receive, answer)
                except _No as no:
                    answer.instead = no
                except Exception:
                    if answer.instead is None:
                        raise
                if answer.instead is not None:
                    await answer.refuse(answer.instead)
            finally:
                cookie_of_call.reset(token)
                REQUESTS.labels(request.kind, str(answer.status)).inc()

    async def _pass(self, request: _Request, receive: Receive, answer: _Answer) -> None:
        self._check_host(request)
        wait_ms = self._rate.take(address_of_call())
        if wait_ms:
            seconds = str(-(-wait_ms // 1000)).encode()
            raise _No(429, "resource_exhausted", "Too many requests; wait a little.", ((b"retry-after", seconds),))
        if not request.is_call:
            await self._files(request.scope, receive, answer)
            return
        app = self._calls.get(request.path)
        if request.method != "POST":
            raise _No(405, "unimplemented", "Calls are sent by POST.", ((b"allow", b"POST"),))
        if request.content_type not in _CONTENT_TYPES:
            accepted = ((b"accept-post", b"application/json, application/proto"),)
            raise _No(415, "invalid_argument", "This is no content type of Connect.", accepted)
        if app is None:
            raise _No(404, "unimplemented", "There is no such method.")
        self._check_origin(request)
        most, within_s = self._limits.body_bytes, self._limits.body_s
        if request.path in self._with_file:
            most, within_s = self._limits.file_bytes, self._limits.file_s
        if request.length > most:
            raise _No(413, "resource_exhausted", f"A request has at most {most} bytes.")
        answer.compresses = "gzip" in request.text("accept-encoding")
        await app(request.scope, _Body(receive, answer, most, within_s), answer)

    def _check_host(self, request: _Request) -> None:
        """Only under its own names is this server asked: a foreign name that leads here is somebody's trick."""
        host = request.text("host").lower()
        if len(request.texts("host")) != 1 or not self._is_ours(host):
            raise _No(421, "invalid_argument", "This server is not called that; see GRIMOIRE_WEB_ORIGIN.")
        # A proxy that is not asked to say so ends TLS: what people see is what counts.
        request.secure = request.secure or f"https://{host}" in self._origins

    def _is_ours(self, host: str) -> bool:
        if host in self._hosts:
            return True
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found["name"].strip("[]")
        if self._hosts:
            # With names of its own it answers to no others; health is asked by address.
            return name in ("localhost", "127.0.0.1", "::1")
        # Nobody can make an address lead elsewhere.
        return name in self._names or _is_address(name)

    def _check_origin(self, request: _Request) -> None:
        origins, sites = request.texts("origin"), request.texts("sec-fetch-site")
        if not origins and not sites:
            return
        ours = all(request.is_from_same(o) or o.lower() in self._origins for o in origins)
        if len(origins) > 1 or not ours or any(site != "same-origin" for site in sites):
            raise _No(403, "permission_denied", "This call comes from another site.")
        cookie_of_call.set(SessionCookie(secure=request.secure, port=request.port))


class _Request:
    """One request, as far as it is judged here."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.secure = scope.get("scheme") == "https"
        server = scope.get("server")
        self.port: int = (server[1] if server else 0) or 0
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]

    @property
    def is_call(self) -> bool:
        """It calls a method."""
        return self.path.startswith(_RPC)

    @property
    def kind(self) -> str:
        """For counting."""
        return "rpc" if self.is_call else "file"

    def texts(self, name: str) -> list[str]:
        """All headers of a name."""
        wanted = name.encode()
        return [value.decode("latin-1").strip() for key, value in self._headers if key == wanted]

    def text(self, name: str) -> str:
        """The one header of a name; empty: there is none."""
        return next(iter(self.texts(name)), "")

    @property
    def content_type(self) -> str:
        """Without parameters."""
        return self.text("content-type").partition(";")[0].strip().lower()

    @property
    def length(self) -> int:
        """Of the body, as told; 0: not told."""
        told = self.text("content-length")
        return int(told) if told.isascii() and told.isdigit() else 0

    def is_from_same(self, origin: str) -> bool:
        """The page came from where the request goes."""
        scheme = "https" if self.secure else "http"
        return origin.lower() == f"{scheme}://{self.text('host').lower()}"


class _Body:
    """A request's body: not too much of it, and not too late."""

    def __init__(self, receive: Receive, answer: _Answer, most: int, within_s: float) -> None:
        self._receive = receive
        self._answer = answer
        self._left = most
        self._most = most
        self._until = asyncio.get_running_loop().time() + within_s
        self._done = False

    async def __call__(self) -> Event:
        if self._done:
            # From here on it only says that the client has gone.
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                event = await self._receive()
        except TimeoutError:
            return self._refuse(_No(408, "deadline_exceeded", "The request's body took too long."))
        if event["type"] == "http.request":
            self._left -= len(event.get("body", b""))
            if self._left < 0:
                return self._refuse(_No(413, "resource_exhausted", f"A request has at most {self._most} bytes."))
            self._done = not event.get("more_body", False)
        else:
            self._done = True
        return event

    def _refuse(self, no: _No) -> Event:
        """To the application the client has gone; the client is told why."""
        self._done = True
        self._answer.instead = no
        return {"type": "http.disconnect"}


class _Answer:
    """Sends, with what every response has."""

    def __init__(self, send: Send, request: _Request) -> None:
        self._send = send
        self._request = request
        self._held: Event | None = None
        self.status = 0
        self.compresses = False
        self.instead: _No | None = None
        """Sent in place of whatever the application says."""

    async def __call__(self, event: Event) -> None:
        """As ASGI's `send`."""
        if self.instead is not None:
            return
        if event["type"] == "http.response.start":
            self.status = event["status"]
            event = {**event, "headers": self._headers(event.get("headers", ()))}
            if self.compresses and self.status == 200:
                self._held = event
                return
        elif self._held is not None:
            start, self._held = self._held, None
            event = self._compressed(start, event)
            await self._send(start)
        await self._send(event)

    async def refuse(self, no: _No) -> None:
        """Says no, in the words of Connect."""
        self.instead = None
        body = json.dumps({"code": no.code, "message": str(no)}).encode()
        headers = [
            (b"content-type", b"application/json" if self._request.is_call else b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *no.headers,
        ]
        await self({"type": "http.response.start", "status": no.status, "headers": headers})
        await self({"type": "http.response.body", "body": b"" if self._request.method == "HEAD" else body})

    def _headers(self, headers: Any) -> list[tuple[bytes, bytes]]:
        own = [(name, value) for name, value in headers if (name, value) != (b"content-encoding", b"identity")]
        if self._request.is_call:
            own.append((b"cache-control", b"no-store"))
        if self._request.secure:
            own.append(_STRICT_TRANSPORT)
        return [*own, *_HEADERS, (b"date", formatdate(usegmt=True).encode())]

    @staticmethod
    def _compressed(start: Event, event: Event) -> Event:
        """A whole answer of some size, made smaller; streams stay as they are."""
        body = event.get("body", b"")
        if event.get("more_body") or len(body) < _COMPRESSED_FROM:
            return event
        start["headers"].append((b"content-encoding", b"gzip"))
        return {**event, "body": gzip.compress(body, 4)}


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
