"""Pages around a match of Broom Service: rules, replay, audit."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from grimoire.client import Client
from grimoire.engine import PUBLIC, Viewer
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from grimoire.v1 import manifest_pb2 as mf
from tests.web.broom import EVERYTHING, GAME, Player, company
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(300)]

TOLD = ("roles", "events", "tiles", "clouds")
"""What the box holds of cards and tiles."""


@pytest.mark.parametrize("language", ["en", "fi", "el"])
async def test_the_rules_tell_every_clause_card_and_refusal(person: Callable[..., Person], language: str) -> None:
    manifest = load_game(GAME).texts.manifest(language)
    shelves = {shelf.name: shelf.items for shelf in manifest.catalogues}
    refusals = {t.key: t.text for t in manifest.templates if t.kind == mf.TEMPLATE_KIND_REJECTION}
    wanted = {f"{name}.{item.id}" for name in TOLD for item in shelves[name]}
    wanted |= {clause.rule for clause in manifest.clauses} | {f"refusals.{code}" for code in refusals}
    async with person(PHONE, language=language) as reader:
        page = await reader.open(f"/rules/{GAME}")
        await page.locator("#refusals").wait_for()
        told = await page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('main [id]')].map((each) => [each.id, each.textContent]))"
        )
        assert wanted <= told.keys(), wanted - told.keys()
        # In the language of the page, not only by number and id.
        for name in TOLD:
            for item in shelves[name]:
                assert item.name in told[f"{name}.{item.id}"], item.id
        for clause in manifest.clauses:
            assert clause.title in told[clause.rule], clause.rule
        await reader.axe()
        await reader.no_sideways_scroll()


@dataclass(frozen=True)
class Played:
    """A match of two that was played to its end.

    Args:
        match_id: its id.
        token: of one who played it.
        views: what everybody could see, by version.
        hands: roles that the first seat held, by version, as it saw them.
    """

    match_id: str
    token: str
    views: Mapping[int, pb.View]
    hands: Mapping[int, tuple[str, ...]]

    def first(self, changed: Callable[[pb.View, pb.View], bool]) -> int:
        """The first version after which something had changed."""
        versions = sorted(self.views)
        return next(n for n in versions[1:] if changed(self.views[n - 1], self.views[n]))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def played(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A whole match with everything the box holds, played by programs."""
    bot = load_game(GAME).bot
    assert bot is not None
    rng = random.Random(8)
    kept = tmp_path_factory.mktemp("kept")
    async with company(str(stack.config.gateway), kept, 2, **EVERYTHING) as table:
        while not table.sessions[0].finished:
            seat = table.asked()
            session = table.sessions[seat]
            prompt = next(one for one in session.own_prompts if one.required)
            code, command = bot.suggest(table.view(seat), prompt, "random", rng, 0)
            sent = await session.submit(code, command, prompt.prompt_id)
            for each in table.sessions:
                await each.reached(sent.version, timeout_s=30)
        for session in table.sessions:
            await session.wait_finished(timeout_s=30)
        views = {n: pb.View.FromString(view) for n, view in (await screens(table.clients[0], table, PUBLIC)).items()}
        own = await screens(table.clients[0], table, Viewer.of_seat(0))
        hands = {n: tuple(pb.View.FromString(view).seats[0].roles) for n, view in own.items()}
        return Played(table.match_id, table.clients[0].token or "", views, hands)


async def screens(client: Client, table: Any, viewer: Viewer) -> dict[int, bytes]:
    """Every view that somebody had, by version; none before the match had started."""
    return {frame.version: frame.view async for frame in client.frames(table.match_id, viewer) if frame.view}


async def at(page: Page, version: int) -> None:
    """The replay shows this version, and its picture is there."""
    await expect(page.locator(f'.replay[data-version="{version}"]')).to_be_visible()
    await expect(page.locator(".stage [data-region]").first).to_be_visible()


async def to_its_end(page: Page) -> None:
    """Scrolls until the controls, which lie over the page's lower edge on a phone, cover nothing."""
    await page.evaluate("document.scrollingElement.scrollTo(0, document.scrollingElement.scrollHeight)")


async def shows(page: Page, view: pb.View) -> None:
    """The picture is that of a view: pawns in their regions, clouds, points."""
    names = {item.id: item.name for shelf in load_game(GAME).texts.manifest("en").catalogues for item in shelf.items}
    labels = await page.locator(".stage [data-region]").evaluate_all(
        "all => Object.fromEntries(all.map((each) => [each.dataset.region, each.ariaLabel]))"
    )
    for cloud in view.clouds:
        assert names[cloud.cloud] in labels[cloud.region], cloud.region
    for seat, name in zip(view.seats, ("Aino", "Väinö"), strict=True):
        for region in seat.pawns:
            assert name in labels[region], (name, region)
    points = await Player(page).part("seats").locator(".vp").all_inner_texts()
    found = sorted(int(each.split()[0].removesuffix(says("broom_service.vp"))) for each in points)
    assert found == sorted(each.vp for each in view.seats)


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_a_finished_match_is_watched_by_keys(person: Callable[..., Person], played: Played, screen: Any) -> None:
    """Step by step over a flight, a charmed cloud and points; to both ends; through the eyes of a seat."""
    moved = played.first(lambda old, new: [s.pawns[:] for s in old.seats] != [s.pawns[:] for s in new.seats])
    paid = played.first(lambda old, new: [s.vp for s in old.seats] != [s.vp for s in new.seats])
    async with person(screen) as reader:
        await reader.sit_as(played.token)
        page = await reader.open(f"/m/{played.match_id}/replay?v={moved - 1}&seat=public")
        await at(page, moved - 1)
        await shows(page, played.views[moved - 1])
        keys = page.keyboard
        await keys.press("ArrowRight")
        await at(page, moved)
        await shows(page, played.views[moved])
        await to_its_end(page)
        await reader.axe(at="a flight")
        by = 1 if paid > moved else -1
        for version in range(moved + by, paid + by, by):
            await keys.press("ArrowRight" if by > 0 else "ArrowLeft")
            await at(page, version)
        await shows(page, played.views[paid])
        await keys.press("End")
        last = max(played.views)
        await at(page, last)
        await shows(page, played.views[last])
        scores = page.get_by_role("table", name=says("broom_service.scores"))
        for score in played.views[last].result.scores:
            await expect(scores).to_contain_text(str(score.vp))
        await to_its_end(page)
        await reader.axe(at="the end")
        await reader.no_sideways_scroll()
        await keys.press("Home")
        await expect(page.locator('.replay[data-version="1"]')).to_be_visible()


async def test_a_seat_sees_only_its_own_hand(person: Callable[..., Person], played: Played) -> None:
    version = next(n for n, hand in sorted(played.hands.items()) if len(hand) > 1)
    async with person() as reader:
        await reader.sit_as(played.token)
        page = await reader.open(f"/m/{played.match_id}/replay?v={version}&seat=0")
        await at(page, version)
        cards = page.locator(".stage [data-ref^='role:']")
        assert set(await cards.evaluate_all("all => all.map((each) => each.dataset.ref.slice(5))")) == set(
            played.hands[version]
        )
        while await page.locator(".replay").get_attribute("data-eyes") != "public":
            before = await page.locator(".replay").get_attribute("data-eyes")
            await page.keyboard.press("v")
            await expect(page.locator(f'.replay:not([data-eyes="{before}"])')).to_be_visible()
        await expect(cards).to_have_count(0)


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_the_audit_holds(person: Callable[..., Person], played: Played, screen: Any) -> None:
    async with person(screen) as sceptic:
        await sceptic.sit_as(played.token)
        page = await sceptic.open(f"/m/{played.match_id}/audit")
        await expect(page.get_by_role("main")).to_contain_text(says("audit.verdict.holds"), timeout=40_000)
        await expect(page.get_by_role("main")).not_to_contain_text("✗")
        await sceptic.axe()
        await sceptic.no_sideways_scroll()
