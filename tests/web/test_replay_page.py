"""The replay in the browser: any version, any eyes that may see it, links that come back to the same place."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.async_api import FilePayload, Page, expect

from grimoire.client import Client
from grimoire.engine import PUBLIC, Viewer
from grimoire.games.two_towers.v1.two_towers_pb2 import View
from grimoire.runtime.stack import Stack
from tests.web.conftest import Finished
from tests.web.people import PHONE, Person
from tests.web.texts import says

pytestmark = pytest.mark.asyncio(loop_scope="module")

GAME = "two_towers"


async def at(page: Page, version: int) -> None:
    """The replay shows this version."""
    await expect(page.locator(f'.replay[data-version="{version}"]')).to_be_visible()


async def shown(page: Page) -> str:
    """All that the board says, without what is only for the eye."""
    await page.locator(".stage .view").wait_for()
    return await page.locator(".stage").inner_text()


async def test_every_version_shows_what_the_server_gives_for_it(
    person: Callable[..., Person], finished: Finished, stack: Stack
) -> None:
    """W-REP-1: towers and walls of twenty versions, in any order, are those of the server's own view."""
    async with await Client.connect(str(stack.config.gateway)) as client:
        await client.guest("Reader")
        frames = [frame async for frame in client.frames(finished.match_id, PUBLIC)]
    views = {f.version: View.FromString(f.view) for f in frames if f.view}
    versions = sorted(views)
    jumps = random.Random(1).sample(versions, min(20, len(versions)))
    async with person() as reader:
        page = await reader.open(f"/m/{finished.match_id}/replay?v={versions[0]}&seat=public")
        await at(page, versions[0])
        slider = page.get_by_role("slider")
        for version in jumps:
            await slider.fill(str(version))
            await at(page, version)
            text = re.split(r"\s+", await shown(page))
            for seat in views[version].seats:
                assert str(seat.numbers.tower) in text, (version, seat.numbers.tower)
                assert str(seat.numbers.wall) in text, (version, seat.numbers.wall)
        await reader.axe()


async def test_a_link_comes_back_to_the_same_place(person: Callable[..., Person], finished: Finished) -> None:
    """W-REP-3, and the keys."""
    async with person() as reader:
        page = await reader.open(f"/m/{finished.match_id}/replay?v=8&seat=1")
        await at(page, 8)
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press("ArrowRight")
        await at(page, 10)
        await page.keyboard.press("v")
        await expect(page).not_to_have_url(re.compile(r"seat=1$"))
        await expect(page).to_have_url(re.compile(r"v=10&"))
        query = parse_qs(urlsplit(page.url).query)
        assert query["v"] == ["10"]
        assert query["seat"] != ["1"]
        link = page.url
        await page.evaluate("document.querySelector('.replay').dataset.kept = 'yes'")
        await page.keyboard.press("Home")
        await at(page, 1)
        # The address follows the cursor; the page stays as it is.
        await expect(page.locator(".replay[data-kept]")).to_be_visible()
        await expect(page).to_have_url(re.compile(r"v=1&"))
        await expect(page.locator(".replay[data-kept]")).to_be_visible()
        await page.goto(link)
        await at(page, 10)
        assert await page.get_by_role("slider").get_attribute("aria-valuetext")


async def test_a_seat_sees_what_it_saw_then(person: Callable[..., Person], finished: Finished, stack: Stack) -> None:
    """W-REP-4: a seat's board names its own hand, and not the other's."""
    async with await Client.connect(str(stack.config.gateway)) as client:
        await client.guest("Reader")
        hands = {}
        for seat in (0, 1):
            frames = [frame async for frame in client.frames(finished.match_id, Viewer.of_seat(seat))]
            mine = next(f for f in frames if f.view)
            hands[seat] = {slot.card for slot in View.FromString(mine.view).seats[seat].hand}
            version = mine.version
        names = {item.id: item.name for c in (await client.describe(GAME)).catalogues for item in c.items}
    async with person() as reader:
        page = await reader.open(f"/m/{finished.match_id}/replay?v={version}&seat=0")
        await at(page, version)
        text = await shown(page)
        assert all(names[card] in text for card in hands[0])
        assert not any(names[card] in text for card in hands[1] - hands[0])


async def test_playing_on_begins_at_the_shown_position(person: Callable[..., Person], finished: Finished) -> None:
    """W-REP-5."""
    async with person() as reader:
        page = await reader.open(f"/m/{finished.match_id}/replay?v=9")
        await at(page, 9)
        await page.get_by_role("button", name=says("replay.fork_short")).click()
        await reader.axe()
        await page.get_by_role("button", name=says("replay.fork_go"), exact=True).click()
        await page.wait_for_url(re.compile(r"/m/[a-z0-9]{26}$"))
        assert finished.match_id not in page.url


async def test_a_file_is_watched_on_a_phone(person: Callable[..., Person], finished: Finished) -> None:
    async with person(PHONE, dark=True, language="fi") as reader:
        page = await reader.open("/replay")
        await reader.axe()
        file = FilePayload(name="ottelu.jsonl", mimeType="application/jsonl", buffer=finished.log)
        await page.locator("input[type=file]").set_input_files(file)
        await page.wait_for_url(re.compile(r"/m/import-"))
        await expect(page.get_by_text(says("replay.imported", "fi"))).to_be_attached()
        await page.get_by_role("button", name=says("replay.last", "fi")).click()
        await reader.no_sideways_scroll()
        await reader.axe()


async def test_a_file_that_lies_is_not_shown(person: Callable[..., Person], finished: Finished) -> None:
    lines = finished.log.splitlines(keepends=True)
    async with person() as reader:
        page = await reader.open("/replay")
        file = FilePayload(name="m.jsonl", mimeType="application/jsonl", buffer=b"".join(lines[:4] + lines[5:]))
        reader.network_may_fail = True
        await page.locator("input[type=file]").set_input_files(file)
        await expect(page.locator("main [role=alert]")).to_be_visible(timeout=30_000)
        assert page.url.endswith("/replay")
