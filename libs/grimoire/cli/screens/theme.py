"""Colours. Each is doubled by a sign or a word wherever it stands, so that nothing is lost without them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar, Final

from textual.app import App
from textual.binding import BindingType
from textual.theme import Theme

__all__ = ["GRIMOIRE", "SEAT_COLOURS", "ThemedApp", "seat_colour"]

SEAT_COLOURS: Final = ("#7DB8FF", "#FF9A84", "#5FD3A6", "#F0B85A", "#E29BEA")
"""By seat; told apart also by those who see no red or green, and by `sitters.MARKS` without any colour."""

GRIMOIRE: Final = Theme(
    name="grimoire",
    primary="#C6A6F2",
    secondary="#8DBEFF",
    accent="#F0B85A",
    foreground="#F1EDF7",
    background="#15121B",
    surface="#1F1A28",
    panel="#2A2435",
    success="#5FD3A6",
    warning="#F0B85A",
    error="#FF8F8F",
    dark=True,
    variables={"button-color-foreground": "#1B1226"},
)

_MORE: Final = {"muted": "#B8AFC6", "line": "#857C94"}


def seat_colour(seat: int | None) -> str:
    """A seat's colour; the muted one where there is no seat."""
    return SEAT_COLOURS[seat % len(SEAT_COLOURS)] if seat is not None and seat >= 0 else "#B8AFC6"


class ThemedApp(App[int]):
    """An application that looks like this one; the screens need its colours and its style sheet."""

    CSS_PATH = Path(__file__).with_name("grimoire.tcss")  # for subclasses elsewhere too
    TITLE = "Grimoire"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        # The framework turns colours to greys where none are wanted; with the terminal's own it leaves them all away.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Colours beyond the framework's own names."""
        return _MORE

    def on_mount(self) -> None:
        """Puts the colours on."""
        self.register_theme(GRIMOIRE)
        self.theme = GRIMOIRE.name
