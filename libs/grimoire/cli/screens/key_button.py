"""A button of one line that shows the key which does the same."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Button

__all__ = ["KeyButton", "key_label"]


def key_label(key: str, label: str) -> Content:
    """Key and label.

    >>> key_label("q", "Leave").plain
    'q Leave'
    """
    return Content.assemble((f"{key} " if key else "", "bold"), Content(label))


class KeyButton(Button):
    """A button whose label may change at any time.

    Args:
        action: the textual action it runs.
        main: it stands out from the others.
    """

    def __init__(self, *, id: str | None = None, action: str | None = None, main: bool = False) -> None:  # noqa: A002
        super().__init__(id=id, action=action, compact=True, classes="key main" if main else "key")

    def tell(self, key: str, label: str) -> None:
        """Shows another key and label; the button becomes as wide as they are."""
        content = key_label(key, label)
        if self.label != content:
            self.label = content
            self.refresh(layout=True)
