"""What a turn of Spellbound is made of, by pointing: wand, spells, riders, prices, windows, the final battle."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from grimoire.runtime.stack import Stack
from tests.web.people import PHONE, Person
from tests.web.spellbound import Player, arranged, together
from tests.web.texts import like, says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]


@dataclass(frozen=True)
class Deed:
    """Something that is done by pointing at things.

    Args:
        name: what it is.
        position: where it may be done.
        points: refs, in the order in which they are pointed at.
        sends: how the button begins that sends it.
        then: what the log says afterwards.
        first: a card that is played before, and how the button begins for it.
    """

    name: str
    position: Mapping[str, Any]
    points: Sequence[str]
    sends: str
    then: str
    first: tuple[str, str] | None = None


CITY = {"mages": ["city_red", "village_01"]}
DEEDS = (
    Deed("wand 1", {"wands": {0: 1}}, ("wand:now", "place:city_red"), "Wand 1", "moves with the wand"),
    Deed("wand 2", {**CITY, "wands": {0: 2}}, ("wand:now",), "Wand 2", "Red spell book moves on to 5."),
    Deed("wand 3", {"wands": {0: 3}, "upper_row": ["troll_b"]}, ("card:troll_b",), "Wand 3", "The wand discards Troll"),
    Deed(
        "a price",
        {"lower_row": ["vampire_2", "halfling_2"]},
        ("card:vampire_2", "card:halfling_2"),
        "Vampire",
        "Halfling is discarded as the price.",
    ),
    Deed(
        "a step that needs no pointing",
        {**CITY, "lower_row": ["librarian"]},
        (),
        "Research the book here",
        "Red spell book moves on to 5.",
        ("card:librarian", "Librarian: 2 rainbow books"),
    ),
    Deed(
        "the watchman",
        {"lower_row": ["city_watchman"]},
        ("place:city_blue",),
        "Send the watchman to a city",
        "The watchman comes to the blue city.",
        ("card:city_watchman", "City Watchman"),
    ),
    Deed(
        "the changeling",
        {"lower_row": ["changeling"]},
        ("place:village_08",),
        "Change the ally",
        "The Changeling sends Halfling",
        ("card:changeling", "Changeling"),
    ),
    Deed(
        "influence taken away",
        {"influence": {"village_03": ["basic_influence_red"]}},
        ("place:village_03",),
        "Take influence away from village 3",
        "is taken away from village 3.",
    ),
    Deed(
        "teleport",
        {"spells": {0: ["teleport"]}},
        ("spell:teleport", "mage:1", "place:city_red"),
        "Teleport",
        "is teleported",
    ),
    Deed(
        "book wyrm",
        {"spells": {0: ["book_wyrm"]}},
        ("spell:book_wyrm", "book:green"),
        "Book Wyrm",
        "Green spell book moves on",
    ),
    Deed("puppetry", {"spells": {0: ["puppetry"]}}, ("spell:puppetry", "mage:1"), "Puppetry", "acts with mage B."),
    Deed(
        "circle of magi",
        {**CITY, "spells": {0: ["circle_of_magi"]}},
        ("spell:circle_of_magi",),
        "Circle",
        "moves on to 5.",
    ),
    Deed(
        "winning smile",
        {"mages": ["village_08", "village_01"], "spells": {0: ["winning_smile"]}},
        ("spell:winning_smile",),
        "Winning Smile",
        "Recruited at village 8: Halfling.",
    ),
)


@asynccontextmanager
async def seated(
    person: Callable[..., Person], stack: Stack, kept: Path, position: Mapping[str, Any], screen: Any = None
) -> AsyncIterator[Player]:
    """One person who leads two mages, in a position."""
    async with (
        arranged(str(stack.config.gateway), kept, position, mages="2", mage_seats="0,0") as (table, _),
        person(*([screen] if screen else [])) as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        yield player


@pytest.mark.parametrize("deed", DEEDS, ids=[deed.name for deed in DEEDS])
async def test_a_deed(person: Callable[..., Person], stack: Stack, tmp_path: Path, deed: Deed) -> None:
    async with seated(person, stack, tmp_path, deed.position) as player:
        if deed.first is not None:
            await player.pick(deed.first[0])
            await player.press(deed.first[1])
            await player.asked()
        for ref in deed.points:
            await player.pick(ref)
        await player.press(deed.sends)
        await expect(player.page.get_by_role("log")).to_contain_text(deed.then)


async def test_pixies_go_to_the_tower_together(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    row = ["pixies_1", "pixies_2", "pixies_3", "basic_move_red", "basic_move_blue"]
    async with seated(person, stack, tmp_path, {"state": "witching", "lower_row": row}, PHONE) as player:
        await player.pick("card:pixies_1")
        await player.pick("card:pixies_3")
        await player.press("Send Pixies")
        await player.asked()
        await expect(player.part("tower")).to_contain_text("☀ 4")
        assert await player.row("mage_row").count() == 3


async def test_a_command_without_things_is_offered_beside_those_with(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    async with seated(person, stack, tmp_path, {"lower_row": ["halfling_2"]}) as player:
        await player.pick("card:halfling_2")
        await player.press("Halfling: 1 movement, magic or influence")
        await player.asked()
        await expect(player.button("Use magic here")).to_be_visible()
        await expect(player.button("End the card")).to_be_visible()
        await player.press("Use magic here")
        await expect(player.thing("wand:now")).to_have_attribute("aria-label", re.compile("charged 1 of 3"))


async def test_a_story_that_loses_a_book_is_ended_only_when_said_twice(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    async with seated(person, stack, tmp_path, {**CITY, "hats": {"red": 3}}) as player:
        await expect(player.page.get_by_text(like("spellbound.warning_idle"))).to_be_attached()
        before = await player.version()
        await player.button("End the story").click(delay=300)
        await expect(player.bar).to_contain_text("Really")
        assert await player.version() == before
        await player.bar.get_by_role("button", name=re.compile("^Yes")).click(delay=300)
        await player.reaches(before + 1)
        await expect(player.page.get_by_role("log")).to_contain_text("Red spell book is caught and lost.")
        await expect(player.thing("place:city_red")).to_have_attribute("aria-label", re.compile("book lost"))


async def test_one_person_plays_the_seats_of_two(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """Whoever has several seats is led from the one to the next."""
    position = {"lower_row": ["halfling_2"], "moved": True}
    async with (
        arranged(str(stack.config.gateway), tmp_path, position, seats=2, mages="2") as (table, _),
        person() as someone,
    ):
        player = await table.sit(0, someone)
        await player.asked()
        await player.press("End the story")
        await expect(player.page.locator("h1")).to_contain_text("Witching Time")
        await player.asked()
        card = player.row("mage_row").and_(player.page.locator("[data-usable]")).first
        await player.pick(str(await card.get_attribute("data-ref")))
        await player.press("Send one card to the tower")
        await expect(player.page.locator("h1")).to_contain_text("the story")
        await expect(player.page.get_by_text("Turn 2: mage B", exact=False).first).to_be_attached()


async def test_a_turn_in_words(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {"lower_row": ["basic_move_red", "halfling_2"], "upper_row": ["witch_red_a"]}
    async with seated(person, stack, tmp_path, position, PHONE) as player:
        await player.page.keyboard.press("x")
        line = player.page.get_by_label(says("play.text.line"))
        for text in ("travel movement", "move red city", "discard halfling", "end the story"):
            await player.asked()
            before = await player.version()
            for _ in range(20):
                await line.fill(text)
                await line.press("Enter")
                await line.press("Enter")
                with contextlib.suppress(Exception):
                    await player.reaches(before + 1, within_ms=2000)
                    break
            await player.reaches(before + 1)
        await expect(player.page.get_by_text("Turn 2, mage B", exact=False).first).to_be_attached()


# ---- two people ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def pair(
    person: Callable[..., Person], stack: Stack, kept: Path, position: Mapping[str, Any]
) -> AsyncIterator[tuple[Player, Player]]:
    """Two people at their browsers, one of them on a phone."""
    async with (
        together(str(stack.config.gateway), kept, position) as table,
        person() as aino,
        person(PHONE, dark=True) as vaino,
    ):
        players = await table.sit(0, aino), await table.sit(1, vaino)
        yield players
        await aino.axe()
        await vaino.axe()
        await vaino.no_sideways_scroll()


async def test_a_rider_is_asked(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {"mages": ["wilderness", "wilderness"], "lower_row": ["centaur_1"]}
    async with pair(person, stack, tmp_path, position) as (first, second):
        await first.pick("card:centaur_1")
        await first.press("Centaur")
        await first.asked()
        await first.pick("place:village_05")
        await first.press("Move and take mage B along")
        await second.asked()
        await expect(second.bar).to_have_attribute("data-kind", "reaction")
        await expect(second.page.locator(".asked").first).to_contain_text("ride along to village 5")
        await expect(first.bar).to_contain_text("Väinö")
        await second.press("Ride along")
        await first.reaches(await second.version())
        await expect(first.thing("place:village_05")).to_have_attribute("aria-label", re.compile("mage A, mage B"))


async def test_a_spell_is_cast_in_another_s_turn(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {"spells": {1: ["book_wyrm", "hat_trick"]}, "lower_row": ["halfling_2"]}
    async with pair(person, stack, tmp_path, position) as (first, second):
        await first.asked()
        wyrm = second.thing("spell:book_wyrm")
        await expect(wyrm).to_have_attribute("data-usable", "")
        await expect(second.thing("spell:hat_trick")).not_to_have_attribute("data-usable", "")
        await expect(second.bar).to_have_attribute("data-kind", "optional")
        await second.pick("spell:book_wyrm")
        await second.pick("book:silver")
        await second.press("Book Wyrm")
        await first.reaches(await second.version())
        await expect(first.page.get_by_role("log")).to_contain_text("Silver spell book moves on to 5.")
        await expect(first.bar).to_have_attribute("data-kind", "turn")


async def test_a_hat_stays_by_a_trick(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {
        "moved": True, "spells": {1: ["hat_trick"]}, "hats": {"red": 3}, "lower_row": ["basic_move_red"],
        "deck_top": ["witch_red_b"],
    }  # fmt: skip
    async with pair(person, stack, tmp_path, position) as (first, second):
        await first.press("End the story")
        await second.asked()
        await expect(second.bar).to_have_attribute("data-kind", "reaction")
        await expect(second.page.locator(".asked").first).to_contain_text("About to move on: red hat")
        await second.pick("spell:hat_trick")
        await second.press("Hat Trick")
        await first.reaches(await second.version())
        await expect(first.page.get_by_role("log")).to_contain_text("the red hat stays.")
        await expect(second.page.locator("[data-stage=asked]")).to_be_attached()


async def test_a_moonstone_is_turned(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {
        **CITY,
        "spells": {1: ["alchemy"]},
        "hats": {"red": 3},
        "lower_row": ["basic_magic_red"],
        "bag": "s0 m5",
    }
    async with pair(person, stack, tmp_path, position) as (first, second):
        await first.pick("card:basic_magic_red")
        await first.press("Magic .*: 1 magic")
        await first.asked()
        await first.press("Use magic here")
        await second.asked()
        await expect(second.page.locator(".asked").first).to_contain_text("moonstone")
        await second.press("Alchemy")
        await first.reaches(await second.version())
        await expect(first.page.get_by_role("log")).to_contain_text("Red hat goes back to 2.")


async def test_each_says_how_often_to_be_asked(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with pair(person, stack, tmp_path, {"lower_row": ["halfling_2"]}) as (first, second):
        await first.asked()
        policy = second.page.get_by_label(says("spellbound.policy"))
        before = await first.version()
        await policy.select_option("never")
        await first.reaches(before + 1)
        await expect(first.page.get_by_role("region", name="Väinö", exact=True)).to_contain_text("never")
        await expect(first.page.get_by_role("log")).to_contain_text("Väinö does not want to be asked.")
        await expect(policy).to_have_value("never")


ENCOUNTER: Mapping[str, Any] = {
    "moved": True,
    "lower_row": ["basic_move_red"],
    "deck": [],
    "spells": {1: ["alchemy"]},
    "witch": 2,
    "bag": "s0 m5",
    "sun_pile": ["basic_magic_red", "basic_magic_blue", "basic_magic_green"],
}


async def test_an_encounter_is_read_row_by_row(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """Its parts stand there while a stone may still be turned, then with their sum; at once if nothing shall move."""
    async with pair(person, stack, tmp_path, ENCOUNTER) as (first, second):
        await second.page.evaluate("document.documentElement.dataset.motion = 'off'")
        await first.press("End the story")
        await second.asked()
        for player in (first, second):
            table = player.part("tower").get_by_role("table", name=says("spellbound.encounter"))
            lines = table.get_by_role("row")
            await expect(lines).to_have_text(
                [
                    re.compile(each)
                    for each in (r"Moon\W*Sun", r"Baba Yaga\s*2\s*–", r"2\s*0$", r"0\s*3$", "still asked")
                ],
                use_inner_text=True,
            )
        assert await second.page.evaluate("document.getAnimations().length") == 0
        await second.press("Alchemy")
        await first.reaches(await second.version())
        for player in (first, second):
            lines = player.part("tower").get_by_role("table", name=says("spellbound.encounter")).get_by_role("row")
            await expect(lines).to_have_text(
                [
                    re.compile(each)
                    for each in (r"Moon\W*Sun", r"2\s*–$", r"1\s*1$", r"0\s*3$", r"Total\s*3\s*4", "The mages win")
                ],
                use_inner_text=True,
            )
        # The page tells of what others do; what one did oneself is told here.
        await expect(second.part("tower").get_by_role("status")).to_have_text(
            "Encounter: sun 4, moon 3. The mages win."
        )
        await expect(first.part("tower").get_by_role("status")).to_be_empty()


async def test_it_is_said_why_a_story_cannot_end_yet(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    row = ["basic_move_red", "basic_move_blue", "basic_move_green", "fortuna_deck"]
    async with seated(person, stack, tmp_path, {"lower_row": row}, PHONE) as player:
        await expect(player.bar).to_contain_text("Before the story can end, play or discard one more card")
        await player.pick("card:basic_move_red")
        await player.press("Discard a card unused")
        await expect(player.button("End the story")).to_be_visible()
        await expect(player.bar).not_to_contain_text("Before the story can end")


BATTLE: Mapping[str, Any] = {
    "state": "witching",
    "mages": ["village_04", "village_04"],
    "books": {"red": "gained", "blue": "gained", "green": "gained", "yellow": "gained"},
    "witch": 2,
    "minions": ["skeleton_army", "goblin_spider_riders"],
    "moon_pile": ["witch_red_c"],
    "sun_pile": ["basic_move_red", "basic_move_blue", "basic_move_green", "basic_move_yellow", "basic_move_silver"],
    "lower_row": [f"basic_magic_{book}" for book in ("red", "blue", "green", "yellow", "silver")],
    "bag": "s5 m0",
}


async def test_the_final_battle_is_won_together(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with pair(person, stack, tmp_path, BATTLE) as (first, second):
        await first.asked()
        await first.button("Declare the final battle").click(delay=300)
        for book, use in (("red", "goblin_spider_riders"), ("blue", "skeleton_army"), ("green", "witch_red_c")):
            await first.bar.get_by_role("combobox", name=re.compile(f"^{book}")).select_option(f"card:{use}")
        await first.press("Declare the final battle: ", once_more="Yes")
        for player in (first, second):
            end = player.page.get_by_role("region", name=says("match.end.title"))
            await expect(end).to_contain_text(says("match.end.coop_won"))
            await expect(end).to_contain_text("Baba Yaga is beaten in the final battle.")
            await expect(player.part("tower").get_by_role("table")).to_contain_text("The mages win")


ASKED_BATTLE: Mapping[str, Any] = {
    **BATTLE,
    "sun_pile": ["basic_move_red", "basic_move_blue"],
    "spells": {1: ["alchemy"]},
    "bag": "s0 m5",
}


async def test_the_final_battle_is_told_from_an_encounter(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    """It is the battle, with its books, on every page: opened anew, with its marks cleared, after one's own command."""
    async with pair(person, stack, tmp_path, ASKED_BATTLE) as (first, second):
        await first.asked()
        await first.button("Declare the final battle").click(delay=300)
        for book, use in (("red", "goblin_spider_riders"), ("blue", "skeleton_army"), ("green", "witch_red_c")):
            await first.bar.get_by_role("combobox", name=re.compile(f"^{book}")).select_option(f"card:{use}")
        await first.press("Declare the final battle: ", once_more="Yes")
        await second.asked()
        asked = await second.version()
        await first.reaches(asked)
        await tells_of_the_battle(first, r"2\s*0$", "still asked")
        await tells_of_the_battle(second, r"2\s*0$", "still asked")
        await first.page.reload()
        await first.drawn()
        await tells_of_the_battle(first, r"2\s*0$", "still asked")
        await first.page.keyboard.press("Escape")
        await tells_of_the_battle(first, r"2\s*0$", "still asked")
        await second.press("Alchemy")
        await first.reaches(await second.version())
        await tells_of_the_battle(first, r"1\s*1$", r"Total\s*3\s*4", "The mages win")
        await tells_of_the_battle(second, r"1\s*1$", r"Total\s*3\s*4", "The mages win")
        await expect(second.part("tower").get_by_role("status")).to_have_text(
            "Final battle: sun 4, moon 3. The mages win."
        )
        onlooker = Player(await second.page.context.new_page())
        await onlooker.page.goto(f"{first.page.url}/replay?v={asked}")
        await onlooker.drawn()
        await tells_of_the_battle(onlooker, r"2\s*0$", "still asked")


async def tells_of_the_battle(player: Player, stones: str, *end: str) -> None:
    """The table of the battle stands in the tower: two cards and a book against the witch's two.

    Args:
        player: whose page it is.
        stones: what the row of stones ends with.
        end: the rows below those that are counted.
    """
    rows = [r"Moon\W*Sun", r"Baba Yaga\s*2\s*–", stones, r"0\s*2$", r"Books\s*–\s*1", *end]
    table = player.part("tower").get_by_role("table", name=says("spellbound.battle"), exact=True)
    await expect(table.get_by_role("row")).to_have_text([re.compile(row) for row in rows], use_inner_text=True)


async def test_who_looks_on_can_do_nothing(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {"lower_row": ["halfling_2"], "spells": {1: ["book_wyrm"]}}
    async with pair(person, stack, tmp_path, position) as (first, _), person() as watcher:
        await first.asked()
        path = first.page.url.partition("/m/")[2]
        onlooker = Player(await watcher.open(f"/m/{path}"))
        await onlooker.drawn()
        await expect(onlooker.bar).to_contain_text("Waiting for")
        assert await onlooker.page.locator(".table [data-usable]").count() == 0
        assert await onlooker.bar.get_by_role("button").count() == 0
        assert await onlooker.page.get_by_label(says("spellbound.policy")).count() == 0
        await onlooker.thing("card:halfling_2").click()
        await expect(onlooker.page.get_by_role("dialog")).to_contain_text("1 movement, or 1 magic, or 1 influence.")
        await watcher.axe()
