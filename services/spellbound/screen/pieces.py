"""A line of the table as it is drawn."""

from __future__ import annotations

from textual.content import Content

from grimoire.engine.pieces import (
    Line,
    Piece,
    flowing,
    padded,
    parts_of,
    ref_at,
    side_by_side,
    width_of,
)
from spellbound.screen.signs import ACCENT

__all__ = ["Line", "Piece", "content_of", "flowing", "padded", "ref_at", "side_by_side", "width_of"]


def content_of(line: Line, width: int) -> Content:
    """As it is drawn: marks stand out."""
    return Content.assemble(*parts_of(line, width, f"bold {ACCENT}")).rstrip()
