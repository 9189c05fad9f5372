"""Below the yard: one's own cards, and what may be picked by a digit."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from grimoire.engine.board import Shown
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.names import kind_of, name_of
from wizards_garden.pieces import CARD_KIND
from wizards_garden.screen.refs import DIGITS, choices, place_of
from wizards_garden.screen.side import cards_content
from wizards_garden.screen.signs import ACCENT, FAINT, MUTED
from wizards_garden.screen.speech import Speech, view_of
from wizards_garden.short import group_signs, kind_words, spell_words

__all__ = ["Own", "own_lines", "ref_words"]


class Own(Widget):
    """Hand, spells, choices; three lines."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Shown | None = None

    def tell(self, shown: Shown) -> None:
        """Shows this from now on."""
        self._shown = shown
        self.refresh()

    def render(self) -> Content:
        """The lines of this size."""
        return Content("") if self._shown is None else Content("\n").join(own_lines(self._shown, self.size))


def own_lines(shown: Shown, size: Size) -> list[Content]:
    """Hand and spells of whoever looks, and what may be picked.

    Args:
        shown: the view and what may be picked.
        size: in cells.
    """
    view, speech = view_of(shown), Speech(shown.language)
    lines = []
    if view.HasField("own_seat"):
        side = view.seats[view.own_seat]
        label = f"{speech('hand')}: "
        if side.hand:
            lines.append(cards_content(side.hand, speech, size.width, before=label))
        else:
            lines.append(Content.assemble((label, MUTED), (speech("none"), FAINT)))
        spells = spell_words(side.spells, shown.language) or speech("none")
        lines.append(Content.assemble((f"{speech('spells')}: ", MUTED), (spells, "bold" if side.spells else FAINT)))
    lines.append(_choices(shown, size.width))
    return [line[: size.width] for line in lines[: size.height]]


def _choices(shown: Shown, width: int) -> Content:
    """What is not in the yard, with its digits; the digits of the yard stand there."""
    if not shown.usable:
        return Content("")
    view, speech = view_of(shown), Speech(shown.language)
    offered = choices(shown)
    named = [
        (f"{n} " if n <= DIGITS else "", ref_words(ref, shown))
        for n, ref in enumerate(offered, 1)
        if not place_of(ref, view)
    ]
    if len(named) < len(offered):
        named.append(("", speech("arrows")))
    text = Content.assemble(
        (f"{speech('choose')}: ", f"bold {ACCENT}"),
        *(part for digit, words in named for part in ((digit, f"bold {ACCENT}"), (f"{words}  ", MUTED))),
    )
    return text if len(text) <= width else Content.assemble(text[: max(0, width - 1)].rstrip(), ("…", MUTED))


def ref_words(ref: str, shown: Shown) -> str:
    """A thing that may be picked, in a few words."""
    view, speech = view_of(shown), Speech(shown.language)
    kind, _, name = ref.partition(":")
    if kind == "slot" and view.HasField("own_seat"):
        side = view.seats[view.own_seat]
        spirit = kind_words(kind_of(side.spirits[int(name)]), shown.language)
        return speech("left" if name == "0" else "right", spirit=spirit)
    if kind == "index":
        return _pending(view, int(name), speech)
    if kind == "group":
        return next((group_signs(group) for group in view.groups if group.group == name), name)
    if kind == "light":
        return speech("light_yes" if name == "True" else "light_no")
    if name in CARD_KIND:
        return kind_words(kind_of(name), shown.language)
    if kind == "kind":
        return kind_words(name, shown.language)
    return speech.words.terms.get(name) or name_of(name, shown.language)


def _pending(view: pb.View, index: int, speech: Speech) -> str:
    found: Iterable[str] = (
        speech.words.events[f"action.{each.kind}.{each.steps}"] for each in view.pending if each.index == index
    )
    return next(iter(found), str(index))
