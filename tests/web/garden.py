"""The Wizard's Garden for browser tests: two people who play by program, and a person who points at spaces."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Locator, Page

from grimoire.client import Client, MatchSession
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from tests.web.seats import Sitter
from tests.web.texts import says

GAME = "wizards_garden"
NAMES = ("Aino", "Väinö")


@dataclass
class Pair:
    """Two people and their match; they may act by program, or in a browser with their token."""

    match_id: str
    clients: Sequence[Client]
    sessions: Sequence[MatchSession]

    @property
    def view(self) -> pb.View:
        """As everybody may see it who sits at seat 0."""
        return pb.View.FromString(self.sessions[0].view)

    async def send(self, seat: int, command: str, **fields: object) -> None:
        """One command, seen by both before it returns."""
        name = "".join(part.capitalize() for part in command.split("_"))
        prompt = next(prompt for prompt in self.sessions[seat].own_prompts if prompt.required)
        accepted = await self.sessions[seat].submit(command, getattr(pb, name)(**fields), prompt.prompt_id)
        await asyncio.gather(*(session.reached(accepted.version, timeout_s=20) for session in self.sessions))

    async def pass_turn(self, seat: int) -> None:
        """This seat declines everything until the other is asked."""
        while self.view.asked_seat == seat:
            await self.send(seat, "end_phase")


@asynccontextmanager
async def garden(
    address: str, kept: Path, position: Mapping[str, object] | bytes, **options: str
) -> AsyncIterator[Pair]:
    """A match of two people that begins in a position.

    Args:
        address: of the edge.
        kept: a folder for their evidence.
        position: as the game's README has it, or whole.
        options: of the match.
    """
    clients = [await Client.connect(address, keepsakes=kept / name) for name in NAMES]
    sessions: list[MatchSession] = []
    try:
        for client, name in zip(clients, NAMES, strict=True):
            await client.guest(name)
        opened = await clients[0].play_position(GAME, position, options=options, invite=True)
        await clients[1].join(opened.challenge_id)
        match_id = (await clients[0].matched(opened.challenge_id)).match_id
        sessions += await asyncio.gather(*(client.open_match(match_id) for client in clients))
        for session in sessions:
            await session.started(timeout_s=30)
        yield Pair(match_id, clients, sessions)
    finally:
        for session in sessions:
            await session.close()
        for client in clients:
            await client.close()


class Gardener(Sitter):
    """A person at a seat: points at spaces, cards and threats, and presses what the bar offers.

    Args:
        page: the match's.
        language: the page's.
    """

    def __init__(self, page: Page, language: str = "en") -> None:
        super().__init__(page, language)
        self.yard = page.get_by_role("grid", name=says("wizards_garden.yard", language))

    def space(self, space: str) -> Locator:
        """A space by the beginning of its name."""
        return self.yard.get_by_role("button", name=re.compile(f"^{space}, "))

    async def asked(self) -> None:
        """Waits until something is asked of this seat."""
        await self.page.locator("[data-stage=asked]").wait_for()

    async def press(self, name: str) -> None:
        """Presses the button of this name, which sends a command, until that has taken effect."""
        await self.asked()
        before = await self.version()
        await self.press_until_sent(self.bar.get_by_role("button", name=re.compile(f"^{name}")), before)

    async def decline(self) -> None:
        """Does the least that may be done, whatever is asked: also where the other seat attacks."""
        await self.press("(End the|Do not defend|Light nothing|Go back)")

    async def turn(self) -> int:
        """The number of the turn that is shown."""
        return int((await self.page.get_by_text(re.compile(r"^turn \d+$")).first.inner_text()).rpartition(" ")[2])

    async def choose(self, name: str) -> None:
        """Presses what only leads on."""
        await self.asked()
        await self.bar.get_by_role("button", name=re.compile(f"^{name}")).click(delay=300)

    async def step(self, origin: str, target: str, command: str) -> None:
        """Points at two spaces and sends what may be done with them."""
        await self.asked()
        await self.space(origin).click()
        await self.space(target).click()
        await self.press(command)
