"""Somebody who has never been here finds, plays, replays and audits a match without reading anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import expect

from tests.web.people import DESKTOP, PHONE, Person
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("screen", "language"), [(DESKTOP, "en"), (PHONE, "fi")], ids=["desktop-english", "phone-finnish"]
)
async def test_find_play_replay_audit(person: Callable[..., Person], screen: Any, language: str) -> None:
    async with person(screen, language=language) as newcomer:
        page = await newcomer.open("/")
        await page.get_by_role("button", name=says("lobby.bot_play", language)).click()
        seat = Seat(page, language)
        assert await seat.turn_or_end()
        await newcomer.no_sideways_scroll()
        assert await seat.to_end() > 0
        result = page.get_by_role("region", name=says("match.end.title", language))
        await expect(result).to_be_visible()
        await newcomer.axe()
        await newcomer.no_sideways_scroll()

        await result.get_by_role("link", name=says("match.end.replay", language)).click()
        scrubber = page.get_by_role("slider")
        await expect(scrubber).to_be_visible()
        await newcomer.no_sideways_scroll()
        await page.go_back()

        await result.get_by_role("link", name=says("match.end.audit", language)).click()
        holds = says("audit.verdict.holds", language)
        await expect(page.get_by_role("main").get_by_text(holds)).to_be_visible(timeout=30_000)
        await newcomer.no_sideways_scroll()
