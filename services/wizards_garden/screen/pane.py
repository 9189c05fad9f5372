"""A part of the board that is lines of text."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from grimoire.engine.board import Shown

__all__ = ["Pane"]


class Pane(Widget):
    """Draws as many lines as it has room for.

    Args:
        lines: of what is shown, for a size in cells.
    """

    def __init__(self, lines: Callable[[Shown, Size], list[Content]], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._lines = lines
        self._shown: Shown | None = None

    def tell(self, shown: Shown) -> None:
        """Shows this from now on."""
        self._shown = shown
        self.refresh()

    def render(self) -> Content:
        """The lines of this size."""
        return Content("") if self._shown is None else Content("\n").join(self._lines(self._shown, self.size))
