"""Whole matches of the Wizard's Garden against a bot: by keys alone, and in words alone (W-A11Y-1)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from grimoire.client import Client
from grimoire.runtime.stack import Stack
from tests.web.garden import GAME, Gardener
from tests.web.people import Person
from tests.web.test_keyboard import tab_to
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(400)]


@asynccontextmanager
async def short_match(stack: Stack, kept: Path, someone: Person) -> AsyncIterator[Gardener]:
    """Against a bot that plays at random, as short as a match can be."""
    async with await Client.connect(str(stack.config.gateway), keepsakes=kept) as client:
        await client.guest("Aino")
        options = {"turn_limit": "40", "first_player": "blue"}
        challenge = await client.play_bot(GAME, "random", options)
        await someone.sit_as(client.token or "")
        yield Gardener(await someone.open(f"/m/{challenge.match_id}"))


async def turn_or_end(seat: Gardener) -> bool:
    """Waits until something is asked of this seat; False if the match is over."""
    await seat.page.locator("[data-stage=asked], [data-stage=over]").wait_for(timeout=60_000)
    return await seat.table.get_attribute("data-stage") == "asked"


async def test_by_keys_alone(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with person() as player, short_match(stack, tmp_path, player) as seat:
        keys = seat.page.keyboard
        await seat.asked()
        await expect(seat.space("c1")).to_be_visible()
        # The preparation: the first button that puts two spirits on the board.
        await tab_to(seat.page, seat.bar.get_by_role("button", name="Put Spirit").first)
        before = await seat.version()
        await keys.press("Enter")
        await seat.reaches(before + 1)
        declined = 0
        while await turn_or_end(seat):
            before = await seat.version()
            end = seat.bar.get_by_role("button", name="End the")
            if await end.count():
                await keys.press("e")
                declined += 1
            else:
                # A defence, or what comes after a battle: the first answer.
                await tab_to(seat.page, seat.bar.locator(".actions button").last)
                await keys.press("Enter")
            await keys.press("Control+Enter")
            await seat.reaches(before + 1)
        assert declined >= 20
        await expect(seat.page.get_by_role("region", name=says("match.end.title"))).to_be_visible()


async def first_that_may_be_done(seat: Gardener, line: Locator) -> None:
    """Chooses it, gives the first answer to what it asks, and sends it; amounts that will do stay as they are."""
    told = seat.page.get_by_role("status")
    complete = told.filter(has_text="Enter alone sends: ")
    kept = told.filter(has_text=says("play.text.keeps"))
    await line.fill("1")
    for _ in range(5):
        await line.press("Enter")
        await expect(line).to_have_value("")
        if await complete.count():
            break
        await line.fill("" if await kept.count() else "1")
    await line.press("Enter")
    if await seat.page.get_by_text("Really").count():
        await seat.page.keyboard.press("Control+Enter")


async def test_in_words_alone(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with person() as player, short_match(stack, tmp_path, player) as seat:
        await seat.asked()
        await expect(seat.space("c1")).to_be_visible()
        await seat.page.keyboard.press("x")
        line = seat.page.get_by_label(says("play.text.line"))
        while await turn_or_end(seat):
            before = await seat.version()
            await first_that_may_be_done(seat, line)
            await seat.reaches(before + 1)
        await expect(seat.page.get_by_role("region", name=says("match.end.title"))).to_be_visible()
        await player.axe()
