"""A match at 360 x 640, the smallest screen there is a layout for, and at 320 px width (W-MAT-1, W-ALL-3)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from grimoire.runtime.stack import Stack
from tests.web.people import PHONE, Person
from tests.web.programs import duel
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

NARROW = {**PHONE, "viewport": {"width": 320, "height": 640}}
TOUCH = 44


async def box(target: Locator) -> dict[str, float]:
    """Where it is, in CSS pixels of the screen."""
    found = await target.bounding_box()
    assert found is not None
    return dict(found)


async def in_sight(target: Locator, height: int) -> bool:
    """Wholly on the screen."""
    where = await box(target)
    return where["y"] >= 0 and where["y"] + where["height"] <= height + 0.5


async def large_enough(targets: Locator) -> None:
    """Fingers hit them."""
    for target in await targets.all():
        where = await box(target)
        assert min(where["width"], where["height"]) >= TOUCH, (await target.inner_text(), where)


@pytest.mark.parametrize("screen", [PHONE, NARROW], ids=["360", "320"])
@pytest.mark.parametrize("language", ["en", "fi"])
async def test_the_bar_is_always_there(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any, language: str
) -> None:
    height = screen["viewport"]["height"]
    async with duel(str(stack.config.gateway), tmp_path) as match, person(screen, language=language) as player:
        await player.sit_as(match.clients[0].token or "")
        seat = Seat(await player.open(f"/m/{match.match_id}"), language)
        await expect(seat.hand).to_have_count(6)
        for _ in range(4):
            while not any(prompt.required for prompt in match.sessions[0].own_prompts):
                await match.move()
                await seat.reaches(match.sessions[0].version)
                assert await in_sight(seat.bar, height)
            assert await seat.turn_or_end()
            await player.no_sideways_scroll()
            assert await in_sight(seat.bar, height)
            await large_enough(seat.hand)
            await seat.hand.first.click()
            assert await in_sight(seat.bar, height)
            await large_enough(seat.bar.locator(".actions button"))
            bar = await box(seat.bar)
            for card in await seat.hand.all():
                await card.scroll_into_view_if_needed()
                where = await box(card)
                assert where["y"] + where["height"] <= bar["y"] + 1, "the bar hides a card"
            await seat.hand.first.click()
            before = await seat.version()
            await seat.act()
            await match.sessions[0].reached(before + 1, timeout_s=20)
        await player.axe()


async def test_the_log_comes_as_a_sheet_that_leaves_the_bar(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person(PHONE) as player:
        await player.sit_as(match.clients[0].token or "")
        seat = Seat(await player.open(f"/m/{match.match_id}"))
        await expect(seat.hand).to_have_count(6)
        await seat.page.get_by_role("button", name=says("play.menu"), exact=True).click()
        log = seat.page.get_by_role("log")
        await expect(log).to_be_in_viewport()
        assert await in_sight(seat.bar, PHONE["viewport"]["height"])
        covered = await seat.bar.evaluate("""(bar) => {
            const box = bar.getBoundingClientRect();
            const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
            return !bar.contains(top);
        }""")
        assert not covered
        await player.axe()
        await seat.page.keyboard.press("Escape")
        await expect(log).not_to_be_in_viewport()
