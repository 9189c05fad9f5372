"""Rules: made from the manifest, reachable by link, found by words (W-RUL-1, W-RUL-2)."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.async_api import expect

from grimoire.plugins import load_game
from grimoire.v1 import manifest_pb2 as mf
from tests.web.people import PHONE, Person

pytestmark = pytest.mark.asyncio(loop_scope="module")

GAME = "two_towers"


@pytest.mark.parametrize("language", ["en", "fi"])
async def test_every_card_rule_and_refusal_has_an_entry(person: Callable[..., Person], language: str) -> None:
    manifest = load_game(GAME).texts.manifest(language)
    items = {f"{shelf.name}.{item.id}" for shelf in manifest.catalogues for item in shelf.items}
    codes = {t.key for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    wanted = items | {clause.rule for clause in manifest.clauses} | {f"refusals.{code}" for code in codes}
    async with person(language=language) as reader:
        page = await reader.open(f"/rules/{GAME}")
        await expect(page.get_by_role("heading", level=1)).to_contain_text(manifest.name)
        await page.locator("#refusals").wait_for()
        ids = set(await page.evaluate("[...document.querySelectorAll('main [id]')].map((each) => each.id)"))
        assert wanted <= ids, wanted - ids
        assert await page.get_by_role("article").count() == len(manifest.catalogues[0].items)


@pytest.mark.parametrize(
    ("section", "entry"),
    [
        ("TT-4.6", "TT-4.6"),
        ("TT-9", "TT-9"),
        ("cards", "cards"),
        ("prism", "cards.prism"),
        ("misty_harbour", "battlefields.misty_harbour"),
        ("cannot_afford", "refusals.cannot_afford"),
        ("terms", "terms"),
    ],
)
@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desktop", "phone"])
async def test_a_link_leads_to_its_entry(person: Callable[..., Person], section: str, entry: str, screen: dict) -> None:
    async with person(screen) as reader:
        page = await reader.open(f"/rules/{GAME}/{section}")
        target = page.locator(f"[id='{entry}']")
        await expect(target).to_be_focused()
        await expect(target).to_be_in_viewport()
        covered = await target.evaluate("""(each) => {
            const box = each.getBoundingClientRect();
            const top = document.elementFromPoint(box.left + 20, box.top + 10);
            return !each.contains(top) && !top.contains(each);
        }""")
        assert not covered


async def test_links_within_the_book_move_the_focus_and_back_returns(person: Callable[..., Person]) -> None:
    async with person() as reader:
        page = await reader.open("/rules")
        await page.get_by_role("main").get_by_role("link", name="Two Towers").click()
        await page.get_by_role("navigation", name="Contents").get_by_role("link", name="A turn").click()
        await expect(page.locator("[id='TT-4']")).to_be_focused()
        await page.locator("[id='TT-4.6']").get_by_role("link", name="Prism").click()
        await expect(page.locator("[id='cards.prism']")).to_be_focused()
        await expect(page).to_have_url(re.compile(f"/rules/{GAME}/prism$"))
        await page.go_back()
        await expect(page).not_to_have_url(re.compile("/prism$"))
        await page.go_back()
        await expect(page).to_have_url(re.compile(f"/rules/{GAME}$"))


async def test_words_are_found(person: Callable[..., Person]) -> None:
    async with person() as reader:
        page = await reader.open(f"/rules/{GAME}")
        find = page.get_by_role("searchbox")
        await expect(find).to_be_visible()
        await page.keyboard.press("/")
        await expect(find).to_be_focused()
        await find.fill("dragon")
        await expect(page.get_by_role("article")).to_have_count(
            sum(
                "dragon" in f"{i.name} {i.text}".lower()
                for i in load_game(GAME).texts.manifest("en").catalogues[0].items
            )
        )
        await find.fill("xyzzy")
        await expect(page.get_by_text("No card or rule has that word.")).to_be_visible()
        await page.get_by_role("button", name="Show everything").click()
        await expect(page.get_by_role("article")).to_have_count(102)


async def test_a_game_that_is_not_here(person: Callable[..., Person]) -> None:
    async with person() as reader:
        reader.network_may_fail = True
        page = await reader.open("/rules/whist")
        await expect(page.get_by_text("There is no such game here.")).to_be_visible()
