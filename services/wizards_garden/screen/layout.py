"""How a board of some size is divided."""

from __future__ import annotations

import functools
from typing import Final

import msgspec

from wizards_garden.catalogue import DATA

__all__ = ["Layout", "layout"]

_COLUMNS: Final = len(DATA.board.columns)
_ROWS: Final = len(DATA.board.rows)
_LABEL: Final = 2
"""Cells before the yard, for the number of the row."""
_BELOW: Final = 3
"""Rows for one's own cards and choices."""
_LEAST_SIDE: Final = 31
_CELL_WIDTHS: Final = (12, 10, 8, 7, 6, 5, 4)
_CELL_HEIGHTS: Final = (3, 2, 1)


class Layout(msgspec.Struct, frozen=True):
    """A board's parts, in cells.

    Attributes:
        cell_width, cell_height: of a space inside its borders.
        side: width of what stands beside the yard.
    """

    cell_width: int
    cell_height: int
    side: int

    @property
    def yard_width(self) -> int:
        """Of the yard, with the numbers of its rows."""
        return _LABEL + _COLUMNS * (self.cell_width + 1) + 1

    @property
    def yard_height(self) -> int:
        """Of the yard, with the letters of its columns."""
        return 1 + _ROWS * (self.cell_height + 1) + 1


@functools.lru_cache(64)
def layout(width: int, height: int) -> Layout:
    """The best way to divide a board.

    >>> layout(80, 19)
    Layout(cell_width=8, cell_height=1, side=31)
    >>> layout(84, 34).cell_height, layout(200, 50).cell_width
    (3, 12)
    """
    tall = next((h for h in _CELL_HEIGHTS if Layout(1, h, 0).yard_height + _BELOW <= height), 1)
    # Smaller than what is promised: nothing may break, but things are cut.
    wide = next((w for w in _CELL_WIDTHS if Layout(w, 1, 0).yard_width + 1 + _LEAST_SIDE <= width), _CELL_WIDTHS[-1])
    return Layout(wide, tall, max(0, width - Layout(wide, 1, 0).yard_width - 1))
