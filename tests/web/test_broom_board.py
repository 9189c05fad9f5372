"""Broom Service's table in a browser: what must fit, what is drawn and read alike (W-BS-2, W-BS-4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.async_api import expect

from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from tests.web.broom import EVERYTHING, GAME, ROLES, arranged
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.test_phone import NARROW
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios" / GAME
BUSY: Mapping[str, Any] = {
    "seats": {
        0: {"roles": list(ROLES[:4]), "pawns": ["h4", "p3"], "resources": "o12 g10 p11 w13", "vp": 101},
        1: {"roles": list(ROLES[2:6]), "resources": "o10 g10 p10 w10", "vp": 99},
    },
}


def names_of(language: str = "en") -> Mapping[str, str]:
    """What everything is called."""
    manifest = load_game(GAME).texts.manifest(language)
    return {item.id: item.name for shelf in manifest.catalogues for item in shelf.items}


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_ten_pawns_in_one_region(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any
) -> None:
    """W-BS-2: three marks and a count, every pawn in the strip and in words."""
    position = {"seats": {seat: {"roles": ["hill_witch"], "pawns": ["h4", "h4"]} for seat in range(5)}}
    async with (
        arranged(str(stack.config.gateway), tmp_path, position) as table,
        person(screen) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        region = player.page.locator("[data-region=h4]")
        await region.scroll_into_view_if_needed()
        await expect(player.page.locator(".map .pawn")).to_have_count(3)
        await expect(player.page.locator(".map .crowd")).to_have_text("+7")
        label = await region.get_attribute("aria-label") or ""
        assert label.count("×2") == 5, label
        await region.click()
        strip = player.page.locator(".strip")
        await expect(strip.locator("[data-ref^='pawn:'], .other")).to_have_count(10)
        await someone.no_sideways_scroll()


@pytest.mark.parametrize("screen", [PHONE, NARROW], ids=["360", "320"])
async def test_five_seats_on_a_phone(person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any) -> None:
    """W-BS-4: points and resources of all five can be seen at once."""
    async with (
        arranged(str(stack.config.gateway), tmp_path, BUSY) as table,
        person(screen) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        width = screen["viewport"]["width"]
        facts = player.part("seats").locator(".facts")
        await expect(facts).to_have_count(5)
        for each in await facts.all():
            for part in (each.locator(".vp"), *(await each.locator(".one").all())):
                await expect(part).to_be_in_viewport(ratio=1)
                where = await part.bounding_box()
                assert where is not None
                assert where["x"] >= 0
                assert where["x"] + where["width"] <= width
        await someone.no_sideways_scroll()


@pytest.mark.parametrize("screen", [PHONE, NARROW], ids=["360", "320"])
async def test_five_asked_seats_of_one_person(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any
) -> None:
    """All of them can be seen and pressed at once, and are called by name and by what is asked of them."""
    async with (
        arranged(str(stack.config.gateway), tmp_path, {"stage": "choose"}) as table,
        person(screen) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        seats = player.page.locator("[data-own-seat]")
        await expect(seats).to_have_count(5)
        for each in await seats.all():
            await expect(each).to_be_in_viewport(ratio=1)
            await expect(each).to_contain_text(says("play.seat_asked"))
            where = await each.bounding_box()
            assert where is not None
            assert where["width"] >= 44
            assert where["height"] >= 36
        # However narrow they are, nothing of them lies outside, and the line is not scrolled.
        over = await seats.first.locator("..").evaluate("each => each.scrollWidth - each.clientWidth")
        assert over <= 0
        await seats.nth(3).click()
        await expect(seats.nth(3)).to_have_attribute("aria-pressed", "true")
        await player.asked()
        await someone.axe()
        await someone.no_sideways_scroll()


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "360"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_no_finding_and_nothing_cut_off(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any, dark: bool
) -> None:
    language = "fi" if dark else "en"
    async with (
        arranged(str(stack.config.gateway), tmp_path, BUSY, seats=5, **EVERYTHING) as table,
        person(screen, dark=dark, language=language) as someone,
    ):
        player = await table.sit(0, someone, language)
        await player.asked()
        await someone.axe(at="nothing chosen")
        await player.pick("role:root_gatherer")
        await someone.axe(at="a role chosen")
        await someone.no_sideways_scroll()
        await expect(player.bar).to_be_in_viewport(ratio=1)
        await player.page.evaluate("document.documentElement.dataset.theme = 'contrast'")
        await someone.axe(at="contrast")


async def test_arrows_go_to_the_nearest_region(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        arranged(str(stack.config.gateway), tmp_path, BUSY) as table,
        person() as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        keys = player.page.keyboard
        await player.regions.first.focus()
        first = await player.regions.first.bounding_box()
        await keys.press("ArrowRight")
        here = await player.page.locator(".regions :focus").bounding_box()
        assert first is not None
        assert here is not None
        assert here["x"] > first["x"]
        assert abs(here["y"] - first["y"]) < 2
        await keys.press("ArrowDown")
        below = await player.page.locator(".regions :focus").bounding_box()
        assert below is not None
        assert below["y"] > here["y"]
        await keys.press("1")
        await expect(player.thing("role:root_gatherer")).to_have_attribute("aria-pressed", "true")


# ---- every position of the rules -------------------------------------------------------------------------------------


def positions() -> Iterable[tuple[str, Any, dict[str, str], int]]:
    """Positions of the worked scenarios, each once."""
    known = set()
    for file in sorted(SCENARIOS.glob("*.yaml")):
        for n, scenario in enumerate(yaml.safe_load_all(file.read_text())):
            if not scenario or "position" not in scenario:
                continue
            options = {
                name: str(value).lower() if isinstance(value, bool) else str(value)
                for name, value in scenario.get("options", {}).items()
            }
            seats = scenario.get("seats", 2)
            if (key := json.dumps([scenario["position"], options, seats], sort_keys=True)) not in known:
                known.add(key)
                yield f"{file.stem}-{n}", scenario["position"], options, seats


PARTS = 8


@pytest.mark.timeout(400)
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_scenario_is_drawn_and_read_alike(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, part: int
) -> None:
    """The same clouds, towers, tiles, pawns, points and resources: in the view, on the table, and in words."""
    names = names_of()
    async with person() as someone:
        for at, position, options, seats in list(positions())[part::PARTS]:
            async with arranged(str(stack.config.gateway), tmp_path / at, position, seats=seats, **options) as table:
                player = await table.sit(0, someone)
                await player.drawn()
                view = table.view(0)
                labels = await player.regions.evaluate_all(
                    "all => Object.fromEntries(all.map((each) => [each.dataset.region, each.ariaLabel]))"
                )
                for cloud in view.clouds:
                    assert names[cloud.cloud] in labels[cloud.region], (at, cloud.region)
                for tile in view.tiles:
                    assert names[tile.tile] in labels[tile.region], (at, tile.region)
                for tower in view.towers:
                    for region in tower.touches:
                        assert (names[tower.tower] in labels[region]) != tower.covered, (at, tower.tower)
                drawn = await player.page.locator(".map [data-symbol]").evaluate_all(
                    "all => all.map((each) => each.dataset.symbol)"
                )
                assert len(drawn) == len(set(drawn)), at
                # A vat is drawn as the tile that it stands on.
                undrawn = {t.tower for t in view.towers if not t.covered and t.tower not in drawn}
                assert undrawn <= {"h_vat"}, at
                assert {f"tile:{tile.region}" for tile in view.tiles} <= set(drawn), at
                points = await player.part("seats").locator(".vp").all_inner_texts()
                assert sorted(int(each.split()[0].removesuffix(says("broom_service.vp"))) for each in points) == sorted(
                    each.vp for each in view.seats
                ), at
                await player.page.keyboard.press("x")
                heading = player.page.get_by_role("heading", name=says("broom_service.map"), exact=True)
                lines = await heading.locator("..").get_by_role("listitem").all_inner_texts()
                assert sorted(lines) == sorted(labels.values()), at
