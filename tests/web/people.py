"""People at their screens: a browser context each, with everything that must not happen watched for."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, CDPSession, ConsoleMessage, Page, Request

from tests.web.built import WEB

DESKTOP: Mapping[str, Any] = {"viewport": {"width": 1280, "height": 900}}
PHONE: Mapping[str, Any] = {
    "viewport": {"width": 360, "height": 640},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
_STREAM = "application/connect+proto"
# A call that is answered with an error is told of by the browser too, whatever the page makes of it.
_NETWORK = re.compile(r"Failed to load resource|net::ERR_")


class Person:
    """One person at one screen.

    Leaving the block fails if the page wrote an error, broke the Content-Security-Policy, threw something nobody
    caught, or asked another origin for anything.

    Args:
        browser: where the context is made.
        base: the site, e.g. `http://127.0.0.1:7400`.
        screen: `DESKTOP`, `PHONE` or options of a context.
        language: what the browser prefers.
        dark: what the system prefers.
    """

    context: BrowserContext
    page: Page

    def __init__(
        self,
        browser: Browser,
        base: str,
        screen: Mapping[str, Any] = DESKTOP,
        *,
        language: str = "en-GB",
        dark: bool = False,
        **more: Any,
    ) -> None:
        self.base = base
        self.faults: list[str] = []
        self.network_may_fail = False
        """Set while a test takes the network or the server away."""
        self._browser = browser
        self._options = {
            "base_url": base,
            "locale": language,
            "color_scheme": "dark" if dark else "light",
            "reduced_motion": "reduce",
            **screen,
            **more,
        }

    async def __aenter__(self) -> Person:
        self.context = await self._browser.new_context(**self._options)
        self.context.set_default_timeout(60_000)
        self.context.on("page", self._watch)
        self.page = await self.context.new_page()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            await self._testify(error)
        await self.context.close()
        if kind is None:
            assert not self.faults, self.faults
        elif self.faults and error is not None:
            error.add_note(f"the page's faults: {self.faults}")

    async def _testify(self, error: BaseException) -> None:
        """What this person saw when the test failed."""
        for page in self.context.pages:
            try:
                shown = await asyncio.wait_for(page.locator("body").aria_snapshot(timeout=3000), 5)
            except Exception as unseen:  # The page may be what broke; the test's own error is what counts.
                shown = repr(unseen)
            error.add_note(f"{page.url} shows:\n{shown[:6000]}")

    async def sit_as(self, token: str) -> None:
        """This browser is signed in as whoever has the token, e.g. of a program that plays."""
        port = urlsplit(self.base).port
        cookie = {"name": f"grimoire-{port}", "value": token, "url": self.base, "httpOnly": True, "sameSite": "Strict"}
        await self.context.add_cookies([cookie])  # type: ignore[list-item]

    async def open(self, path: str) -> Page:
        """Goes to a path and waits until its heading is there."""
        await self.page.goto(path)
        await self.page.get_by_role("heading", level=1).first.wait_for()
        return self.page

    async def axe(self, *, at: str = "") -> None:
        """Fails on any finding of the WCAG 2.2 AA rules (W-ALL-2). `at`: said with the findings."""
        await self.page.evaluate(_axe_source())
        # What moves has no colour of its own yet.
        await self.page.evaluate("Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null)))")
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        # A rule that axe itself calls experimental: a card's face has more on it than the name it is called by.
        options = {
            "runOnly": {"type": "tag", "values": tags},
            "rules": {"label-content-name-mismatch": {"enabled": False}},
        }
        found = await self.page.evaluate("(options) => axe.run(options)", options)
        told = [
            f"{each['id']} ({each['impact']}): "
            + "; ".join(f"{n['html'][:160]} {n['any']!s:.200}" for n in each["nodes"][:3])
            for each in found["violations"]
        ]
        assert not told, f"{at or self.page.url}: " + "\n".join(told)

    async def no_sideways_scroll(self) -> None:
        """The page is no wider than the screen (W-ALL-3)."""
        over = await self.page.evaluate("""() => {
            const wide = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= wide) return null;
            return [...document.querySelectorAll("body *")]
                .filter((each) => each.getBoundingClientRect().right > wide + 1)
                .map((each) => each.outerHTML.slice(0, 120)).slice(0, 4);
        }""")
        assert over is None, f"{self.page.url} is wider than the screen: {over}"

    def _watch(self, page: Page) -> None:
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.faults.append(f"uncaught: {error}"))
        page.on("request", self._asked)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not (self.network_may_fail and _NETWORK.search(message.text)):
            self.faults.append(f"console {message.type}: {message.text} ({message.location.get('url')})")

    def _asked(self, request: Request) -> None:
        place = urlsplit(request.url)
        if place.scheme in {"data", "blob"}:
            return
        if f"{place.scheme}://{place.netloc}" != self.base:
            self.faults.append(f"asked elsewhere: {request.url}")


class Tap:
    """Every byte that the server sends on the streams of a page, as they arrive."""

    def __init__(self) -> None:
        # By stream: what had come before it was listened to, then what came since; the one may be told after the other.
        self._before: dict[str, bytes] = {}
        self._since: dict[str, bytearray] = {}
        self._taking: list[asyncio.Future[None]] = []
        self._news = asyncio.Event()

    @classmethod
    async def on(cls, person: Person) -> Tap:
        """Starts to listen; call it before the page is opened."""
        tap = cls()
        session = await person.context.new_cdp_session(person.page)
        session.on("Network.responseReceived", lambda event: tap._answered(session, event))
        session.on("Network.dataReceived", tap._received)
        await session.send("Network.enable")
        return tap

    @property
    def streams(self) -> list[bytes]:
        """What each stream has sent so far."""
        return [self._before.get(request, b"") + since for request, since in self._since.items()]

    @property
    def data(self) -> bytes:
        """What all of them have sent, one after the other."""
        return b"".join(self.streams)

    async def complete(self) -> None:
        """Waits for what had come of streams before they were listened to."""
        await asyncio.gather(*self._taking)

    async def until(self, has_come: Callable[[Tap], bool], within_s: float = 30) -> None:
        """Waits until what has come is enough: the browser may tell of it after the page has shown it.

        Raises:
            TimeoutError: it never was.
        """
        async with asyncio.timeout(within_s):
            await self.complete()
            while not has_come(self):
                self._news.clear()
                await self._news.wait()
                await self.complete()

    def _answered(self, session: CDPSession, event: dict[str, Any]) -> None:
        if event["response"]["mimeType"] != _STREAM:
            return
        self._since[event["requestId"]] = bytearray()
        self._taking.append(asyncio.ensure_future(self._take_over(session, event["requestId"])))

    async def _take_over(self, session: CDPSession, request: str) -> None:
        answer = await session.send("Network.streamResourceContent", {"requestId": request})
        self._before[request] = base64.b64decode(answer["bufferedData"])
        self._news.set()

    def _received(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self._since and "data" in event:
            self._since[event["requestId"]] += base64.b64decode(event["data"])
            self._news.set()


def _axe_source() -> str:
    return (Path(WEB) / "node_modules" / "axe-core" / "axe.min.js").read_text()
