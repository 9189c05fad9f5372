"""One screen on a stage: what tests of the terminal client share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Button

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


def said(app: ThemedApp, *texts: tuple[str, ...], language: str, languages: tuple[str, ...] = ("en", "fi")) -> None:
    """Each text, in its language, is on the screen."""
    shown = text(app)
    for each in texts:
        wanted = each[languages.index(language)]
        assert wanted in shown, f"{wanted!r} is not in\n" + "\n".join(lines(app))


def buttons(app: ThemedApp) -> list[str]:
    """Labels of the buttons that are seen."""
    return [str(button.label) for button in app.screen.query(Button) if button.display and button.region.area]
