"""Every spell of the Wizard's Garden is cast by pointing at it and at what it is for (WG-13)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from grimoire.runtime.stack import Stack
from tests.web.garden import Gardener
from tests.web.people import PHONE, Person
from tests.web.test_garden_board import arranged, sit

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(120)]


@dataclass(frozen=True)
class Cast:
    """How a spell is cast.

    Args:
        spell: as it is called.
        position: where it is of use; the spell is added.
        points: what is pointed at after it: spaces, or names of other things.
        sends: how the button begins that sends it.
        then: what is said afterwards.
    """

    spell: str
    position: Mapping[str, Any]
    points: Sequence[str]
    then: str
    sends: str = ""
    blue: Mapping[str, Any] = field(default_factory=dict)


CASTS = (
    Cast("Feather", {"state": "wizard_start"}, (), "Feather: collect 2 fire.", blue={"hand": ["fire"]}),
    Cast("Skull", {"yard": ["R@a4*fire", "w1@a4"]}, ("a4",), "attacks a4 with the Skull, strength 1", blue={"fire": 3}),
    Cast("Eye", {}, ("Spirit place, left: Spirit of gnomes", "Open row 2: "), "Two spirits change places"),
    Cast("Gem", {"state": "wizard_start"}, (), "casts Gem."),
    Cast("Butterfly", {}, (), "casts Butterfly.", blue={"hand": ["fire", "water"]}),
    Cast("Dagger", {"yard": ["R@a4", "R@e4"]}, ("a4",), "is possessed by a pest"),
    Cast("Flower", {"state": "wizard_start"}, (), "casts Flower."),
    Cast("Doll", {"state": "wizard_end", "yard": ["R@b4", "R@d4"]}, ("d4",), "Doll: move 1 gnome."),
    Cast("Bottle", {"state": "wizard_main", "yard": ["w2@c1"], "red": {"fire": 2}}, ("c1", "c1"), "to the supply: 2"),
    Cast("Trinket", {}, ("fire lantern, on the wizard board",), "lights the fire lantern with the Trinket"),
    Cast("Fish", {}, ("c4", "b4", "c4"), "casts Fish.", sends="Fish: .*: b4 1, c4 2", blue={"fire": 4}),
)  # fmt: skip


async def point(seat: Gardener, thing: str) -> None:
    """At a space, or at the last thing that is called so: one's own lies last."""
    if re.fullmatch(r"[a-e]\d", thing):
        await seat.space(thing).click()
    else:
        await seat.page.get_by_role("button", name=re.compile(f"^{thing}")).last.click()


@pytest.mark.parametrize("cast", CASTS, ids=[cast.spell for cast in CASTS])
async def test_a_spell_is_cast(person: Callable[..., Person], stack: Stack, tmp_path: Path, cast: Cast) -> None:
    blue = {**cast.blue, "spells": [cast.spell.lower()]}
    async with arranged(stack, tmp_path, {**cast.position, "blue": blue}) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        await seat.asked()
        await seat.page.get_by_role("button", name=cast.spell, exact=True).click()
        for thing in cast.points:
            await point(seat, thing)
        await seat.press(cast.sends or f"{cast.spell}: ")
        await expect(seat.page.get_by_role("log")).to_contain_text(cast.then)


async def test_steps_of_the_butterfly_are_paid_with_cards(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    position = {"blue": {"spells": ["butterfly"], "hand": ["fire", "water"]}}
    async with arranged(stack, tmp_path, position) as (client, match_id, _), person(PHONE) as player:
        seat = await sit(player, client, match_id)
        await seat.asked()
        await seat.page.get_by_role("button", name="Butterfly", exact=True).click()
        await seat.press("Butterfly: ")
        await seat.asked()
        await seat.space("c2").click()
        await seat.space("c3").click()
        await seat.bar.get_by_role("button", name="Spirit of water", exact=True).click()
        await seat.press("Move ")
        await expect(seat.space("c3")).to_contain_text("blue gnome 4")
        await expect(seat.page.get_by_text("Spirit cards in hand: 1").last).to_be_attached()
        await player.no_sideways_scroll()


async def test_a_step_with_the_doll(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    position = {"state": "wizard_end", "yard": ["R@d4"], "blue": {"spells": ["doll"]}}
    async with arranged(stack, tmp_path, position) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        await seat.asked()
        await seat.page.get_by_role("button", name="Doll", exact=True).click()
        await seat.press("Doll: ")
        await seat.asked()
        await seat.step("d4", "c4", "Move ")
        await expect(seat.space("c4")).to_contain_text("red gnome")


async def test_a_spell_that_cannot_be_cast_now_is_read(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    async with arranged(stack, tmp_path, {"blue": {"spells": ["doll"]}}) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        await seat.asked()
        await seat.page.get_by_role("button", name="Doll", exact=True).press("Enter")
        await expect(seat.page.get_by_role("dialog")).to_contain_text("WG-13.8")
