"""Towers and walls on one scale, growing and crumbling, and between them what was played last."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from typing import Final

import msgspec
from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from grimoire.engine.board import Shown
from grimoire.engine.lines import cut
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.screen.signs import BAD, BRICK, DARK, FLAG, GOAL, GOOD, SEAT_COLOURS, SEATS, STONE
from two_towers.screen.speech import Speech, changed, view_of
from two_towers.text import ICONS

__all__ = ["Field", "Part", "Works", "field_lines"]

_EIGHTHS: Final = " ▁▂▃▄▅▆▇█"
_GROWTH_S: Final = 0.8
_NOTCH: Final = 4
"""Depth of the battlements, in eighths of a row."""


class Part(msgspec.Struct, frozen=True):
    """A tower or a wall.

    Attributes:
        value: its height.
        last: in the view before, from which it grows or crumbles.
        before: where the marked changes begin.
    """

    value: int
    last: int
    before: int


class Works(msgspec.Struct, frozen=True):
    """What one seat has built."""

    seat: int
    tower: Part
    wall: Part


class Field(Widget):
    """Both towers and walls; the top of the scale is the tower goal."""

    DEFAULT_CSS = "Field { height: 1fr; width: 1fr; }"
    progress: reactive[float] = reactive(1.0)
    """From what was to what is: 0 to 1."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Shown | None = None
        self._works: tuple[Works, Works] | None = None

    def tell(self, shown: Shown, works: tuple[Works, Works], *, moved: bool) -> None:
        """Draws these, left and right; with `moved` they grow or crumble from what they were."""
        self._shown, self._works = shown, works
        if moved:
            self.progress = 0.0
            self.animate("progress", 1.0, duration=_GROWTH_S, easing="out_cubic")
        self.refresh()

    def render(self) -> Content:
        """Goal line, bars, numbers."""
        if self._shown is None or self._works is None:
            return Content("")
        return Content("\n").join(field_lines(self._shown, self._works, self.progress, self.size))


def field_lines(shown: Shown, works: tuple[Works, Works], progress: float, size: Size) -> list[Content]:
    """The picture, from the top downwards: the goal line, bars, numbers.

    Args:
        shown: the view and the names.
        works: left and right.
        progress: from what was to what is: 0 to 1.
        size: in cells; nothing is drawn below 20 x 4.
    """
    if size.height < 4 or size.width < 20:
        return []
    goal = view_of(shown).goal_tower
    left, right = works
    shape = _Shape.of(size.width)
    rows = size.height - 2
    towers = [_Bar.of(each.tower, goal, progress, rows) for each in works]
    walls = [_Bar.of(each.wall, goal, progress, rows) for each in works]
    middle = _middle(shown, shape.middle, rows)
    bars = (
        Content.assemble(
            " ",
            _tower(towers[0], row, shape.tower, SEAT_COLOURS[left.seat]),
            " ",
            _wall(walls[0], row, shape.wall),
            middle[rows - 1 - row],
            _wall(walls[1], row, shape.wall),
            " ",
            _tower(towers[1], row, shape.tower, SEAT_COLOURS[right.seat]),
        )
        for row in range(rows - 1, -1, -1)
    )
    return [_goal_line(Speech(shown.language)("goal", n=goal), size.width), *bars, _numbers(shape, left, right)]


class _Shape(msgspec.Struct, frozen=True):
    """Widths in cells: each tower, each wall, and what is between the walls."""

    tower: int
    wall: int
    middle: int

    @staticmethod
    def of(width: int) -> _Shape:
        tower, wall = (5, 3) if width < 44 else (7, 4) if width < 58 else (9, 5) if width < 76 else (11, 7)
        return _Shape(tower, wall, max(0, width - 2 * (tower + 1 + wall) - 2))


class _Bar(msgspec.Struct, frozen=True):
    """A height in eighths of a row: as it is drawn now, was, and will be; `over`: higher than the scale."""

    now: int
    was: int
    will: int
    over: bool

    @staticmethod
    def of(part: Part, goal: int, progress: float, rows: int) -> _Bar:
        def eighths(n: float) -> int:
            return min(rows * 8, math.ceil(n * rows * 8 / max(1, goal)))

        now = part.last + (part.value - part.last) * progress
        return _Bar(eighths(now), eighths(part.before), eighths(part.value), part.value > goal)

    def cell(self, row: int, less: int = 0) -> tuple[str, str]:
        """A cell's character and what it shows: stone, grown, rubble or air.

        Args:
            row: from 0 at the bottom.
            less: so many eighths lower than the bar, for battlements.
        """
        low = 8 * row
        filled = max(0, min(8, self.now - less - low))
        if filled:
            if self.over and low + 8 >= self.now:
                return "▲", "stone"  # torn off: the number says how high it is
            return _EIGHTHS[filled], "grown" if self.will > self.was and self.was - low < 4 else "stone"
        return ("░", "rubble") if self.will < self.was and low < self.was - less else (" ", "air")


_STYLES: Final = {"grown": f"bold {GOOD}", "rubble": BAD}


def _tower(bar: _Bar, row: int, width: int, colour: str) -> Content:
    """Battlements on top, a door below, windows between."""
    notch = _NOTCH if bar.now > 3 * _NOTCH else 0
    parts = []
    for x in range(width):
        char, what = bar.cell(row, notch if x % 2 else 0)
        style = _STYLES.get(what, colour)
        if char == "█" and x == width // 2 and row % 2 == 0:
            char, style = ("▪", f"{DARK} on {colour}") if row else ("∩", f"bold {DARK} on {colour}")
        parts.append((char, style))
    return Content.assemble(*parts)


def _wall(bar: _Bar, row: int, width: int) -> Content:
    """Courses of bricks in two shades."""
    cell = [(x, *bar.cell(row)) for x in range(width)]
    shades = (STONE, BRICK)
    return Content.assemble(*((char, _STYLES.get(what, shades[(x + row) % 2])) for x, char, what in cell))


def _goal_line(label: str, width: int) -> Content:
    text = f"{FLAG} {label} "
    return Content.styled(text + "╌" * max(0, width - len(text)), GOAL)


def _numbers(shape: _Shape, left: Works, right: Works) -> Content:
    """Tower and wall of both seats, with what has just changed."""
    half = shape.middle // 2
    return Content.assemble(
        " ",
        _number(left.tower, shape.tower + 1, SEAT_COLOURS[left.seat], at_left=True),
        _number(left.wall, shape.wall + half, STONE, at_left=True),
        _number(right.wall, shape.wall + shape.middle - half, STONE, at_left=False),
        _number(right.tower, shape.tower + 1, SEAT_COLOURS[right.seat], at_left=False),
    )


def _number(part: Part, width: int, colour: str, *, at_left: bool) -> Content:
    change, style = changed(part.value - part.before)
    number = Content.assemble((str(part.value), f"bold {colour}"), (change, style))
    pad = " " * max(0, width - len(number))
    return Content.assemble(number, pad) if at_left else Content.assemble(pad, number)


def _middle(shown: Shown, width: int, rows: int) -> list[Content]:
    """Between the walls: the turn, the pile, and the cards of the last two turns, newest first."""
    view, speech = view_of(shown), Speech(shown.language)
    inner = max(1, width - 1)
    texts = [(speech("turn", n=view.turn_no), "bold"), *_piles(view, speech)]
    if rows > len(texts) + 2:
        texts.append(("", ""))
    for card in reversed(view.last_cards):
        key = "played" if card.how == "played" else "thrown"
        said = speech(key, mark=SEATS[card.seat], card=speech.card(card.card))
        colour = SEAT_COLOURS[card.seat]
        style = f"bold {colour}" if key == "played" else colour
        texts += [(cut(line, inner), style) for line in textwrap.wrap(said, inner)]
    lines = [Content.styled(f"{cut(text, inner):^{width}}", style) for text, style in texts[:rows]]
    return lines + [Content(" " * width)] * (rows - len(lines))


def _piles(view: pb.View, speech: Speech) -> Iterable[tuple[str, str]]:
    if not view.HasField("pile_count"):
        yield ICONS["endless"], STONE
        return
    yield speech("pile", n=view.pile_count), STONE
    yield speech("out", n=len(view.discards)), STONE
