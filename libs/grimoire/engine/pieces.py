"""A line of a board as pieces of text, so that a click knows what lies under it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from grimoire.engine.lines import cut

__all__ = ["Line", "Piece", "flowing", "padded", "parts_of", "ref_at", "side_by_side", "width_of"]


class Piece(msgspec.Struct, frozen=True):
    """A text in one style.

    Attributes:
        refs: what a click on it means: the first of these that may be picked.
        marked: its first cell is kept for a mark, and this is it.
    """

    text: str
    style: str = ""
    refs: tuple[str, ...] = ()
    mark: str = ""


Line = Sequence[Piece]

_ON: Final = " on "
"""What follows it in a style is the ground."""


def width_of(line: Line) -> int:
    """In cells."""
    return sum(len(piece.text) for piece in line)


def padded(line: Line, width: int) -> list[Piece]:
    """Exactly so wide: cut, or filled with blanks."""
    found: list[Piece] = []
    room = width
    for piece in line:
        if room <= 0:
            break
        text = cut(piece.text, room)
        found.append(Piece(text, piece.style, piece.refs, piece.mark))
        room -= len(text)
    return [*found, Piece(" " * room)] if room > 0 else found


def side_by_side(left: Sequence[Line], right: Sequence[Line], left_width: int, width: int) -> Iterator[list[Piece]]:
    """Two columns, each filled to its width; what is cut on the left leaves a blank before the right."""
    for at in range(max(len(left), len(right))):
        line = left[at] if at < len(left) else ()
        if width_of(line) > left_width:
            line = padded(line, left_width - 1)
        beside = padded(right[at] if at < len(right) else (), width - left_width)
        yield [*padded(line, left_width), *beside]


def flowing(before: Piece, pieces: Iterable[Piece], width: int) -> Iterator[list[Piece]]:
    """Pieces one after the other, as many as fit into a line; what follows is indented as far as `before` reaches."""
    line, begun = [before], False
    for piece in pieces:
        if begun and width_of(line) + len(piece.text) > width:
            yield line
            line = [Piece(" " * len(before.text))]
        line.append(piece)
        begun = True
    yield line


def parts_of(line: Line, width: int, mark_style: str) -> list[tuple[str, str]]:
    """Texts and styles of a line, as it is drawn: marks stand out, on the ground of their thing; no blanks at the end.

    >>> parts_of([Piece("¹f1 ", "bold on #173A22", mark="¹"), Piece("  ")], 20, "red")
    [('¹', 'red on #173A22'), ('f1 ', 'bold on #173A22')]
    """
    parts: list[tuple[str, str]] = []
    for piece in padded(line, width):
        if piece.mark and piece.text:
            _, on, ground = piece.style.partition(_ON)
            parts += [(piece.text[0], f"{mark_style}{on}{ground}"), (piece.text[1:], piece.style)]
        else:
            parts.append((piece.text, piece.style))
    while parts and _ON.strip() not in parts[-1][1].split():  # blanks on a ground are seen
        text, style = parts.pop()
        if text.strip():
            return [*parts, (text.rstrip(), style)]
    return parts


def ref_at(line: Line, x: int) -> tuple[str, ...]:
    """What lies under a cell of a line."""
    for piece in line:
        if x < len(piece.text):
            return piece.refs
        x -= len(piece.text)
    return ()
