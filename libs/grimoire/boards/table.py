"""A widget that is one picture, line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.widget import Widget

from grimoire.engine.board import BoardHost, Shown
from grimoire.engine.lines import cut
from grimoire.engine.pieces import Line, Piece, parts_of, ref_at

__all__ = ["LineTable", "content_of", "legend_lines"]


def content_of(line: Line, width: int, accent: str) -> Content:
    """A line as it is drawn: marks stand out in the accent's colour."""
    return Content.assemble(*parts_of(line, width, f"bold {accent}"))


def legend_lines(told: Sequence[str], width: int, room: int, style: str) -> list[Line]:
    """What the signs mean, in two columns at the bottom of this many lines, where there is room for all of it."""
    rows = -(-len(told) // 2)
    if room <= rows:
        return []
    half = width // 2
    lines: list[Line] = [()] * (room - rows)
    for row in range(rows):
        right = told[rows + row] if rows + row < len(told) else ""
        lines.append((Piece(f"{cut(told[row], half - 1):<{half}}", style), Piece(cut(right, half - 1), style)))
    return lines


class LineTable(Widget):
    """Everything that is open; a click picks what lies under it.

    Args:
        host: the client.
        lines: of what is shown, for a size in cells.
        choices: what may be picked next.
        accent: colour of marks.
    """

    def __init__(
        self,
        host: BoardHost,
        lines: Callable[[Shown, Size], list[Line]],
        choices: Callable[[Shown], Sequence[str]],
        accent: str,
    ) -> None:
        super().__init__()
        self._host = host
        self._lines = lines
        self._choices = choices
        self._accent = accent
        self._shown: Shown | None = None

    def tell(self, shown: Shown) -> None:
        """Draws this from now on."""
        self._shown = shown
        self.refresh()

    def render(self) -> Content:
        """The lines of this size."""
        if self._shown is None:
            return Content("")
        lines = self._lines(self._shown, self.size)
        return Content("\n").join([content_of(line, self.size.width, self._accent) for line in lines])

    def on_click(self, event: Click) -> None:
        """Picks what lies under the pointer."""
        event.stop()
        if self._shown is None:
            return
        lines = self._lines(self._shown, self.size)
        refs = ref_at(lines[event.y], event.x) if event.y < len(lines) else ()
        if refs:
            offered = {*self._choices(self._shown), *self._shown.picked, *self._shown.usable}
            self._host.pick(next((ref for ref in refs if ref in offered), refs[0]))
