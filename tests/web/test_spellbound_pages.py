"""Pages around a match of Spellbound: rules, replay, audit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from grimoire.v1 import manifest_pb2 as mf
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.spellbound import GAME, Player, company
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.mark.parametrize("language", ["en", "fi"])
async def test_the_rules_tell_every_clause_card_and_refusal(person: Callable[..., Person], language: str) -> None:
    manifest = load_game(GAME).texts.manifest(language)
    cards = next(shelf for shelf in manifest.catalogues if shelf.name == "cards")
    codes = {t.key for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    wanted = {f"cards.{card.id}" for card in cards.items} | {clause.rule for clause in manifest.clauses}
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
    async with company(str(stack.config.gateway), tmp_path, 1) as table, person(screen) as reader:
        client = table.clients[0]
        session = await client.open_match(table.match_id)
        await session.started(timeout_s=30)
        view = pb.View.FromString(session.view)
        card = next(each.card for each in view.lower_row if each.group == "basic")
        prompt = next(one for one in session.own_prompts if one.required)
        sent = await session.submit("send_to_tower", pb.SendToTower(cards=[card]), prompt.prompt_id)
        await session.submit("resign")
        await session.wait_finished(timeout_s=30)
        await session.close()
        await reader.sit_as(client.token or "")
        page = await reader.open(f"/m/{table.match_id}/replay?v={sent.version - 1}")
        player = Player(page)
        await expect(player.row("mage_row")).to_have_count(len(view.lower_row))
        await expect(page.locator(f'[data-ref="card:{card}"]')).to_be_visible()
        await page.keyboard.press("ArrowRight")
        await expect(page.locator(f'[data-ref="card:{card}"]')).to_have_count(0)
        await expect(page.get_by_text(re.compile("^.*To the tower, sun pile: ")).first).to_be_attached()
        await reader.axe()
        await reader.no_sideways_scroll()
        page = await reader.open(f"/m/{table.match_id}/audit")
        await expect(page.get_by_role("main")).to_contain_text(says("audit.verdict.holds"), timeout=40_000)
