"""The whole board: two sides, the field, the hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, ItemGrid, Vertical
from textual.events import Resize

from grimoire.engine.board import BoardHost, Panel, Shown
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.battlefields import BATTLEFIELDS
from two_towers.cards import CARDS
from two_towers.catalogue import DATA
from two_towers.screen.card import CardFace, card_face
from two_towers.screen.field import Field, Part, Works
from two_towers.screen.layout import Layout, layout
from two_towers.screen.side import Side
from two_towers.screen.signs import RESOURCES
from two_towers.screen.speech import Speech, view_of
from two_towers.short import short_text
from two_towers.state import HAND_SIZE, Phase
from two_towers.text import ICONS

__all__ = ["TwoTowersBoard"]


class TwoTowersBoard(Vertical):
    """`grimoire.engine.board.Board` of Two Towers.

    Args:
        host: the client.
    """

    DEFAULT_CSS = """
    TwoTowersBoard { height: 1fr; width: 1fr; }
    TwoTowersBoard #tt-top { height: 1fr; }
    TwoTowersBoard #tt-hand { grid-gutter: 0; }
    """
    shortcuts: ClassVar[Mapping[str, str]] = {"p": "play_card", "d": "discard_card"}

    def __init__(self, host: BoardHost) -> None:
        super().__init__()
        self._shown: Shown | None = None
        self._last: pb.View | None = None
        self._before: pb.View | None = None
        self._adding_up = False
        self._sides = (Side(), Side())
        self._field = Field()
        self._cards = tuple(CardFace(host, slot) for slot in range(HAND_SIZE))
        self._hand_grid = ItemGrid(*self._cards, id="tt-hand")

    def compose(self) -> ComposeResult:
        """Numbers outside, towers between them, the hand below."""
        yield Horizontal(self._sides[0], self._field, self._sides[1], id="tt-top")
        yield self._hand_grid

    # ---- drawing ---------------------------------------------------------------------------------------------------

    def show(self, shown: Shown) -> None:
        """Draws a view, and marks what has changed: by one's own last action, then by all of the enemy's since."""
        moved = self._shown is not None and view_of(self._shown) != view_of(shown)
        if moved and self._shown is not None:
            self._last = view_of(self._shown)
            if self._shown.asked or not self._adding_up:
                self._before = self._last
            self._adding_up = view_of(shown).HasField("own_seat") and not self._shown.asked
        self._shown = shown
        self._draw(moved=moved)

    def on_resize(self, _: Resize) -> None:
        """Divides the board anew."""
        self._draw(moved=False)

    def _draw(self, *, moved: bool) -> None:
        if self._shown is None:
            return
        if not self.size:
            # Told before it was laid out, or while it is hidden.
            self.call_after_refresh(self._draw_laid_out)
            return
        plan = layout(self.size.width, self.size.height)
        view = view_of(self._shown)
        # One's own side stands left; without one, seat 0 does.
        left = view.own_seat if view.HasField("own_seat") else 0
        order = (left, 1 - left)
        for widget, seat in zip(self._sides, order, strict=True):
            widget.styles.width = plan.side
            widget.tell(self._shown, seat, self._changes(view, seat))
        self._field.tell(self._shown, (self._works(view, left), self._works(view, 1 - left)), moved=moved)
        self._draw_hand(self._shown, plan)

    def _draw_laid_out(self) -> None:
        if self.size:
            self._draw(moved=False)

    def _draw_hand(self, shown: Shown, plan: Layout) -> None:
        held = self._hand()
        hand = self._hand_grid
        hand.display = bool(held)
        hand.styles.grid_size_columns = plan.columns
        hand.styles.height = plan.hand_height
        hand.styles.width = plan.card_width * plan.columns
        for widget, slot in zip(self._cards, held, strict=False):
            widget.styles.height = plan.card_height
            picked = f"slot:{slot.slot}" in shown.picked
            widget.tell(card_face(slot, shown.language, plan, picked=picked))

    def _changes(self, view: pb.View, seat: int) -> Mapping[str, int]:
        if self._before is None:
            return {}
        now, before = view.seats[seat].numbers, self._before.seats[seat].numbers
        return {name: getattr(now, name) - getattr(before, name) for name in RESOURCES}

    def _works(self, view: pb.View, seat: int) -> Works:
        now = view.seats[seat].numbers
        last = self._last.seats[seat].numbers if self._last is not None else now
        before = self._before.seats[seat].numbers if self._before is not None else now
        return Works(
            seat,
            tower=Part(now.tower, last.tower, before.tower),
            wall=Part(now.wall, last.wall, before.wall),
        )

    # ---- what the client asks --------------------------------------------------------------------------------------

    def picks(self) -> Sequence[str]:
        """The six slots, where a hand is shown."""
        return tuple(f"slot:{held.slot}" if held.card else "" for held in self._hand())

    def neighbour(self, ref: str, right: int, down: int) -> str:
        """The slot beside this one in the grid, round the edges."""
        slots = len(self._hand())
        if not slots or not ref.startswith("slot:"):
            return "slot:0" if slots else ""
        columns = layout(self.size.width, self.size.height).columns
        return f"slot:{(int(ref.removeprefix('slot:')) + right + down * columns) % slots}"

    def headline(self) -> str:
        """A forced discard, the battlefield, the deck."""
        if self._shown is None:
            return ""
        view, speech = view_of(self._shown), Speech(self._shown.language)
        deck = next(d.name.in_language(speech.language) for d in DATA.deck_types if d.id == view.deck_type)
        parts = [BATTLEFIELDS[view.battlefield].name.in_language(speech.language), f"{ICONS[view.deck_type]} {deck}"]
        if view.phase == Phase.FORCED_DISCARD:
            parts.insert(0, speech("discard_one"))
        return " · ".join(parts)

    def detail(self, ref: str) -> str:
        """A card's cost and whole text."""
        held = next((held for held in self._hand() if f"slot:{held.slot}" == ref and held.card), None)
        if held is None or self._shown is None:
            return ""
        speech = Speech(self._shown.language)
        return speech(
            "detail" if held.affordable else "detail_short",
            card=speech.card(held.card),
            cost=held.cost,
            resource=speech.term(held.resource),
            n=held.shortfall,
            text=CARDS[held.card].text.in_language(speech.language),
        )

    def panels(self) -> Sequence[Panel]:
        """The discard pile, newest first; an endless deck has none."""
        if self._shown is None or not view_of(self._shown).HasField("pile_count"):
            return ()
        speech = Speech(self._shown.language)
        newest_first = reversed(view_of(self._shown).discards)
        lines = (f"{n:>3}  {_card_line(card, speech)}" for n, card in enumerate(newest_first, 1))
        return (Panel("x", speech("discards"), tuple(lines)),)

    def _hand(self) -> Sequence[pb.HandSlot]:
        if self._shown is None:
            return ()
        view = view_of(self._shown)
        return view.seats[view.own_seat].hand if view.HasField("own_seat") else ()


def _card_line(card: str, speech: Speech) -> str:
    known = CARDS[card]
    cost = f"{RESOURCES[known.resource]} {known.cost} {speech.term(known.resource)}"
    return f"{speech.card(card)} · {cost} · {short_text(card, speech.language)}"
