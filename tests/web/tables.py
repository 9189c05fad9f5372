"""People who sit down at tables of several seats."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Locator, Page, TimeoutError, expect  # noqa: A004 (it is what they raise)

from grimoire.client import Client
from grimoire.plugins import load_game
from tests.web.people import Person
from tests.web.texts import says

GAME = "spellbound"
SAT_DOWN = re.compile(r"/m/[0-9a-z]{26}$")


def game_name(language: str = "en") -> str:
    """What the page calls the game."""
    return str(load_game(GAME).texts.manifest(language).name)


def middle_bot(language: str = "en") -> str:
    """The level that is chosen where nobody chooses."""
    levels = load_game(GAME).texts.manifest(language).bot_levels
    return str(levels[(len(levels) - 1) // 2].name)


async def new_table(host: Person, seats: int, language: str = "en") -> Locator:
    """The dialog for a new table of so many seats; the first is the host's, the others are open."""
    await host.open("/")
    await host.page.get_by_role("button", name=says("lobby.new", language)).click()
    dialog = host.page.get_by_role("dialog")
    await dialog.get_by_role("radio", name=game_name(language)).check()
    many = dialog.get_by_role("group", name=says("tables.how_many", language))
    await many.get_by_role("radio", name=str(seats), exact=True).check()
    return dialog


async def choose_seat(dialog: Locator, number: int, choice: str) -> None:
    """Says who shall sit on a seat, counted from 1."""
    await dialog.get_by_label(f"Seat {number}", exact=True).select_option(label=choice)


async def known_as(person: Person, name: str, address: str, kept: Path) -> None:
    """Signs the browser in as a new guest of this name.

    Args:
        person: at the browser.
        name: of the guest.
        address: of the edge for programs.
        kept: a folder that is its own.
    """
    async with await Client.connect(address, keepsakes=kept / name) as client:
        await client.guest(name)
        await person.sit_as(client.token or "")


async def open_table(host: Person, seats: int, *, casual: bool = False) -> str:
    """Opens a table for whoever comes; gives its id."""
    dialog = await new_table(host, seats)
    if seats > 1:
        # A vote lasts as long as a test needs to look at it.
        await dialog.get_by_label(says("tables.grace")).select_option("900")
    if casual:
        await dialog.get_by_label(says("lobby.rated")).uncheck()
    await dialog.get_by_role("button", name=says("tables.open")).click()
    row = host.page.locator("[data-challenge].mine")
    await expect(row).to_have_count(1)
    return str(await row.get_attribute("data-challenge"))


def row(page: Page, table: str) -> Locator:
    """The line of a table in the lobby."""
    return page.locator(f'[data-challenge="{table}"]')


async def sit_down(person: Person, table: str) -> None:
    """Takes the first free seat."""
    await person.open("/")
    await row(person.page, table).get_by_role("button", name=re.compile(f"^{says('lobby.join')}")).click()


async def at_the_table(*people: Person) -> str:
    """Waits until all are shown the match that has begun; gives its id."""
    ids = set()
    for person in people:
        await person.page.wait_for_url(SAT_DOWN)
        await playing(person.page)
        ids.add(person.page.url.rpartition("/")[2])
    (match_id,) = ids
    return match_id


async def playing(page: Page) -> None:
    """Waits until the match runs."""
    await page.locator("[data-stage=asked], [data-stage=waiting]").wait_for(timeout=40_000)


async def begin(people: Sequence[Person], *, casual: bool = False) -> str:
    """A match of these people, in the order of their seats; gives its id."""
    table = await open_table(people[0], len(people), casual=casual)
    for person in people[1:]:
        await sit_down(person, table)
    return await at_the_table(*people)


async def leave_table(page: Page) -> None:
    """Goes away from a match, by the button for it."""
    await page.get_by_role("tab", name=says("play.tab.info")).click()
    await page.get_by_role("button", name=says("play.info.leave")).click()
    await page.get_by_role("button", name=says("play.info.yes_leave")).click()


async def act(page: Page) -> None:
    """Some command of the seat that is asked, whichever comes first; waits until it has taken effect."""
    before = await version(page)
    bar = page.get_by_role("region", name=says("play.prompt"), exact=True)
    for _ in range(40):
        buttons = bar.locator(".actions button:enabled")
        things = page.locator(".table [data-usable]")
        with contextlib.suppress(TimeoutError):
            if await buttons.count():
                await buttons.last.click(timeout=1000)
            elif await things.count():
                await things.first.click(timeout=1000)
        with contextlib.suppress(TimeoutError):
            await page.wait_for_function(
                "(version) => Number(document.querySelector('[data-version]')?.dataset.version) > version",
                arg=before,
                timeout=700,
            )
            return
    raise AssertionError("no command was sent")


async def version(page: Page) -> int:
    """How many entries of the match are shown."""
    return int(await page.locator("[data-version]").get_attribute("data-version") or 0)
