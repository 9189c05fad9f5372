"""How the deal is fixed by everyone together: four lines that are ticked as they happen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from grimoire.cli.screens.label import Label
from grimoire.cli.screens.model import MatchModel, Step

__all__ = ["HandshakePane", "handshake_lines"]


def handshake_lines(steps: Sequence[Step]) -> list[Content]:
    """Done, being done, to do: a sign each, not a colour alone."""
    lines = []
    waiting = False
    for step in steps:
        if step.done:
            lines.append(Content.assemble(("✓ ", "bold $success"), Content(step.text)))
        else:
            sign = "  " if waiting else "… "
            lines.append(Content.styled(sign + step.text, "$muted" if waiting else "bold"))
            waiting = True
    return lines


class HandshakePane(Vertical):
    """Shown until the cards are dealt and the digest of the deal has been seen."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = Label(id="handshake")

    def compose(self) -> ComposeResult:
        """One text."""
        yield self._text

    def tell(self, model: MatchModel) -> None:
        """Shows how far it is."""
        words = model.words
        lines = [Content.styled(words("handshake.title"), "bold $primary"), Content("")]
        lines += handshake_lines(model.handshake())
        if model.deal_digest:
            lines += [
                Content(""),
                Content.styled(words("handshake.digest"), "bold"),
                Content.styled(model.deal_digest, "$accent"),
                Content(""),
                Content.styled(words("handshake.why"), "$muted"),
                Content(""),
                Content.styled(words("handshake.go"), "bold"),
            ]
        self._text.tell(Content("\n").join(lines))
