"""The table, line by line: the map with seats beside it, the event, the trick, the cards, what may be chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from textual.geometry import Size

from broom_service.names import name_of, role_text
from broom_service.resources import RESOURCE_IDS
from broom_service.roles import BRAVE, COWARDLY
from broom_service.screen.hexes import LEAST_WIDTH, map_lines, map_size
from broom_service.screen.refs import choices, in_picture, marks, ref_words
from broom_service.screen.signs import ACCENT, COLOURS, DANGER, FAINT, MUTED, WHITE, seat_colour
from broom_service.screen.speech import Speech, view_of
from broom_service.short import (
    LIGHTNING_SIGN,
    SEAT_SIGNS,
    WITCHED_SIGN,
    cards_left,
    legend,
    open_steps,
    step_words,
    tile_sign,
    trick_of,
)
from broom_service.terminal import event_words, turn_words
from grimoire.boards import DIGITS, legend_lines
from grimoire.engine.board import Shown
from grimoire.engine.lines import cut, fitting, wrapped
from grimoire.engine.pieces import Line, Piece, flowing, padded, side_by_side, width_of
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["table_lines"]

_BESIDE: Final = 27
"""Cells beside the map."""
_BELOW: Final = 3
"""Rows below the map, at the least."""
_TALL: Final = 30
"""From so many rows on role cards have a line each, with their texts."""


def table_lines(shown: Shown, size: Size) -> list[Line]:
    """The table from the top downwards, at most as many lines as there are rows.

    Args:
        shown: the view, the names and what may be picked.
        size: in cells.
    """
    return _Drawing(shown, size).lines()


class _Drawing:
    def __init__(self, shown: Shown, size: Size) -> None:
        self._shown = shown
        self._view = view_of(shown)
        self._speech = Speech(shown.language)
        self._marks: Mapping[str, str] = marks(shown)
        self._width, self._height = size.width, size.height

    def lines(self) -> list[Line]:
        """What is asked and may be chosen stands below, whatever has to give way."""
        below = [*self._below()]
        top = [*self._top(max(0, self._height - max(_BELOW, len(below))))]
        if len(top) + len(below) > self._height:
            # Smaller than what is promised: the map gives way, never what is asked.
            top = top[: max(0, self._height - len(below))]
        lines: list[Line] = [*top, *below]
        lines += self._legend(self._height - len(lines))
        return lines[: self._height]

    # ---- marks -----------------------------------------------------------------------------------------------------

    def _marked(self, text: str, style: str, ref: str) -> Piece:
        """A thing, with a cell before it for its mark if it has one."""
        mark = self._marks.get(ref, "")
        return Piece(f"{mark}{text}", f"{style} reverse" if ref in self._shown.picked else style, (ref,), mark)

    # ---- the map and what stands beside it --------------------------------------------------------------------------

    def _top(self, room: int) -> Iterator[Line]:
        wide, high = map_size(self._width - _BESIDE - 1, room)
        if wide >= LEAST_WIDTH:
            left = [*map_lines(self._view, wide, high, self._marked)]
            across = max(map(width_of, left))
            yield from side_by_side(left, [*self._beside(self._width - across)], across, self._width)
            return
        wide, high = map_size(self._width, room)
        if wide >= LEAST_WIDTH:
            yield from map_lines(self._view, wide, high, self._marked)
        else:
            yield from self._beside(self._width)

    def _beside(self, width: int) -> Iterator[Line]:
        """The round with its event, the seats, the bewitched roles."""
        view, speech = self._view, self._speech
        key = "trick" if view.trick_no else "round"
        yield (Piece(speech(key, n=view.round, of=view.rounds, trick=view.trick_no), f"bold {ACCENT}"),)
        if view.event:
            yield (Piece(cut(name_of(view.event, self._shown.language), width), f"bold {WHITE}"),)
        for seat in view.seats:
            yield from self._seat(seat, width)
        for role in view.bewitched:
            name = cut(f"{WITCHED_SIGN} {name_of(role, self._shown.language)}", width)
            yield (Piece(name, DANGER, (f"role:{role}",)),)

    def _seat(self, seat: pb.SeatView, width: int) -> Iterator[Line]:
        view, speech = self._view, self._speech
        sign = self._sign(seat)
        own = f" ({speech('you')})" if self._shown.seat == seat.seat else ""
        tail = f" {seat.vp:>3} ▯{cards_left(seat)}"
        room = max(3, width - 3 - len(own) - len(tail))
        name = cut(speech.words.seat(seat.seat, self._shown.names), room)
        colour = f"bold {seat_colour(seat.seat)}"
        refs = (f"seat:{seat.seat}",)
        yield (
            Piece(sign, f"bold {ACCENT}"),
            Piece(f"{SEAT_SIGNS[seat.seat]} {name}{own}", FAINT if seat.retired else colour, refs),
            Piece(" " * (room - len(name))),
            Piece(tail, "bold" if seat.seat in view.asked else "", refs),
        )
        yield [Piece("  "), *self._goods(seat, width - 2)]

    def _sign(self, seat: pb.SeatView) -> str:
        """Brave so far, asked, or leading."""
        view = self._view
        if view.HasField("result"):
            return "★" if seat.seat in view.result.winners else " "
        if view.HasField("brave_seat") and view.brave_seat == seat.seat:
            return "!"
        if seat.seat in view.asked:
            return "▶"
        return "»" if view.trick_no and view.leader == seat.seat else " "

    def _goods(self, seat: pb.SeatView, width: int) -> Iterator[Piece]:
        """Resources, lightning, amulets, forest tiles."""
        for resource in RESOURCE_IDS:
            style = COLOURS.get(resource, WHITE)
            yield Piece(f"{resource[0]}{getattr(seat.resources, resource)} ", style)
        more = f"{LIGHTNING_SIGN}{seat.lightning} " if seat.clouds else ""
        more += f"⌾{len(seat.amulets)} " if seat.amulets else ""
        more += " ".join(tile_sign(tile) for tile in seat.forest_tiles)
        yield Piece(cut(more.rstrip(), max(1, width - 12)), MUTED)

    # ---- below the map ---------------------------------------------------------------------------------------------

    def _below(self) -> Iterator[Line]:
        view, tall = self._view, self._height >= _TALL
        trick = [*self._trick()]
        if tall or not trick:
            event = event_words(view, self._shown.language)
            pieces = [*wrapped(event, self._width)] if event else []
            yield from ((Piece(piece, MUTED),) for piece in (pieces if tall else pieces[:1]))
        yield from trick
        yield from self._steps()
        yield from self._hand(tall=tall)
        yield from self._choices()

    def _trick(self) -> Iterator[Line]:
        """The trick as it unfolds: who plays how, who is out, who says next."""
        view, speech, language = self._view, self._speech, self._shown.language
        plays = trick_of(view)
        if not plays:
            if view.HasField("result"):
                yield (Piece(cut(turn_words(view, language, self._shown.names), self._width), f"bold {ACCENT}"),)
            return
        role = plays[0].role
        witched = f" {WITCHED_SIGN}" if role in view.bewitched else ""
        before = Piece(f"{name_of(role, language)}{witched}: ", f"bold {ACCENT}", (f"role:{role}",))
        told = [
            Piece(
                f"{SEAT_SIGNS[play.seat]} {speech(_said(play))}  ",
                FAINT if play.passed or play.outdone else f"bold {seat_colour(play.seat)}",
                (f"seat:{play.seat}",),
            )
            for play in plays
        ]
        line = [before, *told]
        if width_of(line) <= self._width or self._height >= _TALL:
            yield from flowing(before, told, self._width)
        else:
            yield [before, *(Piece(p.text.rstrip() + " ", p.style, p.refs) for p in told)]

    def _steps(self) -> Iterator[Line]:
        view = self._view
        if not view.steps:
            return
        steps = " · ".join(step_words(step, self._shown.language) for step in open_steps(view))
        line = f"{SEAT_SIGNS[view.acting_seat]} {steps}"
        if self._height >= _TALL:
            yield from ((Piece(piece, f"bold {WHITE}"),) for piece in wrapped(line, self._width))
        else:
            yield (Piece(cut(line, self._width), f"bold {WHITE}"),)

    def _hand(self, *, tall: bool) -> Iterator[Line]:
        """One's own role cards."""
        view = self._view
        own = next((seat for seat in view.seats if seat.seat == self._shown.seat), None)
        if own is None or not own.roles:
            return
        if not tall:
            before = Piece(f"{self._speech('hand')}: ", MUTED)
            cards = [*map(self._card, own.roles)]
            room = (self._width - width_of([before])) // len(cards) - 1
            if width_of([before, *cards]) > self._width + 1:
                cards = [Piece(f"{cut(p.text.rstrip(), room)} ", p.style, p.refs, p.mark) for p in cards]
            yield [before, *cards]
            return
        for role in own.roles:
            card = self._card(role)
            texts = (role_text(role, stance, self._shown.language) for stance in (BRAVE, COWARDLY))
            text = fitting(self._width - len(card.text) - 2, " / ".join(texts))
            yield (card, Piece(f"· {cut(text, max(1, self._width - len(card.text) - 2))}", FAINT, card.refs))

    def _card(self, role: str) -> Piece:
        witched = WITCHED_SIGN if role in self._view.bewitched else ""
        style = DANGER if witched else f"bold {WHITE}"
        return self._marked(f"{witched}{name_of(role, self._shown.language)}  ", style, f"role:{role}")

    def _choices(self) -> Iterator[Line]:
        """What is picked, and with its digits what may be picked; what stands on the map is marked there too."""
        shown = self._shown
        offered = [*enumerate(choices(shown) if shown.usable else (), 1)]
        if shown.usable and self._cards_marked():
            offered = [(n, ref) for n, ref in offered if not ref.startswith("role:")]
        named = [("▶", ref) for ref in shown.picked]
        named += [(f"{n}) " if n <= DIGITS else "", ref) for n, ref in offered]
        if not named:
            return
        line: list[Piece] = []
        for brief, mapped in ((False, True), (True, True), (True, False)):
            kept = [(sign, ref) for sign, ref in named if mapped or not in_picture(ref)]
            line = [Piece(f"{self._speech('choose')}: ", f"bold {ACCENT}")]
            for sign, ref in kept:
                text = ref_words(ref, shown, brief=brief)
                line += [Piece(sign, f"bold {ACCENT}", (ref,)), Piece(f"{text}  ", MUTED, (ref,))]
            if width_of(line) <= self._width + 2:
                break
        if len(line) > 1:
            yield padded(line, self._width)

    def _cards_marked(self) -> bool:
        """Whether role cards bear the digits themselves."""
        own = next((seat for seat in self._view.seats if seat.seat == self._shown.seat), None)
        return self._view.stage == "lead" and own is not None and bool(own.roles)

    def _legend(self, room: int) -> list[Line]:
        """What the signs mean, where there is room for all of it."""
        return legend_lines(legend(self._shown.language), self._width, room, FAINT)


def _said(play: pb.Play) -> str:
    """The key of what a seat did, in a word or two."""
    if play.passed:
        return "next"
    if play.spent_role:
        return "spent"
    if play.outdone:
        return "out"
    return "instead" if play.instead else play.stance
