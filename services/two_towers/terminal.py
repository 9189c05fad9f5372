"""The game as plain text: a picture of both towers and walls, and everything a viewer knows in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from google.protobuf.message import Message

from grimoire.engine.lines import own_view, wrapped
from grimoire.games.two_towers.v1 import two_towers_pb2 as pb
from two_towers.battlefields import BATTLEFIELDS
from two_towers.catalogue import DATA
from two_towers.state import Phase
from two_towers.text import ICONS, TwoTowersTexts, card_name, seat_name, short_text
from two_towers.words import Words, words_in

__all__ = ["TwoTowersTerminal"]

_ROWS: Final = 10
"""Height of the picture; a tower at its goal fills it."""

_TOWER: Final = "███████"
_WALL: Final = "▒▒▒▒"
_GOAL_LINE: Final = "┄"
_MARKS: Final = ("●", "▲")
"""Seats are told apart by shape, never by colour alone."""

_MIN_WIDTH: Final = 40


class TwoTowersTerminal:
    """`Terminal` of Two Towers."""

    def render(self, view: Message, language: str, names: Mapping[int, str], width: int) -> Sequence[str]:
        """Text lines of a view, at most `width` columns wide (at least 40 are used).

        Raises:
            TypeError: for another game's view.
        """
        lines = _Page(own_view(view, pb.View, "Two Towers"), language, names).lines(max(width, _MIN_WIDTH))
        return [piece for line in lines for piece in wrapped(line, max(width, _MIN_WIDTH))]


class _Page:
    """One view in one language."""

    def __init__(self, view: pb.View, language: str, names: Mapping[int, str]) -> None:
        self._view = view
        self._language = language
        self._names = names
        self._words: Words = words_in(language)
        # One's own side stands left; without one, seat 0 does.
        first = view.own_seat if view.HasField("own_seat") else 0
        self._order = [first, 1 - first]

    def lines(self, width: int) -> Iterable[str]:
        yield self._title()
        yield self._turn()
        yield self._goals()
        yield from self._picture(width)
        for seat in self._order:
            yield from self._seat(self._view.seats[seat])
        for seat in self._order:
            yield from self._hand(self._view.seats[seat])
        yield from self._last()
        if self._view.arranged:
            yield self._words.terminal["arranged"]

    def _say(self, key: str, **arguments: object) -> str:
        return self._words.terminal[key].format(**arguments)

    def _name(self, seat: int) -> str:
        return seat_name(seat, self._language, self._names)

    def _title(self) -> str:
        view = self._view
        deck = next(d.name.in_language(self._language) for d in DATA.deck_types if d.id == view.deck_type)
        battlefield = BATTLEFIELDS[view.battlefield].name.in_language(self._language)
        return self._say("title", battlefield=battlefield, deck=f"{ICONS[view.deck_type]} {deck}")

    def _turn(self) -> str:
        view = self._view
        if view.phase == Phase.OVER:
            result = view.result
            winner = result.winner if result.HasField("winner") else None
            ended = pb.MatchEnded(
                outcome=result.outcome, winner=winner, reasons=result.reasons, ladder_step=result.ladder_step
            )
            return self._say("over", sentence=TwoTowersTexts().say_event(ended, self._language, self._names))
        return self._say(
            "turn",
            turn_no=view.turn_no,
            turn_limit=view.turn_limit,
            seat=self._name(view.active_seat),
            phase=self._words.terms[view.phase],
        )

    def _goals(self) -> str:
        view = self._view
        goals = self._say("goals", goal_tower=view.goal_tower, goal_resource=view.goal_resource)
        if not view.HasField("pile_count"):
            return goals
        return f"{goals} · {self._say('pile', pile=view.pile_count, discards=len(view.discards))}"

    # ---- the picture ---------------------------------------------------------------------------------------------

    def _picture(self, width: int) -> Iterable[str]:
        """Towers outside, walls between them; the dashed line is the tower goal."""
        view = self._view
        left, right = (view.seats[seat].numbers for seat in self._order)
        gap = " " * max(2, min(width, 72) - 2 * (len(_TOWER) + len(_WALL) + 4) - 8)
        label = self._say("goal", goal=view.goal_tower)
        goal = _GOAL_LINE * (len(gap) + 2 * (len(_TOWER) + len(_WALL)) + 8)
        yield f" {goal[: -len(label) - 1]} {label}"
        for row in range(_ROWS, 0, -1):
            near = self._row(left.tower, _TOWER, row) + "  " + self._row(left.wall, _WALL, row)
            far = self._row(right.wall, _WALL, row) + "  " + self._row(right.tower, _TOWER, row)
            yield f"  {near}{gap}  {far}".rstrip()
        near = f"{left.tower:^{len(_TOWER)}}  {left.wall:^{len(_WALL)}}"
        far = f"{right.wall:^{len(_WALL)}}  {right.tower:^{len(_TOWER)}}"
        yield f"  {near}{gap}  {far}".rstrip()
        marks = [_MARKS[seat] for seat in self._order]
        yield f"  {marks[0]:^{len(_TOWER)}}{' ' * (len(_WALL) * 2 + 6 + len(gap))}{marks[1]:^{len(_TOWER)}}".rstrip()

    def _row(self, value: int, brick: str, row: int) -> str:
        """One row of a tower or wall; whatever is more than 0 shows at least one row, what is too high an arrow."""
        height = -(-value * _ROWS // self._view.goal_tower)
        if value > self._view.goal_tower and row == _ROWS:
            return "▲" * len(brick)
        return brick if height >= row else " " * len(brick)

    # ---- words ---------------------------------------------------------------------------------------------------

    def _seat(self, side: pb.SeatView) -> Iterable[str]:
        numbers = side.numbers
        yield self._say(
            "seat",
            mark=_MARKS[side.seat],
            seat=self._name(side.seat),
            tower=numbers.tower,
            wall=numbers.wall,
            hand=side.hand_count,
            timeouts=side.timeouts,
            limit=self._view.timeout_limit,
        )
        yield self._say(
            "stocks",
            ore=numbers.ore,
            mines=numbers.mines,
            mana=numbers.mana,
            monasteries=numbers.monasteries,
            recruits=numbers.recruits,
            barracks=numbers.barracks,
        )

    def _hand(self, side: pb.SeatView) -> Iterable[str]:
        if not side.hand:
            return
        yield self._say("hand", seat=self._name(side.seat))
        for held in side.hand:
            number = held.slot + 1
            if not held.card:
                yield self._say("empty_slot", number=number)
                continue
            payable = self._words.terminal["payable"]
            yield self._say(
                "card",
                number=number,
                name=card_name(held.card, self._language),
                cost=held.cost,
                resource=self._words.terms[held.resource],
                payable=payable if held.affordable else self._say("short_of", shortfall=held.shortfall),
                short=short_text(held.card, self._language),
            )

    def _last(self) -> Iterable[str]:
        shown = [
            self._say(
                "played" if card.how == "played" else "discarded",
                seat=self._name(card.seat),
                card=card_name(card.card, self._language),
            )
            for card in self._view.last_cards
        ]
        if shown:
            yield self._say("last", cards="; ".join(shown))
