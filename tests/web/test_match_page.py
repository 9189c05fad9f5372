"""What holds at every table: two tabs of one seat, the tab's title, resigning, a rematch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.runtime.stack import Stack
from tests.web.people import Person
from tests.web.programs import Duel, duel
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def at_turn(player: Person, match: Duel) -> Seat:
    """The first seat's page, when it is to act."""
    while not any(prompt.required for prompt in match.sessions[0].own_prompts):
        await match.move()
    await player.sit_as(match.clients[0].token or "")
    seat = Seat(await player.open(f"/m/{match.match_id}"))
    assert await seat.turn_or_end()
    await expect(seat.hand).to_have_count(6)
    return seat


async def test_two_tabs_of_one_seat(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """W-MAT-5: both follow; a command from one closes the prompt in the other."""
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        one = await at_turn(player, match)
        other = Seat(await player.context.new_page())
        await other.page.goto(f"/m/{match.match_id}")
        assert await other.turn_or_end()
        before = await one.version()
        await other.hand.nth(3).click()
        await one.act()
        await other.reaches(before + 1)
        await expect(other.bar.get_by_role("button", name=other.discard)).to_have_count(0)
        # The other's screen may still be drawing what the first one shows already.
        await expect(other.hand).to_have_text(await one.hand.all_inner_texts(), use_inner_text=True)


async def test_the_title_calls(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """W-MAT-6."""
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        seat = await at_turn(player, match)
        await expect(seat.page).to_have_title(re.compile("^● " + says("play.your_turn")))
        while any(prompt.required for prompt in match.sessions[0].own_prompts):
            await match.move()
        await expect(seat.page).not_to_have_title(re.compile("^●"))


async def test_resigning_takes_two_steps(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """W-MAT-8."""
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        seat = await at_turn(player, match)
        await seat.page.get_by_role("tab", name=says("play.tab.info")).click()
        await seat.page.get_by_role("button", name=says("play.info.resign")).click()
        assert not match.sessions[1].finished
        await seat.page.get_by_role("button", name=says("play.info.yes_resign")).click()
        await expect(seat.page.get_by_role("region", name=says("match.end.title"))).to_contain_text(
            says("match.end.lost")
        )
        await match.sessions[1].wait_finished(timeout_s=20)


@pytest.mark.slow
async def test_a_rematch_leads_both_to_one_table(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as one, person() as two:
        for player, client in zip((one, two), match.clients, strict=True):
            await player.sit_as(client.token or "")
            await player.open(f"/m/{match.match_id}")
        await match.sessions[0].resign()
        for player in (one, two):
            await player.page.get_by_role("button", name=says("match.end.rematch"), exact=True).click()
        old = f"/m/{match.match_id}"
        for player in (one, two):
            await player.page.wait_for_url(lambda url: "/m/" in url and not url.endswith(old))
            await player.page.locator("[data-stage=asked], [data-stage=waiting]").wait_for()
        assert one.page.url == two.page.url
