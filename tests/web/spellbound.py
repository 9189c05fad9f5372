"""Spellbound for browser tests: people at a table, arranged positions, and a person who points at things."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, expect

from grimoire.client import Client
from grimoire.client.tables import MINE, OPEN
from grimoire.games.spellbound.v1 import spellbound_pb2 as pb
from tests.web.people import Person
from tests.web.seats import Sitter
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


class Player(Sitter):
    """A person at a seat: points at cards, places, the wand and spells, and presses what the bar offers."""

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
        """Presses what sends a command until it has taken effect.

        Args:
            name: how the button's name begins.
            once_more: how the answer begins that a grave command asks for.
        """
        button = self.button(name)
        if once_more:
            button = button.or_(self.button(once_more))
        await self.press_until_sent(button.first, await self.version())

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
        """Plays on until the story was ended: what is asked of others meanwhile is theirs to answer."""
        while not await self.answers():
            pass

    async def answers(self) -> bool:
        """Answers what is asked of this seat; whether that ended the story, or the match is over."""
        if not await self.asked_or_over():
            return True
        kind = await self.kind()
        if await self.bar.get_attribute("data-kind") == "reaction":
            await self.press("Pass")
        elif "choose a book" in kind:
            await self._choose_book()
        elif "Witching Time" in kind:
            await self._send()
        elif "card in progress" in kind:
            await self._move()
        else:
            return await self._story()
        return False

    async def _send(self) -> None:
        """A wicked card goes to the tower, else the first one that can."""
        wicked = self.row("wicked_row").and_(self.page.locator("[data-usable]"))
        cards = wicked if await wicked.count() else self.row("mage_row").and_(self.page.locator("[data-usable]"))
        await self.pick(str(await cards.first.get_attribute("data-ref")))
        await self.press("Send one card to the tower")

    async def _move(self) -> None:
        village = self.part("villages").locator("[data-usable]").last
        await self.pick(str(await village.get_attribute("data-ref")))
        await self.press("Move: village")

    async def _story(self) -> bool:
        """Travels if a card allows it, discards what is too much, then ends the story; whether it has ended."""
        travel = self.row("mage_row").and_(self.page.get_by_role("button", name=re.compile("^Travel")))
        if await travel.count():
            await self.pick(str(await travel.first.get_attribute("data-ref")))
            await self.press("Travel .*: 1 movement")
        elif await self.button("End the story").count():
            await self.press("End the story", once_more="Yes")
            return True
        else:
            cards = self.row("mage_row").and_(self.page.locator("[data-usable]"))
            await self.pick(str(await cards.first.get_attribute("data-ref")))
            await self.press("Discard a card unused")
        return False

    async def _choose_book(self) -> None:
        await self.bar.get_by_role("button", name=re.compile("spell book")).first.click()
        await self.press("Choose a book to move")


async def whoever_is_asked(players: Sequence[Player]) -> Player | None:
    """Waits until something is asked of one of them; None: the match is over."""
    waits = [asyncio.ensure_future(player.asked_or_over()) for player in players]
    try:
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return next(
            (player for player, wait in zip(players, waits, strict=True) if wait in done and wait.result()), None
        )
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
