"""One seat's numbers: producers, stocks with bars up to the resource goal, hand and missed turns."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Final

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from grimoire.engine.board import Shown
from grimoire.engine.lines import cut, fitting
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.screen.signs import (
    BAD,
    DIM,
    FLAG,
    GOAL,
    PRODUCERS,
    RESOURCE_COLOURS,
    RESOURCES,
    SEAT_COLOURS,
    SEATS,
    STONE,
)
from two_towers.screen.speech import Speech, changed, view_of
from two_towers.state import Phase
from two_towers.text import seat_name

__all__ = ["Side", "side_lines"]

_ROOMY: Final = 12
"""From so many rows on producers have a line of their own."""
_AIRY: Final = 15
_CHANGE_CELLS: Final = 5
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


class Side(Widget):
    """The numbers of one seat."""

    DEFAULT_CSS = "Side { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._drawn: tuple[Shown, int, Mapping[str, int]] | None = None

    def tell(self, shown: Shown, seat: int, changes: Mapping[str, int]) -> None:
        """Shows a seat.

        Args:
            shown: the view and the names.
            seat: whose numbers.
            changes: what has just been added to each stock.
        """
        self._drawn = (shown, seat, changes)
        self.refresh()

    def render(self) -> Content:
        """The lines of this size."""
        if self._drawn is None:
            return Content("")
        return Content("\n").join(list(side_lines(*self._drawn, self.size)))


def side_lines(shown: Shown, seat: int, changes: Mapping[str, int], size: Size) -> Iterable[Content]:
    """A seat's numbers in as many lines as there is room for, none wider than the size.

    Args:
        shown: the view and the names.
        seat: whose numbers.
        changes: what has just been added to each stock.
        size: in cells.
    """
    return itertools.islice(_lines(shown, seat, changes, size), size.height)


def _lines(shown: Shown, seat: int, changes: Mapping[str, int], size: Size) -> Iterable[Content]:
    view, speech = view_of(shown), Speech(shown.language)
    side = view.seats[seat]
    air = [Content("")] if size.height >= _AIRY else []
    yield _name(shown, seat, size.width)
    for resource in RESOURCES:
        yield from air
        yield _stock(side.numbers, resource, speech, size.width)
        if size.height >= _ROOMY:
            yield _producers(side.numbers, resource, speech)
        yield _goal(getattr(side.numbers, resource), view.goal_resource, resource, changes, size.width)
    yield from air
    yield _counts(side, view, speech, size.width)


def _name(shown: Shown, seat: int, width: int) -> Content:
    view, speech = view_of(shown), Speech(shown.language)
    own = view.HasField("own_seat") and view.own_seat == seat
    tail = f" ({speech('you')})" if own else ""
    active = view.phase != Phase.OVER and view.turn_no > 0 and view.active_seat == seat
    name = cut(seat_name(seat, shown.language, shown.names), width - 4 - len(tail))
    return Content.assemble(
        ("▶" if active else " ", f"bold {GOAL}"),
        Content.styled(f"{SEATS[seat]} {name}{tail}", f"bold {SEAT_COLOURS[seat]}"),
    )


def _stock(numbers: pb.SeatNumbers, resource: str, speech: Speech, width: int) -> Content:
    label = f"{RESOURCES[resource]} {speech.term(resource)} "
    stock = str(getattr(numbers, resource))
    room = width - 1 - len(label) - len(stock)
    rate = _rate(getattr(numbers, PRODUCERS[resource]), speech, room - 1)
    return Content.assemble(
        (label, f"bold {RESOURCE_COLOURS[resource]}"), (stock, "bold"), (f"{rate:>{max(0, room)}}", STONE)
    )


def _producers(numbers: pb.SeatNumbers, resource: str, speech: Speech) -> Content:
    return Content.styled(f"  {speech.term(PRODUCERS[resource])} {getattr(numbers, PRODUCERS[resource])}", STONE)


def _rate(producers: int, speech: Speech, room: int) -> str:
    """What comes in with every turn."""
    return fitting(room, speech("per_turn", n=producers), speech("per_turn_short", n=producers), f"+{producers}")


def _goal(stock: int, goal: int, resource: str, changes: Mapping[str, int], width: int) -> Content:
    """How far a stock is on its way to the goal, the goal itself, and what has just changed."""
    text = f"{FLAG}{goal}"
    change, style = changed(changes.get(resource, 0))
    cells = max(4, width - 1 - len(text) - max(_CHANGE_CELLS, len(change)))
    eighths = min(cells * 8, -(-stock * cells * 8 // max(goal, 1)))
    bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
    return Content.assemble(
        (bar, RESOURCE_COLOURS[resource]), ("·" * (cells - len(bar)), DIM), (text, GOAL), (change, style)
    )


def _counts(side: pb.SeatView, view: pb.View, speech: Speech, width: int) -> Content:
    hand = speech("hand", n=side.hand_count)
    missed = speech("missed", n=side.timeouts, limit=view.timeout_limit)
    backs = "▯" * side.hand_count + " "
    if len(backs) + len(hand) + len(missed) + 4 > width:
        backs = ""
    style = f"bold {BAD}" if side.timeouts else STONE
    return Content.assemble((f"{backs}{hand} · ", STONE), (missed, style))
