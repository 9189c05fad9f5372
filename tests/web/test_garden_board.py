"""The Wizard's Garden in a browser: by mouse, keys and words, on every screen, in every theme (W-WG-1 to W-WG-3)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.async_api import expect

from grimoire.client import Client
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from tests.web.garden import GAME, Gardener, garden
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.test_keyboard import tab_to
from tests.web.test_phone import NARROW, box, large_enough
from tests.web.texts import says

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

SCENARIOS = Path(__file__).resolve().parents[1] / "scenarios" / GAME
TALL = {**PHONE, "viewport": {"width": 375, "height": 900}}
"""So wide that a space is as wide as W-WG-2 asks for."""
THREATS: Mapping[str, Any] = {
    "state": "attack",
    "yard": ["B@b4", "R@a4*fire", "w2@a4", "B@e5", "R@e4", "PP@a5", "PB@c3", "F2@c4", "F3@d4"],
    "threats": ["b4>a4", "e5>e4", "a5>a4"],
    "blue": {
        "fire": 3,
        "hand": ["fire", "pest", "water", "gnome", "spirit"],
        "spells": ["fish", "skull"],
        "lit": "fire",
    },
    "red": {"fire": 2, "spells": ["conch"]},
}
# A bearer with water that is threatened from all sides; something on every space that can hold anything.
CROWDED: Mapping[str, Any] = {
    "state": "attack",
    "yard": [
        "R@c4*fire", "w5@c4", "PP@c5", "PP@c3", "B@b4", "B@d4",
        "R@a4*pest", "w5@a4", "PP@a5", "B@a3", "R@e4~spirit", "w4@e4", "P@e5", "B@e3",
        "R@a6", "w2@a6", "F1@b6", "F2@a7", "F1@e7", "B@e6", "w1@e6", "PR@d6",
        "B@a2*water", "w2@a2", "R@e2", "w1@e2", "F1@b2", "F1@d2", "F3@a1", "F1@e1",
    ],
    "threats": ["c5>c4", "c3>c4", "b4>c4", "d4>c4", "a5>a4", "a3>a4", "e5>e4", "e3>e4"],
    "blue": {"fire": 0},
}  # fmt: skip


@asynccontextmanager
async def arranged(
    stack: Stack, kept: Path, position: Mapping[str, Any], **options: str
) -> AsyncIterator[tuple[Client, str, pb.View]]:
    """A match that begins in a position, both seats held by one person."""
    async with await Client.connect(str(stack.config.gateway), keepsakes=kept) as client:
        await client.guest("Aino")
        challenge = await client.play_position(GAME, position, options=options)
        sessions = [await client.open_match(challenge.match_id, seat=seat) for seat in range(2)]
        for session in sessions:
            await session.started(timeout_s=30)
        view = pb.View.FromString(sessions[0].view)
        for session in sessions:
            await session.close()
        yield client, challenge.match_id, view


async def sit(someone: Person, client: Client, match_id: str, language: str = "en") -> Gardener:
    await someone.sit_as(client.token or "")
    seat = Gardener(await someone.open(f"/m/{match_id}"), language)
    await expect(seat.space("a1")).to_be_visible()
    return seat


# ---- the board -------------------------------------------------------------------------------------------------------


async def test_one_s_own_terrace_lies_below(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """W-WG-1."""
    async with garden(str(stack.config.gateway), tmp_path, THREATS) as match, person() as aino, person(PHONE) as otso:
        for n, (someone, client) in enumerate(zip((aino, otso), match.clients, strict=True)):
            seat = await sit(someone, client, match.match_id)
            own, other = [await box(seat.space(space)) for space in (("c1", "c7") if n == 0 else ("c7", "c1"))]
            assert own["y"] > other["y"]
            left, right = [await box(seat.space(space)) for space in (("a4", "e4") if n == 0 else ("e4", "a4"))]
            assert left["x"] < right["x"]


async def test_nothing_covers_anything_where_all_is_full(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    """W-WG-2."""
    async with arranged(stack, tmp_path, CROWDED) as (client, match_id, view):
        assert len(view.groups) == 8
        for screen in (TALL, PHONE, NARROW, DESKTOP):
            async with person(screen) as player:
                seat = await sit(player, client, match_id)
                if screen is TALL:
                    assert (await box(seat.space("c4")))["width"] >= 57
                boxes = await seat.page.evaluate("""[...document.querySelectorAll("[data-badge]")].map((each) => {
                    const { left, right, top, bottom } = each.getBoundingClientRect();
                    return { what: each.dataset.badge, left, right, top, bottom };
                })""")
                assert len(boxes) >= 20
                for n, one in enumerate(boxes):
                    for other in boxes[n + 1 :]:
                        wide = min(one["right"], other["right"]) - max(one["left"], other["left"])
                        high = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
                        assert min(wide, high) <= 4, (screen, one, other)
                await player.no_sideways_scroll()


def positions() -> Iterable[Any]:
    """Every position of the worked scenarios, once."""
    for file in sorted(SCENARIOS.glob("*.yaml")):
        for n, scenario in enumerate(yaml.safe_load_all(file.read_text())):
            if scenario and "position" in scenario:
                yield pytest.param(scenario["position"], scenario.get("options", {}), id=f"{file.stem}-{n}")


def pieces_named(view: pb.View) -> dict[str, set[str]]:
    """What stands on each space, as it is called."""
    named = {item.id: item.name for shelf in load_game(GAME).texts.manifest("en").catalogues for item in shelf.items}
    return {
        space.space: {named[piece] for piece in (*([space.gnome] if space.gnome else []), *space.pests)}
        for space in view.spaces
    }


@pytest.mark.timeout(420)
async def test_every_scenario_is_drawn_and_read_alike(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    """W-WG-3: the same pieces on the same spaces, on the board and in words."""
    name = re.compile(r"(?:blue gnome|red gnome|pest) \d+")
    async with person() as player:
        for n, each in enumerate(positions()):
            position, options = each.values
            async with arranged(stack, tmp_path / str(n), position, **{k: str(v) for k, v in options.items()}) as (
                client,
                match_id,
                view,
            ):
                seat = await sit(player, client, match_id)
                labels = await seat.yard.get_by_role("button").all_inner_texts()
                assert len(labels) == 35
                drawn = {label.split(",")[0]: set(name.findall(label.split("threatened")[0])) for label in labels}
                wanted = pieces_named(view)
                assert {space: pieces for space, pieces in drawn.items() if pieces} == {
                    space: pieces for space, pieces in wanted.items() if pieces
                }, each.id
                await seat.page.keyboard.press("x")
                yard = seat.page.get_by_role("heading", name=says("wizards_garden.yard"), exact=True).locator("..")
                lines = await yard.get_by_role("listitem").all_inner_texts()
                read = {
                    line.split(",")[0]: set(name.findall(line.split("threatened")[0])) for line in lines if "," in line
                }
                for space, pieces in wanted.items():
                    assert read[space] == pieces, (each.id, space)


# ---- by keys and in words --------------------------------------------------------------------------------------------


async def test_a_turn_by_keys_alone(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        arranged(stack, tmp_path, {"yard": ["R@b4"], "blue": {"hand": ["fire"]}}) as (client, match_id, _),
        person() as player,
    ):
        seat = await sit(player, client, match_id)
        keys = seat.page.keyboard
        await tab_to(seat.page, seat.bar.get_by_role("button", name="Lantern action: move 1 gnome"))
        await keys.press("Enter")
        await expect(seat.bar).to_contain_text("Move a gnome …")
        # One stop for the whole yard; arrows within it.
        await tab_to(seat.page, seat.space("c1"))
        await keys.press("ArrowUp")
        await expect(seat.space("c2")).to_be_focused()
        await keys.press("Enter")
        await expect(seat.space("c2")).to_have_attribute("aria-pressed", "true")
        await keys.press("ArrowUp")
        before = await seat.version()
        await keys.press("Enter")
        await keys.press("Control+Enter")
        await seat.reaches(before + 1)
        await expect(seat.space("c3")).to_contain_text("blue gnome 4")
        # A spirit is swapped, an action of two steps taken, the phase ended.
        await seat.asked()
        await tab_to(seat.page, seat.page.get_by_role("button", name="Spirit place, left: Spirit of gnomes"))
        await keys.press("Enter")
        await tab_to(seat.page, seat.page.get_by_role("button", name="Spirit of fire, in hand"))
        await keys.press("Enter")
        before = await seat.version()
        await keys.press("Control+Enter")
        await seat.reaches(before + 1)
        await expect(seat.page.get_by_role("button", name="Spirit place, left: Spirit of fire")).to_be_visible()
        before = await seat.version()
        await keys.press("e")
        await keys.press("Control+Enter")
        await seat.reaches(before + 1)
        await keys.press("?")
        await expect(seat.page.get_by_role("dialog")).to_contain_text(says("wizards_garden.place_threats"))


async def test_threats_are_reached_by_a_key_and_not_given_up_by_a_slip(
    person: Callable[..., Person], stack: Stack, tmp_path: Path
) -> None:
    async with arranged(stack, tmp_path, THREATS) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        await seat.asked()
        await seat.page.keyboard.press("g")
        first = seat.page.get_by_role("list", name=says("wizards_garden.threats")).get_by_role("button").first
        await expect(first).to_be_focused()
        before = await seat.version()
        await seat.page.keyboard.press("e")
        await seat.page.keyboard.press("Control+Enter")
        await expect(seat.bar).to_contain_text("Really")
        await seat.page.keyboard.press("Enter")
        assert await seat.version() == before
        await seat.page.keyboard.press("Escape")
        # By the threat's chip, and by the spaces at either end of its border.
        await first.press("Enter")
        await expect(first).to_have_attribute("aria-pressed", "true")
        await expect(seat.space("a4")).to_have_attribute("aria-pressed", "true")
        await expect(seat.bar.get_by_role("button", name="Withdraw")).to_be_visible()


async def test_a_turn_in_words(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with arranged(stack, tmp_path, {"yard": ["R@b4"]}) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        await seat.page.keyboard.press("x")
        line = seat.page.get_by_label(says("play.text.line"))
        said = ("lantern action", "move blue gnome 4 c3", "magician fire", "collect", "end the phase")
        for text in said[:4]:
            await seat.asked()
            await line.fill(text)
            before = await seat.version()
            await line.press("Enter")
            await expect(line).to_have_value("")
            await line.press("Enter")
            await seat.reaches(before + 1)
        await expect(seat.page.get_by_text("c3, space, ")).to_contain_text("blue gnome 4")
        await expect(seat.page.get_by_text("Fire 1 of 5")).to_be_visible()
        await player.axe()
        await player.no_sideways_scroll()


async def test_questions_are_answered_in_words(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """Whatever a command still needs is asked and answered at the line, one question after the other."""
    full = {"hand": ["fire", "pest", "water", "gnome", "spirit"], "spells": ["bottle"]}
    position = {"yard": ["B@c1*spirit", "w3@c1"], "blue": full, "red": {"fire": 3}}
    async with arranged(stack, tmp_path, position) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        await seat.page.keyboard.press("x")
        line = seat.page.get_by_label(says("play.text.line"))
        told = seat.page.get_by_role("status")

        async def enter(text: str) -> None:
            await line.fill(text)
            await line.press("Enter")

        async def send() -> None:
            before = await seat.version()
            await line.press("Enter")
            await seat.reaches(before + 1)
            await seat.asked()

        await enter("lantern action")
        await send()
        # Something else may be chosen after all.
        await enter("deck")
        await expect(seat.page.get_by_role("heading", name="Draw a spirit: Deck: card to discard")).to_be_visible()
        await line.press("Escape")
        await expect(seat.page.get_by_role("heading", name=says("play.text.may"))).to_be_visible()
        # One of several things: nothing is sent before it is known, and what cannot be meant is said.
        await enter("deck")
        choices = seat.page.get_by_role("list", name="card to discard").get_by_role("listitem")
        await expect(choices).to_have_count(5)
        await line.press("Enter")
        await enter("spirit of")
        await expect(told.filter(has_text="5 lines fit")).to_be_visible()
        await player.axe()
        await enter("spirit of water")
        await expect(told.filter(has_text="Enter alone sends: Draw a spirit: Deck: Spirit of water")).to_be_visible()
        await send()
        # An amount for each thing; what is there already will do.
        await enter("bottle")
        await expect(seat.page.get_by_role("list", name="Bottle").get_by_role("listitem")).to_have_count(1)
        await enter("7")
        await enter("1=2")
        await send()
        await expect(seat.page.get_by_text("Fire 1 of 5")).to_be_visible()


async def test_spells_and_spaces_are_explained(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with arranged(stack, tmp_path, THREATS) as (client, match_id, _), person() as player:
        seat = await sit(player, client, match_id)
        dialog = seat.page.get_by_role("dialog")
        await seat.page.get_by_role("button", name="Fish", exact=True).click(button="right")
        await expect(dialog).to_contain_text("WG-13.12")
        await player.axe()
        await seat.page.keyboard.press("Escape")
        await seat.space("a4").click(button="right")
        await expect(dialog).to_contain_text("bright fire lantern")
        await expect(dialog).to_contain_text("WG-2.10")
        await seat.page.keyboard.press("Escape")
        # What has the focus is told by its key, without being picked.
        await seat.page.get_by_role("button", name="Fish", exact=True).focus()
        await seat.page.keyboard.press("i")
        await expect(dialog).to_contain_text("WG-13.12")
        await seat.page.keyboard.press("Escape")
        # Amounts are laid where they are to go.
        await seat.page.get_by_role("button", name="Fish", exact=True).click()
        for space in ("c5", "c5", "b2"):
            await seat.space(space).click()
        await seat.press("Fish: .*: b2 1, c5 2")
        await expect(seat.space("c5")).to_contain_text("fish fire 2")


# ---- screens and themes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("screen", [DESKTOP, PHONE, NARROW], ids=["desktop", "360", "320"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
async def test_no_finding_and_nothing_cut_off(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, screen: Any, dark: bool
) -> None:
    language = "fi" if dark else "en"
    async with (
        arranged(stack, tmp_path, THREATS) as (client, match_id, _),
        person(screen, dark=dark, language=language) as player,
    ):
        seat = await sit(player, client, match_id, language)
        await seat.asked()
        await player.axe(at="nothing chosen")
        await player.no_sideways_scroll()
        await large_enough(seat.yard.get_by_role("button"))
        await (
            seat.page.get_by_role("list", name=says("wizards_garden.threats", language))
            .get_by_role("button")
            .last.click()
        )
        await player.axe(at="a threat chosen")
        await expect(seat.bar).to_be_in_viewport(ratio=1)
        for theme in ("contrast",):
            await seat.page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
            await player.axe(at=theme)


async def test_large_text(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with (
        arranged(stack, tmp_path, THREATS) as (client, match_id, _),
        person({"viewport": {"width": 640, "height": 900}}) as player,
    ):
        seat = await sit(player, client, match_id)
        await seat.page.evaluate("document.documentElement.style.fontSize = '200%'")
        await player.no_sideways_scroll()
        await expect(seat.bar).to_be_in_viewport(ratio=1)
