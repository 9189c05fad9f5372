"""What a game's board in the terminal client is given and gives back.

No picture here: the client and the game meet in these records, and neither imports the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec
from google.protobuf.message import Message


class Shown(msgspec.Struct, frozen=True):
    """What a board draws.

    Attributes:
        view: the game's view message, as the server made it.
        language: of all words.
        names: the seats' display names; any text, never markup.
        usable: refs that may be picked now: they occur in what is legal. One that does not fit what was picked before
            takes its place.
        picked: refs that are picked, in the order they were picked.
        fits: usable refs that go together with all that is picked.
        instead: usable refs that could stand in the place of the one picked last.
        asked: a required prompt of one's own is open.
        news: game events that came with this view, in order; empty where only the marks changed.
        seat: of whoever looks; None: nobody's.
    """

    view: Message
    language: str
    names: Mapping[int, str]
    usable: frozenset[str] = frozenset()
    picked: tuple[str, ...] = ()
    fits: frozenset[str] = frozenset()
    instead: frozenset[str] = frozenset()
    asked: bool = False
    news: tuple[Message, ...] = ()
    seat: int | None = None


class Panel(msgspec.Struct, frozen=True):
    """A list that a board can open beside itself, e.g. the discard pile.

    Attributes:
        key: the key that opens it, one lower-case letter.
        title: what it shows.
        lines: its text, one line each; none: it is empty.
    """

    key: str
    title: str
    lines: tuple[str, ...]


class BoardHost(Protocol):
    """The client, as a board sees it."""

    def pick(self, ref: str) -> None:
        """Picks a thing, or puts it back; a ref that is not usable is answered with the reason."""
        ...


class Board(Protocol):
    """A textual widget, made with a `BoardHost`; it draws a view and lets one pick refs. It knows no command.

    `GamePlugin.screen` names its class.
    """

    shortcuts: Mapping[str, str]
    """Key -> code of the command that it chooses for what is picked, e.g. `{"p": "play_card"}`."""

    def show(self, shown: Shown) -> None:
        """Draws from now on this."""
        ...

    def picks(self) -> Sequence[str]:
        """Refs that the keys 1, 2, 3, ... pick, in order; an empty text where a number picks nothing."""
        ...

    def neighbour(self, ref: str, right: int, down: int) -> str:
        """The thing beside this one as it is drawn now; the first one for an empty ref.

        Args:
            ref: where one is.
            right: 1, 0 or -1 places.
            down: likewise.
        """
        ...

    def headline(self) -> str:
        """The match in a few words: where it is played, how far it is."""
        ...

    def detail(self, ref: str) -> str:
        """Everything about one thing, e.g. a card's full text; empty: nothing to say."""
        ...

    def panels(self) -> Sequence[Panel]:
        """Lists that can be opened now."""
        ...
