"""Spellbound's table in a browser: drawn and read alike, on every screen, in every theme (W-SB-1 to W-SB-3)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.async_api import Locator, expect

from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from grimoire.v1 import manifest_pb2 as mf
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.spellbound import GAME, arranged
from tests.web.test_phone import NARROW, large_enough
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios" / GAME
TABLET: Mapping[str, Any] = {"viewport": {"width": 800, "height": 1000}}
CROWDED: Mapping[str, Any] = {
    "lower_row": [
        "centaur_1", "librarian", "fortuna_deck", "basic_move_red", "halfling_2", "dragon_1", "pixies_1", "pixies_2",
        "giant_eagle_1",
    ],
    "upper_row": ["witch_red_a", "troll_b", "witch_blue_a", "witch_green_b", "knight", "squire"],
    "mages": ["village_03"] * 4,
    "watchman": "city_red",
    "wands": {0: 3},
}  # fmt: skip
BUSY: Mapping[str, Any] = {
    "lower_row": ["centaur_1", "librarian", "fortuna_deck", "basic_move_red", "halfling_2"],
    "upper_row": ["witch_red_a", "troll_b", "squire"],
    "mages": ["city_red", "city_red", "village_03", "wilderness"],
    "wands": {0: 3, 1: 1},
    "spells": {0: ["sun_burst", "teleport"], 1: ["alchemy"], 2: ["hat_trick", "book_wyrm"]},
    "hats": {"red": 4, "blue": 5, "green": 2},
    "troll": 3,
    "books": {"blue": 7, "silver": "gained", "green": "lost", "red": 5},
    "villages": {"village_08": None, "village_09": "dragon_2", "village_10": "?ranger_1"},
    "influence": {"village_03": ["basic_influence_red", "warlock_1*2"]},
    "sun_pile": ["basic_magic_red", "pixies_1"],
    "moon_pile": ["troll_a", "witch_blue_a"],
    "minions": ["skeleton_army"],
    "watchman": "city_blue",
    "bag": "s2 m2",
    "drawn": "s1 m0",
    "witch": 2,
}


def cards_of(language: str = "en") -> Mapping[str, mf.CatalogueItem]:
    """Cards by id, in words."""
    manifest = load_game(GAME).texts.manifest(language)
    return {item.id: item for shelf in manifest.catalogues if shelf.name == "cards" for item in shelf.items}


def names_of() -> Mapping[str, str]:
    """What everything is called."""
    return {item.id: item.name for shelf in load_game(GAME).texts.manifest("en").catalogues for item in shelf.items}


async def labels_of(buttons: Locator) -> list[str]:
    """Names of buttons, as they are read."""
    return [str(label) for label in await buttons.evaluate_all("all => all.map((each) => each.ariaLabel)")]


# ---- what must fit (W-SB-1, W-SB-3) ----------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", [PHONE, NARROW, TABLET, DESKTOP], ids=["360", "320", "800", "desktop"])
async def test_a_full_display_hides_nothing(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any
) -> None:
    """W-SB-1: nine cards below and six above; every one can be brought before the eyes, and the bar stays."""
    async with (
        arranged(str(stack.config.gateway), tmp_path, CROWDED, seats=4, mages="4") as (table, _),
        person(screen) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        await expect(player.row("mage_row")).to_have_count(9)
        await expect(player.row("wicked_row")).to_have_count(6)
        for key in ("mage_row", "wicked_row"):
            for card in await player.row(key).all():
                await card.scroll_into_view_if_needed()
                await expect(card).to_be_in_viewport(ratio=0.99)
                at, bar = await card.bounding_box(), await player.bar.bounding_box()
                assert at is not None
                assert bar is not None
                assert at["y"] + at["height"] <= bar["y"] + 1
        await expect(player.bar).to_be_in_viewport(ratio=1)
        await large_enough(player.row("mage_row"))
        await large_enough(player.part("villages").get_by_role("button"))
        await someone.no_sideways_scroll()


@pytest.mark.parametrize(
    ("seats", "options", "mages"),
    [(1, {"mages": "1"}, 1), (4, {"mages": "4"}, 4), (1, {"mages": "3", "mage_seats": "0,0,0"}, 3)],
    ids=["one", "four", "three of one seat"],
)
async def test_so_many_mages(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, seats: int, options: dict[str, str], mages: int
) -> None:
    """W-SB-3."""
    position = {"lower_row": ["halfling_2"], "wands": [2, 1, 3, 0][:mages]}
    async with (
        arranged(str(stack.config.gateway), tmp_path, position, seats=seats, **options) as (table, view),
        person(PHONE) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        for mage in view.mages:
            name, place = names_of()[str(mage.mage)], names_of()[mage.place]
            await expect(player.thing(f"mage:{mage.mage}")).to_have_attribute(
                "aria-label", re.compile(f"^{name} .*: {place}, wand {mage.wand}", re.IGNORECASE)
            )
        assert await player.part("mages").locator("section").count() == seats
        await someone.axe()
        await someone.no_sideways_scroll()


# ---- every card (W-SB-2) ---------------------------------------------------------------------------------------------

_SHOWN: Mapping[str, Any] = {
    "first": {
        "lower_row": ["basic_move_red", "basic_magic_blue", "basic_influence_green", "centaur_1", "city_watchman",
                      "changeling", "dark_elf_1", "dragon_1", "giant_eagle_1"],
        "upper_row": ["witch_red_a", "witch_red_c", "witch_blue_a", "witch_blue_c", "troll_a", "troll_b"],
        "spells": {0: ["alchemy", "book_wyrm", "circle_of_magi", "hat_trick", "puppetry"]},
    },
    "second": {
        "lower_row": ["halfling_2", "librarian", "lizardman_2", "magic_dwarf_1", "pixies_1", "ranger_1", "vampire_2",
                      "warlock_1", "warrior_1"],
        "upper_row": ["witch_green_a", "witch_green_c", "witch_yellow_a", "witch_yellow_c", "knight", "squire"],
        "spells": {0: ["scry", "sun_burst", "teleport", "troll_bane", "winning_smile"]},
    },
    "third": {
        "lower_row": ["fortuna_deck"],
        "villages": {"village_07": None},
        "minions": ["skeleton_army", "goblin_spider_riders", "danzer"],
    },
}  # fmt: skip


async def test_every_kind_of_card_is_drawn_with_name_and_text(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    """W-SB-2: on the table, in its inspector, or, of cards that are not used in play, in the rules."""
    cards, seen = cards_of(), set()
    async with person() as someone:
        for name, position in _SHOWN.items():
            position = {key: value for key, value in position.items() if key != "spells" or name == "first"} | (
                {"spells": {0: [spell for spell in position["spells"][0] if spell not in ("scry", "troll_bane")]}}
                if name == "second"
                else {}
            )
            async with arranged(str(stack.config.gateway), tmp_path / name, position, mages="1") as (table, view):
                player = await table.sit(0, someone)
                await player.asked()
                for card in (*view.lower_row, *view.upper_row):
                    face = player.thing(f"card:{card.card}")
                    await expect(face).to_contain_text(cards[card.card].name)
                    await expect(face).to_contain_text(cards[card.card].text)
                    await expect(face.locator(".art svg path")).to_have_count(1)
                    seen.add(card.card)
                for spell in view.mages[0].spells:
                    await player.thing(f"spell:{spell}").click(button="right", force=True)
                    await told(player.page.get_by_role("dialog"), cards[spell])
                    seen.add(spell)
                for village in view.villages:
                    if village.card:
                        await player.thing(f"place:{village.village}").click(button="right", force=True)
                        await told(player.page.get_by_role("dialog"), cards[village.card])
                        seen.add(village.card)
                await player.thing("wand:now").click(button="right", force=True)
                await told(player.page.get_by_role("dialog"), cards["wand_1"] if "wand_1" in cards else cards["wand"])
                for minion in view.tower.minions:
                    await expect(player.part("tower")).to_contain_text(cards[minion].name)
        page = await someone.open(f"/rules/{GAME}")
        await page.locator("#refusals").wait_for()
        for item in cards.values():
            entry = page.locator(f'[id="cards.{item.id}"]')
            await expect(entry).to_contain_text(item.name)
            await expect(entry).to_contain_text(item.text)
    assert len(seen) > 40


async def told(dialog: Locator, card: mf.CatalogueItem) -> None:
    """The inspector tells of a card; then it is closed."""
    await expect(dialog).to_contain_text(card.name)
    await expect(dialog).to_contain_text(card.text.removesuffix("."))
    await dialog.page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)


# ---- every position of the rules -------------------------------------------------------------------------------------


def positions() -> Iterable[tuple[str, Any, dict[str, str], int]]:
    """Positions of the worked scenarios, each once."""
    known = set()
    for file in sorted(SCENARIOS.glob("*.yaml")):
        for n, scenario in enumerate(yaml.safe_load_all(file.read_text())):
            if not scenario or "position" not in scenario:
                continue
            options = {name: str(value) for name, value in scenario.get("options", {}).items()}
            seats = scenario.get("seats", 1)
            if (key := json.dumps([scenario["position"], options, seats], sort_keys=True)) not in known:
                known.add(key)
                yield f"{file.stem}-{n}", scenario["position"], options, seats


PARTS = 5


@pytest.mark.timeout(400)
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_scenario_is_drawn_and_read_alike(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, part: int
) -> None:
    """The same cards, books, pieces and mages at the same places: in the view, on the table, and in words."""
    names = names_of()
    async with person() as someone:
        for at, position, options, seats in list(positions())[part::PARTS]:
            async with arranged(str(stack.config.gateway), tmp_path / at, position, seats=seats, **options) as (
                table,
                view,
            ):
                player = await table.sit(0, someone)
                drawn = {
                    "tracks": await labels_of(player.part("tracks").get_by_role("button")),
                    "villages": await labels_of(player.part("villages").get_by_role("button")),
                    "wicked_row": await labels_of(player.row("wicked_row")),
                    "mage_row": await labels_of(player.row("mage_row")),
                    "mages": await labels_of(player.part("mages").locator("[data-ref^='mage:']")),
                }
                assert [len(drawn[key]) for key in drawn] == [
                    5, 12, len(view.upper_row), len(view.lower_row), len(view.mages),
                ], at  # fmt: skip
                for track, label in zip(view.tracks, drawn["tracks"], strict=True):
                    assert f"{names[track.piece]} on {track.piece_at}" in label, (at, label)
                    book = f"book on {track.book_at}" if track.book_state == "on_track" else f"book {track.book_state}"
                    assert book in label, (at, label)
                for village, label in zip(view.villages, drawn["villages"], strict=True):
                    assert (names.get(village.card, "") if village.card else "") in label, (at, label)
                    assert f"{village.amount} of {village.requirement}" in label or not village.requirement, (at, label)
                for mage in view.mages:
                    where = next(
                        label
                        for label in (*drawn["tracks"], *drawn["villages"])
                        if label.lower().startswith(f"{names[mage.place]}:")
                    )
                    assert names[str(mage.mage)] in where.partition("there: ")[2], (at, where)
                for row, cards in (("wicked_row", view.upper_row), ("mage_row", view.lower_row)):
                    assert all(
                        label.startswith(names[card.card]) for label, card in zip(drawn[row], cards, strict=True)
                    )
                await player.page.keyboard.press("x")
                for key, labels in drawn.items():
                    heading = player.page.get_by_role("heading", name=says(f"spellbound.{key}"), exact=True)
                    lines = await heading.locator("..").get_by_role("listitem").all_inner_texts()
                    for label in labels:
                        assert any(line.startswith(label) for line in lines), (at, key, label, lines)


# ---- screens, themes, keys -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", [DESKTOP, TABLET, PHONE, NARROW], ids=["desktop", "800", "360", "320"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_no_finding_and_nothing_cut_off(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any, dark: bool
) -> None:
    language = "fi" if dark else "en"
    options = {"mages": "4", "mage_seats": "0,1,2,0"}
    async with (
        arranged(str(stack.config.gateway), tmp_path, BUSY, seats=3, **options) as (table, _),
        person(screen, dark=dark, language=language) as someone,
    ):
        player = await table.sit(0, someone, language)
        await player.asked()
        await someone.axe(at="nothing chosen")
        await someone.no_sideways_scroll()
        await player.pick("card:basic_move_red")
        await someone.axe(at="a card chosen")
        await expect(player.bar).to_be_in_viewport(ratio=1)
        await player.page.evaluate("document.documentElement.dataset.theme = 'contrast'")
        await someone.axe(at="contrast")
        await player.part("tower").get_by_role("button").click()
        await someone.axe(at="piles")


async def test_large_text(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        arranged(str(stack.config.gateway), tmp_path, BUSY, seats=3, mages="4", mage_seats="0,1,2,0") as (table, _),
        person({"viewport": {"width": 640, "height": 900}}) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        await player.page.evaluate("document.documentElement.style.fontSize = '200%'")
        await someone.no_sideways_scroll()
        await expect(player.bar).to_be_in_viewport(ratio=1)


async def test_keys_lead_to_every_part(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        arranged(str(stack.config.gateway), tmp_path, BUSY, seats=3, mages="4", mage_seats="0,1,2,0") as (table, _),
        person() as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        keys = player.page.keyboard
        for key, ref in (("v", "place:village_01"), ("c", "place:city_red"), ("s", "spell:sun_burst")):
            await keys.press(key)
            await expect(player.thing(ref)).to_be_focused()
        await keys.press("v")
        for key, ref in (("ArrowRight", "village_02"), ("ArrowDown", "village_08"), ("ArrowLeft", "village_07")):
            await keys.press(key)
            await expect(player.thing(f"place:{ref}")).to_be_focused()
        await keys.press("w")
        await expect(player.thing("wand:now")).to_have_attribute("aria-pressed", "true")
        await keys.press("Escape")
        await keys.press("5")
        await expect(player.thing("card:halfling_2")).to_have_attribute("aria-pressed", "true")
        await keys.press("?")
        await expect(player.page.get_by_role("dialog")).to_contain_text(says("spellbound.place_villages"))
