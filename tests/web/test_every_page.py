"""What holds for every page: one heading, a title, no finding of axe, no sideways scroll, own origin only (W-ALL)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.web.conftest import Finished
from tests.web.people import DESKTOP, PHONE, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = [
    "/",
    "/rules",
    "/rules/two_towers",
    "/rules/wizards_garden",
    "/settings",
    "/about",
    "/stats",
    "/audit",
    "/replay",
    "/u/me",
    "/m/{match}",
    "/m/{match}/replay",
    "/m/{match}/audit",
    "/nowhere",
]
NARROWEST = {**PHONE, "viewport": {"width": 320, "height": 640}}


async def settled(page: Page) -> None:
    """Nothing is loading any more."""
    await expect(page.locator("[aria-busy='true']")).to_have_count(0, timeout=20_000)
    await expect(page.get_by_role("heading", level=1)).to_have_count(1)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("screen", "dark", "language"),
    [
        pytest.param(DESKTOP, False, "en", id="desktop-light"),
        pytest.param(DESKTOP, True, "fi", id="desktop-dark-fi", marks=pytest.mark.slow),
        pytest.param(PHONE, False, "fi", id="phone-light-fi", marks=pytest.mark.slow),
        pytest.param(PHONE, True, "en", id="phone-dark", marks=pytest.mark.slow),
    ],
)
async def test_nothing_stands_in_anybodys_way(
    person: Callable[..., Person], finished: Finished, path: str, screen: Any, dark: bool, language: str
) -> None:
    async with person(screen, dark=dark, language=language) as visitor:
        # The browser, too, tells of a page that is not here.
        visitor.network_may_fail = path == "/nowhere"
        page = await visitor.open(path.format(match=finished.match_id))
        await settled(page)
        assert await page.evaluate("document.documentElement.lang") == language
        assert await page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
        assert (await page.title()).strip(" ·") not in {"", "Grimoire"}
        await visitor.axe()
        await visitor.no_sideways_scroll()


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS[:-1])
async def test_narrow_screens_and_large_text(person: Callable[..., Person], finished: Finished, path: str) -> None:
    async with person(NARROWEST) as visitor:
        page = await visitor.open(path.format(match=finished.match_id))
        await settled(page)
        await visitor.no_sideways_scroll()
    async with person({"viewport": {"width": 640, "height": 900}}) as visitor:
        page = await visitor.open(path.format(match=finished.match_id))
        await settled(page)
        await page.evaluate("document.documentElement.style.fontSize = '200%'")
        await visitor.no_sideways_scroll()


async def test_title_heading_and_focus_follow_the_place(person: Callable[..., Person]) -> None:
    async with person() as visitor:
        page = await visitor.open("/")
        titles = {await page.title()}
        await page.get_by_role("navigation", name="Main").get_by_role("link", name="Rules").click()
        await expect(page.get_by_role("heading", level=1, name="Rules")).to_be_focused()
        titles.add(await page.title())
        await page.get_by_role("link", name="Two Towers").click()
        await expect(page.get_by_role("heading", level=1, name="Rules of Two Towers")).to_be_focused()
        await expect(page).to_have_title("Rules of Two Towers · Grimoire")
        titles.add(await page.title())
        assert len(titles) == 3


async def test_back_restores_the_scroll_position(person: Callable[..., Person]) -> None:
    async with person() as visitor:
        page = await visitor.open("/rules/two_towers")
        await page.locator("#refusals").scroll_into_view_if_needed()
        await page.wait_for_function("() => scrollY > 1000")
        there = await page.evaluate("scrollY")
        await page.get_by_role("link", name="TT-4.3").last.click()
        await page.go_back()
        await page.wait_for_function("(y) => Math.abs(scrollY - y) < 4", arg=there)


async def test_the_first_tab_stop_skips_to_the_content(person: Callable[..., Person]) -> None:
    async with person() as visitor:
        page = await visitor.open("/rules/two_towers")
        await page.keyboard.press("Tab")
        skip = page.get_by_role("link", name="Skip to the content")
        await expect(skip).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
async def test_a_theme_that_was_chosen_stays(person: Callable[..., Person], theme: str) -> None:
    async with person() as visitor:
        page = await visitor.open("/")
        await page.evaluate("(theme) => localStorage.setItem('grimoire.settings', JSON.stringify({theme}))", theme)
        await page.reload()
        await expect(page.locator(f"html[data-theme={theme}]")).to_have_count(1)
        await settled(page)
        await visitor.axe()


async def test_language_changes_at_once_and_stays(person: Callable[..., Person]) -> None:
    async with person() as visitor:
        page = await visitor.open("/rules")
        await page.get_by_role("banner").get_by_label("Language").select_option("fi")
        await expect(page.get_by_role("heading", level=1, name="Säännöt")).to_be_visible()
        await expect(page.get_by_role("link", name="Kaksi tornia")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("heading", level=1, name="Säännöt")).to_be_visible()
        assert await page.evaluate("document.documentElement.lang") == "fi"
