"""Below the yard: one's own cards, and what may be picked by a digit."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size

from grimoire.engine.board import Shown
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.names import kind_of, name_of
from wizards_garden.pieces import CARD_KIND
from wizards_garden.screen.refs import DIGITS, choices, place_of
from wizards_garden.screen.side import cards_content
from wizards_garden.screen.signs import ACCENT, FAINT, MUTED
from wizards_garden.screen.speech import Speech, view_of
from wizards_garden.short import KIND_SIGNS, group_signs, kind_words, spell_words

__all__ = ["own_lines", "ref_words"]


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
    view, speech = view_of(shown), Speech(shown.language)
    offered = choices(shown) if shown.usable else ()
    named = [(n, ref) for n, ref in enumerate(offered, 1) if not place_of(ref, view)]
    if not offered:
        return Content("")
    text = Content("")
    for brief in (False, True):
        parts: list[tuple[str, str]] = [(f"{speech('choose')}: ", f"bold {ACCENT}")]
        for n, ref in named:
            parts += [(f"{n} " if n <= DIGITS else "", f"bold {ACCENT}"), (f"{ref_words(ref, shown, brief)}  ", MUTED)]
        if len(named) < len(offered) and not (brief and named):
            parts.append((speech("arrows"), MUTED))
        text = Content.assemble(*parts).rstrip()
        if len(text) <= width:
            return text
    return Content.assemble(text[: max(0, width - 1)].rstrip(), ("…", MUTED))


def ref_words(ref: str, shown: Shown, brief: bool = False) -> str:
    """A thing that may be picked, in a few words; `brief`: kinds by their signs alone."""
    view, speech = view_of(shown), Speech(shown.language)
    kind, _, name = ref.partition(":")
    if kind == "slot" and view.HasField("own_seat"):
        spirit = _kind(kind_of(view.seats[view.own_seat].spirits[int(name)]), shown, brief)
        return speech("left" if name == "0" else "right", spirit=spirit)
    if kind == "index":
        return _pending(view, int(name), speech)
    if kind == "group":
        return next((group_signs(group) for group in view.groups if group.group == name), name)
    if kind == "light":
        return speech("light_yes" if name == "True" else "light_no")
    if name in CARD_KIND:
        return _kind(kind_of(name), shown, brief)
    if kind == "kind":
        return _kind(name, shown, brief)
    return speech.words.terms.get(name) or name_of(name, shown.language)


def _kind(kind: str, shown: Shown, brief: bool) -> str:
    return KIND_SIGNS[kind] if brief else kind_words(kind, shown.language)


def _pending(view: pb.View, index: int, speech: Speech) -> str:
    found = (speech.words.events[f"action.{each.kind}.{each.steps}"] for each in view.pending if each.index == index)
    return next(found, str(index))
