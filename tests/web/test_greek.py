"""The page in the language of Broom Service's rulebook: the lobby, and a decision at a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from tests.web.broom import GAME, company
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(300)]

GREEK = "el-GR"
LATIN = re.compile(r"[A-Za-z]{3,}")


async def test_a_greek_browser_is_spoken_to_in_greek(person: Callable[..., Person]) -> None:
    async with person(language=GREEK) as somebody:
        page = await somebody.open("/")
        await expect(page.get_by_role("heading", name=says("lobby.bot_title", "el"))).to_be_visible()
        assert await page.evaluate("document.documentElement.lang") == "el"
        await somebody.axe()


async def test_what_a_game_says_in_english_is_marked_as_english(person: Callable[..., Person]) -> None:
    """WCAG 3.1.2: a reader must know in which language to read."""
    async with person(language=GREEK) as somebody:
        page = await somebody.open("/")
        await page.get_by_role("button", name=says("lobby.new", "el")).click()
        dialog = page.get_by_role("dialog")
        for name, marked in (("two_towers", "en"), (GAME, "el")):
            manifest = load_game(name).texts.manifest("el")
            await dialog.get_by_role("radio", name=manifest.name).check()
            label = dialog.get_by_text(manifest.options[0].label, exact=False).first
            await expect(label).to_be_visible()
            assert await label.evaluate("(part) => part.closest('[lang]').lang") == marked
        await somebody.axe()


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
async def test_roles_are_chosen_in_greek(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, phone: bool
) -> None:
    manifest = load_game(GAME).texts.manifest("el")
    named = next(each for each in manifest.catalogues if each.name == "roles")
    first = [each.name for each in named.items][:4]
    options = {"turn_time_s": "3600"}
    async with (
        company(str(stack.config.gateway), tmp_path, 2, **options) as table,
        person(PHONE if phone else DESKTOP, language=GREEK) as someone,
    ):
        player = await table.sit(0, someone, "el")
        await player.drawn()
        await player.asked()
        choice = player.part("choose_roles")
        for role in first:
            await choice.get_by_role("button", name=re.compile(f"^{re.escape(role)}")).click()
        # Nothing on the table but people's names and signs is in another script.
        told = await choice.inner_text()
        assert not LATIN.search(told), told
        before = await player.version()
        await player.press_until_sent(player.send, before)
        assert set(table.view(0).seats[0].roles) == {each.id for each in named.items[:4]}
        await someone.axe()
