"""A lost connection, a reload and killed services delay a match and change nothing (W-MAT-3)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.runtime.config import RunFile
from grimoire.runtime.stack import Stack
from tests.web.people import Person
from tests.web.programs import Duel, duel
from tests.web.seats import Seat
from tests.web.texts import like

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


@pytest.fixture(scope="module")
def as_processes() -> bool:
    return True


async def sit(player: Person, match: Duel) -> Seat:
    """The first seat, at its first turn, in this browser."""
    while not any(prompt.required for prompt in match.sessions[0].own_prompts):
        await match.move()
    await player.sit_as(match.clients[0].token or "")
    seat = Seat(await player.open(f"/m/{match.match_id}"))
    assert await seat.turn_or_end()
    await expect(seat.hand).to_have_count(6)
    return seat


def moved_on(match: Duel, before: int) -> int:
    """How many entries there are since."""
    return match.sessions[1].version - before


async def test_offline_with_a_card_in_hand(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        seat = await sit(player, match)
        player.network_may_fail = True
        before = await seat.version()
        await seat.hand.nth(2).click()
        chosen = seat.hand.and_(seat.page.locator("[aria-pressed=true]"))
        await expect(chosen).to_have_count(1)
        name = await chosen.inner_text()
        await player.context.set_offline(True)
        await expect(seat.page.get_by_text(like("play.lost"))).to_be_visible()
        await player.context.set_offline(False)
        await expect(seat.page.get_by_text(like("play.lost"))).to_have_count(0)
        await expect(chosen).to_have_count(1)
        assert await chosen.inner_text() == name
        await seat.press_until_sent(seat.bar.get_by_role("button", name=seat.discard), before)
        await match.sessions[1].reached(before + 1, timeout_s=20)
        assert moved_on(match, before) == 1


async def test_reload_in_mid_match(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        seat = await sit(player, match)
        before, hand = await seat.version(), await seat.hand.all_inner_texts()
        await seat.page.reload()
        assert await seat.turn_or_end()
        await expect(seat.hand).to_have_count(6)
        assert (await seat.version(), await seat.hand.all_inner_texts()) == (before, hand)
        await seat.act()
        await match.sessions[1].reached(before + 1, timeout_s=20)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("service", ["gateway", "two_towers"])
async def test_a_service_killed_in_mid_match(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, service: str
) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        seat = await sit(player, match)
        player.network_may_fail = True
        before = await seat.version()
        await seat.hand.nth(1).click()
        running = RunFile.read(stack.config.home)
        assert running is not None
        os.kill(running.processes[service], signal.SIGKILL)
        # Sent into the gap: it takes effect once, when somebody is there to judge it.
        await seat.bar.get_by_role("button", name=seat.discard).press("Enter")
        await seat.reaches(before + 1, within_ms=60_000)
        await match.sessions[1].reached(before + 1, timeout_s=60)
        versions = moved_on(match, before)
        assert versions in {1, 2}  # a clock may have been given time back
        assert len(match.hand(0)) == 6
        await expect(seat.page.get_by_text(like("play.lost"))).to_have_count(0)
        while await match.move() and not any(prompt.required for prompt in match.sessions[0].own_prompts):
            pass
        assert await seat.turn_or_end()
        await seat.act()
