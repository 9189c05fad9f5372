"""The lobby: challenges of every kind, quick play with its ready check, and rows that stay where they are (W-LOB)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest
from playwright.async_api import Locator, Page, expect

from tests.web.people import PHONE, Person
from tests.web.texts import like, says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]


def rows(page: Page) -> Locator:
    """Challenges in the table, those that have just gone too."""
    return page.locator("[data-challenge]")


async def open_dialog(page: Page) -> Locator:
    await page.get_by_role("button", name=says("lobby.new")).click()
    return page.get_by_role("dialog", name=says("lobby.new_title"))


async def challenge(page: Page) -> None:
    dialog = await open_dialog(page)
    await dialog.get_by_role("button", name=says("lobby.create")).click()
    await expect(dialog).to_have_count(0)


async def withdraw_all(page: Page) -> None:
    button = page.get_by_role("button", name=says("lobby.withdraw"))
    while await button.count():
        left = await button.count() - 1
        await button.first.click()
        await expect(button).to_have_count(left)


async def test_new_rows_wait_while_the_pointer_is_on_the_table(person: Callable[..., Person]) -> None:
    """W-LOB-1."""
    async with person() as host, person() as other:
        pages = await asyncio.gather(host.open("/"), other.open("/"))
        await challenge(pages[0])
        row = rows(pages[1]).first
        await row.hover()
        before = await row.bounding_box()
        await challenge(pages[0])
        await expect(pages[1].get_by_role("status").filter(has_text="1 new challenge")).to_be_visible()
        assert await row.bounding_box() == before
        await expect(rows(pages[1])).to_have_count(1)
        await other.axe(at="new challenges wait")
        await pages[1].get_by_role("button", name=says("lobby.show"), exact=True).click()
        await expect(rows(pages[1])).to_have_count(2)
        await withdraw_all(pages[0])
        await pages[1].mouse.move(1, 1)
        await expect(rows(pages[1])).to_have_count(0)


async def test_a_row_that_is_gone_stays_under_the_pointer(person: Callable[..., Person]) -> None:
    async with person() as host, person() as other:
        pages = await asyncio.gather(host.open("/"), other.open("/"))
        await challenge(pages[0])
        await rows(pages[1]).first.hover()
        await pages[0].get_by_role("button", name=says("lobby.withdraw")).click()
        gone = rows(pages[1]).get_by_text(says("lobby.withdrawn"), exact=True)
        await expect(gone).to_be_visible()
        await expect(pages[1].get_by_role("button", name=re.compile("^Join "))).to_have_count(0)
        await other.axe(at="a challenge is gone")
        await pages[0].mouse.move(1, 1)
        # The host's table forgets it by itself; the one with the pointer on it keeps it.
        await expect(rows(pages[0])).to_have_count(0)
        await expect(gone).to_be_visible()
        await pages[1].mouse.move(1, 1)
        await expect(rows(pages[1])).to_have_count(0)


async def test_every_option_by_keyboard_alone(person: Callable[..., Person]) -> None:
    """W-LOB-4: set without a pointer, shown in the row; what does not fit is said at its field."""
    async with person() as host:
        page = await host.open("/")
        await expect(page.get_by_role("radio").first).to_be_visible()
        await page.keyboard.press("n")
        dialog = page.get_by_role("dialog", name=says("lobby.new_title"))
        await expect(dialog).to_be_visible()
        await host.axe(at="new challenge")
        await dialog.get_by_label("Battlefield").focus()
        await page.keyboard.type("Crystal")
        await dialog.get_by_role("radio", name="Standard deck").focus()
        await page.keyboard.press("ArrowRight")
        time = dialog.get_by_label("Time for a decision")
        await time.focus()
        await page.keyboard.press("Control+A")
        await page.keyboard.type("5")
        await expect(time).to_have_attribute("aria-invalid", "true")
        await expect(dialog.get_by_text(like("lobby.out_of_range"))).to_be_visible()
        await page.keyboard.press("Enter")
        await expect(dialog).to_be_visible()
        await page.keyboard.press("Control+A")
        await page.keyboard.type("600")
        await dialog.get_by_label("Missed turns that lose").focus()
        await page.keyboard.press("ArrowUp")
        await dialog.get_by_role("radio", name="random", exact=False).last.focus()
        await dialog.get_by_role("radio", name="first seat").focus()
        await page.keyboard.press("Space")
        await dialog.get_by_role("checkbox", name=says("lobby.rated")).focus()
        await page.keyboard.press("Space")
        await dialog.get_by_label(says("lobby.delay")).focus()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        create = dialog.get_by_role("button", name=says("lobby.create"))
        if await create.count():
            await create.focus()
            await page.keyboard.press("Enter")
        await expect(dialog).to_have_count(0)
        row = rows(page).first
        for told in ("Crystal Garden", "Endless deck", "10 minutes", "4", "first seat", "not rated", "30 seconds"):
            await expect(row).to_contain_text(told)
        again = await open_dialog(page)
        await expect(again.get_by_text(says("lobby.recent"))).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(again).to_have_count(0)
        await withdraw_all(page)


async def test_a_challenge_that_could_not_be_sent_is_still_in_the_dialog(person: Callable[..., Person]) -> None:
    async with person() as host:
        page = await host.open("/")
        dialog = await open_dialog(page)
        await page.route("**/CreateChallenge", lambda route: route.abort())
        host.network_may_fail = True
        await dialog.get_by_role("button", name=says("lobby.create")).click()
        await expect(dialog.get_by_role("alert")).to_contain_text(says("shell.code.unreachable"))
        await page.unroute("**/CreateChallenge")
        await dialog.get_by_role("button", name=says("lobby.create")).click()
        await expect(dialog).to_have_count(0)
        await expect(rows(page)).to_have_count(1)
        await withdraw_all(page)


async def test_quick_play_outlives_a_reload_and_asks_whether_one_is_ready(person: Callable[..., Person]) -> None:
    """W-LOB-5, W-LOB-6."""
    async with person() as one, person(PHONE, dark=True) as two:
        pages = await asyncio.gather(one.open("/"), two.open("/"))
        await pages[0].get_by_role("button", name=re.compile("^Days")).click()
        searching = pages[0].get_by_text(says("lobby.searching"), exact=True)
        await expect(searching).to_be_visible()
        await pages[0].reload()
        await expect(searching).to_be_visible()
        # It is followed on every page.
        await pages[0].get_by_role("link", name=says("shell.about"), exact=True).click()
        await pages[1].get_by_role("button", name=re.compile("^Days")).click()
        asked = [page.get_by_role("dialog") for page in pages]
        for dialog in asked:
            await expect(dialog.get_by_role("button", name=says("lobby.ready"), exact=True)).to_be_focused()
        await one.axe(at="ready check")
        await two.axe(at="ready check on a phone")
        await pages[0].keyboard.press("Enter")
        await expect(asked[0].get_by_text(says("lobby.ready_waiting"))).to_be_visible()
        await asked[1].get_by_role("button", name=says("lobby.ready"), exact=True).click()
        for page in pages:
            await page.wait_for_url("**/m/*")
        assert pages[0].url == pages[1].url


async def test_declining_leaves_the_other_searching(person: Callable[..., Person]) -> None:
    """W-LOB-5: the ticket of whoever was ready goes on."""
    async with person() as one, person() as two:
        pages = await asyncio.gather(one.open("/"), two.open("/"))
        for page in pages:
            await page.get_by_role("button", name=re.compile("^Short")).click()
        await pages[0].get_by_role("dialog").get_by_role("button", name=says("lobby.ready"), exact=True).click()
        await pages[1].get_by_role("dialog").get_by_role("button", name=says("lobby.decline")).click()
        await expect(pages[1].get_by_role("button", name=re.compile("^Short"))).to_be_visible()
        await expect(pages[0].get_by_role("dialog")).to_have_count(0)
        await expect(pages[0].get_by_text(says("lobby.searching"), exact=True)).to_be_visible()
        await pages[0].get_by_role("button", name=says("lobby.search_cancel")).click()
        await expect(pages[0].get_by_role("button", name=re.compile("^Short"))).to_be_visible()


async def test_an_invitation_by_link(person: Callable[..., Person]) -> None:
    async with person() as host, person(PHONE) as friend:
        page = await host.open("/")
        await challenge(page)
        own = rows(page).filter(has=page.get_by_role("button", name=says("lobby.copy_link")))
        link = await own.get_attribute("data-challenge")
        # The host reads on, and is told when the match begins.
        await page.get_by_role("link", name=says("shell.about"), exact=True).click()
        invited = await friend.open(f"/?c={link}")
        dialog = invited.get_by_role("dialog")
        await dialog.get_by_role("button", name=says("lobby.join"), exact=True).click()
        await invited.wait_for_url("**/m/*")
        await page.get_by_text(says("shell.match_begun")).first.wait_for()
        await page.get_by_role("link", name=says("lobby.play"), exact=True).click()
        await page.wait_for_url("**/m/*")
        assert page.url == invited.url


async def test_keys_and_the_filter(person: Callable[..., Person]) -> None:
    async with person() as host, person() as other:
        pages = await asyncio.gather(host.open("/"), other.open("/"))
        await challenge(pages[0])
        await challenge(pages[0])
        join = pages[1].get_by_role("button", name=re.compile("^Join "))
        await expect(join).to_have_count(2)
        await join.first.focus()
        await pages[1].keyboard.press("ArrowDown")
        await expect(join.last).to_be_focused()
        await pages[1].keyboard.press("/")
        find = pages[1].get_by_role("searchbox", name=says("lobby.filter"))
        await expect(find).to_be_focused()
        await pages[1].keyboard.type("nobody is called so")
        await expect(pages[1].get_by_text(says("lobby.none_fits"))).to_be_visible()
        # It is still there after a look at another page.
        await pages[1].get_by_role("link", name=says("shell.about"), exact=True).click()
        await pages[1].go_back()
        await expect(pages[1].get_by_role("searchbox", name=says("lobby.filter"))).to_have_value("nobody is called so")
        await pages[1].get_by_role("button", name=says("lobby.filter_off")).click()
        await expect(join).to_have_count(2)
        await withdraw_all(pages[0])
