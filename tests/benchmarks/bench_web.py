"""What the web client costs: how much is fetched first, how soon a page can be used and a command is on the screen.

A real browser plays one seat against a program in the other, on this machine. A command's time is from the click on the
button that sends it to the first frame painted with the new version on the board.

    python -m tests.benchmarks.bench_web [commands]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from grimoire.runtime.config import Config, LogLevel, RunFile
from grimoire.runtime.stack import Stack
from tests.benchmarks.machine import told, wait_until_idle
from tests.web.browsers import open_browser
from tests.web.built import dist
from tests.web.people import Person
from tests.web.programs import GAME, Duel, act, duel
from tests.web.seats import Seat
from tests.web.sizes import Build

VISITS = 5


def show_sizes() -> None:
    """What the build's own list says, in gzip."""
    build = Build.read(dist())
    first = build.first_load(GAME)
    print(f"first load, lobby and a match: {build.size(first) / 1024:.1f} KiB in {len(first)} files")
    print(f"  of it the lobby's script {build.size(build.lobby(), '.js') / 1000:.1f} kB", end=", ")
    print(f"style {build.size(build.lobby(), '.css') / 1000:.1f} kB", end=", ")
    print(f"the game's own files {build.size(build.game(GAME)) / 1000:.1f} kB")


async def fetched(person: Person, path: str, ready: str) -> tuple[int, float]:
    """Bytes that came over the wire for a page opened with an empty cache, and ms until a selector was there."""
    session = await person.context.new_cdp_session(person.page)
    total = 0

    def received(event: dict[str, Any]) -> None:
        nonlocal total
        total += event["encodedDataLength"]

    session.on("Network.loadingFinished", received)
    await session.send("Network.enable")
    await person.page.goto(path)
    await person.page.locator(ready).first.wait_for()
    after = await person.page.evaluate("performance.now()")
    await session.detach()
    return total, after


_WATCH = """() => {
    window.commandMs = [];
    const version = () => document.querySelector("[data-version]")?.dataset.version;
    let from = 0, before = "", waits = false;
    const look = () => {
        if (version() === before) requestAnimationFrame(look);
        else requestAnimationFrame(() => {
            waits = false;
            window.commandMs.push(performance.now() - from);
        });
    };
    // A click that came too soon to be meant is not taken; the one after it counts.
    document.addEventListener("click", (event) => {
        if (!/^(Play|Discard) /.test(event.target.closest(".prompt button")?.innerText ?? "")) return;
        from = performance.now();
        before = version();
        if (!waits) requestAnimationFrame(look);
        waits = true;
    }, true);
}"""


async def commands_on_screen(page: Page, match: Duel, wanted: int) -> list[float]:
    """Milliseconds of each command that the browser's seat sent."""
    await page.evaluate(_WATCH)
    seat = Seat(page)
    measured: list[float] = []
    while len(measured) < wanted and not match.sessions[0].finished:
        if await act(match.sessions[1]):
            continue
        if not any(prompt.required for prompt in match.sessions[0].own_prompts):
            await asyncio.sleep(0.005)
            continue
        await seat.reaches(match.sessions[0].version)
        if not await seat.turn_or_end():
            break
        await seat.act()
        await page.wait_for_function("(n) => window.commandMs.length > n", arg=len(measured))
        measured = await page.evaluate("window.commandMs")
    return measured


async def main(commands: int) -> None:
    busy = wait_until_idle()
    print(told(busy))
    show_sizes()
    with tempfile.TemporaryDirectory(prefix="grimoire-") as folder:
        home = Path(folder)
        async with (
            Stack(replace(Config.for_test(home / "home"), log_level=LogLevel.WARNING)) as stack,
            open_browser() as browser,
        ):
            running = RunFile.read(stack.config.home)
            assert running is not None
            site = f"http://{running.addresses['web']}"
            measured: list[float] = []
            rounds = 0
            loads: dict[str, list[tuple[int, float]]] = {"lobby": [], "match": []}
            while len(measured) < commands:
                rounds += 1
                async with (
                    duel(str(stack.config.gateway), home / f"kept{rounds}", battlefield="free_steppe") as match,
                    Person(browser, site) as person,
                ):
                    await person.sit_as(match.clients[0].token or "")
                    loads["lobby"].append(await fetched(person, "/", "main h2"))
                    loads["match"].append(await fetched(person, f"/m/{match.match_id}", "[data-version]"))
                    measured += await commands_on_screen(person.page, match, commands - len(measured))
    for name, seen in loads.items():
        sizes, times = zip(*seen, strict=True)
        print(f"{name}: {sizes[0] / 1024:.1f} KiB over the wire, usable after {statistics.median(times):.0f} ms")
    ordered = sorted(measured)
    print(
        f"command to screen, {len(ordered)} commands: median {statistics.median(ordered):.1f} ms, "
        f"p95 {ordered[int(len(ordered) * 0.95)]:.1f} ms, most {ordered[-1]:.1f} ms"
    )


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
