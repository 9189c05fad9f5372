"""The page in the language of Broom Service's rulebook, which the other games do not speak: lobby and tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from tests.web import spellbound
from tests.web.broom import GAME, company
from tests.web.conftest import Finished
from tests.web.garden import Gardener, garden
from tests.web.languages import misread
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


ATTACK = {
    "state": "attack",
    "yard": ["B@b4", "R@a4*fire", "B@e5", "R@e4"],
    "threats": ["b4>a4", "e5>e4"],
    "blue": {"fire": 3, "spells": ["gem"]},
    "red": {"spells": ["conch"], "fire": 2},
}


async def read_aloud(page: Page, game: str, at: str) -> None:
    """Nothing on the page is said to be in another language than it is, nor is the game's English said to be Greek."""
    found = await misread(page, game)
    assert not found, f"{at}: " + "; ".join(found)


async def read_everything(page: Page, game: str) -> None:
    """The table, each panel beside it, and the same in words."""
    await read_aloud(page, game, "table")
    for tab in await page.get_by_role("tab").all():
        await tab.click()
        await expect(tab).to_have_attribute("aria-selected", "true")
        await read_aloud(page, game, await tab.inner_text())
    await page.get_by_role("tab", name=says("play.tab.info", "el")).click()
    await page.get_by_role("button", name=says("play.info.text_mode", "el")).click()
    await expect(page.get_by_role("heading", name=says("play.text.may", "el"))).to_be_visible()
    await read_aloud(page, game, "in words")


async def read_thing(page: Page, game: str, thing: Locator) -> None:
    """What the inspector tells of a thing."""
    await thing.click(button="right", force=True)  # What cannot be used now is told of, too.
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_be_visible()
    await read_aloud(page, game, f"inspector of {await thing.get_attribute('data-ref')}")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


async def test_spellbound_is_read_in_its_languages(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        spellbound.company(str(stack.config.gateway), tmp_path, 1) as table,
        person(language=GREEK) as someone,
    ):
        player = await table.sit(0, someone, "el")
        await player.asked()
        page = player.page
        rows = [player.row("mage_row"), player.part("villages").get_by_role("button")]
        # No card may have been dealt to it.
        rows += [player.row("wicked_row")] if await player.row("wicked_row").count() else []
        for things in rows:
            await read_thing(page, spellbound.GAME, things.first)
        for look in ("figure", "wand", "head"):
            await read_thing(page, spellbound.GAME, page.locator(f".table button.{look}").first)
        usable = page.locator(".table [data-usable]").first
        await player.pick(str(await usable.get_attribute("data-ref")))
        await expect(player.bar.locator(".chip").first).to_be_visible()
        await read_everything(page, spellbound.GAME)


async def test_the_garden_is_read_in_its_languages(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    game = "wizards_garden"
    async with garden(str(stack.config.gateway), tmp_path, ATTACK) as match, person(language=GREEK) as someone:
        await someone.sit_as(match.clients[0].token or "")
        page = await someone.open(f"/m/{match.match_id}")
        seat = Gardener(page, "el")
        await seat.asked()
        await expect(seat.space("a4")).to_be_visible()
        for thing in (seat.space("a4"), seat.space("c1"), page.locator('.table [data-ref="spell:gem"]')):
            await read_thing(page, game, thing)
        await seat.space("b4").click()
        await read_everything(page, game)
        await match.send(0, "declare_attack", group="b4>a4", fire=3)
        await seat.reaches(match.sessions[0].version)
        await read_aloud(page, game, "battle")


@pytest.mark.parametrize("path", ["/m/{match}", "/m/{match}/replay?v=20"])
async def test_a_match_of_two_towers_is_read_in_its_languages(
    person: Callable[..., Person], finished: Finished, path: str
) -> None:
    async with person(language=GREEK) as reader:
        page = await reader.open(path.format(match=finished.match_id))
        await expect(page.locator(".face .name").first).to_be_attached()
        await read_aloud(page, "two_towers", path)
