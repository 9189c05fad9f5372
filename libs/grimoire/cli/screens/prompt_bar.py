"""The one place that says whose move it is, what was chosen, why not, until when, and what can be pressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from grimoire.cli.screens.countdown import Countdown
from grimoire.cli.screens.key_button import KeyButton, key_label
from grimoire.cli.screens.label import Label
from grimoire.cli.screens.words import Words

__all__ = ["BarButton", "PromptBar", "clock_content"]

_BUTTONS: Final = 12
_CLOCK_CELLS: Final = 8
_FRAME_CELLS: Final = 3
"""Around each button's label: a blank on both sides, and the gap to the next one."""


class BarButton(msgspec.Struct, frozen=True):
    """A button of the bar.

    Attributes:
        key: shown before the label.
        label: what it does.
        action: a textual action, e.g. `screen.help`.
        main: it is a command of the game.
        rank: where there is no room for all, those of the highest rank go first.
    """

    key: str
    label: str
    action: str
    main: bool = False
    rank: int = 0

    @property
    def cells(self) -> int:
        """Its width, with the gap to the next one."""
        return len(key_label(self.key, self.label)) + _FRAME_CELLS


class PromptBar(Vertical):
    """Three things: what is asked with its clock; the chosen thing, a refusal, or the latest news; the buttons."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._what = Label(id="what")
        self._clock = Label(id="clock")
        self._detail = Label(id="detail")
        self._buttons = [KeyButton() for _ in range(_BUTTONS)]

    def compose(self) -> ComposeResult:
        """Fixed widgets, so that nothing jumps when their contents change."""
        yield Horizontal(self._what, self._clock, id="what-row")
        yield self._detail
        yield Horizontal(*self._buttons, id="keys")

    def say(self, what: Content, detail: Content, kind: str) -> None:
        """Shows the sentence and the details.

        Args:
            what: whose move it is and what may be done.
            detail: at most a few lines.
            kind: class of the bar's left edge: asked, waiting, over, ...
        """
        self._what.tell(what)
        self._detail.tell(detail)
        self.set_classes(f"-{kind}")

    def tick(self, clock: Countdown | None, words: Words) -> None:
        """Shows the time that is left."""
        self._clock.tell(clock_content(clock, words))

    def offer(self, buttons: Sequence[BarButton]) -> None:
        """Shows these buttons, as far as there is room; the first ones matter most."""
        shown = _fitting(buttons, self.app.size.width - 3)
        for number, widget in enumerate(self._buttons):
            widget.display = number < len(shown)
            if number < len(shown):
                wanted = shown[number]
                widget.tell(wanted.key, wanted.label)
                widget.action = wanted.action
                widget.set_class(wanted.main, "main")


def _fitting(buttons: Sequence[BarButton], width: int) -> Sequence[BarButton]:
    """As many as fit; which stay is decided by their rank, where they stand by their order."""
    shown = list(buttons[:_BUTTONS])
    while len(shown) > 1 and sum(button.cells for button in shown) > width:
        shown.remove(max(reversed(shown), key=lambda button: button.rank))
    return shown


def clock_content(clock: Countdown | None, words: Words) -> Content:
    """Digits and a bar that runs empty; the word for low time stands beside them."""
    if clock is None:
        return Content("")
    full = round(clock.share * _CLOCK_CELLS)
    bar = "━" * full + "╌" * (_CLOCK_CELLS - full)
    style = "bold $error" if clock.low else "$foreground"
    low = f" {words('clock.low')}" if clock.low else ""
    return Content.assemble((f"◷ {clock.text}{low} ", style), (bar, style))
