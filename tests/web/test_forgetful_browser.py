"""A browser that keeps nothing: storage refused as a whole, or full. Matches are played there all the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.async_api import expect

from tests.web.people import Person
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

REFUSED = """
for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("refused", "SecurityError"); } });
"""
FULL = """
Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError"); };
"""


@pytest.mark.parametrize("storage", [REFUSED, FULL], ids=["refused", "full"])
async def test_match_without_storage(person: Callable[..., Person], storage: str) -> None:
    """The number that was sealed is opened again, and each command lets the next one through."""
    async with person() as mira:
        await mira.context.add_init_script(storage)
        page = await mira.open("/")
        await page.get_by_role("button", name=says("lobby.bot_play")).click()
        seat = Seat(page)
        for _ in range(3):
            assert await seat.turn_or_end()
            await seat.act()
        await page.get_by_role("link", name=says("shell.rules")).first.click()
        await expect(page.get_by_role("heading", level=1, name=says("rules.title"))).to_be_visible()
