"""Without a mouse: from the lobby to the end of a match by keys alone, as a picture and in words (W-A11Y-1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import Locator, Page, expect

from tests.web.people import Person
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(300)]


async def tab_to(page: Page, target: Locator) -> None:
    """Presses Tab until the target has the focus, which must be seen everywhere on the way (W-A11Y-3)."""
    await target.wait_for()
    for _ in range(80):
        await page.keyboard.press("Tab")
        assert await page.evaluate("""() => {
            const at = document.activeElement;
            if (at === document.body) return true;
            const styles = [at, at.closest("label")].filter(Boolean).map((each) => getComputedStyle(each));
            return styles.some((style) => style.outlineStyle !== "none" || style.boxShadow !== "none");
        }"""), await page.evaluate("document.activeElement.outerHTML")
        if await target.evaluate("(each) => each === document.activeElement"):
            return
    raise AssertionError("Tab never came there")


async def begin(player: Person) -> Seat:
    page = await player.open("/")
    await tab_to(page, page.get_by_role("button", name=says("lobby.bot_play")))
    await page.keyboard.press("Enter")
    seat = Seat(page)
    assert await seat.turn_or_end()
    return seat


async def test_a_whole_match_by_single_keys(person: Callable[..., Person]) -> None:
    async with person() as player:
        seat = await begin(player)
        page = seat.page
        while await seat.turn_or_end():
            await expect(seat.hand).to_have_count(6)
            before = await seat.version()
            for key in "123456":
                await page.keyboard.press(key)
                if await seat.bar.get_by_role("button", name=seat.play).count():
                    await page.keyboard.press("p")
                    break
                await page.keyboard.press("Escape")
            else:
                await page.keyboard.press("1")
                await page.keyboard.press("d")
            await page.keyboard.press("Control+Enter")
            await seat.reaches(before + 1)
        await expect(page.get_by_role("region", name=says("match.end.title"))).to_be_visible()


async def test_a_whole_match_in_words(person: Callable[..., Person]) -> None:
    async with person() as player:
        seat = await begin(player)
        page = seat.page
        await page.keyboard.press("x")
        line = page.get_by_label(says("play.text.line"))
        while await seat.turn_or_end():
            await line.wait_for()
            before = await seat.version()
            if not await line.evaluate("(each) => each === document.activeElement"):
                await page.keyboard.press(":")
            await expect(line).to_be_focused()
            await page.keyboard.type("1")
            await page.keyboard.press("Enter")
            await expect(line).to_have_value("")
            await page.keyboard.press("Enter")
            await seat.reaches(before + 1)
        await expect(page.get_by_role("region", name=says("match.end.title"))).to_be_visible()
        await player.axe()


async def test_help_lists_the_keys_and_closes_with_escape(person: Callable[..., Person]) -> None:
    async with person() as player:
        seat = await begin(player)
        await seat.page.keyboard.press("?")
        dialog = seat.page.get_by_role("dialog")
        await expect(dialog).to_contain_text(says("play.keys.confirm"))
        await player.axe()
        await seat.page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
