"""A person who plays with the mouse, with the keyboard or in words."""

from __future__ import annotations

import contextlib
import re

from playwright.async_api import Locator, Page, TimeoutError, expect  # noqa: A004 (it is what they raise)

from grimoire.plugins import load_game
from grimoire.v1 import manifest_pb2 as mf
from tests.web.programs import GAME
from tests.web.texts import says


class Sitter:
    """A person at a seat of any game.

    Args:
        page: the match's.
        language: the page's.
    """

    def __init__(self, page: Page, language: str = "en") -> None:
        self.page = page
        self.language = language
        self.table = page.locator("[data-stage]")
        self.bar = page.get_by_role("region", name=says("play.prompt", language), exact=True)

    async def version(self) -> int:
        """The version that is shown."""
        return int(await self.table.get_attribute("data-version") or 0)

    async def reaches(self, version: int, *, within_ms: float = 60_000) -> None:
        """Waits until at least so much is shown."""
        await self.page.wait_for_function(
            "(version) => Number(document.querySelector('[data-version]')?.dataset.version) >= version",
            arg=version,
            timeout=within_ms,
        )

    async def press_until_sent(self, button: Locator, before: int) -> None:
        """Presses what sends a command until it has taken effect: one that has only just come takes no click.

        Args:
            button: of the command.
            before: the version that was shown when it was decided upon.
        """
        await expect(button).to_have_count(1)
        for _ in range(20):
            if await self.version() > before:
                return
            with contextlib.suppress(TimeoutError):
                await button.click(timeout=1000)
            # What is on its way is waited for: the next choice may have a button of the same name.
            on_its_way = await self.bar.get_by_text(says("play.sending", self.language)).count()
            with contextlib.suppress(TimeoutError):
                await self.reaches(before + 1, within_ms=60_000 if on_its_way else 1000)
                return
        raise AssertionError("a command was never sent")


class Seat(Sitter):
    """One seat of a match of Two Towers.

    Args:
        page: the match's.
        language: the page's.
    """

    def __init__(self, page: Page, language: str = "en") -> None:
        super().__init__(page, language)
        commands = {
            template.key: template.text.partition("{")[0]
            for template in load_game(GAME).texts.manifest(language).templates
            if template.kind == mf.TEMPLATE_KIND_COMMAND
        }
        self._hand = says("two_towers.hand", language)
        self.play = re.compile("^" + commands["play_card"])
        self.discard = re.compile("^" + commands["discard_card"])

    @property
    def hand(self) -> Locator:
        """The cards of one's hand."""
        return self.page.get_by_role("list", name=self._hand, exact=True).get_by_role("button")

    async def turn_or_end(self) -> bool:
        """Waits until something is asked of this seat; False if the match is over."""
        await self.page.locator("[data-stage=asked], [data-stage=over], [data-stage=void]").wait_for()
        return await self.table.get_attribute("data-stage") == "asked"

    async def act(self) -> None:
        """Plays the first card that can be played, else discards the first, with the mouse."""
        before = await self.version()
        for index in range(await self.hand.count()):
            await self.hand.nth(index).click()
            play = self.bar.get_by_role("button", name=self.play)
            if await play.count() > 0:
                await self.press_until_sent(play, before)
                return
            await self.hand.nth(index).click()
        await self.hand.first.click()
        await self.press_until_sent(self.bar.get_by_role("button", name=self.discard), before)

    async def to_end(self) -> int:
        """Plays until the match is over; gives how many commands that took."""
        commands = 0
        while await self.turn_or_end():
            await self.act()
            commands += 1
        return commands
