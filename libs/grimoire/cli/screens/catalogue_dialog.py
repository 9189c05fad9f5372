"""Everything a game is made of, e.g. all cards, with a filter."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from grimoire.cli.screens.dialogs import Filtered
from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words
from grimoire.v1 import manifest_pb2

__all__ = ["CatalogueDialog", "entries"]


class CatalogueDialog(Filtered[None]):
    """A list of all things of all catalogues; every word of the filter must occur in a thing's text.

    Args:
        words: of the interface.
        wording: of the game.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "into_list", show=False),
        Binding("ctrl+n", "next_catalogue", show=False),
    ]

    def __init__(self, words: Words, wording: Wording) -> None:
        super().__init__(words, "")
        self._wording = wording
        self._catalogues = list(wording.manifest.catalogues)
        self._at = 0

    def action_into_list(self) -> None:
        """From the filter into the list."""
        things = self.query_one("#things", OptionList)
        things.focus()
        if things.option_count and things.highlighted is None:
            things.highlighted = 0

    def action_next_catalogue(self) -> None:
        """The next catalogue."""
        self._at = (self._at + 1) % max(1, len(self._catalogues))
        self.fill(self.query_one("#filter", Input).value)

    def fill(self, text: str) -> None:
        """Lists the things that fit."""
        things = self.query_one("#things", OptionList).clear_options()
        if not self._catalogues:
            return
        catalogue = self._catalogues[self._at]
        found = entries(catalogue, self._wording, text)
        things.add_options([Option(entry) for entry in found])
        label = catalogue.label or catalogue.name
        self.query_one(".box").border_title = Content(label[:1].upper() + label[1:])
        key = "catalogue.count" if len(self._catalogues) == 1 else "catalogue.count.more"
        count = self.words(key, found=len(found), all=len(entries(catalogue, self._wording, "")))
        self.query_one("#count", Static).update(Content(count))


def entries(catalogue: manifest_pb2.Catalogue, wording: Wording, text: str) -> list[Content]:
    """The things whose name, facts or text hold every word of the filter, each as name, facts, text.

    Of things that are alike, one after the other, the first is told.
    """
    wanted = text.casefold().split()
    found: list[Content] = []
    for item in catalogue.items:
        facts = " · ".join(filter(None, (_fact(fact, wording) for fact in item.facts)))
        said = f"{item.name} {facts} {item.text} {item.short_text}".casefold()
        if all(word in said for word in wanted):
            lines = [Content.assemble((item.name, "bold"), "  ", (facts, "$muted"))]
            lines += [Content(f"  {item.text}")] if item.text else []
            entry = Content("\n").join(lines)
            if not (found and found[-1].is_same(entry)):
                found.append(entry)
    return found


def _fact(fact: manifest_pb2.Fact, wording: Wording) -> str:
    """Its name where the game has a word for it, and its value; what is not so is not said."""
    if fact.value in ("true", "false"):
        return wording.term(fact.name) if fact.value == "true" else ""
    value = wording.term(fact.value)
    return f"{wording.term(fact.name)} {value}" if wording.has_term(fact.name) else value
