"""Whole matches of Spellbound: four browsers together, of which one goes away and returns; alone by keys."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import TimeoutError, expect  # noqa: A004 (it is what they raise)

from grimoire.runtime.stack import Stack
from tests.web.people import PHONE, Person
from tests.web.spellbound import Player, company, whoever_is_asked
from tests.web.test_keyboard import tab_to
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(400)]


async def test_four_browsers_lose_together_and_one_of_them_was_away(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    async with (
        company(str(stack.config.gateway), tmp_path, 4, first_mage="0") as table,
        person() as aino,
        person(PHONE) as vaino,
        person(dark=True) as otso,
        person(PHONE, dark=True) as mielikki,
    ):
        people = (aino, vaino, otso, mielikki)
        players = list(await asyncio.gather(*(table.sit(seat, each) for seat, each in enumerate(people))))
        await players[0].take_turn()

        # The third goes offline while the second plays; the others see it, and the match goes on.
        otso.network_may_fail = True
        await otso.context.set_offline(True)
        await expect(otso.page.get_by_role("button", name=says("play.try_now"))).to_be_visible(timeout=40_000)
        seen = aino.page.get_by_role("region", name="Otso", exact=True)
        await expect(seen.get_by_role("img", name=says("play.presence.online"))).to_have_count(0, timeout=60_000)
        await players[1].take_turn()
        missed = await players[1].version()
        assert await players[2].version() < missed

        # Back again, it finds its turn open.
        await otso.context.set_offline(False)
        await players[2].reaches(missed, within_ms=60_000)
        await expect(seen.get_by_role("img", name=says("play.presence.online"))).to_be_visible(timeout=30_000)

        # The fourth closes the browser's page and opens the match anew.
        await mielikki.page.close()
        mielikki.page = await mielikki.context.new_page()
        players[3] = await table.sit(3, mielikki)

        while (asked := await whoever_is_asked(players)) is not None:
            await asked.answers()
        for player in players:
            end = player.page.get_by_role("region", name=says("match.end.title"))
            await expect(end).to_contain_text(says("match.end.coop_lost"))
            await expect(end).to_contain_text("The match is lost: ")
        assert len({await player.version() for player in players}) == 1
        await asyncio.gather(*(each.no_sideways_scroll() for each in people))
        await asyncio.gather(*(each.axe(at="the end") for each in (aino, mielikki)))


async def keys(player: Player, *pressed: str) -> None:
    """Presses keys until a command has taken effect: what has only just come takes no key."""
    before = await player.version()
    for _ in range(20):
        for key in pressed:
            await player.page.keyboard.press(key)
        with contextlib.suppress(TimeoutError):
            await player.reaches(before + 1, within_ms=1500)
            return
    raise AssertionError(f"{pressed} did nothing")


async def pick_by_key(player: Player, number: int) -> None:
    """Presses a card's digit until it is picked: while a command is under way nothing is."""
    card = player.row("mage_row").nth(number - 1)
    for _ in range(20):
        if await card.get_attribute("aria-pressed") == "true":
            return
        await player.page.keyboard.press(str(number))
        with contextlib.suppress(AssertionError):
            await expect(card).to_have_attribute("aria-pressed", "true", timeout=1000)
    raise AssertionError(f"{number} picked nothing")


async def test_alone_by_keys_alone(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with company(str(stack.config.gateway), tmp_path, 1) as table, person() as aino:
        player = await table.sit(0, aino)
        played = turns = 0
        while await player.asked_or_over():
            kind = await player.kind()
            labels = [await each.get_attribute("aria-label") or "" for each in await player.row("mage_row").all()]
            usable = [n for n, label in enumerate(labels, 1) if not label.startswith("Fortuna")]
            if await player.bar.get_attribute("data-kind") == "reaction":
                await keys(player, "e", "Control+Enter")
            elif "Witching Time" in kind:
                await pick_by_key(player, usable[0])
                await keys(player, "Control+Enter")
            elif "choose a book" in kind:
                await tab_to(player.page, player.bar.locator("fieldset button").first)
                await player.page.keyboard.press("Enter")
                await keys(player, "Control+Enter")
            elif "card in progress" in kind:
                await keys(player, "e", "Control+Enter")
            elif played == turns and usable:
                # One card a turn is played by its button, and given up again by key.
                await pick_by_key(player, usable[0])
                await tab_to(player.page, player.bar.locator(".actions button").last)
                await keys(player, "Enter")
                played += 1
            elif await player.button("End the story").count():
                await keys(player, "e", "Control+Enter", "Control+Enter")
                turns += 1
            else:
                await pick_by_key(player, usable[0])
                await tab_to(player.page, player.button("Discard a card unused"))
                await keys(player, "Enter")
        assert turns >= 4
        end = player.page.get_by_role("region", name=says("match.end.title"))
        await expect(end).to_contain_text("The match is lost: ")
        await aino.axe(at="the end")
