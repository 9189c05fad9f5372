"""Nobody's screen is sent what it may not show: streams, page, storage, accessibility tree are searched (W-MAT-4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from grimoire.plugins import load_game
from grimoire.runtime.stack import Stack
from grimoire.v1 import manifest_pb2 as mf
from tests.web.people import Person, Tap
from tests.web.programs import GAME, Duel, duel
from tests.web.seats import Seat
from tests.web.texts import says

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOVES = 16
MANIFEST = load_game(GAME).texts.manifest("en")
TERMS = {template.key for template in MANIFEST.templates if template.kind == mf.TEMPLATE_KIND_TERM}
# A card that is called as something everybody sees (barracks) cannot be searched for.
NAMES = {item.id: item.name for item in MANIFEST.catalogues[0].items if item.id not in TERMS}

_STORED = """async () => {
    const all = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)];
    for (const { name } of await indexedDB.databases()) {
        const db = await new Promise((done, failed) => {
            const opening = indexedDB.open(name);
            opening.onsuccess = () => done(opening.result);
            opening.onerror = () => failed(opening.error);
        });
        for (const store of db.objectStoreNames) {
            const values = await new Promise((done) => {
                const reading = db.transaction(store).objectStore(store).getAll();
                reading.onsuccess = () => done(reading.result);
            });
            const text = (_, value) => (value instanceof Uint8Array ? String.fromCharCode(...value) : value);
            all.push(JSON.stringify(values, text));
        }
        db.close();
    }
    return all.join("\\n");
}"""


def on_the_wire(card: str) -> bytes:
    """A card's id as a protobuf field holds it."""
    return bytes([len(card)]) + card.encode()


async def everything_shown(page: Page) -> str:
    """All that the page holds of words."""
    # It doubles apostrophes where it puts a line in quotes.
    tree = (await page.locator("body").aria_snapshot()).replace("''", "'")
    return "\n".join([await page.content(), tree, await page.evaluate(_STORED)])


def find(text: str, cards: set[str], seen: set[str]) -> set[str]:
    """Cards that a text tells of, by id or by name, beside those that everybody saw."""
    known = "\n".join([*seen, *(NAMES[card] for card in seen)])
    said = set()
    for card in cards:
        for word in (card, NAMES[card]):
            # Who reads of the Dragon's Heart has not read of the Dragon.
            longer = "|".join(re.escape(name) for name in sorted(NAMES.values()) if word in name and name != word)
            whole = re.compile(rf"(?<![\w-])(?:{longer and longer + '|'}({re.escape(word)}))(?![\w-])")
            if not told(whole, known) and told(whole, text):
                said.add(card)
    return said


def told(word: re.Pattern[str], text: str) -> bool:
    """Whether the word itself stands there, not only longer names that it is a part of."""
    return any(match.group(1) for match in word.finditer(text))


async def moves_seen(match: Duel, page: Page, tap: Tap, hidden: Callable[[], set[str]]) -> None:
    """Plays on, and searches after every move."""
    seat = Seat(page)
    ever: set[str] = set()
    held: set[str] = match.hands()
    moves = 0
    # A match that is over hides nothing any more.
    while moves < MOVES and await match.move() and match.sessions[0].closed is None:
        moves += 1
        ever |= (held - match.hands()) & NAMES.keys()
        held |= match.hands()
        await seat.reaches(match.sessions[0].version)
        secret = (hidden() - ever) & NAMES.keys()
        assert secret
        leaked = {card for card in secret if on_the_wire(card) in tap.data}
        assert not leaked, f"sent: {leaked}"
        leaked = find(await everything_shown(page), secret, ever)
        assert not leaked, f"shown: {leaked}"
    assert moves >= MOVES / 4
    await tap.complete()
    # The search would have found what everybody saw.
    assert tap.streams
    assert all(on_the_wire(card) in tap.data for card in ever)
    assert find(await everything_shown(page), ever, set())


@pytest.mark.slow
async def test_a_watcher_is_sent_no_hand(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as watcher:
        tap = await Tap.on(watcher)
        page = await watcher.open(f"/m/{match.match_id}")
        await expect(page.get_by_text(says("play.watching"))).to_be_visible()
        await moves_seen(match, page, tap, match.hands)


@pytest.mark.slow
async def test_a_player_is_sent_no_other_hand(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as player:
        await player.sit_as(match.clients[0].token or "")
        tap = await Tap.on(player)
        page = await player.open(f"/m/{match.match_id}")
        await Seat(page).hand.first.wait_for()
        await moves_seen(match, page, tap, lambda: match.hand(1))


async def test_a_watcher_has_nothing_to_press(person: Callable[..., Person], stack: Stack, tmp_path: Path) -> None:
    """W-MAT-7."""
    async with duel(str(stack.config.gateway), tmp_path) as match, person() as watcher:
        page = await watcher.open(f"/m/{match.match_id}")
        await expect(page.get_by_text(says("play.watching"))).to_be_visible()
        seat = Seat(page)
        await seat.reaches(match.sessions[0].version)
        assert await seat.hand.count() == 0
        assert await seat.bar.get_by_role("button").count() == 0
        before = await seat.version()
        for key in ("1", "p", "Control+Enter", "2", "d", "Control+Enter"):
            await page.keyboard.press(key)
        await match.move()
        await seat.reaches(before + 1)
        assert await seat.version() == match.sessions[0].version == before + 1
        await watcher.axe()
