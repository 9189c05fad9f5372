"""One card of the hand."""

from __future__ import annotations

from typing import Final

from textual.content import Content
from textual.events import Click
from textual.widget import Widget

from grimoire.engine.board import BoardHost
from grimoire.engine.lines import cut, fitting
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.screen.layout import Layout, effect_lines, text_lines
from two_towers.screen.signs import AGAIN, BAD, DIM, GOAL, GOOD, RESOURCE_COLOURS, RESOURCES, STONE
from two_towers.screen.speech import Speech

__all__ = ["CardFace", "card_face"]

_SOLID: Final = "┏━┓┃┗┛"
_DASHED: Final = "╭╌╮┊╰╯"
_DOUBLE: Final = "╔═╗║╚╝"


class CardFace(Widget):
    """One slot of the hand; a click picks it."""

    DEFAULT_CSS = "CardFace:hover { background: $panel; }"

    def __init__(self, host: BoardHost, slot: int) -> None:
        super().__init__()
        self._host = host
        self._slot = slot
        self._face = Content("")

    def tell(self, face: Content) -> None:
        """Shows this."""
        self._face = face
        self.refresh()

    def render(self) -> Content:
        """What was told."""
        return self._face

    def on_click(self, event: Click) -> None:
        """Picks the slot, or puts it back."""
        event.stop()
        self._host.pick(f"slot:{self._slot}")


def card_face(held: pb.HandSlot, language: str, plan: Layout, *, picked: bool) -> Content:
    """A card as it lies in the hand.

    Above: number, name, ↻ for acting again. Then what it does in short, and its text where there is room. Below: cost,
    and ✓ or what is short. A solid frame can be paid, a dashed one cannot, a double one with ▶ is picked.
    """
    speech = Speech(language)
    if not held.card:
        return Content.styled(f" {held.slot + 1} {speech('empty')}", DIM)
    chars = _DOUBLE if picked else _SOLID if held.affordable else _DASHED
    frame = f"bold {GOAL}" if picked else RESOURCE_COLOURS[held.resource] if held.affordable else DIM
    style = "bold" if picked or held.affordable else STONE
    inner = plan.card_width - 2
    side = (chars[3], frame)
    body = [Content.assemble(side, line, side) for line in _body(held, speech, plan, style)]
    return Content("\n").join(
        [
            _top(held, speech, chars, frame, style, inner, picked=picked),
            *body,
            _bottom(held, speech, chars, frame, inner),
        ]
    )


def _body(held: pb.HandSlot, speech: Speech, plan: Layout, style: str) -> list[Content]:
    rows, inner = plan.card_height - 2, plan.card_width - 2
    effect = [cut(line, inner) for line in effect_lines(held.card, speech.language, inner)[:rows]]
    text = text_lines(held.card, speech.language, inner, rows - len(effect)) if plan.whole_texts else []
    empty = [""] * (rows - len(effect) - len(text))
    return [
        *(Content.styled(f"{line:<{inner}}", style) for line in effect),
        *(Content.styled(f"{line:<{inner}}", STONE if held.affordable else DIM) for line in (*text, *empty)),
    ]


def _top(held: pb.HandSlot, speech: Speech, chars: str, frame: str, style: str, inner: int, *, picked: bool) -> Content:
    again = AGAIN if held.act_again else ""
    name = cut(speech.card(held.card), inner - 2 - len(again))
    return Content.assemble(
        ("▶" if picked else chars[0], frame),
        (f"{held.slot + 1} ", f"bold {GOAL}"),
        Content.styled(name, style if "bold" in style else f"bold {style}"),
        (chars[1] * (inner - 2 - len(name) - len(again)), frame),
        (again, f"bold {GOAL}"),
        (chars[2], frame),
    )


def _bottom(held: pb.HandSlot, speech: Speech, chars: str, frame: str, inner: int) -> Content:
    mark = RESOURCES[held.resource]
    short = "✓" if held.affordable else speech("short", n=held.shortfall)
    room = inner - 4  # a blank on both sides of both texts
    if len(short) > room // 2:
        short = f"−{held.shortfall}"
    cost = fitting(room - len(short), f"{mark} {held.cost} {speech.term(held.resource)}", f"{mark} {held.cost}")
    return Content.assemble(
        (f"{chars[4]} ", frame),
        (cost, f"bold {RESOURCE_COLOURS[held.resource]}"),
        (f" {chars[1] * max(0, room - len(cost) - len(short))} ", frame),
        (short, f"bold {GOOD if held.affordable else BAD}"),
        (f" {chars[5]}", frame),
    )
