"""Text in cells: broken into lines, cut, or the longest of several that fits. What boards and plain texts share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf.message import Message

__all__ = ["cut", "fitting", "own_view", "wrapped"]

M = TypeVar("M", bound=Message)


def own_view(view: Message, kind: type[M], game: str) -> M:
    """The view as this game's.

    Raises:
        TypeError: if it is another game's.
    """
    if not isinstance(view, kind):
        raise TypeError(f"{type(view).__name__} is no view of {game}")
    return view


def cut(text: str, width: int) -> str:
    """At most `width` cells of a text.

    >>> cut("Lohikäärmeen sydän", 10)
    'Lohikäärm…'
    """
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def fitting(room: int, *texts: str) -> str:
    """The first text that fits into the room, else the last.

    >>> fitting(8, "+3 a turn", "+3/turn", "+3")
    '+3/turn'
    """
    return next((text for text in texts if len(text) <= room), texts[-1])


def wrapped(line: str, width: int) -> Iterator[str]:
    """The line in pieces of at most `width` cells, broken at spaces where there are any; what follows is indented.

    >>> [*wrapped("deck 31, discarded 8", 12)]
    ['deck 31,', '    discarde', '    d 8']
    """
    while len(line) > width:
        at = line.rfind(" ", 1, width + 1)
        if at <= 0 or not line[:at].strip():
            at = width
        yield line[:at]
        line = "    " + line[at:].lstrip()
    yield line
