"""Beside the yard: both wizard boards, the table, threats and the battle."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

from textual.content import Content
from textual.geometry import Size

from grimoire.engine.board import Shown
from grimoire.engine.lines import cut, fitting
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.catalogue import DATA
from wizards_garden.names import kind_of
from wizards_garden.pieces import COLOURS
from wizards_garden.screen.signs import ACCENT, FAINT, KIND_COLOURS, MUTED, SEAT_COLOURS, SEATS, STATE_COLOURS
from wizards_garden.screen.speech import Speech, view_of
from wizards_garden.short import KIND_SIGNS, SEAT_SIGNS, group_signs, lantern_signs, signs_legend
from wizards_garden.text import seat_name

__all__ = ["cards_content", "side_lines"]

_AIRY: Final = 22
"""From so many rows on there is air between the parts."""


def side_lines(shown: Shown, size: Size) -> list[Content]:
    """The other's board above, one's own below it, the table between them; then threats.

    Args:
        shown: the view and the names.
        size: in cells.
    """
    view = view_of(shown)
    own = view.own_seat if view.HasField("own_seat") else 0
    air = [Content("")] if size.height >= _AIRY else []
    lines = [
        *_seat(shown, 1 - own, size.width),
        *air,
        *_table(shown, size.width),
        *air,
        *_seat(shown, own, size.width),
        *air,
    ]
    lines += _under_way(shown, size.width, size.height - len(lines))
    legend = signs_legend(shown.language)
    if len(lines) + len(legend) < size.height:
        lines += [Content("")] * (size.height - len(lines) - len(legend))
        lines += [Content.styled(cut(line, size.width), FAINT) for line in legend]
    return [line[: size.width] for line in lines[: size.height]]


def _seat(shown: Shown, seat: int, width: int) -> Iterable[Content]:
    view, speech = view_of(shown), Speech(shown.language)
    side = view.seats[seat]
    yield _name(shown, seat, width)
    if side.spirits:
        yield cards_content(side.spirits, speech, width, before=" ")
    else:
        yield Content.styled(f" {speech('no_spirits')}", FAINT)
    yield _lanterns(side, width)
    counts = speech("counts", fire=side.fire, hand=side.hand_count, spells=side.spell_count)
    yield Content.styled(cut(f" {counts}", width), MUTED)


def _name(shown: Shown, seat: int, width: int) -> Content:
    view, speech = view_of(shown), Speech(shown.language)
    own = view.HasField("own_seat") and view.own_seat == seat
    asked = view.HasField("asked_seat") and view.asked_seat == seat
    tail = f" ({speech('you')})" if own else ""
    name = seat_name(seat, shown.language, shown.names)
    tail += f" {SEAT_SIGNS[seat]}"
    tail = fitting(width - 3 - len(name), f"{tail} {speech.words.terms[COLOURS[seat]]}", tail)
    name = cut(name, max(1, width - 3 - len(tail)))
    return Content.assemble(
        ("▶" if asked else " ", f"bold {ACCENT}"),
        Content.styled(f"{SEATS[seat]} {name}{tail}", f"bold {SEAT_COLOURS[seat]}"),
    )


def cards_content(cards: Sequence[str], speech: Speech, width: int, *, before: str = "") -> Content:
    """Spirit cards as sign and word; where they have no room, words are cut, and then signs must do."""
    kinds = [kind_of(card) for card in cards]
    terms = speech.words.terms
    for letters in (20, 6, 4, 0):
        texts = [f"{KIND_SIGNS[kind]} {terms[kind][:letters]}".strip() for kind in kinds]
        if len(before) + sum(map(len, texts)) + 2 * len(texts) - 2 <= width or not letters:
            break
    parts = [(text + "  ", KIND_COLOURS[kind]) for text, kind in zip(texts, kinds, strict=True)]
    return Content.assemble((before, MUTED), *parts)[:width].rstrip()


def _lanterns(side: pb.SeatView, width: int) -> Content:
    """Five lanterns: · dim, ! lit, both on the board; ✶ bright, ○ dim, both in the yard; how many are there, gnomes."""
    count = f" {side.lanterns_in_yard}/{DATA.constants.lanterns_to_win}"
    gnomes = f"  {SEAT_SIGNS[side.seat]}×{side.gnomes_in_supply}"
    parts = [(f" {signs}", STATE_COLOURS[state]) for signs, state in lantern_signs(side)]
    return Content.assemble(*parts, (f" {count}", "bold"), (gnomes, MUTED))[:width]


def _table(shown: Shown, width: int) -> Iterable[Content]:
    view, speech = view_of(shown), Speech(shown.language)
    before = f"{speech('row')}: "
    if view.row:
        yield cards_content(view.row, speech, width, before=before)
    else:
        yield Content.styled(before + speech("none"), MUTED)
    yield Content.styled(cut(speech("deck", deck=view.deck_count, out=len(view.discards)), width), MUTED)
    supply = ((kind, getattr(view, f"{name}_in_supply")) for kind, name in _SUPPLY)
    yield Content.assemble(
        (f"{speech('supply')} ", MUTED), *((f" {KIND_SIGNS[kind]}{n}", KIND_COLOURS[kind]) for kind, n in supply)
    )


_SUPPLY: Final = (("pest", "pests"), ("water", "water"), ("fire", "fire"))


def _under_way(shown: Shown, width: int, rows: int) -> Iterable[Content]:
    """The battle, then the threats, as many as there is room for."""
    view, speech = view_of(shown), Speech(shown.language)
    lines: list[Content] = []
    if view.HasField("battle"):
        battle = speech("attacks", n=view.battle.strength, target=view.battle.target)
        lines.append(Content.styled(cut(f"⚔ {battle}", width), f"bold {ACCENT}"))
    if view.groups and rows > len(lines) + 1:
        lines.append(Content.styled(speech("threats"), "bold"))
    room = max(0, rows - len(lines))
    shown_groups = list(view.groups) if len(view.groups) <= room else list(view.groups)[: max(0, room - 1)]
    for group in shown_groups:
        strength = f"  {group.strength}" if group.strength else ""
        lines.append(Content.styled(cut(f" {group_signs(group)}{strength}", width), MUTED))
    left = len(view.groups) - len(shown_groups)
    if left and room:
        lines.append(Content.styled(cut(f" {speech('more', n=left)}", width), MUTED))
    return itertools.islice(lines, max(0, rows))
