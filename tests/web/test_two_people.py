"""Two browsers: one opens a challenge, the other joins it, and they play until one of them has won."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from playwright.async_api import Page, expect

from tests.web.people import PHONE, Person
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(300)]


async def challenge(page: Page) -> None:
    """Opens one with the usual options."""
    await page.get_by_role("button", name=says("lobby.new")).click()
    dialog = page.get_by_role("dialog", name=says("lobby.new_title"))
    await dialog.get_by_role("button", name=says("lobby.create")).click()
    await expect(dialog).to_have_count(0)


async def join(page: Page) -> None:
    """Joins the only one."""
    await (
        page.get_by_role("table", name=says("lobby.challenges"))
        .get_by_role("button", name=re.compile("^Join "))
        .click()
    )


async def test_a_whole_match(person: Callable[..., Person]) -> None:
    async with person() as aino, person(PHONE, dark=True) as otso:
        pages = await asyncio.gather(aino.open("/"), otso.open("/"))
        await challenge(pages[0])
        if await pages[1].get_by_role("tab").count():
            await pages[1].get_by_role("tab", name=re.compile(says("lobby.challenges"))).click()
        await join(pages[1])
        seats = [Seat(page) for page in pages]
        for page in pages:
            await page.wait_for_url("**/m/*")
        assert pages[0].url == pages[1].url
        counts = await asyncio.gather(*(seat.to_end() for seat in seats))
        assert min(counts) > 0
        # What is opened at the end comes to each screen in its own time, and to both the same.
        while len(versions := {await seat.version() for seat in seats}) > 1:
            for seat in seats:
                await seat.reaches(max(versions))
        titles = {await page.get_by_role("region", name=says("match.end.title")).inner_text() for page in pages}
        assert {says("match.end.won"), says("match.end.lost")} <= {
            line for text in titles for line in text.splitlines()
        }
        await otso.no_sideways_scroll()


async def test_a_challenge_comes_and_goes_in_every_lobby(person: Callable[..., Person]) -> None:
    """W-LOB-2."""
    async with person() as host, person() as other:
        pages = await asyncio.gather(host.open("/"), other.open("/"))
        await challenge(pages[0])
        row = pages[1].get_by_role("button", name=re.compile("^Join "))
        await expect(row).to_have_count(1)
        await pages[0].get_by_role("button", name=says("lobby.withdraw")).click()
        await expect(row).to_have_count(0)


async def test_joining_twice_gives_one_match(person: Callable[..., Person]) -> None:
    """W-LOB-3: two people press at once; one gets the seat."""
    async with person() as host, person() as one, person() as two:
        for each in (one, two):
            each.network_may_fail = True
        pages = await asyncio.gather(host.open("/"), one.open("/"), two.open("/"))
        await challenge(pages[0])
        buttons = [page.get_by_role("button", name=re.compile("^Join ")) for page in pages[1:]]
        await asyncio.gather(*(button.wait_for() for button in buttons))
        await asyncio.gather(*(button.click() for button in buttons))
        await pages[0].wait_for_url("**/m/*")
        came = [asyncio.create_task(page.wait_for_url("**/m/*")) for page in pages[1:]]
        await asyncio.wait(came, return_when=asyncio.FIRST_COMPLETED)
        for page in pages[1:]:
            await expect(page.get_by_role("button", name=re.compile("^Join "))).to_have_count(0)
        for each in came:
            each.cancel()
        await asyncio.gather(*came, return_exceptions=True)
        assert sorted("/m/" in page.url for page in pages) == [False, True, True]
