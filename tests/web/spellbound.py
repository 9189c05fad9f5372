"""Spellbound for browser tests: people at a table, arranged positions, and a person who points at things."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, Page, TimeoutError, expect  # noqa: A004 (it is what they raise)

from grimoire.client import Client
from grimoire.client.tables import MINE, OPEN
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from tests.web.people import Person
from tests.web.texts import says

GAME = "spellbound"
NAMES = ("Aino", "Väinö", "Otso", "Mielikki")


@dataclass(frozen=True)
class Company:
    """People at one table, each of whom has a browser of their own.

    Args:
        match_id: their match.
        clients: by seat; their tokens sign the browsers in.
    """

    match_id: str
    clients: Sequence[Client]

    async def sit(self, seat: int, someone: Person, language: str = "en") -> Player:
        """A person takes their seat in a browser, and has the table before them: everybody must have come for that."""
        await someone.sit_as(self.clients[seat].token or "")
        player = Player(await someone.open(f"/m/{self.match_id}"), language)
        await player.drawn()
        return player


@asynccontextmanager
async def company(address: str, kept: Path, seats: int, **options: str) -> AsyncIterator[Company]:
    """A table with so many people, whose match is created; nobody has opened it yet.

    Args:
        address: of the edge.
        kept: a folder for their evidence.
        seats: one for each person.
        options: of the match.
    """
    clients = [await Client.connect(address, keepsakes=kept / name) for name in NAMES[:seats]]
    try:
        for client, name in zip(clients, NAMES, strict=False):
            await client.guest(name)
        rows = [MINE, *(OPEN for _ in clients[1:])]
        # Nobody's seat is given away while a test takes the network from them.
        table = await clients[0].open_table(GAME, rows, options, rated=False, grace_s=300)
        for seat, client in enumerate(clients[1:], 1):
            await client.take_seats(table.challenge_id, [seat])
        yield Company((await clients[0].matched(table.challenge_id)).match_id, clients)
    finally:
        for client in clients:
            await client.close()


@asynccontextmanager
async def arranged(
    address: str, kept: Path, position: Mapping[str, Any], *, seats: int = 1, **options: str
) -> AsyncIterator[tuple[Company, pb.View]]:
    """A match that begins in a position, all seats held by one person, and what is open in it."""
    async with await Client.connect(address, keepsakes=kept) as client:
        await client.guest(NAMES[0])
        challenge = await client.play_position(GAME, position, options=options, seats=seats)
        sessions = [await client.open_match(challenge.match_id, seat=seat) for seat in range(seats)]
        for session in sessions:
            await session.started(timeout_s=30)
        view = pb.View.FromString(sessions[0].view)
        for session in sessions:
            await session.close()
        yield Company(challenge.match_id, [client] * seats), view


@asynccontextmanager
async def together(address: str, kept: Path, position: Mapping[str, Any], **options: str) -> AsyncIterator[Company]:
    """A match of two people, a mage each, that begins in a position."""
    clients = [await Client.connect(address, keepsakes=kept / name) for name in NAMES[:2]]
    try:
        for client, name in zip(clients, NAMES, strict=False):
            await client.guest(name)
        opened = await clients[0].play_position(GAME, position, options=options, seats=2, invite=True)
        await clients[1].join(opened.challenge_id)
        match_id = (await clients[0].matched(opened.challenge_id)).match_id
        sessions = [await client.open_match(match_id) for client in clients]
        for session in sessions:
            await session.started(timeout_s=30)
        for session in sessions:
            await session.close()
        yield Company(match_id, clients)
    finally:
        for client in clients:
            await client.close()


class Player:
    """A person at a seat: points at cards, places, the wand and spells, and presses what the bar offers.

    Args:
        page: the match's.
        language: the page's.
    """

    def __init__(self, page: Page, language: str = "en") -> None:
        self.page = page
        self.language = language
        self.table = page.locator("[data-stage]")
        self.bar = page.get_by_role("region", name=says("play.prompt", language), exact=True)

    def part(self, key: str) -> Locator:
        """A part of the picture by the key of its name."""
        return self.page.get_by_role("region", name=says(f"spellbound.{key}", self.language), exact=True)

    def row(self, key: str) -> Locator:
        """Cards of the mage row or the wicked row."""
        shelf = self.page.get_by_role("list", name=re.compile(f"^{says(f'spellbound.{key}', self.language)}"))
        return shelf.get_by_role("button")

    def thing(self, ref: str) -> Locator:
        """What is picked by a ref."""
        return self.page.locator(f'.table [data-ref="{ref}"]')

    async def drawn(self) -> None:
        """Waits until the table is there."""
        await expect(self.part("villages").get_by_role("button").first).to_be_visible(timeout=60_000)

    async def version(self) -> int:
        """The version that is shown."""
        return int(await self.table.get_attribute("data-version") or 0)

    async def reaches(self, version: int, *, within_ms: float = 20_000) -> None:
        """Waits until at least so much is shown."""
        await self.page.wait_for_function(
            "(version) => Number(document.querySelector('[data-version]')?.dataset.version) >= version",
            arg=version,
            timeout=within_ms,
        )

    async def asked(self) -> None:
        """Waits until something is asked of this seat."""
        await self.page.locator("[data-stage=asked]").wait_for(timeout=30_000)

    async def asked_or_over(self) -> bool:
        """Waits until something is asked of this seat; False if the match is over."""
        await self.page.locator("[data-stage=asked], [data-stage=over]").wait_for(timeout=60_000)
        return await self.table.get_attribute("data-stage") == "asked"

    async def kind(self) -> str:
        """What is asked of whoever is asked, as the page's head says it."""
        return await self.page.locator("h1").text_content() or ""

    def button(self, name: str) -> Locator:
        """What the bar offers under a name that begins so."""
        return self.bar.get_by_role("button", name=re.compile(f"^{name}"))

    async def press(self, name: str, *, once_more: str = "") -> None:
        """Presses what sends a command until it has taken effect: one that has only just come takes no click.

        Args:
            name: how the button's name begins.
            once_more: how the answer begins that a grave command asks for.
        """
        before = await self.version()
        names = [name, *([once_more] if once_more else [])]
        for _ in range(20):
            for each in names:
                with contextlib.suppress(TimeoutError):
                    await self.button(each).first.click(timeout=1000)
            with contextlib.suppress(TimeoutError):
                await self.reaches(before + 1, within_ms=1000)
                return
        raise AssertionError(f"{name} was never sent")

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

    # ---- whole turns by mouse ----------------------------------------------------------------------------------------

    async def take_turn(self) -> None:
        """Sends a card to the tower, moves if a card allows it, discards what is too much, ends the story."""
        await self.asked()
        wicked = self.row("wicked_row")
        card = (
            wicked.first
            if await wicked.count()
            else self.row("mage_row").and_(self.page.locator("[data-usable]")).first
        )
        await self.pick(str(await card.get_attribute("data-ref")))
        await self.press("Send one card to the tower")
        await self.asked_or_over()
        travel = self.row("mage_row").and_(self.page.get_by_role("button", name=re.compile("^Travel")))
        if await travel.count():
            await self.pick(str(await travel.first.get_attribute("data-ref")))
            await self.press("Travel .*: 1 movement")
            await self.asked()
            village = self.part("villages").locator("[data-usable]").last
            await self.pick(str(await village.get_attribute("data-ref")))
            await self.press("Move: village")
        while await self.asked_or_over() and not await self.button("End the story").count():
            cards = self.row("mage_row").and_(self.page.locator("[data-usable]"))
            await self.pick(str(await cards.first.get_attribute("data-ref")))
            await self.press("Discard a card unused")
        if await self.asked_or_over():
            await self.press("End the story", once_more="Yes")
        if "choose a book" in await self.kind():
            await self.bar.get_by_role("button", name=re.compile("spell book")).first.click()
            await self.press("Choose a book to move")
