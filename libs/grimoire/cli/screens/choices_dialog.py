"""Everything that may be done now, in words, with a filter: the way for whoever does not care to point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from grimoire.cli.screens.composer import Offer
from grimoire.cli.screens.dialogs import Filtered
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words

__all__ = ["ChoicesDialog"]


class ChoicesDialog(Filtered[Offer]):
    """Gives the offer that was chosen; Escape gives none.

    Args:
        words: of the interface.
        wording: of the game.
        offers: what is legal and fits what was picked.
        title: what is chosen; empty: what may be done now.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", show=False, priority=True),
        Binding("up", "step(-1)", show=False, priority=True),
    ]

    def __init__(self, words: Words, wording: Wording, offers: Sequence[Offer], title: str = "") -> None:
        super().__init__(words, title or words("choices.title"))
        self._offers = tuple(offers)
        self._labels = tuple(wording.entry(offer.entry) for offer in offers)

    def foot(self) -> Widget:
        """How to choose."""
        return Static(Content(self.words("choices.hint")), classes="muted")

    def fill(self, text: str) -> None:
        """Lists the choices that fit, the first of them marked."""
        wanted = text.casefold().split()
        things = self.query_one("#things", OptionList).clear_options()
        for number, label in enumerate(self._labels):
            if all(word in label.casefold() for word in wanted):
                things.add_option(Option(Content(label), id=str(number)))
        if things.option_count:
            things.highlighted = 0

    def action_step(self, step: int) -> None:
        """Moves the mark in the list, from wherever the keys go."""
        things = self.query_one("#things", OptionList)
        if things.option_count:
            things.highlighted = ((things.highlighted or 0) + step) % things.option_count

    @on(Input.Submitted, "#filter")
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one("#things", OptionList).action_select()

    @on(OptionList.OptionSelected, "#things")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._offers[int(event.option.id or 0)])
