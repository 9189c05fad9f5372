"""Makes the README's pictures (docs/pictures) from the running product: `python tools/screenshots.py`.

A throw-away installation is started, programs sit down at its tables, and a browser looks at it as people do. Needs
Chromium (`apt-get install chromium fonts-dejavu-core`).
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, ViewportSize, async_playwright

from grimoire.client import Client, MatchSession
from grimoire.client.tables import MINE, OPEN
from grimoire.plugins import load_game
from grimoire.runtime.config import Config, LogLevel, RunFile
from grimoire.runtime.stack import Stack

PICTURES: Final = Path(__file__).resolve().parent.parent / "docs" / "pictures"
GAME: Final = "two_towers"
GARDEN: Final = "wizards_garden"
TOGETHER: Final = "spellbound"
BROOMS: Final = "broom_service"
DESKTOP: Final = ViewportSize(width=1200, height=800)
PHONE: Final = ViewportSize(width=360, height=640)
LARGEST: Final = 150 * 1024
MOVES: Final = 14
GARDEN_MOVES: Final = 110
TOGETHER_MOVES: Final = 60
BROOM_MOVES: Final = 70


async def main() -> int:
    """Makes every picture; 1 if one is too large for a README."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    os.environ["GRIMOIRE_BOTS_PACE_MS"] = "0"
    with tempfile.TemporaryDirectory(prefix="grimoire-") as folder:
        config = replace(Config.for_test(Path(folder)), log_level=LogLevel.WARNING)
        async with Stack(config) as stack, _browser() as browser, AsyncExitStack() as people:
            running = RunFile.read(stack.config.home)
            assert running is not None
            site, edge = f"http://{running.addresses['web']}", running.addresses["gateway"]

            async def sit_down(name: str) -> Client:
                client = await people.enter_async_context(
                    await Client.connect(edge, keepsakes=Path(folder) / "keepsakes" / name)
                )
                await client.guest(name)
                return client

            await _take(browser, site, sit_down)
    sizes = {path: path.stat().st_size for path in sorted(PICTURES.glob("*.webp"))}
    for path, size in sizes.items():
        print(f"{size / 1024:6.0f} KiB  {path.name}")
    return int(any(size > LARGEST for size in sizes.values()))


class _Camera:
    """Takes pictures as one signed-in person sees the site."""

    def __init__(self, browser: Browser, site: str, token: str) -> None:
        self._browser, self._site, self._token = browser, site, token

    async def take(self, name: str, path: str, ready: str, *, phone: bool = False, dark: bool = False) -> None:
        """One picture.

        Args:
            name: of the file.
            path: of the page.
            ready: selector of what must be there first.
            phone: on a small screen, in its sharpness.
            dark: in dark colours.
        """
        context = await self._browser.new_context(
            base_url=self._site,
            viewport=PHONE if phone else DESKTOP,
            device_scale_factor=2 if phone else 1,
            is_mobile=phone,
            has_touch=phone,
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            locale="en-GB",
        )
        port = self._site.rpartition(":")[2]
        await context.add_cookies(
            [{"name": f"grimoire-{port}", "value": self._token, "url": self._site, "httpOnly": True}]
        )
        page = await context.new_page()
        await page.goto(path)
        await page.locator(ready).first.wait_for()
        await _drawn(page)
        # WebP: a third of PNG's bytes, as sharp. Playwright's own call knows only PNG and JPEG.
        browser = await context.new_cdp_session(page)
        shot = await browser.send("Page.captureScreenshot", {"format": "webp", "quality": 86})
        (PICTURES / f"{name}.webp").write_bytes(base64.b64decode(shot["data"]))
        await context.close()


async def _take(browser: Browser, site: str, sit_down: object) -> None:
    assert callable(sit_down)
    mira, otso, ada = [await sit_down(name) for name in ("Mira", "Otso", "Ada")]
    await ada.create(GAME, {"battlefield": "crystal_garden", "deck_type": "endless"})
    await (await sit_down("Väinö")).create(GAME, {"battlefield": "misty_harbour", "turn_time_s": "86400"}, rated=False)
    camera = _Camera(browser, site, mira.token or "")
    async with (
        _under_way(lambda: _match(otso, ada, {"battlefield": "free_steppe"}), MOVES),
        _under_way(lambda: _match(mira, otso, {}), MOVES) as sessions,
    ):
        own = f"/m/{sessions[0].match_id}"
        for dark in (False, True):
            await camera.take(f"lobby-{'dark' if dark else 'light'}", "/", "main h2", dark=dark)
        await _photograph(camera, "match", sessions, "[data-ref]")
        async with _under_way(lambda: _match(mira, ada, {}, game=GARDEN), GARDEN_MOVES) as garden:
            await _photograph(camera, "garden", garden, "[data-ref^='space:']")
        everybody = [mira, otso, ada]
        async with _under_way(lambda: _table(everybody, {}, TOGETHER), TOGETHER_MOVES) as together:
            await _photograph(camera, "spellbound", together, "[data-ref^='card:']")
        weather = {"storm_clouds": "true", "turn_time_s": "3600"}
        async with _under_way(lambda: _table(everybody, weather, BROOMS), BROOM_MOVES) as brooms:
            await _photograph(camera, "brooms", brooms, "[data-region]")
        await _play(sessions, 10_000)
        for dark in (False, True):
            shade = "dark" if dark else "light"
            await camera.take(f"replay-{shade}", f"{own}/replay?v=40", "main svg.scene", dark=dark)
            await camera.take(f"audit-{shade}", f"{own}/audit", "text=All 7 checks", dark=dark)


async def _photograph(camera: _Camera, name: str, sessions: list[MatchSession], ready: str) -> None:
    """A table as its first person sees it when asked, on both screens."""
    for dark in (False, True):
        for phone in (False, True):
            # The clock goes on while pictures are taken: it may have passed the turn on since the last one.
            await _play(sessions, 0)
            shot = f"{name}{'-phone' if phone else ''}-{'dark' if dark else 'light'}"
            path = f"/m/{sessions[0].match_id}"
            await camera.take(shot, path, f"[data-stage=asked] {ready}", phone=phone, dark=dark)


@asynccontextmanager
async def _browser() -> AsyncIterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        raise SystemExit("Pictures need Chromium: apt-get install chromium fonts-dejavu-core")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        await browser.close()


@asynccontextmanager
async def _under_way(
    seating: Callable[[], AbstractAsyncContextManager[list[MatchSession]]], moves: int
) -> AsyncIterator[list[MatchSession]]:
    """A match after so many commands, when its first seat is asked. Deals differ: one over by then is played anew."""
    while True:
        async with seating() as sessions:
            await _play(sessions, moves)
            if not sessions[0].finished:
                yield sessions
                return


@asynccontextmanager
async def _match(
    one: Client, other: Client, options: Mapping[str, str], game: str = GAME
) -> AsyncIterator[list[MatchSession]]:
    opened = await one.create(game, options)
    await other.join(opened.challenge_id)
    async with _seated([one, other], (await one.matched(opened.challenge_id)).match_id) as sessions:
        yield sessions


@asynccontextmanager
async def _table(people: list[Client], options: Mapping[str, str], game: str) -> AsyncIterator[list[MatchSession]]:
    """One seat for each person."""
    rows = [MINE, *(OPEN for _ in people[1:])]
    opened = await people[0].open_table(game, rows, options, rated=False)
    for seat, each in enumerate(people[1:], 1):
        await each.take_seats(opened.challenge_id, [seat])
    async with _seated(people, (await people[0].matched(opened.challenge_id)).match_id) as sessions:
        yield sessions


@asynccontextmanager
async def _seated(people: list[Client], match_id: str) -> AsyncIterator[list[MatchSession]]:
    sessions = list(await asyncio.gather(*(each.open_match(match_id) for each in people)))
    try:
        for session in sessions:
            await session.started(timeout_s=30)
        yield sessions
    finally:
        for session in sessions:
            await session.close()


async def _play(sessions: list[MatchSession], moves: int) -> None:
    """So many commands at least, up to a turn of the first seat or the end; both seats play as the game's bot would."""
    plugin = load_game(sessions[0].game)
    choices = random.Random(7)
    while not sessions[0].finished:
        for session in sessions:
            prompt = next((prompt for prompt in session.own_prompts if prompt.required), None)
            if prompt is None or session.finished:
                continue
            if moves <= 0 and session is sessions[0]:
                return
            view = plugin.game.view_type.FromString(session.view)
            code, message = plugin.bot.suggest(view, prompt, "heuristic", choices, 20)
            accepted = await session.submit(code, message, prompt.prompt_id)
            moves -= 1
            for each in sessions:
                await each.reached(accepted.version, timeout_s=20)
        await asyncio.sleep(0.01)
    for session in sessions:
        await session.wait_finished(timeout_s=30)


async def _drawn(page: Page) -> None:
    """Nothing loads any more, and two frames have been painted since."""
    await page.wait_for_function("() => document.querySelector('[aria-busy=true]') === null")
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
