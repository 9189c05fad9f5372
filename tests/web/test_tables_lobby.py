"""Tables of several seats in the lobby: made, joined, left, filled, with friends, and found by quick play."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from grimoire.runtime.stack import Stack
from tests.web.people import PHONE, Person
from tests.web.tables import (
    SAT_DOWN,
    at_the_table,
    choose_seat,
    game_name,
    known_as,
    middle_bot,
    new_table,
    open_table,
    playing,
    row,
    sit_down,
)
from tests.web.test_keyboard import tab_to
from tests.web.texts import like, says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(240)]

Company = Callable[..., AbstractAsyncContextManager[list[Person]]]


@pytest_asyncio.fixture(loop_scope="module")
async def company(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> Company:
    """`async with company("Mira", "Otso", phones=("Otso",)) as (mira, otso): ...`"""

    @asynccontextmanager
    async def sit(*names: str, phones: tuple[str, ...] = ()) -> AsyncIterator[list[Person]]:
        async with AsyncExitStack() as all_of_them:
            people = []
            for name in names:
                screen = (PHONE,) if name in phones else ()
                one = await all_of_them.enter_async_context(person(*screen, dark=name in phones))
                await known_as(one, name, str(stack.config.gateway), tmp_path)
                people.append(one)
            yield people

    return sit


async def test_four_people_sit_down_and_begin(company: Company) -> None:
    async with company("Mira", "Otso", "Ada", "Bo", phones=("Otso",)) as people:
        mira, otso, ada, bo = people
        table = await open_table(mira, 4)
        for each in (otso, ada):
            await each.open("/")
            await expect(row(each.page, table)).to_contain_text("1/4")
        # A seat of one's own choice, on a phone.
        await row(otso.page, table).get_by_role("button", name="Sit down on seat 4").tap()
        for each in (mira, otso, ada):
            await expect(row(each.page, table)).to_contain_text("2/4")
            await expect(row(each.page, table).get_by_role("listitem").filter(has_text="free")).to_have_count(2)
        await expect(row(ada.page, table)).to_contain_text("Otso")
        for each in (mira, otso, ada):
            await each.axe(at="a table that fills")
            await each.no_sideways_scroll()
        # Who has come may go again; who has opened it may not, but may withdraw it.
        await expect(row(mira.page, table).get_by_role("button", name=says("lobby.get_up"))).to_have_count(0)
        await row(otso.page, table).get_by_role("button", name=says("lobby.get_up")).tap()
        await expect(row(ada.page, table)).to_contain_text("1/4")
        for each in (otso, ada, bo):
            await sit_down(each, table)
        await at_the_table(*people)
        heads = mira.page.locator(".table")
        for name in ("Mira", "Otso", "Ada", "Bo"):
            await expect(heads).to_contain_text(name)
        # At home it is one's own match, played together with the others.
        await bo.open("/")
        match = bo.page.get_by_role("region", name=re.compile("Your (turn|matches)"))
        await expect(match).to_contain_text("With Mira, Otso, and Ada")


async def test_one_table_with_every_kind_of_seat_by_keys_alone(company: Company) -> None:
    async with company("Mira") as (mira,):
        page = await mira.open("/")
        await page.keyboard.press("n")
        dialog = page.get_by_role("dialog", name=says("lobby.new_title"))
        game = dialog.get_by_role("radio", name=game_name())
        await tab_to(page, dialog.get_by_role("radio", checked=True).first)
        for _ in range(8):
            if await game.is_checked():
                break
            await page.keyboard.press("ArrowRight")
        await expect(game).to_be_checked()
        many = dialog.get_by_role("group", name=says("tables.how_many"))
        await tab_to(page, many.get_by_role("radio", checked=True))
        await page.keyboard.press("ArrowRight")
        await expect(many.get_by_role("radio", name="3", exact=True)).to_be_checked()
        second = dialog.get_by_label("Seat 2", exact=True)
        await tab_to(page, second)
        await page.keyboard.type(says("tables.mine"))
        third = dialog.get_by_label("Seat 3", exact=True)
        await tab_to(page, third)
        await page.keyboard.type(f"Computer ({middle_bot()}")
        await expect(dialog.get_by_label(says("lobby.rated"))).to_be_disabled()
        await mira.axe(at="a table of every kind of seat")
        await tab_to(page, dialog.get_by_role("button", name=says("lobby.begin"), exact=True))
        await page.keyboard.press("Enter")
        await page.wait_for_url(SAT_DOWN)
        await playing(page)
        await expect(page.locator("[data-own-seat]")).to_have_count(2)


async def test_alone_at_once(company: Company) -> None:
    async with company("Mira") as (mira,):
        page = await mira.open("/")
        bots = page.get_by_role("region", name=says("lobby.bot_title"))
        await bots.get_by_role("radio", name=game_name()).check()
        bots = page.get_by_role("region", name=says("lobby.bot_title_table"))
        await bots.get_by_role("group", name=says("lobby.how_many")).get_by_role("radio", name="1", exact=True).check()
        await bots.get_by_role("button", name=says("lobby.bot_play")).click()
        await page.wait_for_url(SAT_DOWN)
        await playing(page)
        await expect(page.locator("[data-own-seat]")).to_have_count(0)
        await mira.open("/")
        await expect(page.get_by_role("region", name=re.compile("Your (turn|matches)"))).to_contain_text(
            says("lobby.alone")
        )


async def test_by_invitation_and_the_rest_filled_with_bots(company: Company) -> None:
    async with company("Mira", "Otso", "Ada") as (mira, otso, ada):
        dialog = await new_table(mira, 4)
        await choose_seat(dialog, 3, f"Computer ({middle_bot()})")
        await dialog.get_by_label(says("tables.by_invitation")).check()
        await dialog.get_by_role("button", name=says("tables.open")).click()
        own = mira.page.locator("[data-challenge].mine")
        await expect(own).to_contain_text(says("lobby.invited_only"))
        table = str(await own.get_attribute("data-challenge"))
        # It stands in no list; the link leads to it.
        await ada.open("/")
        await otso.page.goto(f"/?c={table}")
        await otso.page.get_by_role("dialog").get_by_role("button", name=says("lobby.join")).click()
        await expect(row(otso.page, table)).to_contain_text("3/4")
        await expect(row(ada.page, table)).to_have_count(0)
        # Only who opened it may fill it.
        await expect(row(otso.page, table).get_by_role("button", name=says("tables.fill"))).to_have_count(0)
        await row(mira.page, table).get_by_role("button", name=says("tables.fill")).click()
        await at_the_table(mira, otso)


async def test_several_seats_at_somebody_elses_table(company: Company) -> None:
    async with company("Mira", "Otso") as (mira, otso):
        table = await open_table(mira, 3, casual=True)
        await otso.open("/")
        for number in (2, 3):
            await row(otso.page, table).get_by_role("button", name=f"Sit down on seat {number}").click()
        await at_the_table(mira, otso)
        await expect(otso.page.locator("[data-own-seat]")).to_have_count(2)
        await expect(mira.page.locator("[data-own-seat]")).to_have_count(0)


async def test_quick_play_for_three(company: Company) -> None:
    async with company("Mira", "Otso", "Ada", phones=("Ada",)) as people:
        for each in people:
            page = await each.open("/")
            quick = page.get_by_role("region", name=says("lobby.quick_title"))
            block = quick.get_by_role("heading", name=game_name()).locator("..")
            await block.get_by_role("radio", name="3").check()
            await block.get_by_role("button").first.click()
        for each in people:
            check = each.page.get_by_role("dialog")
            await expect(check.get_by_role("listitem").filter(has=each.page.locator("strong"))).to_have_count(3)
        await people[2].axe(at="three are asked whether they are ready")
        for each in people:
            await each.page.get_by_role("dialog").get_by_role("button", name=says("lobby.ready"), exact=True).click()
        await at_the_table(*people)


async def test_friends_go_to_a_table_and_into_quick_play(company: Company) -> None:
    async with company("Mira", "Otso", phones=("Otso",)) as (mira, otso):
        page = await mira.open("/")
        await page.get_by_role("button", name=says("lobby.with_friends")).click()
        dialog = page.get_by_role("dialog", name=says("tables.party_make"))
        await mira.axe(at="a party is made")
        await dialog.locator("button.main").click()
        card = page.get_by_role("region", name=like("tables.party_of"))
        await expect(card.get_by_role("listitem")).to_have_count(1)
        party = await page.evaluate("() => localStorage.getItem('grimoire.party')")
        await otso.page.goto(f"/?p={party}")
        await otso.page.get_by_role("dialog").get_by_role("button", name=says("tables.party_join")).tap()
        for each in (mira, otso):
            theirs = each.page.get_by_role("region", name=like("tables.party_of"))
            await expect(theirs.get_by_role("listitem")).to_have_count(2)
            await each.axe(at="a party of two")
            await each.no_sideways_scroll()
        # It outlives a reload.
        await otso.page.reload()
        await expect(otso.page.get_by_role("region", name=like("tables.party_of"))).to_contain_text("Mira")
        await card.get_by_role("button", name=says("tables.party_table")).click()
        await expect(page.get_by_role("dialog").get_by_label("Seat 2", exact=True)).to_have_value(re.compile("4"))
        await page.get_by_role("dialog").get_by_role("button", name=says("lobby.begin"), exact=True).click()
        await at_the_table(mira, otso)
        # And once more, as one ticket.
        await asyncio.gather(mira.open("/"), otso.open("/"))
        await expect(card.get_by_role("listitem")).to_have_count(2)
        quick = page.get_by_role("region", name=says("lobby.quick_title"))
        await quick.get_by_role("heading", name=game_name()).locator("..").get_by_role("button").first.click()
        for each in (mira, otso):
            await each.page.get_by_role("dialog").get_by_role("button", name=says("lobby.ready"), exact=True).click()
        await at_the_table(mira, otso)
        await mira.open("/")
        await card.get_by_role("button", name=says("tables.party_leave")).click()
        await expect(card).to_have_count(0)
        await otso.open("/")
        await expect(otso.page.get_by_role("region", name=like("tables.party_of"))).to_have_count(0)
