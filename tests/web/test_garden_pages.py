"""Pages around a match of the Wizard's Garden: lobby, challenge, a bot's match, rules, replay, audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, expect

from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from grimoire.v1 import manifest_pb2 as mf
from tests.web.garden import GAME, Gardener, garden
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.test_garden_match import dealt
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]

POSITION = {
    "state": "attack",
    "yard": ["B@b4", "R@a4*fire", "B@e5", "R@e4"],
    "threats": ["b4>a4", "e5>e4"],
    "blue": {"fire": 3},
    "red": {"spells": ["conch"], "fire": 2},
}


async def test_a_match_against_a_bot(person: Callable[..., Person]) -> None:
    async with person() as player:
        page = await player.open("/")
        await page.get_by_role("radio", name="The Wizard's Garden").first.check()
        await page.get_by_role("radio", name="Random").first.check()
        await page.get_by_role("button", name=says("lobby.bot_play")).click()
        seat = Gardener(page)
        cards = page.get_by_role("list", name=says("wizards_garden.hand")).get_by_role("button")
        await seat.asked()
        await expect(cards.first).to_be_visible()
        if await cards.count() == 3:
            await cards.nth(0).click()
            await cards.nth(1).click()
        before = await seat.version()
        await seat.bar.get_by_role("button", name="Put Spirit").first.click(delay=300)
        await seat.reaches(before + 1)
        # Who has the first turn is drawn, and the bot's own turns are over before anybody sees them.
        while await seat.turn() < 3:
            await seat.decline()
        await expect(page.get_by_role("log")).to_contain_text("Turn 2")
        await player.axe()


async def test_the_hand_is_in_reach_on_a_phone(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with garden(str(stack.config.gateway), tmp_path, dealt()) as match, person(PHONE) as player:
        await match.send(0, "prepare", spirits=["spirit_gnome_01", "spirit_fire_01"], kind="gnome")
        await player.sit_as(match.clients[1].token or "")
        page = await player.open(f"/m/{match.match_id}")
        seat = Gardener(page)
        await seat.asked()
        cards = page.get_by_role("list", name=says("wizards_garden.hand")).get_by_role("button")
        await expect(cards).to_have_count(3)
        for n in range(3):
            await expect(cards.nth(n)).to_be_in_viewport(ratio=1)
        # Neither is the far end of the yard lost behind it.
        await no_space_is_covered(seat)
        for n in range(3):
            assert await is_uncovered(cards.nth(n)), n
        await player.no_sideways_scroll()


# A page that is enlarged to 400 % has so little room.
ENLARGED: Mapping[str, Any] = {**PHONE, "viewport": {"width": 320, "height": 256}}


@pytest.mark.parametrize("screen", [PHONE, ENLARGED], ids=["phone", "enlarged"])
async def test_the_hand_leaves_room_for_the_yard(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any
) -> None:
    """Also with many spells, and while the bar asks for more than a button."""
    async with (
        garden(str(stack.config.gateway), tmp_path, dealt("skull", "eye"), spells_per_player="3") as match,
        person(screen) as player,
    ):
        await match.send(0, "prepare", spirits=["spirit_gnome_01", "spirit_fire_01"], kind="gnome")
        await player.sit_as(match.clients[1].token or "")
        page = await player.open(f"/m/{match.match_id}")
        seat = Gardener(page)
        await seat.asked()
        hand = page.get_by_role("list", name=says("wizards_garden.hand")).get_by_role("button")
        spells = page.get_by_role("list", name=says("wizards_garden.spells")).get_by_role("button")
        await expect(spells).to_have_count(3)
        low = await seat.bar.evaluate("each => each.offsetHeight")
        await no_space_is_covered(seat)
        for n in range(2):
            await hand.nth(n).click()
        await expect(hand.nth(1)).to_have_attribute("aria-pressed", "true")
        assert await seat.bar.evaluate("each => each.offsetHeight") > low
        await no_space_is_covered(seat)
        for each in (hand.last, spells.last):
            await each.focus()
            assert await is_uncovered(each)
        await player.no_sideways_scroll()


async def no_space_is_covered(seat: Gardener) -> None:
    """Whichever space of the yard has the focus is seen whole."""
    for space in (f"{column}{row}" for column in "ace" for row in (1, 4, 7)):
        await seat.space(space).focus()
        assert await is_uncovered(seat.space(space)), space


async def is_uncovered(button: Locator) -> bool:
    """Nothing lies on it, nor is any of it scrolled out of sight: its middle and its corners can be pressed."""
    return bool(
        await button.evaluate("""each => {
            const { left, right, top, bottom } = each.getBoundingClientRect();
            const inner = 4;
            return [
                [(left + right) / 2, (top + bottom) / 2],
                ...[left + inner, right - inner].flatMap((x) => [top + inner, bottom - inner].map((y) => [x, y])),
            ].every(([x, y]) => each.contains(document.elementFromPoint(x, y)));
        }""")
    )


async def test_a_challenge_with_the_game_s_options(person: Callable[..., Person]) -> None:
    async with person() as host, person(PHONE, language="fi") as other:
        page = await host.open("/")
        await page.get_by_role("button", name=says("lobby.new")).click()
        dialog = page.get_by_role("dialog", name=says("lobby.new_title"))
        await dialog.get_by_role("radio", name="The Wizard's Garden").check()
        await dialog.get_by_label("Spells for each player").fill("3")
        await host.axe()
        await dialog.get_by_role("button", name=says("lobby.create")).click()
        theirs = await other.open("/")
        if await theirs.get_by_role("tab").count():
            await theirs.get_by_role("tab", name=says("lobby.challenges", "fi")).click()
        await theirs.get_by_role("table").get_by_role("button", name="Liity").click()
        for each in (page, theirs):
            await each.wait_for_url("**/m/*")
        blue_or_red = [Gardener(page), Gardener(theirs, "fi")]
        for seat in blue_or_red:
            await expect(seat.space("c1")).to_be_visible()
        await expect(page.get_by_text("Spells in hand: 3").first).to_be_attached()
        await other.no_sideways_scroll()


@pytest.mark.parametrize("language", ["en", "fi"])
async def test_the_rules_tell_every_clause_spell_and_refusal(person: Callable[..., Person], language: str) -> None:
    manifest = load_game(GAME).texts.manifest(language)
    spells = next(shelf for shelf in manifest.catalogues if shelf.name == "spells")
    codes = {t.key for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    wanted = {f"spells.{spell.id}" for spell in spells.items} | {clause.rule for clause in manifest.clauses}
    wanted |= {f"refusals.{code}" for code in codes}
    async with person(PHONE, language=language) as reader:
        page = await reader.open(f"/rules/{GAME}")
        await page.locator("#refusals").wait_for()
        ids = set(await page.evaluate("[...document.querySelectorAll('main [id]')].map((each) => each.id)"))
        assert wanted <= ids, wanted - ids
        await reader.axe()
        await reader.no_sideways_scroll()


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_replay_and_audit(person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any) -> None:
    async with garden(str(stack.config.gateway), tmp_path, POSITION) as match:
        await match.send(0, "declare_attack", group="b4>a4", fire=3)
        await match.send(1, "cast_conch")
        await match.send(0, "declare_attack", group="e5>e4", fire=3)
        await match.sessions[1].submit("resign")
        for session in match.sessions:
            await session.wait_finished(timeout_s=30)
        async with person(screen) as reader:
            await reader.sit_as(match.clients[0].token or "")
            page = await reader.open(f"/m/{match.match_id}/replay?v=6")
            yard = Gardener(page)
            await expect(yard.space("a4")).to_contain_text("threatened from b4")
            await expect(page.get_by_text("Aino attacks: b4>a4").locator("visible=true").first).to_be_visible()
            await page.keyboard.press("ArrowRight")
            await expect(yard.space("a4")).not_to_contain_text("threatened")
            await expect(page.get_by_text("The Conch stops the attack.", exact=False).first).to_be_attached()
            await reader.axe()
            await reader.no_sideways_scroll()
            page = await reader.open(f"/m/{match.match_id}/audit")
            await expect(page.get_by_role("main")).to_contain_text("6 of 7 checks hold", timeout=20_000)
            await reader.axe()
