"""One screen on a stage: what tests of the terminal client share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen

from grimoire.cli.screens.theme import ThemedApp


class Stage(ThemedApp):
    """Shows one screen and keeps what it was dismissed with."""

    def __init__(self, screen: Screen[Any]) -> None:
        super().__init__()
        self.animation_level = "none"
        self.shown = screen
        self.results: list[Any] = []

    def on_mount(self) -> None:
        super().on_mount()
        self.push_screen(self.shown, self.results.append)


def lines(app: ThemedApp) -> list[str]:
    """What is on the screen, line by line."""
    return [strip.text for strip in app.screen._compositor.render_strips()]


def text(app: ThemedApp) -> str:
    """What is on the screen, blanks as one."""
    return " ".join(" ".join(lines(app)).split())


async def until(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    """Waits for a condition while the application goes on."""
    for _ in range(500):
        if condition():
            return
        await pilot.pause(0.01)
    raise AssertionError(f"it never came to this; the screen shows:\n{chr(10).join(lines(pilot.app))}")
