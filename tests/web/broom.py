"""Broom Service for browser tests: people at a table, arranged positions, and a person who plays what is offered."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, TimeoutError, expect  # noqa: A004 (it is what they raise)

from grimoire.client import Client, MatchSession
from grimoire.client.tables import MINE, OPEN
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb
from tests.web.people import Person
from tests.web.seats import Sitter
from tests.web.texts import says

GAME = "broom_service"
NAMES = ("Aino", "Väinö", "Otso", "Mielikki", "Tapio")
ROLES = (
    "root_gatherer", "herb_gatherer", "fruit_gatherer", "hill_witch", "forest_witch", "mountain_witch", "prairie_witch",
    "hill_druid", "valley_druid", "weather_fairy",
)  # fmt: skip
EVERYTHING: Mapping[str, str] = {
    "board": "back",
    "storm_clouds": "true",
    "mountain_tiles": "true",
    "forest_tiles": "true",
    "hill_tiles": "true",
}
# The key that leads from where the focus is towards a button; empty: it is there.
_KEY_TOWARDS = """each => {
    const at = document.activeElement;
    if (at === each) return "";
    if (at.matches("input")) return "Tab";
    if (each.closest(".table") !== null) return "n";
    if (at.closest(".prompt") === null) return ".";
    return each.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING ? "Shift+Tab" : "Tab";
}"""


@dataclass(frozen=True)
class Company:
    """People at one table.

    Args:
        match_id: their match.
        clients: by seat; their tokens sign the browsers in.
        sessions: by seat, open beside the browsers.
    """

    match_id: str
    clients: Sequence[Client]
    sessions: Sequence[MatchSession]

    def view(self, seat: int | None = None) -> pb.View:
        """What a seat sees; of the first asked seat, if none is given."""
        return pb.View.FromString(self.sessions[self.asked() if seat is None else seat].view)

    def asked(self) -> int:
        """The first seat of which something is asked."""
        return next(n for n, each in enumerate(self.sessions) if any(one.required for one in each.own_prompts))

    async def sit(self, seat: int, someone: Person, language: str = "en") -> Player:
        """A person takes their seat in a browser."""
        await someone.sit_as(self.clients[seat].token or "")
        return Player(await someone.open(f"/m/{self.match_id}"), language)


@asynccontextmanager
async def guests(address: str, kept: Path, many: int) -> AsyncIterator[list[Client]]:
    """So many people who have just come, each with a folder of their own."""
    clients = [await Client.connect(address, keepsakes=kept / name) for name in NAMES[:many]]
    try:
        for client, name in zip(clients, NAMES, strict=False):
            await client.guest(name)
        yield clients
    finally:
        for client in clients:
            await client.close()


@asynccontextmanager
async def begun(match_id: str, clients: Sequence[Client], sessions: Sequence[MatchSession]) -> AsyncIterator[Company]:
    """A match as soon as it has started."""
    for session in sessions:
        await session.started(timeout_s=60)
    yield Company(match_id, clients, sessions)
    for session in sessions:
        await session.close()


@asynccontextmanager
async def company(address: str, kept: Path, seats: int = 5, **options: str) -> AsyncIterator[Company]:
    """A table with so many people, whose match has begun.

    Args:
        address: of the edge.
        kept: a folder for their evidence.
        seats: one for each person.
        options: of the match.
    """
    async with guests(address, kept, seats) as clients:
        table = await clients[0].open_table(GAME, [MINE, *(OPEN for _ in clients[1:])], options, rated=False)
        for seat, client in enumerate(clients[1:], 1):
            await client.take_seats(table.challenge_id, [seat])
        match_id = (await clients[0].matched(table.challenge_id)).match_id
        async with begun(match_id, clients, [await client.open_match(match_id) for client in clients]) as match:
            yield match


@asynccontextmanager
async def arranged(
    address: str, kept: Path, position: Mapping[str, Any], *, seats: int = 5, **options: str
) -> AsyncIterator[Company]:
    """A match that begins in a position, all seats held by one person."""
    async with guests(address, kept, 1) as [client]:
        challenge = await client.play_position(GAME, position, options=options, seats=seats)
        sessions = [await client.open_match(challenge.match_id, seat=seat) for seat in range(seats)]
        async with begun(challenge.match_id, [client] * seats, sessions) as match:
            yield match


@asynccontextmanager
async def together(
    address: str, kept: Path, position: Mapping[str, Any], *, seats: int = 2, **options: str
) -> AsyncIterator[Company]:
    """A match of so many people that begins in a position."""
    async with guests(address, kept, seats) as clients:
        opened = await clients[0].play_position(GAME, position, options=options, seats=seats, invite=True)
        for client in clients[1:]:
            await client.join(opened.challenge_id)
        match_id = (await clients[0].matched(opened.challenge_id)).match_id
        async with begun(match_id, clients, [await client.open_match(match_id) for client in clients]) as match:
            yield match


class Player(Sitter):
    """A person at a seat of Broom Service.

    Args:
        page: the match's.
        language: the page's.
    """

    def __init__(self, page: Page, language: str = "en") -> None:
        super().__init__(page, language)
        #: Sends what is chosen.
        self.send = self.bar.locator("[aria-keyshortcuts='Control+Enter']")
        #: Parts of a command that are not answered yet, or not with enough.
        self.lacking = self.bar.locator(
            "fieldset:has(.fault), fieldset:has(button[aria-pressed=false]):not(:has(button[aria-pressed=true]))"
        )
        self.regions = page.locator(".regions [data-region]")
        #: What can be picked on the table.
        self.things = page.locator(".table [data-usable]:not(.selected)")

    async def drawn(self) -> None:
        """Waits until the map is there."""
        await expect(self.regions.first).to_be_visible(timeout=30_000)

    async def asked(self) -> None:
        """Waits until something is asked of this seat."""
        await self.page.locator("[data-stage=asked]").wait_for(timeout=30_000)

    def part(self, key: str) -> Locator:
        """A part of the picture by the key of its name."""
        return self.page.get_by_role("region", name=says(f"broom_service.{key}", self.language), exact=True)

    def thing(self, ref: str) -> Locator:
        """What is picked by a ref, where it lies first."""
        return self.page.locator(f'.table [data-ref="{ref}"]').first

    async def pick(self, ref: str) -> None:
        """Points at a thing until it is picked: while a command is under way nothing is."""
        thing = self.thing(ref)
        for _ in range(20):
            if await thing.get_attribute("aria-pressed") == "true":
                return
            await thing.click()
            with contextlib.suppress(AssertionError):
                await expect(thing).to_have_attribute("aria-pressed", "true", timeout=1000)
        await expect(thing).to_have_attribute("aria-pressed", "true")

    async def choose(self, roles: Sequence[str]) -> None:
        """Chooses the roles of a round with the mouse."""
        before = await self.version()
        for role in roles:
            await self.pick(f"role:{role}")
        await self.press_until_sent(self.send, before)

    async def play(self, role: str, way: str) -> None:
        """Plays a role with the mouse: `way` is brave, cowardly, event or a tile; no role where one follows."""
        before = await self.version()
        if role:
            await self.pick(f"role:{role}")
        await self.pick(f"play:{way}")
        await self.press_until_sent(self.send, before)

    async def act(self, view: pb.View) -> None:
        """Does with the mouse whatever is asked, as the page offers it first.

        Args:
            view: what this seat sees.
        """
        own: Sequence[str] = next((each.roles for each in view.seats if each.roles), ())
        if view.stage == "choose":
            return await self.choose(ROLES[:4])
        if view.stage == "lead":
            return await self.play(next((role for role in own if role not in view.led), own[0]), "brave")
        before = await self.version()
        for _ in range(40):
            button = await self.wanted()
            if button is not None:
                with contextlib.suppress(TimeoutError):
                    await button.click(timeout=1000)
            if await self.took_effect(before):
                return None
        raise AssertionError(f"nothing was sent for {view.stage}: {await self.bar.inner_text()}")

    async def wanted(self) -> Locator | None:
        """What is to be pressed next, as the page offers it: what sends, what is still lacking, a command, a thing."""
        for button in (
            self.send,
            self.lacking.locator("button[aria-pressed=false], .stepper button:last-child:not([aria-disabled=true])"),
            self.bar.locator(".actions .main"),
            self.page.locator(".table .target"),
            self.things,
        ):
            if await button.count() > 0:
                return button.first
        return None

    async def go_to(self, button: Locator) -> bool:
        """Leads the focus to a button by keys alone; False if it went away meanwhile.

        On the table from one thing that can be picked to the next, elsewhere from part to part and from stop to stop.
        """
        for _ in range(80):
            try:
                key = await button.evaluate(_KEY_TOWARDS, timeout=1000)
            except TimeoutError:
                return False
            if key == "":
                return True
            await self.page.keyboard.press(key)
        raise AssertionError(f"no key leads to {await button.evaluate('each => each.outerHTML')}")

    async def key(self, key: str, effect: Locator) -> None:
        """Presses a key until its effect is seen: while a command is under way keys do nothing."""
        for _ in range(20):
            if await effect.count() > 0:
                return
            await self.page.keyboard.press(key)
            with contextlib.suppress(AssertionError):
                await expect(effect.first).to_be_attached(timeout=1000)
        raise AssertionError(f"{key} did nothing: {await self.bar.inner_text()}")

    async def act_by_keys(self) -> None:
        """Does what is asked with keys alone, as the page offers it first; what was begun is gone on with."""
        before = await self.version()
        for _ in range(60):
            button = await self.wanted()
            if await self.send.count() > 0:
                await self.page.keyboard.press("Control+Enter")
            elif button is not None and await self.go_to(button):
                await self.page.keyboard.press("Enter")
            if await self.took_effect(before):
                return
        raise AssertionError(f"no key sent anything: {await self.bar.inner_text()}")

    async def took_effect(self, before: int) -> bool:
        """Whether what was pressed last was a command: one that is on its way is waited for.

        Args:
            before: the version that was shown when it was decided upon.
        """
        on_its_way = await self.bar.get_by_text(says("play.sending", self.language)).count()
        with contextlib.suppress(TimeoutError):
            await self.reaches(before + 1, within_ms=20_000 if on_its_way else 300)
            return True
        return False
