"""Key states of a match, from arranged positions: what is said is written down, and nothing lies over anything else.

What the accessible tree says of each state is in `snapshots/`. After a change that is meant:
`GRIMOIRE_RENEW_SNAPSHOTS=1 python -m pytest tests/web/test_key_states.py`, and read the difference.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from grimoire.client import Client
from grimoire.runtime.stack import Stack
from tests.web.people import DESKTOP, PHONE, Person
from tests.web.programs import GAME
from tests.web.seats import Seat

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

SNAPSHOTS = Path(__file__).with_name("snapshots")
POSITIONS: dict[str, Mapping[str, Any]] = {
    "turn": {
        "seats": [
            {"tower": 31, "wall": 12, "ore": 9, "mana": 4, "recruits": 0,
             "hand": ["quartz", "prism", "big_wall", "unicorn", "dragon", "lucky_cache"]},
            {"tower": 18, "wall": 0, "mines": 4, "hand": ["orc"]},
        ],
        "turn": 12,
        "discards": ["brick_shortage", "earthquake"],
    },
    "one_of_six_must_go": {
        "phase": "forced_discard",
        "seats": [{"hand": ["quartz", "prism", "big_wall", "unicorn", "dragon", "lucky_cache"]}, {"hand": ["orc"]}],
        "turn": 3,
    },
    "largest_numbers": {
        "seats": [
            {"tower": 199, "wall": 999, "mines": 99, "monasteries": 99, "barracks": 99, "ore": 499, "mana": 499,
             "recruits": 499, "hand": ["lightning_shard", "elven_archers", "unicorn", "spearman", "imp", "thief"]},
            {"tower": 1, "wall": 0, "mines": 0, "monasteries": 0, "barracks": 0, "hand": ["orc"]},
        ],
        "turn": 999,
        "goal_tower": 200,
        "goal_resource": 500,
    },
    "other_to_act": {
        "active": 1,
        "seats": [{"tower": 25, "hand": ["quartz"]}, {"tower": 24, "hand": ["orc"]}],
        "turn": 8,
    },
}  # fmt: skip
SCREENS = {
    "desktop": DESKTOP,
    "laptop": {"viewport": {"width": 1024, "height": 640}},
    "tablet": {"viewport": {"width": 768, "height": 1024}},
    "phone": PHONE,
    "narrow": {**PHONE, "viewport": {"width": 320, "height": 640}},
    "sideways": {**PHONE, "viewport": {"width": 640, "height": 360}},
}


@asynccontextmanager
async def arranged(stack: Stack, kept: Path, name: str) -> AsyncIterator[tuple[Client, str]]:
    """An analysis match that begins in a position, both seats held by one person."""
    async with await Client.connect(str(stack.config.gateway), keepsakes=kept) as client:
        await client.guest("Aino")
        challenge = await client.play_position(GAME, POSITIONS[name], options={"turn_time_s": "86400"}, level="random")
        async with await client.open_match(challenge.match_id) as session:
            await session.started(timeout_s=30)
        yield client, challenge.match_id


def steady(tree: str) -> str:
    """What is the same every time."""
    tree = re.sub(r"[0-9a-f]{4}( [0-9a-f]{4}){2}", "<hash>", tree)
    tree = re.sub(r'img "[^"]*": [●◐○]', "img <presence>", tree)
    tree = re.sub(r"/m/\w{26}", "/m/<match>", tree)
    # A day is shown as one until its first second is gone.
    tree = re.sub(r"\b(\d+:\d\d(:\d\d)?|\d+ d \d+ h)\b", "<time>", tree)
    return tree.strip() + "\n"


@pytest.mark.parametrize("name", [name for name in POSITIONS if name != "other_to_act"])
@pytest.mark.parametrize("language", ["en", "fi"])
async def test_what_is_said(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, name: str, language: str
) -> None:
    async with arranged(stack, tmp_path, name) as (client, match_id), person(language=language) as player:
        await player.sit_as(client.token or "")
        page = await player.open(f"/m/{match_id}")
        seat = Seat(page, language)
        await expect(seat.hand).to_have_count(6)
        assert await seat.turn_or_end()
        parts = [page.locator("main .table"), seat.bar]
        said = steady("\n".join([await part.aria_snapshot() for part in parts]))
        await seat.hand.nth(5).click()
        said += "# with the last card chosen\n" + steady(await seat.bar.aria_snapshot())
        file = SNAPSHOTS / f"{name}.{language}.yaml"
        if os.environ.get("GRIMOIRE_RENEW_SNAPSHOTS"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(said)
        assert said == file.read_text()


_OVERLAPS = """() => {
    const shown = (each) => each.checkVisibility() && each.getBoundingClientRect().width > 0;
    const told = (each) => each.outerHTML.slice(0, 90);
    const table = document.querySelector(".table").getBoundingClientRect();
    // What is scrolled away is not seen.
    const seen = (each) => {
        const { left, right, top, bottom } = each.getBoundingClientRect();
        if (each.closest(".table") === null) return { left, right, top, bottom };
        return { left, right, top: Math.max(top, table.top), bottom: Math.min(bottom, table.bottom) };
    };
    const parts = ".table [data-ref], .table section:not(.scene) > :first-child, .middle > *, .prompt, main h1";
    const named = [...document.querySelectorAll(parts)].filter(shown);
    const found = [];
    for (const [n, one] of named.entries()) {
        for (const other of named.slice(n + 1)) {
            if (one.contains(other) || other.contains(one)) continue;
            const [a, b] = [seen(one), seen(other)];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 1 && high > 1) found.push([told(one), told(other), wide, high]);
        }
    }
    const within = [...document.querySelectorAll(".table [data-ref], .prompt *")].filter(shown);
    const cut = within.filter((each) => {
        const box = each.getBoundingClientRect();
        return box.left < -1 || box.right > document.documentElement.clientWidth + 1;
    });
    return [...found, ...cut.map((each) => ["cut off", told(each)])];
}"""


@pytest.mark.parametrize("name", POSITIONS)
async def test_nothing_lies_over_anything(
    person: Callable[..., Person], stack: Stack, tmp_path: Path, name: str
) -> None:
    async with arranged(stack, tmp_path, name) as (client, match_id):
        for screen, size in SCREENS.items():
            async with person(size, language="fi") as player:
                await player.sit_as(client.token or "")
                page = await player.open(f"/m/{match_id}")
                seat = Seat(page, "fi")
                await expect(seat.hand).to_have_count(6)
                assert await page.evaluate(_OVERLAPS) == [], screen
                await player.no_sideways_scroll()
                await expect(seat.bar).to_be_in_viewport(ratio=1)
