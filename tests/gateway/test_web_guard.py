"""What stands before everything browsers reach, tried with bytes on a socket."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from msgspec.structs import replace

from gateway.guard import POLICY, Guard
from gateway.service import Gateway
from gateway.web_settings import WebLimits, WebSettings
from grimoire.runtime.config import ConfigError
from grimoire.v1 import play_pb2
from tests.gateway.browser import Browser
from tests.gateway.house import GAME, House, house

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = WebLimits(header_s=0.4, body_s=0.4, connections_per_address=64, stalled_s=0.5)
GUEST = "/grimoire.v1.SessionService/CreateGuest"
GAMES = "/grimoire.v1.PlayService/ListGames"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    dist = tmp_path_factory.mktemp("dist")
    (dist / "large.bin").write_bytes(bytes(32 << 20))
    web = WebSettings(dist=dist, limits=LIMITS)
    async with house(tmp_path_factory.mktemp("house"), Gateway(web=web)) as running:
        yield running


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


def _head(method: str, path: str, host: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode("latin-1")


@asynccontextmanager
async def connection(home: House) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    host, port = home.config.address("web")
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def read_answer(reader: asyncio.StreamReader, *, head_only: bool = False) -> Answer:
    async with asyncio.timeout(60):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = b"" if head_only else await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(head[0].split()[1]), headers, body)


async def ask(
    home: House, *lines: str, method: str = "POST", path: str = GAMES, host: str = "", body: bytes = b"{}"
) -> Answer:
    named = any(line.lower().startswith("content-type") for line in lines)
    usual = [f"Content-Length: {len(body)}", *([] if named else ["Content-Type: application/json"])]
    async with connection(home) as (reader, writer):
        writer.write(_head(method, path, host or str(home.config.address("web")), *usual, *lines) + body)
        answer = await read_answer(reader, head_only=method == "HEAD")
        if answer.headers.get("transfer-encoding") == "chunked":
            while (size := int(await reader.readline(), 16)) > 0:
                answer.body += await reader.readexactly(size)
                await reader.readline()
        return answer


# ---- whose call it is ------------------------------------------------------------------------------------------------


async def test_our_own_page_and_programs_may_call(strict: House) -> None:
    origin = strict.web
    for lines in ([], [f"Origin: {origin}"], [f"Origin: {origin}", "Sec-Fetch-Site: same-origin"]):
        assert (await ask(strict, *lines)).status == 200, lines


@pytest.mark.parametrize(
    "lines",
    [
        ["Origin: http://evil.example"],
        ["Origin: null"],
        ["Origin: https://{host}"],
        ["Origin: http://127.0.0.1:1"],
        ["Origin: http://{host}.evil.example"],
        ["Origin: http://{host}", "Origin: http://evil.example"],
        ["Origin: http://{host}", "Origin: http://{host}"],
        ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"],
        ["Sec-Fetch-Site: none"],
        ["Origin: http://{host}", "Sec-Fetch-Site: cross-site"],
    ],
)
async def test_another_site_may_not(strict: House, lines: list[str]) -> None:
    host = str(strict.config.address("web"))
    answer = await ask(strict, *(line.format(host=host) for line in lines), path=GUEST)
    assert (answer.status, json.loads(answer.body)["code"]) == (403, "permission_denied")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::1", "", "a b", "@127.0.0.1"]
)
async def test_a_foreign_name_that_leads_here_is_not_ours(strict: House, host: str) -> None:
    async with connection(strict) as (reader, writer):
        writer.write(_head("GET", "/", host, "Connection: close"))
        assert (await read_answer(reader)).status in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7400", "127.0.0.1", "192.168.1.7:7400", "[::1]:7400"])
async def test_this_machine_and_bare_addresses_are(strict: House, host: str) -> None:
    assert (await ask(strict, host=host)).status == 200
    assert (await ask(strict, f"Origin: http://{host.lower()}", host=host)).status == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "application/grpc+proto",
    ],
)
async def test_what_a_form_could_send_is_no_call(strict: House, content_type: str) -> None:
    answer = await ask(strict, f"Content-Type: {content_type}", path=GUEST)
    assert answer.status == 415


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
async def test_calls_are_sent_by_post(strict: House, method: str) -> None:
    answer = await ask(strict, method=method, path=f"{GUEST}?encoding=json&message=%7B%7D", body=b"")
    assert answer.status == 405
    assert answer.headers["allow"] == "POST"
    # Nobody is told that another site might call.
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_methods_that_are_not_here_are_said_not_to_be(strict: House) -> None:
    for path in (
        "/grimoire.v1.PlayService/Cheat",
        "/grimoire.v1.RulesService/GetView",
        "/grimoire.v1.MatchmakingService/ForgetAccount",
        "/grimoire.v1.MatchmakingService/FollowLobby",
        "/grimoire.v1.ReplayService/Import",
        "/grimoire.v1.PlayService/ListGames/",
        "/grimoire.",
    ):
        assert (await ask(strict, path=path)).status == 404, path


# ---- how much, how fast ----------------------------------------------------------------------------------------------


async def test_a_body_has_a_limit_told_or_not(strict: House) -> None:
    large = b"{" + b" " * (LIMITS.body_bytes + 10) + b"}"
    assert (await ask(strict, body=large)).status == 413
    async with connection(strict) as (reader, writer):
        host = str(strict.config.address("web"))
        writer.write(_head("POST", GAMES, host, "Content-Type: application/json", "Transfer-Encoding: chunked"))
        for start in range(0, len(large), 8192):
            piece = large[start : start + 8192]
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        answer = await read_answer(reader)
        assert (answer.status, json.loads(answer.body)["code"]) == (413, "resource_exhausted")


async def test_a_promised_message_larger_than_allowed_is_refused(strict: House) -> None:
    body = b"\x00\x7f\xff\xff\xff"
    answer = await ask(
        strict, "Content-Type: application/connect+proto", path="/grimoire.v1.LobbyService/WatchLobby", body=body
    )
    assert b"resource_exhausted" in answer.body


async def test_a_body_that_does_not_come_ends_the_request(strict: House) -> None:
    async with connection(strict) as (reader, writer):
        host = str(strict.config.address("web"))
        writer.write(_head("POST", GAMES, host, "Content-Type: application/json", "Content-Length: 10") + b"{")
        answer = await read_answer(reader)
        assert (answer.status, json.loads(answer.body)["code"]) == (408, "deadline_exceeded")
        assert await reader.read() == b""


async def test_a_head_that_does_not_come_ends_the_connection(strict: House) -> None:
    async with asyncio.timeout(60):
        async with connection(strict) as (reader, _):
            assert await reader.read() == b""
        async with connection(strict) as (reader, writer):
            writer.write(b"POST / HTTP/1.1\r\nHost: ")
            assert await reader.read() == b""


async def test_a_head_has_a_limit(strict: House) -> None:
    for junk in (f"X: {'x' * (LIMITS.header_bytes + 1)}", "\r\n".join(f"X{n}: {'x' * 90}" for n in range(400))):
        async with connection(strict) as (reader, writer):
            writer.write(_head("GET", "/healthz", "localhost", junk))
            assert (await read_answer(reader)).status == 431
            assert await reader.read() == b""


async def test_a_large_body_may_come_in_one_piece_with_its_head(strict: House) -> None:
    for size in (LIMITS.header_bytes, 100_000, 1_000_000):
        answer = await ask(strict, path="/grimoire.v1.ReplayService/ImportFile", body=b" " * size + b"{}")
        assert (answer.status, json.loads(answer.body)["code"]) == (401, "unauthenticated"), size
    # The connection reads on, whatever lay in one piece.
    async with connection(strict) as (reader, writer):
        health = _head("GET", "/healthz", "localhost")
        large = _head("POST", GAMES, "localhost", "Content-Type: application/json", "Content-Length: 60000")
        writer.write(health * 30 + large + b"{".ljust(59_999) + b"}" + health)
        for _ in range(30):
            assert (await read_answer(reader)).status == 200
        assert (await read_answer(reader, head_only=True)).status == 200


async def test_nonsense_is_answered_once_and_cut_off(strict: House) -> None:
    for junk in (
        b"\x16\x03\x01\x00\xa5\x01\x00\x00\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    ):
        async with connection(strict) as (reader, writer):
            writer.write(junk)
            answer = await read_answer(reader)
            assert answer.status in (400, 421)
            assert await reader.read() == b""


async def test_two_requests_in_one_smuggle_nothing(strict: House) -> None:
    host = str(strict.config.address("web"))
    lines = ("Content-Type: application/json", "Content-Length: 4", "Transfer-Encoding: chunked")
    async with connection(strict) as (reader, writer):
        writer.write(_head("POST", GAMES, host, *lines) + b"0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await read_answer(reader)).status == 400


async def test_one_address_has_so_many_connections(strict: House) -> None:
    most = LIMITS.connections_per_address
    host, port = strict.config.address("web")
    opened = [await asyncio.open_connection(host, port) for _ in range(most + 1)]
    try:
        assert (await read_answer(opened[-1][0])).status == 503
    finally:
        for _, writer in opened:
            writer.close()
        for _, writer in opened:
            await writer.wait_closed()


async def test_behind_a_proxy_are_many_people(tmp_path: Path) -> None:
    limits = WebLimits(connections_per_address=3)
    web = WebSettings(dist=tmp_path, proxies=("127.0.0.0/8",), limits=limits)
    async with house(tmp_path / "home", Gateway(web=web)) as home, AsyncExitStack() as stack:
        for _ in range(6):
            await stack.enter_async_context(connection(home))
        assert (await ask(home)).status == 200


async def test_one_address_asks_so_often(tmp_path: Path) -> None:
    limits = replace(WebLimits(), requests_per_s=1.0, request_burst=3)
    async with house(tmp_path, Gateway(web=WebSettings(dist=tmp_path, limits=limits))) as home:
        answers = [await ask(home) for _ in range(4)]
        assert [a.status for a in answers] == [200, 200, 200, 429]
        assert json.loads(answers[-1].body)["code"] == "resource_exhausted"
        assert int(answers[-1].headers["retry-after"]) >= 1


# ---- what browsers are told to refuse --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/healthz"), ("GET", "/no-such-file"), ("POST", GAMES), ("GET", GAMES), ("POST", "/")],
)
async def test_every_answer_says_what_browsers_must_refuse(strict: House, method: str, path: str) -> None:
    headers = (await ask(strict, method=method, path=path)).headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "date" in headers
    assert "server" not in headers
    assert "strict-transport-security" not in headers


async def test_the_policy_lets_nothing_in_from_elsewhere_nor_inside_a_page() -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["frame-ancestors"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["connect-src"] == "'self'"
    assert not [word for word in ("unsafe", "http", "*") if word in POLICY]


async def test_answers_of_calls_are_kept_nowhere(strict: House) -> None:
    assert (await ask(strict)).headers["cache-control"] == "no-store"
    assert (await ask(strict, path=GUEST)).headers["cache-control"] == "no-store"


async def test_a_large_answer_is_compressed_for_who_can_read_it(strict: House) -> None:
    path, body = "/grimoire.v1.PlayService/DescribeGame", json.dumps({"game": GAME}).encode()
    plain = await ask(strict, path=path, body=body)
    small = await ask(strict, "Accept-Encoding: gzip, br", path=path, body=body)
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(small.body) == plain.body
    assert len(small.body) < len(plain.body) / 2


# ---- behind a proxy --------------------------------------------------------------------------------------------------


async def test_behind_a_proxy_the_cookie_is_for_https_alone(tmp_path: Path) -> None:
    web = WebSettings(origins=frozenset({"https://grimoire.example"}), proxies=("127.0.0.1",), dist=tmp_path)
    async with house(tmp_path / "home", Gateway(web=web)) as home:
        headers = ["X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", "Origin: https://grimoire.example"]
        answer = await ask(home, *headers, path=GUEST, host="grimoire.example")
        assert answer.status == 200
        name, _, rest = answer.headers["set-cookie"].partition("=")
        assert name == "__Host-grimoire"
        assert "; Secure" in rest
        assert answer.headers["strict-transport-security"].startswith("max-age=")
        for wrong in ("http://grimoire.example", "https://other.example"):
            refused = await ask(home, *headers[:2], f"Origin: {wrong}", path=GUEST, host="grimoire.example")
            assert refused.status == 403, wrong
        # With a name of its own it answers to no other.
        assert (await ask(home, host="192.168.1.7")).status == 421
        assert (await ask(home, host="127.0.0.1", path="/healthz", method="GET")).status == 200


async def test_nobody_is_believed_about_addresses_unless_it_was_said(strict: House) -> None:
    answer = await ask(strict, "X-Forwarded-Proto: https", f"Origin: {strict.web}", path=GUEST)
    assert answer.status == 200
    assert "; Secure" not in answer.headers["set-cookie"]


async def test_settings_that_cannot_be_used_are_named() -> None:
    for name, value in (
        ("GRIMOIRE_WEB_ORIGIN", "grimoire.example"),
        ("GRIMOIRE_WEB_ORIGIN", "https://grimoire.example/path"),
        ("GRIMOIRE_WEB_ORIGIN", "ftp://grimoire.example"),
        ("GRIMOIRE_WEB_PROXIES", "proxy.example"),
    ):
        with pytest.raises(ConfigError, match=name):
            WebSettings.from_env({name: value})
    given = {
        "GRIMOIRE_WEB_ORIGIN": "https://Grimoire.example:443/, http://lan.example:8080",
        "GRIMOIRE_WEB_PROXIES": "10.0.0.1, 10.1.0.0/16",
        "GRIMOIRE_WEB_DIST": "built",
    }
    settings = WebSettings.from_env(given)
    assert settings.origins == {"https://grimoire.example", "http://lan.example:8080"}
    assert settings.proxies == ("10.0.0.1", "10.1.0.0/16")
    assert settings.dist.name == "built"
    assert WebSettings.from_env({}).dist.parts[-2:] == ("web", "dist")


# ---- lasting streams -------------------------------------------------------------------------------------------------


async def test_a_reader_that_reads_nothing_is_cut_off(strict: House) -> None:
    """More than the buffers between us hold is asked for, and not taken."""
    host, port = strict.config.address("web")
    reader, writer = await asyncio.open_connection(host, port, limit=1)
    writer.write(_head("GET", "/large.bin", f"{host}:{port}"))
    async with asyncio.timeout(20):
        while not writer.transport.is_closing():
            # Only who writes hears of it before it reads.
            with contextlib.suppress(ConnectionError):
                writer.write(b"\r\n")
                await writer.drain()
            await asyncio.sleep(0.01)
    with pytest.raises(ConnectionError):
        await reader.read()


async def test_requests_do_not_queue_without_end(strict: House) -> None:
    async with connection(strict) as (reader, writer):
        writer.write(_head("GET", "/healthz", "localhost") * 5000)
        answers = b""
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(60):
                answers = await reader.read()
        assert answers.count(b"HTTP/1.1 200") < 5000


async def test_a_stop_ends_open_streams_with_a_word(tmp_path: Path) -> None:
    stack = house(tmp_path, Gateway(web=WebSettings(dist=tmp_path)))
    home = await stack.__aenter__()
    browser = Browser(home.web)
    await browser.guest("Aino")
    async with connection(home) as (reader, writer):
        host = str(home.config.address("web"))
        content = b"\x00\x00\x00\x00\x02\x1a\x00"
        writer.write(
            _head(
                "POST",
                "/grimoire.v1.ChatService/WatchChat",
                host,
                "Content-Type: application/connect+proto",
                f"Content-Length: {len(content)}",
            )
            + content
        )
        await stack.__aexit__(None, None, None)
        async with asyncio.timeout(60):
            assert (await reader.read()).startswith(b"HTTP/1.1 ")
    await browser.http.aclose()
    with pytest.raises(httpx.ConnectError):
        async with Browser(home.web) as late:
            await late.call("play", "ListGames", play_pb2.ListGamesRequest(), play_pb2.ListGamesResponse)


async def test_only_http_is_spoken() -> None:
    async def nothing(*_: object) -> None:
        raise AssertionError

    guard = Guard({}, nothing, WebSettings())
    with pytest.raises(RuntimeError):
        await guard({"type": "websocket"}, nothing, nothing)  # type: ignore[arg-type]
