"""A browser as far as the edge sees one: an origin, a cookie jar, Connect's bytes."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx
from google.protobuf.json_format import MessageToJson, Parse
from google.protobuf.message import Message

from grimoire.v1 import account_pb2, envelope_pb2, play_pb2

M = TypeVar("M", bound=Message)

_SERVICES = {
    "session": "grimoire.v1.SessionService",
    "account": "grimoire.v1.AccountService",
    "play": "grimoire.v1.PlayService",
    "chat": "grimoire.v1.ChatService",
    "lobby": "grimoire.v1.LobbyService",
    "matchmaking": "grimoire.v1.MatchmakingService",
    "replay": "grimoire.v1.ReplayService",
}


class RefusedError(Exception):
    """A call's error, as Connect tells it."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(error)
        self.status = status
        self.connect_code: str = error["code"]
        self.rejection = envelope_pb2.Rejection()
        for detail in error.get("details", ()):
            assert detail["type"] == "grimoire.v1.Rejection"
            value = detail["value"]
            self.rejection.ParseFromString(base64.b64decode(value + "=" * (-len(value) % 4)))

    @property
    def code(self) -> str:
        return self.rejection.code


class Browser:
    """One page of one person.

    Args:
        base: where the edge is, e.g. `http://127.0.0.1:1234`.
        origin: what it says it comes from; None: the same; empty: says nothing (a program).
        token: shown instead of a cookie.
    """

    def __init__(self, base: str, *, origin: str | None = None, token: str = "", as_json: bool = False) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        if origin != "":
            headers["origin"] = origin or base
            headers["sec-fetch-site"] = "same-origin"
        self.as_json = as_json
        self.http = httpx.AsyncClient(base_url=base, headers=headers, timeout=20)

    async def __aenter__(self) -> Browser:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def call(self, service: str, method: str, request: Message, answer: type[M]) -> M:
        """One answer."""
        body, kind = self._encoded(request)
        response = await self.http.post(
            f"/{_SERVICES[service]}/{method}", content=body, headers={"content-type": f"application/{kind}"}
        )
        if response.status_code != 200:
            raise RefusedError(response.status_code, response.json())
        assert response.headers["content-type"] == f"application/{kind}"
        return self._decoded(response.content, answer)

    async def stream(self, service: str, method: str, request: Message, answer: type[M]) -> AsyncGenerator[M, None]:
        """Many answers."""
        body, kind = self._encoded(request)
        content = struct.pack(">BI", 0, len(body)) + body
        headers = {"content-type": f"application/connect+{kind}"}
        async with self.http.stream(
            "POST", f"/{_SERVICES[service]}/{method}", content=content, headers=headers
        ) as response:
            if response.status_code != 200:
                raise RefusedError(response.status_code, json.loads(await response.aread()))
            async for flags, data in _envelopes(response.aiter_raw()):
                if flags & 2:
                    end = json.loads(data)
                    if "error" in end:
                        raise RefusedError(200, end["error"])
                    return
                yield self._decoded(data, answer)
        raise AssertionError("the stream broke off")

    async def guest(self, name: str = "") -> play_pb2.Account:
        """Signs in as a new guest."""
        request = play_pb2.CreateGuestRequest(name=name)
        return (await self.call("session", "CreateGuest", request, play_pb2.CreateGuestResponse)).account

    async def sign_up(self, name: str, password: str) -> play_pb2.Account:
        request = account_pb2.SignUpRequest(name=name, password=password)
        return (await self.call("account", "SignUp", request, account_pb2.SignUpResponse)).account

    async def sign_in(self, name: str, password: str) -> play_pb2.Account:
        request = account_pb2.SignInRequest(name=name, password=password)
        return (await self.call("account", "SignIn", request, account_pb2.SignInResponse)).account

    async def me(self) -> account_pb2.GetMeResponse:
        return await self.call("account", "GetMe", account_pb2.GetMeRequest(), account_pb2.GetMeResponse)

    def _encoded(self, request: Message) -> tuple[bytes, str]:
        if self.as_json:
            return MessageToJson(request).encode(), "json"
        return request.SerializeToString(), "proto"

    def _decoded(self, data: bytes, answer: type[M]) -> M:
        return Parse(data, answer()) if self.as_json else answer.FromString(data)


async def _envelopes(chunks: AsyncIterator[bytes]) -> AsyncIterator[tuple[int, bytes]]:
    held = b""
    async for chunk in chunks:
        held += chunk
        while len(held) >= 5:
            flags, size = struct.unpack(">BI", held[:5])
            if len(held) < 5 + size:
                break
            yield flags, held[5 : 5 + size]
            held = held[5 + size :]


@asynccontextmanager
async def guests(base: str, *names: str, **more: Any) -> AsyncIterator[list[Browser]]:
    """Several people, signed in as guests."""
    browsers = [Browser(base, **more) for _ in names]
    try:
        for browser, name in zip(browsers, names, strict=True):
            await browser.guest(name)
        yield browsers
    finally:
        for browser in browsers:
            await browser.http.aclose()
