"""Boxes over a screen: a question, a text to read, a line to write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static

from grimoire.cli.screens.words import Words

__all__ = ["Ask", "Box", "Confirm", "Filtered", "Read"]

R = TypeVar("R")


class Box(ModalScreen[R]):
    """A framed box with a title; Escape closes it without a result."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def __init__(self, words: Words, title: str) -> None:
        super().__init__()
        self.words = words
        self._title = title

    def compose(self) -> ComposeResult:
        """The frame; `body` fills it."""
        with Vertical(classes="box") as box:
            box.border_title = Content(self._title)
            yield from self.body()

    def body(self) -> Iterable[Widget]:
        """What is in the box."""
        return ()

    def action_close(self) -> None:
        """Closes it without a result."""
        self.dismiss(None)


class Confirm(Box[bool]):
    """A question that is asked before anything that cannot be undone; *No* has the focus.

    Args:
        title: what it is about.
        question: in a sentence.
        yes: label of the button that does it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right,up,down", "app.focus_next", show=False),
    ]

    def __init__(self, words: Words, title: str, question: str, yes: str) -> None:
        super().__init__(words, title)
        self._question = question
        self._yes = yes

    def body(self) -> Iterable[Widget]:
        """Question and answers."""
        yield Static(Content(self._question), classes="question")
        yield Horizontal(
            Button(Content(self.words("no")), id="no"),
            Button(Content(self._yes), id="yes", variant="error"),
            classes="answers",
        )

    def on_mount(self) -> None:
        """A slip of the Enter key does no harm."""
        self.query_one("#no").focus()

    @on(Button.Pressed)
    def _answer(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_close(self) -> None:
        """Escape means no."""
        self.dismiss(False)


class Filtered(Box[R]):
    """A list with a filter above it that takes the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close", show=False)]

    def body(self) -> Iterable[Widget]:
        """Filter and list; `foot` stands below."""
        yield Input(placeholder=self.words("filter.hint"), id="filter")
        yield OptionList(id="things")
        yield self.foot()

    def foot(self) -> Widget:
        """What there is to know about the list."""
        return Static(id="count", classes="muted")

    def on_mount(self) -> None:
        """Shows everything."""
        self.query_one("#filter").focus()
        self.fill("")

    @on(Input.Changed, "#filter")
    def _filter(self, event: Input.Changed) -> None:
        event.stop()
        self.fill(event.value)

    def fill(self, text: str) -> None:
        """Lists what fits the text."""


class Read(Box[None]):
    """A text to read and scroll; any of Escape, Enter, q and the keys that opened it close it.

    Args:
        title: above it.
        lines: plain text, or content with styles.
        close_keys: further keys that close it.
        at_end: shows the end first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q,space", "close", show=False)]

    def __init__(
        self,
        words: Words,
        title: str,
        lines: Sequence[str | Content],
        *,
        close_keys: str = "",
        at_end: bool = False,
    ) -> None:
        super().__init__(words, title)
        self._lines = [line if isinstance(line, Content) else Content(line) for line in lines]
        self._close_keys = close_keys
        self._at_end = at_end

    def body(self) -> Iterable[Widget]:
        """The text, and how to close it."""
        text = Content("\n").join(self._lines) if self._lines else Content(self.words("nothing"))
        yield VerticalScroll(Static(text), classes="text")
        yield Static(Content(self.words("close.hint")), classes="muted")

    def on_mount(self) -> None:
        """The text takes the arrow keys."""
        scroll = self.query_one(VerticalScroll)
        scroll.focus()
        if self._at_end:
            scroll.scroll_end(animate=False)

    def on_key(self, event: object) -> None:
        """The key that opened it closes it."""
        if getattr(event, "character", None) in {*self._close_keys} - {""}:
            self.dismiss(None)


class Ask(Box[str]):
    """One line to write.

    Args:
        title: what it is for.
        hint: shown while it is empty.
        value: to begin with.
    """

    def __init__(self, words: Words, title: str, hint: str, value: str = "") -> None:
        super().__init__(words, title)
        self._hint = hint
        self._value = value

    def body(self) -> Iterable[Widget]:
        """The line."""
        yield Input(self._value, placeholder=self._hint)
        yield Static(Content(self.words("ask.hint")), classes="muted")

    @on(Input.Submitted)
    def _done(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip() or None)
