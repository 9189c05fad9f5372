"""Accounts and settings: from a guest to somebody who comes back, and to nobody again (W-SET, W-PRO)."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.async_api import Locator, Page, expect

from tests.web.people import PHONE, Person
from tests.web.texts import like, says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]

PASSWORD = "seven owls at noon"


def password(place: Page | Locator, key: str = "account.password") -> Locator:
    return place.get_by_label(says(key), exact=True)


async def sign_up(page: Page, name: str) -> None:
    """From the top bar, as somebody who is nobody yet."""
    await page.get_by_role("banner").get_by_role("button", name=says("shell.sign_in")).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name=says("account.have_none")).click()
    await dialog.get_by_label(says("account.name"), exact=True).fill(name)
    await password(dialog).fill(PASSWORD)
    await dialog.get_by_role("button", name=says("account.make")).click()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("banner")).to_contain_text(name)


async def sign_in(page: Page, name: str, secret: str, language: str = "en") -> None:
    await page.get_by_role("banner").get_by_role("button", name=says("shell.sign_in", language)).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(says("account.name", language), exact=True).fill(name)
    await dialog.get_by_label(says("account.password", language), exact=True).fill(secret)
    await dialog.get_by_role("button", name=says("shell.sign_in", language)).click()


async def saved(page: Page) -> None:
    """What was changed is with the account."""
    await expect(page.get_by_text(says("settings.kept_saved"))).to_be_visible()


async def test_a_guest_keeps_its_account_and_comes_back_elsewhere(person: Callable[..., Person]) -> None:
    async with person() as guest, person(PHONE, dark=True, language="fi") as elsewhere:
        page = await guest.open("/")
        await page.get_by_role("button", name=says("lobby.bot_play")).click()
        await page.wait_for_url("**/m/*")
        match = page.url
        await page.get_by_role("banner").get_by_role("button", name=", account").click()
        await page.get_by_role("button", name=says("shell.keep_account")).click()
        dialog = page.get_by_role("dialog", name=says("account.keep_title"))
        await guest.axe(at="keep this account")
        await dialog.get_by_label(says("account.name"), exact=True).fill("Aino")
        await password(dialog).fill(PASSWORD)
        await dialog.get_by_role("button", name=says("account.keep")).click()
        await expect(dialog).to_have_count(0)

        elsewhere.network_may_fail = True
        phone = await elsewhere.open("/")
        await sign_in(phone, "Aino", "no owl at all", "fi")
        await expect(phone.get_by_role("dialog").get_by_role("alert")).to_have_text(says("account.wrong", "fi"))
        await elsewhere.axe(at="a wrong password")
        await phone.get_by_role("dialog").get_by_label(says("account.password", "fi"), exact=True).fill(PASSWORD)
        await phone.get_by_role("dialog").get_by_role("button", name=says("shell.sign_in", "fi")).click()
        await expect(phone.get_by_role("dialog")).to_have_count(0)
        # The guest's match is the account's.
        await phone.locator(f"a[href='{match[match.index('/m/') :]}']").first.wait_for()


async def test_settings_apply_at_once_and_go_with_the_account(person: Callable[..., Person]) -> None:
    """W-SET-1."""
    async with person() as here, person() as there:
        page = await here.open("/settings")
        await sign_up(page, "Mielikki")
        root = page.locator("html")
        await page.get_by_role("radio", name=says("settings.theme_dark"), exact=True).check()
        await expect(root).to_have_attribute("data-theme", "dark")
        await page.get_by_role("radio", name=says("settings.motion_off"), exact=True).check()
        await expect(root).to_have_attribute("data-motion", "off")
        before = await page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
        await page.get_by_role("slider", name=says("settings.text_size")).fill("150")
        after = await page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
        assert after == pytest.approx(1.5 * before)
        await here.no_sideways_scroll()
        await page.get_by_role("radio", name=says("shell.language_fi")).check()
        await expect(root).to_have_attribute("lang", "fi")
        await expect(page.get_by_text(says("settings.kept_saved", "fi"))).to_be_visible()
        await page.reload()
        await expect(root).to_have_attribute("data-theme", "dark")
        await expect(root).to_have_attribute("lang", "fi")

        other = await there.open("/")
        await sign_in(other, "Mielikki", PASSWORD)
        await expect(other.locator("html")).to_have_attribute("data-theme", "dark")
        await expect(other.locator("html")).to_have_attribute("lang", "fi")
        # The first device's older page does not undo what the second has chosen.
        await other.goto("/settings")
        await other.get_by_role("radio", name=says("settings.theme_contrast", "fi"), exact=True).check()
        await expect(other.get_by_text(says("settings.kept_saved", "fi"))).to_be_visible()
        here.network_may_fail = True
        await page.get_by_role("radio", name=says("settings.announce_short", "fi")).check()
        await expect(page.get_by_text(says("settings.kept_saved", "fi"))).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("radio", name=says("settings.announce_short", "fi"))).to_be_checked()


async def test_settings_wait_for_the_server(person: Callable[..., Person]) -> None:
    async with person() as visitor:
        page = await visitor.open("/settings")
        await sign_up(page, "Louhi")
        visitor.network_may_fail = True
        await page.route("**/SaveSettings", lambda route: route.abort())
        await page.get_by_role("radio", name=says("settings.theme_light"), exact=True).check()
        await expect(page.get_by_text(says("settings.kept_pending"))).to_be_visible()
        await page.unroute("**/SaveSettings")
        await page.evaluate("dispatchEvent(new Event('online'))")
        await saved(page)


async def test_changed_keys_are_the_keys_of_a_match(person: Callable[..., Person]) -> None:
    """W-SET-2."""
    async with person() as visitor:
        page = await visitor.open("/settings")
        button = page.get_by_role("button", name=says("play.keys.help"))
        await button.click()
        await page.keyboard.press("x")
        await expect(page.get_by_role("alert").get_by_text(like("settings.key_taken"))).to_be_visible()
        await page.keyboard.press("h")
        await expect(button).to_contain_text("h")
        await page.goto("/")
        await page.get_by_role("button", name=says("lobby.bot_play")).click()
        await page.wait_for_url("**/m/*")
        # The lobby's heading was there before: the page that takes the key is the one with the match.
        await page.locator("[data-stage=asked]").wait_for()
        await page.keyboard.press("h")
        told = page.get_by_role("dialog", name=says("play.keys.title")).get_by_role("definition")
        await expect(
            told.filter(has_text=says("play.keys.help")).locator("xpath=preceding-sibling::dt[1]")
        ).to_have_text("h")


async def test_nothing_moves_with_motion_off(person: Callable[..., Person]) -> None:
    """W-SET-3."""
    async with person(reduced_motion="no-preference") as visitor:
        page = await visitor.open("/settings")
        await page.get_by_role("radio", name=says("settings.motion_off"), exact=True).check()
        await page.goto("/")
        await page.get_by_role("button", name="Days").click()
        await expect(page.get_by_text(says("lobby.searching"), exact=True)).to_be_visible()
        moving = "document.getAnimations().filter((each) => each.playState === 'running').length"
        assert await page.evaluate(moving) == 0
        await page.evaluate("delete document.documentElement.dataset.motion")
        assert await page.evaluate(moving) > 0
        await page.get_by_role("button", name=says("lobby.search_cancel")).click()


async def test_name_password_sessions_export_and_the_end(person: Callable[..., Person]) -> None:
    async with person() as here, person() as there:
        page = await here.open("/settings")
        await sign_up(page, "Pellervo")
        other = await there.open("/settings")
        await sign_in(other, "Pellervo", PASSWORD)
        await expect(other.get_by_role("banner")).to_contain_text("Pellervo")

        account = page.locator("#account")
        await account.get_by_label(says("account.name"), exact=True).fill("Sampsa")
        await account.get_by_role("button", name=says("account.rename")).click()
        await expect(page.get_by_role("banner")).to_contain_text("Sampsa")

        await page.reload()
        end = account.get_by_role("button", name=says("account.session_end"), exact=True)
        await expect(end).to_have_count(1)
        await end.click()
        await expect(end).to_have_count(0)
        there.network_may_fail = True
        await other.reload()
        await expect(other.get_by_role("banner").get_by_role("button", name=says("shell.sign_in"))).to_be_visible()

        await account.get_by_text(says("account.change_password")).first.click()
        await password(account, "account.old_password").fill(PASSWORD)
        await password(account, "account.new_password").fill("eight owls at dusk")
        await account.get_by_role("button", name=says("account.change_password")).click()
        await expect(password(account, "account.old_password")).to_have_value("")

        async with page.expect_download() as coming:
            await page.get_by_role("button", name=says("account.export")).click()
        held = json.loads((await (await coming.value).path()).read_text())
        assert held["account"]["name"] == "Sampsa"

        await page.get_by_role("button", name=says("account.delete_open")).click()
        dialog = page.get_by_role("dialog", name=says("account.delete_title"))
        await here.axe(at="erasure")
        await expect(dialog.get_by_text(says("account.delete_stays"))).to_be_visible()
        here.network_may_fail = True
        await password(dialog).fill(PASSWORD)
        await dialog.get_by_label(says("account.delete_sure")).check()
        await dialog.get_by_role("button", name=says("account.delete"), exact=True).click()
        await expect(dialog.get_by_role("alert")).to_have_text(says("shell.code.wrong_password"))
        await password(dialog).fill("eight owls at dusk")
        await dialog.get_by_role("button", name=says("account.delete"), exact=True).click()
        await page.wait_for_url("**/")
        await expect(page.get_by_role("banner").get_by_role("button", name=says("shell.sign_in"))).to_be_visible()


async def test_windows_of_one_browser_agree_who_is_signed_in(person: Callable[..., Person]) -> None:
    async with person() as visitor:
        page = await visitor.open("/settings")
        await sign_up(page, "Kyllikki")
        second = await visitor.context.new_page()
        await second.goto("/")
        await expect(second.get_by_role("banner")).to_contain_text("Kyllikki")
        await page.locator("#account").get_by_role("button", name=says("shell.sign_out"), exact=True).click()
        await expect(second.get_by_role("banner").get_by_role("button", name=says("shell.sign_in"))).to_be_visible()


async def test_the_profile_shows_a_rating_and_how_it_came(person: Callable[..., Person]) -> None:
    """Somebody resigns a rated match: one has won, the other has lost, both can see it again."""
    async with person() as one, person(PHONE, dark=True) as two:
        first, second = await one.open("/"), await two.open("/")
        await first.get_by_role("button", name=says("lobby.new")).click()
        await first.get_by_role("dialog").get_by_role("button", name=says("lobby.create")).click()
        await second.get_by_role("button", name=like("lobby.join_of")).click()
        for page in (first, second):
            await page.wait_for_url("**/m/*")
        await first.get_by_role("tab", name=says("play.tab.info")).click()
        await first.get_by_role("button", name=says("play.info.resign")).click()
        await first.get_by_role("button", name=says("play.info.yes_resign")).click()
        for page, result, person_there in ((first, "lost", one), (second, "won", two)):
            await page.get_by_role("region", name=says("match.end.title")).wait_for()
            await page.goto("/u/me")
            await expect(page.get_by_text(says(f"profile.result_{result}"), exact=False).first).to_be_visible()
            await expect(page.get_by_role("img", name="Two Towers")).to_be_visible()
            await page.get_by_text(says("profile.as_table")).click()
            await expect(page.get_by_role("table").first.get_by_role("row")).to_have_count(2)
            await person_there.axe(at="profile")
            await person_there.no_sideways_scroll()
        await second.get_by_role("link", name=says("profile.replay"), exact=True).first.click()
        await second.wait_for_url("**/replay")
