"""The built web client as files: hashes, compression, routes, and no build at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from gateway.files import Files
from gateway.guard import Guard
from gateway.web_settings import WebSettings

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCRIPT = "assets/index-Dk3a9f_Q.js"
JS = b"export const answer = 42;\n" * 100


def build(folder: Path) -> Path:
    """What a build leaves behind."""
    (folder / "assets").mkdir(parents=True)
    files = {
        "index.html": b"<!doctype html><title>Grimoire</title>" + b"<!-- -->" * 100,
        SCRIPT: JS,
        f"{SCRIPT}.br": b"brotli bytes",
        f"{SCRIPT}.zst": b"zstd bytes",
        "assets/style-Aa1_Bb2-.css": b"body { color: red }\n" * 100,
        "assets/style-Aa1_Bb2-.css.gz": gzip.compress(b"body { color: red }\n" * 100),
        "assets/plain.js": b"let x;",
        "favicon.svg": b"<svg/>",
        "manifest.webmanifest": b"{}",
        ".secret": b"no",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


async def serving(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    guard = Guard({}, Files(folder), WebSettings(dist=folder))
    transport = httpx.ASGITransport(guard, client=("127.0.0.1", 1))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers={"accept-encoding": ""}
    ) as c:
        yield c


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def built(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    async for client in serving(build(tmp_path_factory.mktemp("web") / "dist")):
        yield client


async def test_what_has_its_hash_in_its_name_is_kept_for_ever_and_the_rest_asked_again(
    built: httpx.AsyncClient,
) -> None:
    for path, caching in (
        (f"/{SCRIPT}", "public, max-age=31536000, immutable"),
        ("/assets/style-Aa1_Bb2-.css", "public, max-age=31536000, immutable"),
        ("/assets/plain.js", "no-cache"),
        ("/favicon.svg", "no-cache"),
        ("/", "no-cache"),
        ("/m/abc", "no-cache"),
    ):
        answer = await built.get(path)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, caching), path


async def test_files_have_their_kind(built: httpx.AsyncClient) -> None:
    for path, kind in (
        (f"/{SCRIPT}", "text/javascript; charset=utf-8"),
        ("/assets/style-Aa1_Bb2-.css", "text/css; charset=utf-8"),
        ("/favicon.svg", "image/svg+xml"),
        ("/manifest.webmanifest", "application/manifest+json"),
        ("/", "text/html; charset=utf-8"),
    ):
        assert (await built.get(path)).headers["content-type"] == kind


@pytest.mark.parametrize(
    ("accepts", "encoding", "body"),
    [
        ("gzip, br, zstd", "br", b"brotli bytes"),
        ("zstd;q=0.9, gzip", "zstd", b"zstd bytes"),
        ("gzip", "gzip", None),
        ("identity", None, JS),
    ],
)
async def test_the_best_encoding_there_is_is_sent(
    built: httpx.AsyncClient, accepts: str, encoding: str | None, body: bytes | None
) -> None:
    async with built.stream("GET", f"/{SCRIPT}", headers={"accept-encoding": accepts}) as answer:
        raw = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert answer.headers.get("content-encoding") == encoding
    assert answer.headers["vary"] == "accept-encoding"
    assert int(answer.headers["content-length"]) == len(raw)
    assert (gzip.decompress(raw) if body is None else raw) == (JS if body is None else body)


async def test_what_one_has_is_not_sent_again(built: httpx.AsyncClient) -> None:
    tags = set()
    for accepts in ("", "gzip", "br"):
        headers = {"accept-encoding": accepts}
        async with built.stream("GET", f"/{SCRIPT}", headers=headers) as first:
            tag = first.headers["etag"]
        tags.add(tag)
        for shown in (tag, f'"other", W/{tag}'):
            again = await built.get(f"/{SCRIPT}", headers={**headers, "if-none-match": shown})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert (await built.get(f"/{SCRIPT}", headers={"if-none-match": '"other"'})).status_code == 200
    assert len(tags) == 3


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/m/0123/replay?v=7",
        "/m/0123/audit",
        "/audit",
        "/replay",
        "/u/Aino",
        "/rules/two_towers/TT-4.6",
        "/settings",
        "/about",
    ],
)
async def test_every_route_of_the_client_is_its_page(built: httpx.AsyncClient, path: str) -> None:
    answer = await built.get(path)
    assert answer.status_code == 200
    assert "Grimoire" in answer.text


async def test_what_is_nowhere_is_not_found(built: httpx.AsyncClient) -> None:
    page = await built.get("/nowhere", headers={"accept": "text/html"})
    assert (page.status_code, "Grimoire" in page.text) == (404, True)
    for path in ("/nowhere.js", "/assets/none.js", "/.secret", "/index.html.gz", f"/{SCRIPT}.br", "/assets"):
        answer = await built.get(path)
        assert (answer.status_code, answer.text) == (404, "There is no such file."), path


@pytest.mark.parametrize(
    "path",
    [
        "/../secret",
        "/assets/../../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "//etc/passwd",
        "/assets/%00",
        "/\\..\\secret",
    ],
)
async def test_nothing_outside_is_ever_read(
    built: httpx.AsyncClient, path: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    answer = await built.request("GET", httpx.URL("http://localhost", raw_path=path.encode()))
    assert answer.status_code == 404


async def test_heads_have_no_body_and_files_are_only_read(built: httpx.AsyncClient) -> None:
    head = await built.head(f"/{SCRIPT}")
    assert (head.status_code, head.content) == (200, b"")
    assert int(head.headers["content-length"]) == len(JS)
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        answer = await built.request(method, f"/{SCRIPT}")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_without_a_build_a_page_says_which_command_makes_it(tmp_path: Path) -> None:
    async for client in serving(tmp_path / "dist"):
        for path in ("/", "/m/abc", "/anything"):
            answer = await client.get(path, headers={"accept": "text/html"})
            assert answer.status_code == 503
            assert "make web" in answer.text
            # Nothing in it that its own policy refuses.
            assert "<style" not in answer.text
            assert "style=" not in answer.text
            assert "<script" not in answer.text
        assert (await client.get("/healthz")).text == "ok"
        build(tmp_path / "dist")
        assert "Grimoire</title>" in (await client.get("/")).text


async def test_a_new_build_is_taken_up(tmp_path: Path) -> None:
    folder = build(tmp_path / "dist")
    async for client in serving(folder):
        assert (await client.get("/assets/new-12345678.js")).status_code == 404
        (folder / "assets/new-12345678.js").write_bytes(b"new")
        (folder / "index.html").write_bytes(b"<title>Another</title>")
        os.utime(folder / "index.html", ns=(1, 1))
        assert "Another" in (await client.get("/")).text
        assert (await client.get("/assets/new-12345678.js")).content == b"new"
