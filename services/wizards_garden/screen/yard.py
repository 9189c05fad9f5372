"""The yard: spaces in a grid, terraces in heavy lines, threats as arrows on the borders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from grimoire.engine.board import BoardHost, Shown
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.catalogue import DATA
from wizards_garden.screen.layout import Layout
from wizards_garden.screen.lines import crossing
from wizards_garden.screen.refs import DIGITS, choices, clicked, place_of
from wizards_garden.screen.signs import ACCENT, COLOURS, FAINT, KIND_COLOURS, MUTED, SEAT_COLOURS
from wizards_garden.screen.speech import view_of
from wizards_garden.short import RECORDS, WATER_SIGN, cell_signs, contents, turned

__all__ = ["Yard", "yard_lines"]

_LABEL: Final = 2
_PIT: Final = "╱"
_PICKED: Final = "▶"
_USABLE: Final = "›"
_DIGITS: Final = "¹²³⁴⁵⁶⁷⁸⁹"
"""Not to be taken for the numbers of pieces."""
_ARROWS: Final = {(1, 0): "▶▷", (-1, 0): "◀◁", (0, 1): "▲△", (0, -1): "▼▽"}
"""On the screen: x to the right, y upwards; full: with a space of its own, hollow: in transit."""


class Yard(Widget):
    """All 35 spaces; a click picks what stands there, or the space.

    Args:
        host: the client.
    """

    def __init__(self, host: BoardHost) -> None:
        super().__init__()
        self._host = host
        self._drawn: tuple[Shown, Layout] | None = None

    def tell(self, shown: Shown, plan: Layout) -> None:
        """Draws this from now on."""
        self._drawn = (shown, plan)
        self.refresh()

    def render(self) -> Content:
        """The grid."""
        return Content("") if self._drawn is None else Content("\n").join(yard_lines(*self._drawn))

    def on_click(self, event: Click) -> None:
        """Picks the space under the pointer."""
        event.stop()
        if self._drawn is None:
            return
        shown, plan = self._drawn
        columns, rows = _orders(view_of(shown))
        at = (event.x - _LABEL) // (plan.cell_width + 1), (event.y - 1) // (plan.cell_height + 1)
        if 0 <= at[0] < len(columns) and 0 <= at[1] < len(rows):
            self._host.pick(clicked(f"{columns[at[0]]}{rows[at[1]]}", shown))


def _orders(view: pb.View) -> tuple[list[str], list[int]]:
    """Columns from the left and rows from the top, as this viewer sees them."""
    columns, rows = [*DATA.board.columns], [*DATA.board.rows]
    return (columns[::-1], rows) if turned(view) else (columns, rows[::-1])


def yard_lines(shown: Shown, plan: Layout) -> list[Content]:
    """The grid from the top downwards: letters of the columns, borders and spaces in turn.

    Args:
        shown: the view and what may be picked.
        plan: sizes.
    """
    return _Grid(shown, plan).lines()


class _Mark(msgspec.Struct, frozen=True):
    """How a space may be picked: a sign or digit before it, and its style."""

    sign: str
    style: str


class _Grid:
    def __init__(self, shown: Shown, plan: Layout) -> None:
        self._shown = shown
        self._plan = plan
        self._view = view_of(shown)
        self._held = contents(self._view)
        self._columns, self._rows = _orders(self._view)
        self._marks = _marks(shown)
        self._threats = {(group.origin, group.target): group for group in self._view.groups}

    def lines(self) -> list[Content]:
        width = self._plan.cell_width + 1
        letters = "".join(f"{column:^{width}}" for column in self._columns)
        lines = [Content.styled(" " * _LABEL + letters, MUTED), self._border(0)]
        for y, row in enumerate(self._rows):
            lines.extend(self._spaces(row, part) for part in range(self._plan.cell_height))
            lines.append(self._border(y + 1))
        return lines

    # ---- spaces ----------------------------------------------------------------------------------------------------

    def _spaces(self, row: int, part: int) -> Content:
        middle = self._plan.cell_height // 2
        label = f"{row} " if part == middle else " " * _LABEL
        pieces = [Content.styled(label, MUTED)]
        for x, column in enumerate(self._columns):
            pieces.append(self._upright(x, row, arrow=part == middle))
            pieces.append(self._cell(f"{column}{row}", part))
        pieces.append(self._upright(len(self._columns), row, arrow=False))
        return Content.assemble(*pieces)

    def _cell(self, space: str, part: int) -> Content:
        plan, mark = self._plan, self._marks.get(space)
        if RECORDS[space].kind == "pit":
            text = _PIT * plan.cell_width
            if mark is not None and part == plan.cell_height // 2:
                return Content.assemble((mark.sign, mark.style), (text[1:], FAINT))
            return Content.styled(text, FAINT)
        held = self._held.get(space)
        signs, colour = cell_signs(held)
        water = self._water(space, held)
        before = mark.sign if mark is not None else ""
        if plan.cell_height == 1:
            return self._line(before, signs, colour, water, mark)
        if part == 0:
            return self._line(before, "", colour, space if plan.cell_height > 2 else water, mark)
        if part == 1:
            return self._line("", f" {signs}" if len(signs) < plan.cell_width else signs, colour, "", mark)
        return self._line("", "", colour, water, mark)

    def _water(self, space: str, held: pb.Space | None) -> str:
        """Every deposit shows its water, also none: that is how deposits are told from other spaces."""
        return f"{WATER_SIGN}{held.water if held is not None else 0}" if RECORDS[space].has_deposit else ""

    def _line(self, before: str, signs: str, colour: str, after: str, mark: _Mark | None) -> Content:
        """One line of a space: mark, pieces, and at its right end the water. Where all have no room, the mark goes."""
        width = self._plan.cell_width
        if len(before) + len(signs) + len(after) > width:
            before = ""
        signs = signs[: max(0, width - len(after))]
        gap = " " * (width - len(before) - len(signs) - len(after))
        style = mark.style if mark is not None else ""
        return Content.assemble(
            (before, style or FAINT),
            (signs, f"bold {COLOURS[colour]}{' reverse' if 'reverse' in style else ''}"),
            (gap, ""),
            (after, KIND_COLOURS["water"] if after.startswith(WATER_SIGN) else FAINT),
        )

    # ---- borders ---------------------------------------------------------------------------------------------------

    def _at(self, x: int, y: int) -> str:
        """The space in this place of the screen; empty: outside the yard."""
        inside = 0 <= x < len(self._columns) and 0 <= y < len(self._rows)
        return f"{self._columns[x]}{self._rows[y]}" if inside else ""

    def _upright(self, x: int, row: int, *, arrow: bool) -> Content:
        """The border to the left of column x."""
        y = self._rows.index(row)
        left, right = self._at(x - 1, y), self._at(x, y)
        group = self._group(left, right) if arrow else None
        if group is not None:
            return self._arrow(group, (1, 0) if group.origin == left else (-1, 0))
        heavy, colour = _terrace_edge(left, right)
        return Content.styled("┃" if heavy else "│", colour)

    def _border(self, y: int) -> Content:
        """The border above row y, with its crossings."""
        pieces: list[Content] = [Content(" " * _LABEL)]
        for x in range(len(self._columns) + 1):
            pieces.append(self._crossing(x, y))
            if x < len(self._columns):
                pieces.append(self._level(x, y))
        return Content.assemble(*pieces)

    def _level(self, x: int, y: int) -> Content:
        above, below = self._at(x, y - 1), self._at(x, y)
        heavy, colour = _terrace_edge(above, below)
        char, width = "━" if heavy else "─", self._plan.cell_width
        group = self._group(above, below)
        if group is None:
            return Content.styled(char * width, colour)
        arrow = self._arrow(group, (0, -1) if group.origin == above else (0, 1))
        before = (width - 1) // 2
        return Content.assemble((char * before, colour), arrow, (char * (width - before - 1), colour))

    def _group(self, one: str, other: str) -> pb.Group | None:
        return self._threats.get((one, other)) or self._threats.get((other, one))

    def _arrow(self, group: pb.Group, way: tuple[int, int]) -> Content:
        first = group.pieces[0]
        colour = KIND_COLOURS["pest"] if first.startswith("pest") else SEAT_COLOURS[first.startswith("red")]
        return Content.styled(_ARROWS[way][group.in_transit], f"bold {colour}")

    def _crossing(self, x: int, y: int) -> Content:
        corners = {(dx, dy): self._at(x + dx, y + dy) for dx in (-1, 0) for dy in (-1, 0)}
        arms = {
            "u": (corners[-1, -1], corners[0, -1]),
            "d": (corners[-1, 0], corners[0, 0]),
            "l": (corners[-1, -1], corners[-1, 0]),
            "r": (corners[0, -1], corners[0, 0]),
        }
        there = "".join(arm for arm, sides in arms.items() if any(sides))
        edges = {arm: _terrace_edge(*arms[arm]) for arm in there}
        drawn = "".join(arm.upper() if edge[0] else arm for arm, edge in edges.items())
        colour = next((edge[1] for edge in edges.values() if edge[0]), FAINT)
        return Content.styled(crossing(drawn), colour)


def _terrace_edge(one: str, other: str) -> tuple[bool, str]:
    """Whether a border lies round a terrace, and its colour."""
    owners = [RECORDS[space].terrace_owner if space else None for space in (one, other)]
    owner = owners[0] or owners[1]
    if owner is None or owners[0] == owners[1]:
        return False, FAINT
    return True, COLOURS[owner]


def _marks(shown: Shown) -> Mapping[str, _Mark]:
    """Spaces of things that are picked, and of those that may be picked next, with their digits."""
    view = view_of(shown)
    marks: dict[str, _Mark] = {}
    for number, ref in enumerate(choices(shown), 1):
        space = place_of(ref, view)
        if space and space not in marks:
            marks[space] = _Mark(_DIGITS[number - 1] if number <= DIGITS else _USABLE, f"bold {ACCENT}")
    for ref in shown.picked:
        space = place_of(ref, view)
        if space:
            marks[space] = _Mark(_PICKED, f"bold {ACCENT} reverse")
    return marks
