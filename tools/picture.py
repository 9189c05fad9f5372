"""Draws the picture of the terminal client for the README: a match that is really being played, as an SVG file.

`python tools/picture.py [FILE]` plays some turns against the house's bot on a stack of its own, or on the one that runs
here, and takes what is on the screen then.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from grimoire.cli.screens.app import GrimoireApp
from grimoire.cli.screens.match_screen import MatchScreen
from grimoire.cli.screens.model import MatchModel, Stage
from grimoire.cli.screens.wish import Wish
from grimoire.cli.stacks import throw_away_stack
from grimoire.client import Client

GAME = "two_towers"
SIZE = (122, 36)
DECISIONS = 14
FILE = Path(__file__).parents[1] / "libs" / "grimoire" / "cli" / "screens" / f"{GAME}.svg"
LARGEST = 200_000
PATIENCE_S = 120
_CELL = 12.2
"""Width of a character in the picture's units."""
_BLANK = "&#160;"
_TEXT = re.compile(r'(<text [^>]*x=")([\d.]+)("[^>]*textLength=")([\d.]+)("[^>]*>)([^<]*)</text>')


async def picture() -> str:
    """Plays, and gives what is on the screen then."""
    # In processes of its own: a screen takes this one's standard streams.
    async with throw_away_stack(processes=True) as edge:
        with tempfile.TemporaryDirectory() as folder:
            async with await Client.connect(edge, keepsakes=Path(folder)) as client:
                await client.guest("Aino")
                app = GrimoireApp(client, Wish(game=GAME, level="heuristic", options={"turn_time_s": "60"}), me="Aino")
                app.animation_level = "none"
                async with app.run_test(size=SIZE) as pilot:
                    await _play(app, pilot)
                    return _self_contained(app.export_screenshot(title="grimoire play two_towers", simplify=True))


async def _play(app: GrimoireApp, pilot: Pilot[int]) -> None:
    """Some turns by the game's own player, and then a card is picked."""
    await _until(pilot, lambda: isinstance(app.screen, MatchScreen))
    screen = app.screen
    if not isinstance(screen, MatchScreen):
        raise SystemExit("the match did not begin")
    model = screen.model
    await _until(pilot, lambda: model.stage is not Stage.HANDSHAKE)
    await pilot.press("f12")  # takes the digest of the deal away
    for _ in range(DECISIONS):
        await _until(pilot, lambda: model.stage is not Stage.WAITING)
        if model.stage is not Stage.ASKED:
            raise SystemExit("the match was over too soon; try again")
        await _decide(model, pilot)
    await _until(pilot, lambda: model.stage is Stage.ASKED)
    payable = next((n for n, ref in enumerate(screen.board.picks(), 1) if _can_be_played(model, ref)), 1)
    await pilot.press(str(payable))
    await pilot.pause(0.5)


async def _decide(model: MatchModel, pilot: Pilot[int]) -> None:
    prompt, view = model.asked, model.view()
    if prompt is None or view is None:
        return
    code, message = model.plugin.bot.suggest(view, prompt, "heuristic", random.Random(1), 50)
    before = model.version
    await model.feed.submit(code, message, prompt.prompt_id)
    await _until(pilot, lambda: model.version > before)


def _can_be_played(model: MatchModel, ref: str) -> bool:
    picked = model.draft.pick(ref)
    return picked is not None and len(picked.commands()) > 1


async def _until(pilot: Pilot[int], condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await pilot.pause(0.02)


def _self_contained(svg: str) -> str:
    """The reader's own fixed-width font, asked of nobody; and texts without blanks at their ends.

    Some programs leave such blanks away and put the text in the wrong place.
    """
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", svg)
    svg = svg.replace("Fira Code", "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas")
    return _TEXT.sub(_trimmed, svg)


def _trimmed(found: re.Match[str]) -> str:
    before, x, middle, length, after, text = found.groups()
    blanks = re.fullmatch(rf"((?:{_BLANK})*)(.*?)((?:{_BLANK})*)", text, re.DOTALL)
    if blanks is None or not blanks[2].strip():
        return ""
    leading, trailing = (len(blanks[n]) // len(_BLANK) for n in (1, 3))
    moved, shorter = float(x) + leading * _CELL, float(length) - (leading + trailing) * _CELL
    return f"{before}{moved:g}{middle}{shorter:g}{after}{blanks[2]}</text>"


if __name__ == "__main__":
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    svg = asyncio.run(picture())
    if len(svg) > LARGEST:
        raise SystemExit(f"{len(svg)} bytes are more than {LARGEST}")
    file.write_text(svg, encoding="utf-8")
    print(f"{file}: {len(svg)} bytes")
