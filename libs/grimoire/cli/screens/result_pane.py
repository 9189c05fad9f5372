"""The end of a match: who won, why, and the seed that anyone can check it with."""

from __future__ import annotations

from typing import Final

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content

from grimoire.cli.screens.key_button import KeyButton
from grimoire.cli.screens.label import Label
from grimoire.cli.screens.model import Ending, MatchModel

__all__ = ["ResultPane"]

_SIGNS: Final = {
    Ending.WON: ("★ ★ ★", "$success"),
    Ending.LOST: ("☾ ☾ ☾", "$error"),
    Ending.DRAWN: ("◇ ◇ ◇", "$accent"),
    Ending.SHARED: ("★ ★ ★", "$success"),
    Ending.DECIDED: ("★ ★ ★", "$primary"),
    Ending.VOID: ("– – –", "$muted"),
}


_KEYS: Final = {"rematch": "m", "audit": "a", "lobby": "b", "look": "esc", "quit": "q"}


class ResultPane(Vertical):
    """Lies over the hand, which nobody needs any more; the board stays in sight. Hidden until the end."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._result = Label(id="result")
        self._buttons = {
            name: KeyButton(id=name, action=f"screen.{name}", main=key == "m") for name, key in _KEYS.items()
        }

    def compose(self) -> ComposeResult:
        """Title, reason, seed, buttons."""
        yield self._result
        yield Horizontal(*self._buttons.values(), id="result-keys")

    def tell(self, model: MatchModel, note: str, *, rematch: bool, lobby: bool) -> None:
        """Shows the end.

        Args:
            model: a match that is over.
            note: e.g. that the other side offers a rematch.
            rematch: it can be asked for.
            lobby: one can go back there.
        """
        ending = model.ending
        if ending is None:
            return
        words = model.words
        sign, colour = _SIGNS[ending]
        lines = [
            Content.styled(f"{sign}  {words(f'ending.{ending.value}').upper()}  {sign}", f"bold {colour}"),
            Content(model.result()),
        ]
        if model.deal_digest:
            lines.append(Content.assemble((f"{words('result.digest')} ", "$muted"), (model.deal_digest, "$accent")))
        if model.seed:
            lines.append(Content.assemble((f"{words('result.seed')} ", "$muted"), (model.seed, "$accent")))
        if note:
            lines.append(Content.styled(note, "bold $accent"))
        self._result.tell(Content("\n").join(lines))
        for name, key in _KEYS.items():
            self._buttons[name].tell(key, words(f"result.{name}"))
        self._buttons["rematch"].display = rematch
        self._buttons["lobby"].display = lobby
