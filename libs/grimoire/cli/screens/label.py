"""A text that is drawn again only when it has changed."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static

__all__ = ["Label"]


class Label(Static):
    """Told four times a second, it costs nothing while it stays the same."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._told: Content | None = None

    def tell(self, content: Content) -> None:
        """Shows this."""
        if self._told is not None and self._told.is_same(content):
            return
        before, self._told = self._told, content
        # Another layout is needed only where another size may be.
        self.update(content, layout=before is None or before.cell_length != content.cell_length)
