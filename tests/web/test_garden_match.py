"""Two browsers play a match of the Wizard's Garden from the preparation to the fifth lantern; the Conch in defence."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import expect

from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.runtime.stack import Stack
from tests.web.garden import Gardener, Pair, garden
from tests.web.people import PHONE, Person
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow, pytest.mark.timeout(300)]

HOME = {
    "b1": "blue_gnome_01", "c1": "blue_gnome_02", "d1": "blue_gnome_03", "c2": "blue_gnome_04",
    "d7": "red_gnome_01", "c7": "red_gnome_02", "b7": "red_gnome_03", "c6": "red_gnome_04",
}  # fmt: skip
KINDS = ("pest", "water", "spirit", "gnome", "fire")
ASIDE = ("feather", "skull", "eye", "butterfly", "dagger", "flower", "doll", "bottle", "trinket", "fish")


def dealt(*more: str) -> bytes:
    """As after a deal: blue is to prepare, red holds the Conch and `more` spells; so many each may have at least."""
    hands = [["spirit_gnome_01", "spirit_fire_01"], ["spirit_gnome_02", "spirit_pest_01", "spirit_water_01"]]
    spells = [["gem"], ["conch", *more]]
    out = {card for hand in hands for card in hand}
    deck = [card for n in range(1, 11) for kind in KINDS if (card := f"spirit_{kind}_{n:02}") not in out]
    return pb.PositionArranged(
        first_seat=0,
        turn_limit=200,
        spells_per_player=max(2, 1 + len(more)),
        phase="preparation",
        spaces=[pb.Space(space=space, gnome=gnome) for space, gnome in sorted(HOME.items())],
        boards=[pb.ArrangedBoard(seat=n, hand_count=len(hands[n]), spell_count=len(spells[n])) for n in range(2)],
        hands=[pb.ArrangedHand(seat=n, cards=hands[n], spells=spells[n]) for n in range(2)],
        deck_count=len(deck),
        deck=deck,
        set_aside=[spell for spell in ASIDE if spell not in more],
    ).SerializeToString()


async def begin_turn(seat: Gardener, origin: str, target: str) -> None:
    """The gnome lantern moves a gnome."""
    await seat.press("Lantern action: move 1 gnome")
    await seat.step(origin, target, "Move ")


async def test_a_whole_match(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        garden(str(stack.config.gateway), tmp_path, dealt()) as match,
        person() as aino,
        person(PHONE, dark=True) as otso,
    ):
        seats: list[Gardener] = []
        for someone, client in zip((aino, otso), match.clients, strict=True):
            await someone.sit_as(client.token or "")
            seats.append(Gardener(await someone.open(f"/m/{match.match_id}")))
        blue, red = seats

        # Preparation: the card brings its kind, the lantern is chosen among the two.
        await blue.asked()
        await blue.page.get_by_role("button", name="gnome lantern, on the wizard board").last.click()
        await blue.press("Put Spirit")
        await red.asked()
        await red.page.get_by_role("button", name="gnome lantern, on the wizard board").last.click()
        await red.page.get_by_role("button", name="Spirit of water, in hand").click()
        await red.press("Put Spirit of gnomes and Spirit of water")

        # Blue goes to the middle, red comes to meet.
        await begin_turn(blue, "c2", "c3")
        await blue.choose("Spirit action …")
        await blue.press("Spirit action: move 2 gnomes")
        await blue.step("c3", "c4", "Move ")
        await blue.press("End the action")
        await blue.press("End the phase")
        await expect(red.space("c4")).to_contain_text("blue gnome 4")
        await begin_turn(red, "c6", "c5")
        await red.press("End the phase")
        await red.press("End the phase")

        # A threat, fire for it, the attack; the Conch stops it.
        await blue.press("Lantern action: move 1 gnome")
        await blue.step("c4", "c5", "Threaten ")
        await blue.choose("Magician action …")
        await blue.press("Magician action: collect 1 fire")
        await blue.press("Collect 1 fire")
        await blue.press("End the phase")
        threat = blue.page.get_by_role("list", name=says("wizards_garden.threats")).get_by_role("button")
        await expect(threat).to_have_count(1)
        await expect(red.space("c5")).to_contain_text("threatened from c4 by blue gnome 4")
        await threat.click()
        await blue.choose("Attack c5 from c4")
        await blue.press("Attack c5 from c4: 1")
        await red.asked()
        await expect(red.bar).to_have_attribute("data-kind", "reaction")
        await expect(red.bar).to_contain_text(says("play.reaction"))
        await red.page.get_by_role("button", name="Conch", exact=True).click()
        await red.press("Conch")
        await expect(blue.page.get_by_role("log")).to_contain_text("The Conch stops the attack.")
        await expect(blue.space("c4")).to_contain_text("blue gnome 4")
        await blue.press("End the phase")
        await otso.no_sideways_scroll()
        await asyncio.gather(aino.axe(at="after the Conch"), otso.axe(at="after the Conch"))

        # The dull part, by program; then the fifth lantern by hand.
        await grow(match)
        await blue.reaches(match.sessions[0].version)
        for seat in seats:
            await expect(seat.page.get_by_text("Lanterns in the yard: 4 of 5").first).to_be_attached()
        await blue.space(last_deposit(match)).click()
        await blue.press("Place the lit lantern")
        for seat, word in zip(seats, ("won", "lost"), strict=True):
            end = seat.page.get_by_role("region", name=says("match.end.title"))
            await expect(end).to_contain_text(says(f"match.end.{word}"))
        assert await blue.version() == await red.version()
        assert match.view.result.reason == "five_lanterns"


# ---- by program ------------------------------------------------------------------------------------------------------

PATHS = (("b1", "a1"), ("a1", "a2"), ("d1", "e1"), ("e1", "e2"))
"""Steps by which blue comes to hold two more deposits."""


async def grow(match: Pair) -> None:
    """Blue gathers water, lights and places lanterns, red looks on: until the fifth lantern could be placed."""
    paths = list(PATHS)
    while True:
        if match.view.asked_seat == 1:
            await match.pass_turn(1)
            continue
        if match.view.phase == "garden":
            if await garden_phase(match):
                return
        elif match.view.phase in {"wizard_start", "wizard_main"}:
            await wizard_phase(match, paths)
        else:
            await match.pass_turn(0)


async def garden_phase(match: Pair) -> bool:
    """Places, lights, or declines; True if it is the last lantern's turn."""
    view = match.view
    side = view.seats[0]
    lit = any(lantern.state == "lit_on_board" for lantern in side.lanterns)
    if lit and last_deposit(match):
        if side.lanterns_in_yard == 4:
            return True
        await match.send(0, "place_lantern", space=last_deposit(match))
    elif not lit and water_at_home(view) >= 3:
        kind = next(lantern.kind for lantern in side.lanterns if lantern.state == "dim_on_board")
        await match.send(0, "light_with_water", kind=kind)
    else:
        await match.send(0, "end_phase")
    return False


async def wizard_phase(match: Pair, paths: list[tuple[str, str]]) -> None:
    """A step towards the next deposit while one is lacking, else water."""
    open_deposits = sum(
        1 for space in match.view.spaces if space.held_by == 0 and not space.lantern and space.HasField("held_by")
    )
    if paths and not open_deposits:
        origin, target = paths.pop(0)
        gnome = next(space.gnome for space in match.view.spaces if space.space == origin)
        await match.send(0, "magician_action", kind="gnome")
        await match.send(0, "move_gnome", gnome=gnome, to=target)
    elif not open_deposits:
        await conquer(match)
    elif water_at_home(match.view) < 5:
        await match.send(0, "magician_action", kind="water")
        await match.send(0, "collect_water", deposit="c1")
    else:
        await match.send(0, "end_phase")


async def conquer(match: Pair) -> None:
    """From the middle to the deposit beside it: bring a gnome, then move it."""
    await match.send(0, "magician_action", kind="gnome")
    where = {space.space: space.gnome for space in match.view.spaces}
    if "b4" in where:
        await match.send(0, "move_gnome", gnome=where["b4"], to="a4")
    else:
        await match.send(0, "bring_gnome", to="b4", **{"from": "c4"})


def water_at_home(view: pb.View) -> int:
    return next((space.water for space in view.spaces if space.space == "c1"), 0)


def last_deposit(match: Pair) -> str:
    """A deposit that blue holds with a gnome that bears nothing; empty: none."""
    return next(
        (s.space for s in match.view.spaces if s.HasField("held_by") and s.held_by == 0 and not s.lantern and s.gnome),
        "",
    )
