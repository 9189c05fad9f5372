"""A board that is one table: what it shares with others of its kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize
from textual.geometry import Size

from grimoire.boards.marks import DIGITS
from grimoire.boards.table import LineTable
from grimoire.engine.board import BoardHost, Shown
from grimoire.engine.pieces import Line

__all__ = ["OneTableBoard"]


class OneTableBoard(Vertical):
    """The part of `grimoire.engine.board.Board` that is the same whatever the table shows.

    A game adds its shortcuts, headline, details and panels.

    Args:
        host: the client.
        lines: of what is shown, for a size in cells; raises TypeError for another game's view.
        choices: what may be picked next, in the order of the digits.
        accent: colour of marks.
    """

    DEFAULT_CSS = """
    OneTableBoard { height: 1fr; width: 1fr; }
    OneTableBoard LineTable { height: 1fr; width: 1fr; }
    """

    def __init__(
        self,
        host: BoardHost,
        lines: Callable[[Shown, Size], list[Line]],
        choices: Callable[[Shown], Sequence[str]],
        accent: str,
    ) -> None:
        super().__init__()
        self._shown: Shown | None = None
        self._start = ""
        self._choices = choices
        self._table = LineTable(host, lines, choices, accent)

    def compose(self) -> ComposeResult:
        """One table."""
        yield self._table

    def show(self, shown: Shown) -> None:
        """Draws a view."""
        self._shown = shown
        self._table.tell(shown)

    def on_resize(self, _: Resize) -> None:
        """Divides the table anew."""
        if self._shown is not None:
            self._table.tell(self._shown)

    def picks(self) -> Sequence[str]:
        """What may be picked next."""
        return self._choices(self._shown)[:DIGITS] if self._shown is not None else ()

    def neighbour(self, ref: str, right: int, down: int) -> str:
        """The next or the one before of all that may be picked, as it is numbered."""
        offered = self._choices(self._shown) if self._shown is not None else ()
        if self._shown is None or not offered:
            return ""
        here = self._start if self._shown.fits or not ref else ref
        ring = [*offered] if here in offered or not here else sorted({*offered, here}, key=[*offered, here].index)
        at = ring.index(here) + (right or down) if here in ring else 0
        self._start = ring[at % len(ring)]
        return self._start
