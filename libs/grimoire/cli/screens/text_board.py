"""The board of a game that brings no picture of its own: its plain text, and its legal commands as a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from textual.containers import VerticalScroll
from textual.content import Content

from grimoire.cli.screens.label import Label
from grimoire.engine import Terminal
from grimoire.engine.board import BoardHost, Panel, Shown

__all__ = ["TextBoard"]


class TextBoard(VerticalScroll, can_focus=False):
    """`Board` over `GamePlugin.terminal`; nothing in it can be picked, the list beside it offers every command.

    Args:
        host: the client.
        terminal: the game's text.
    """

    shortcuts: Mapping[str, str] = {}

    def __init__(self, host: BoardHost, terminal: Terminal) -> None:
        super().__init__()
        self._host = host
        self._terminal = terminal
        self._shown: Shown | None = None
        self._text = Label(id="text-board")

    def compose(self) -> Iterable[Label]:
        """One text."""
        yield self._text

    def show(self, shown: Shown) -> None:
        """Draws the view's lines."""
        self._shown = shown
        self._draw()

    def on_resize(self) -> None:
        """Lines are as long as the board is wide."""
        self._draw()

    def _draw(self) -> None:
        if self._shown is None or not self.size:
            return
        shown = self._shown
        width = max(20, self.container_size.width - 2)
        lines = self._terminal.render(shown.view, shown.language, shown.names, width)
        self._text.tell(Content("\n".join(lines)))

    def picks(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def neighbour(self, ref: str, right: int, down: int) -> str:  # noqa: ARG002 - the protocol's
        """Nothing lies beside nothing."""
        return ref

    def headline(self) -> str:
        """The text says it."""
        return ""

    def detail(self, ref: str) -> str:  # noqa: ARG002 - the protocol's
        """The list's labels say all there is."""
        return ""

    def panels(self) -> Sequence[Panel]:
        """None."""
        return ()
