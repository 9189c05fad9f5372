"""The log beside the board."""

from __future__ import annotations

from collections.abc import Iterable

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from grimoire.cli.screens.chronicle import Line, LineKind
from grimoire.cli.screens.sitters import mark
from grimoire.cli.screens.theme import seat_colour

__all__ = ["LogPane", "styled"]

_SIGNS = {LineKind.GAME: "·", LineKind.PLATFORM: "§", LineKind.OWN: "!"}


def styled(line: Line) -> Content:
    """A sentence with the shape of whose doing it is."""
    if line.seat is not None and line.kind is LineKind.GAME:
        return Content.assemble((f"{mark(line.seat)} ", f"bold {seat_colour(line.seat)}"), Content(line.text))
    style = {LineKind.GAME: "", LineKind.PLATFORM: "$muted", LineKind.OWN: "italic $warning"}[line.kind]
    return Content.assemble((f"{_SIGNS[line.kind]} ", "$muted"), Content.styled(line.text, style))


class LogPane(VerticalScroll, can_focus=False):
    """The whole log; the newest line is at the bottom and stays in sight unless one has scrolled away."""

    def compose(self) -> Iterable[Static]:
        """One text that grows."""
        yield Static(id="log-text")

    def on_mount(self) -> None:
        """Holds on to the end until somebody scrolls away from it."""
        self.anchor()

    def tell(self, lines: Iterable[Line]) -> None:
        """Shows these lines instead of those before."""
        self.query_one("#log-text", Static).update(Content("\n").join([styled(line) for line in lines]))
