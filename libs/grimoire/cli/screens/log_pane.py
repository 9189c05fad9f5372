"""The log beside the board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from textual.containers import VerticalScroll
from textual.content import Content

from grimoire.cli.screens.chronicle import Line, LineKind
from grimoire.cli.screens.label import Label
from grimoire.cli.screens.sitters import mark
from grimoire.cli.screens.theme import seat_colour

__all__ = ["LogPane", "styled"]

_SHOWN: Final = 150
_SIGNS: Final = {LineKind.GAME: "·", LineKind.PLATFORM: "§", LineKind.OWN: "!"}


def styled(line: Line) -> Content:
    """A sentence with the shape of whose doing it is."""
    if line.seat is not None and line.kind is LineKind.GAME:
        return Content.assemble((f"{mark(line.seat)} ", f"bold {seat_colour(line.seat)}"), Content(line.text))
    style = {LineKind.GAME: "", LineKind.PLATFORM: "$muted", LineKind.OWN: "italic $warning"}[line.kind]
    return Content.assemble((f"{_SIGNS[line.kind]} ", "$muted"), Content.styled(line.text, style))


class LogPane(VerticalScroll, can_focus=False):
    """The whole log; the newest line is at the bottom and stays in sight unless one has scrolled away."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = Label(id="log-text")

    def compose(self) -> Iterable[Label]:
        """One text that grows."""
        yield self._text

    def on_mount(self) -> None:
        """Holds on to the end until somebody scrolls away from it."""
        self.anchor()

    def tell(self, lines: Sequence[Line]) -> None:
        """Shows the last of these lines; the key of the log shows them all."""
        shown = [styled(line) for line in lines[-_SHOWN:]]
        self._text.tell(Content("\n").join(shown))
