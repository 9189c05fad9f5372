"""Matches of several seats: one person on several, who leaves, the vote about it, and coming back."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from grimoire.runtime.stack import Stack
from tests.web.people import PHONE, Person
from tests.web.tables import (
    act,
    at_the_table,
    begin,
    choose_seat,
    known_as,
    leave_table,
    middle_bot,
    new_table,
    playing,
)
from tests.web.test_keyboard import tab_to
from tests.web.texts import says

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


async def says_in_log(page: Page, text: str | re.Pattern[str]) -> None:
    """Waits until the log has a line with this."""
    await page.get_by_role("tab", name=says("play.tab.log")).click()
    await expect(page.get_by_role("log", name=says("play.tab.log"))).to_contain_text(text)


async def test_one_person_plays_several_seats_on_one_page(company: Company) -> None:
    async with company("Mira") as (mira,):
        page = mira.page
        dialog = await new_table(mira, 3)
        await dialog.get_by_role("button", name=says("tables.all_mine"), exact=True).click()
        await dialog.get_by_role("button", name=says("lobby.begin"), exact=True).click()
        await at_the_table(mira)
        seats = page.get_by_role("group", name=says("play.own_seats"))
        await expect(seats.get_by_role("button")).to_have_count(3)
        # The seat that is asked is shown by itself, and says so.
        shown = seats.locator("[aria-pressed=true]")
        await expect(shown).to_have_count(1)
        await expect(shown).to_contain_text(says("play.seat_asked"))
        await expect(page.locator("[data-stage=asked]")).to_be_visible()
        await mira.axe(at="several seats of one person")
        # Another can be looked at meanwhile; as soon as it waits, the page turns back to the one that is asked.
        asked = str(await shown.get_attribute("data-own-seat"))
        await seats.locator(f'[data-own-seat]:not([data-own-seat="{asked}"])').first.click()
        await expect(seats.locator("[aria-pressed=true]")).to_have_attribute("data-own-seat", asked)
        await playing(page)
        # Every seat that is asked is played here, until another one was.
        turns = {asked}
        for _ in range(60):
            if len(turns) > 1:
                break
            await act(page)
            turns.add(str(await seats.locator("[aria-pressed=true]").get_attribute("data-own-seat")))
        assert len(turns) > 1


async def test_the_others_vote_for_a_bot_and_the_leaver_comes_back(company: Company) -> None:
    async with company("Mira", "Otso", "Ada", phones=("Otso",)) as people:
        mira, otso, ada = people
        await begin(people)
        await leave_table(ada.page)
        for each in (mira, otso):
            question = each.page.locator("[data-vacancy]")
            await expect(question).to_contain_text("Ada")
            await expect(question.get_by_role("button")).to_have_count(3)
            await each.axe(at="a vote")
            await each.no_sideways_scroll()
        await expect(ada.page.locator("[data-vacancy]")).to_contain_text(says("play.vacancy.mine"))
        await ada.axe(at="a seat that was left")
        # By keys, and the mark of what was said stays until all have spoken.
        bot = mira.page.locator("[data-vacancy]").get_by_role("button", name=says("play.vacancy.bot"))
        await tab_to(mira.page, bot)
        await mira.page.keyboard.press("Enter")
        await expect(bot).to_have_attribute("aria-pressed", "true")
        await expect(otso.page.locator("[data-vacancy]")).to_contain_text("1 of 2")
        await otso.page.locator("[data-vacancy]").get_by_role("button", name=says("play.vacancy.bot")).tap()
        for each in (mira, otso):
            await expect(each.page.locator("[data-vacancy]")).to_have_count(0)
            await expect(each.page.locator(".table")).to_contain_text(f"Computer ({middle_bot()})")
        # Who has left sees what everybody sees, and may come back.
        back = ada.page.get_by_role("button", name=says("play.vacancy.return"), exact=True)
        await expect(back).to_be_visible()
        await expect(ada.page.get_by_text(says("play.watching"))).to_be_visible()
        await ada.axe(at="somebody else plays one's seat")
        await says_in_log(mira.page, f"Computer ({middle_bot()}) plays on for Ada.")
        await back.click()
        await expect(back).to_have_count(0)
        await expect(ada.page.get_by_text(says("play.watching"))).to_have_count(0)
        await playing(ada.page)
        await says_in_log(mira.page, "Ada is back.")
        await expect(mira.page.locator(".table")).to_contain_text("Ada")
        # What Ada did before stays hers in the log.
        await expect(mira.page.get_by_role("log", name=says("play.tab.log"))).to_contain_text(
            "Ada seals a random number"
        )


async def test_a_fellow_plays_on_and_gives_the_seat_back(company: Company) -> None:
    async with company("Mira", "Otso", phones=("Mira",)) as (mira, otso):
        await begin([mira, otso])
        await leave_table(otso.page)
        question = mira.page.locator("[data-vacancy]")
        await question.get_by_role("button", name=re.compile("Mira")).tap()
        seats = mira.page.get_by_role("group", name=says("play.own_seats"))
        await expect(seats.get_by_role("button")).to_have_count(2)
        await expect(seats).to_contain_text("Mira (2)")
        await mira.no_sideways_scroll()
        await mira.axe(at="a fellow's seat beside one's own")
        # The page that was left and opened again offers the way back.
        await otso.page.reload()
        await otso.page.get_by_role("button", name=says("play.vacancy.return"), exact=True).click()
        await expect(mira.page.locator("[data-own-seat]")).to_have_count(0)
        await playing(mira.page)
        await expect(otso.page.get_by_role("button", name=says("play.vacancy.return"), exact=True)).to_have_count(0)
        await playing(otso.page)


async def test_who_only_went_away_is_back_by_a_press(company: Company) -> None:
    async with company("Mira", "Otso") as (mira, otso):
        await begin([mira, otso])
        await leave_table(otso.page)
        await otso.page.locator("[data-vacancy]").get_by_role("button", name=says("play.vacancy.back")).click()
        for each in (mira, otso):
            await expect(each.page.locator("[data-vacancy]")).to_have_count(0)
            await playing(each.page)


async def test_who_closes_the_browser_is_away_and_back_when_it_is_opened_again(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.absences._GONE_MS", 1_000)
    async with company("Mira", "Otso", "Ada") as people:
        mira, otso, ada = people
        match_id = await begin(people)
        await ada.page.goto("about:blank")
        for each in (mira, otso):
            await expect(each.page.locator("[data-vacancy]")).to_contain_text("Ada", timeout=20_000)
        await says_in_log(mira.page, "Ada has closed the match")
        monkeypatch.setattr("gateway.absences._GONE_MS", 600_000)
        await ada.open(f"/m/{match_id}")
        for each in people:
            await expect(each.page.locator("[data-vacancy]")).to_have_count(0, timeout=20_000)
            await playing(each.page)


async def test_alone_one_may_give_up_for_all(company: Company) -> None:
    async with company("Mira") as (mira,):
        page = mira.page
        dialog = await new_table(mira, 2)
        await choose_seat(dialog, 2, f"Computer ({middle_bot()})")
        await dialog.get_by_role("button", name=says("lobby.begin"), exact=True).click()
        await at_the_table(mira)
        await page.get_by_role("tab", name=says("play.tab.info")).click()
        await expect(page.get_by_role("heading", name=says("play.table"))).to_be_visible()
        await page.get_by_role("button", name=says("play.info.resign")).click()
        await page.get_by_role("button", name=says("play.info.yes_resign")).click()
        await expect(page.get_by_role("heading", name=says("match.end.coop_lost"))).to_be_visible(timeout=20_000)
        await mira.axe(at="lost together")


async def test_they_talk_at_the_table(company: Company) -> None:
    async with company("Mira", "Otso", "Ada") as people:
        await begin(people)
        for each in people:
            await each.page.get_by_role("tab", name=re.compile(says("play.tab.chat"))).click()
        for speaker, text in zip(people, ("Hello", "Here I am", "Me too"), strict=True):
            await speaker.page.get_by_label(says("play.chat.say")).fill(text)
            await speaker.page.keyboard.press("Enter")
        for each in people:
            talk = each.page.get_by_role("log", name=says("play.tab.chat"))
            for text in ("Hello", "Here I am", "Me too"):
                await expect(talk).to_contain_text(text)
        await people[0].axe(at="talk of three")
