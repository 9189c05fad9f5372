"""The built web client, as files: by hash for ever, compressed, and one page for all of its routes."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
import structlog

from gateway.guard import Receive, Scope, Send

__all__ = ["Files"]

_log: Final = structlog.stdlib.get_logger(__name__)

_INDEX: Final = "/index.html"
_ROUTES: Final = frozenset({"m", "audit", "replay", "u", "rules", "settings", "about", "stats"})
"""First parts of the paths that the client's own router knows."""
_HASHED: Final = re.compile(r"/assets/.*[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+")
"""Names that change with what they hold."""
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_ASK_AGAIN: Final = "no-cache"
_ENCODINGS: Final = (("br", ".br"), ("zstd", ".zst"), ("gzip", ".gz"))
_SUFFIXES: Final = frozenset(suffix for _, suffix in _ENCODINGS)
_TEXT: Final = re.compile(r"(text/.*|application/(javascript|json|manifest\+json|wasm|xml)|image/svg\+xml)")
_SMALL: Final = 512
_TYPES: Final = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
    ".txt": "text/plain",
    ".ico": "image/x-icon",
    ".map": "application/json",
}
_NO_BUILD: Final = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Grimoire: the web client is not built</title>
<h1>The web client is not built</h1>
<p>The server runs, but its pages have not been made yet. In the project's folder, run</p>
<pre>make web</pre>
<p>and load this page again. Programs and the terminal client work as they are.</p>
"""


class _File(msgspec.Struct, frozen=True):
    """One file with its encodings, all in memory.

    Attributes:
        bodies: by content encoding; empty: as it is.
        media_type: with its charset.
        tag: strong validator (RFC 9110, section 8.8.3) of the content as it is.
        caching: of `Cache-Control`.
    """

    bodies: Mapping[str, bytes]
    media_type: str
    tag: str
    caching: str


class Files:
    """Serves a folder.

    The folder is read once and kept in memory; when its first page changes it is read again.

    Args:
        folder: of the built client; it need not be there yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, _File] = {}
        self._stamp: tuple[int, int] | None = None
        self._reading = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, as an ASGI application."""
        del receive
        method, path = scope["method"], scope["path"]
        headers = {key: value.decode("latin-1") for key, value in scope["headers"]}
        if method not in ("GET", "HEAD"):
            await _answer(send, method, 405, b"Files are only read.", {"allow": "GET, HEAD"})
        elif path == "/healthz":
            await _answer(send, method, 200, b"ok", {"cache-control": "no-store"})
        else:
            await self._serve(send, method, path, headers)

    async def _serve(self, send: Send, method: str, path: str, headers: Mapping[bytes, str]) -> None:
        await self._refresh()
        status, file = 200, self._known.get(path)
        if file is None and self._is_page(path, headers):
            file = self._known.get(_INDEX)
            if file is None:
                kind = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
                await _answer(send, method, 503, _NO_BUILD, kind)
                return
            status = 200 if _is_route(path) else 404
        if file is None:
            await _answer(send, method, 404, b"There is no such file.", {"cache-control": "no-store"})
            return
        await _send_file(send, method, status, file, headers)

    @staticmethod
    def _is_page(path: str, headers: Mapping[bytes, str]) -> bool:
        """A route of the client, or what somebody takes for one: it is shown a page, not a bare word."""
        return _is_route(path) or ("text/html" in headers.get(b"accept", "") and not path.startswith("/assets/"))

    async def _refresh(self) -> None:
        stamp = _stamp(self._folder / _INDEX[1:])
        if stamp == self._stamp:
            return
        async with self._reading:
            if stamp != self._stamp:
                self._known = await asyncio.to_thread(_read, self._folder) if stamp is not None else {}
                self._stamp = stamp
                _log.info("web_client_read", files=len(self._known))


def _is_route(path: str) -> bool:
    return path == "/" or path.split("/")[1] in _ROUTES


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _read(folder: Path) -> dict[str, _File]:
    """All files by their path in a URL. What is asked for is looked up here, never in the file system."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in _SUFFIXES or not path.is_file() or any(part.startswith(".") for part in name.split("/")):
            continue
        found[f"/{name}"] = _read_file(path, f"/{name}")
    return found


def _read_file(path: Path, url: str) -> _File:
    plain = path.read_bytes()
    media_type = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    bodies = {"": plain}
    for encoding, suffix in _ENCODINGS:
        made = path.with_name(path.name + suffix)
        if made.is_file():
            bodies[encoding] = made.read_bytes()
    if "gzip" not in bodies and len(plain) > _SMALL and _TEXT.fullmatch(media_type):
        bodies["gzip"] = gzip.compress(plain, 9, mtime=0)
    return _File(
        bodies=bodies,
        media_type=f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type,
        tag=f'"{hashlib.sha256(plain).hexdigest()[:32]}"',
        caching=_FOR_EVER if _HASHED.fullmatch(url) else _ASK_AGAIN,
    )


async def _send_file(send: Send, method: str, status: int, file: _File, headers: Mapping[bytes, str]) -> None:
    accepted = {part.partition(";")[0].strip() for part in headers.get(b"accept-encoding", "").lower().split(",")}
    encoding = next((name for name, _ in _ENCODINGS if name in accepted and name in file.bodies), "")
    # Another encoding is another representation: its tag must differ (RFC 9110, section 8.8.3).
    tag = file.tag if not encoding else f'{file.tag[:-1]}-{encoding}"'
    told = {"cache-control": file.caching, "etag": tag, "vary": "accept-encoding"}
    if status == 200 and tag in {
        part.strip().removeprefix("W/") for part in headers.get(b"if-none-match", "").split(",")
    }:
        await _answer(send, method, 304, b"", told)
        return
    told["content-type"] = file.media_type
    if encoding:
        told["content-encoding"] = encoding
    await _answer(send, method, status, file.bodies[encoding], told)


async def _answer(send: Send, method: str, status: int, body: bytes, headers: Mapping[str, str]) -> None:
    told = {"content-type": "text/plain; charset=utf-8", **headers}
    if status == 304:
        del told["content-type"]
    else:
        told["content-length"] = str(len(body))
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.encode(), value.encode()) for name, value in told.items()],
        }
    )
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else body})
