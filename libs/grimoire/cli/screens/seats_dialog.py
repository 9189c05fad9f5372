"""Seats that change hands: who has left, who shall play on, and the way back to one's own."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from grimoire.cli.screens.dialogs import Box
from grimoire.cli.screens.words import Words
from grimoire.v1 import matchmaking_pb2

__all__ = ["SeatChoice", "SeatsDialog", "seat_choices", "seat_lines"]


class SeatChoice(msgspec.Struct, frozen=True):
    """Something one can do about a seat.

    Attributes:
        label: what it says.
        seat: the vacant one; None: come back to one's own.
        fellow: whoever holds this seat shall play on; None: a bot.
    """

    label: str
    seat: int | None = None
    fellow: int | None = None


def seat_lines(table: matchmaking_pb2.Table, words: Words) -> list[str]:
    """One line a seat: who plays, for whom, and what the others want there."""
    return [_line(seat, table, words) for seat in table.seats]


def seat_choices(table: matchmaking_pb2.Table, words: Words) -> list[SeatChoice]:
    """What the person may do now: vote on seats that were left, come back to its own."""
    choices: list[SeatChoice] = []
    if not table.over and any(_is_left(seat) for seat in table.seats):
        choices.append(SeatChoice(words("seats.return")))
    for seat in table.seats:
        if not any(vote.mine for vote in seat.vacancy.votes):
            continue
        name = _name(seat.now, words)
        choices.append(SeatChoice(words("seats.vote.bot", seat=name), seat.seat))
        choices += [
            SeatChoice(words("seats.vote.fellow", seat=name, name=vote.name), seat.seat, vote.seat)
            for vote in seat.vacancy.votes
        ]
    return choices


def _is_left(seat: matchmaking_pb2.TableSeat) -> bool:
    """Whether it was the person's, and somebody else plays it or soon will."""
    return seat.first.mine or (seat.now.mine and seat.HasField("vacancy"))


def _line(seat: matchmaking_pb2.TableSeat, table: matchmaking_pb2.Table, words: Words) -> str:
    now = _name(seat.now, words)
    if not seat.HasField("vacancy"):
        return words("seats.for", name=now, first=_name(seat.first, words)) if seat.HasField("first") else now
    votes = [
        words("seats.said", name=vote.name, choice=_holder(vote.fellow, table, words))
        if vote.HasField("fellow")
        else words("seats.said.bot", name=vote.name)
        for vote in seat.vacancy.votes
        if vote.cast
    ]
    return " · ".join([words("seats.left", name=now), *votes])


def _holder(seat: int, table: matchmaking_pb2.Table, words: Words) -> str:
    return next((_name(one.now, words) for one in table.seats if one.seat == seat), "")


def _name(seat: matchmaking_pb2.ChallengeSeat, words: Words) -> str:
    return words("seat.bot", level=seat.name) if seat.bot and seat.level else seat.name


class SeatsDialog(Box[SeatChoice]):
    """Gives what was chosen; Escape gives nothing.

    Args:
        words: of the interface.
        table: who sits where.
    """

    def __init__(self, words: Words, table: matchmaking_pb2.Table) -> None:
        super().__init__(words, words("seats.title"))
        self._lines = seat_lines(table, words)
        self._choices = seat_choices(table, words)

    def body(self) -> Sequence[Widget]:
        """Who sits where, and what can be done."""
        told = Static(Content("\n".join(f"{n}  {line}" for n, line in enumerate(self._lines, 1))), id="seats")
        if not self._choices:
            return (told, Static(Content(self.words("seats.nothing")), classes="muted"))
        return (told, OptionList(*(Option(Content(choice.label)) for choice in self._choices), id="things"))

    def on_mount(self) -> None:
        """The keys go to the list, where there is one."""
        for things in self.query(OptionList):
            things.focus()

    @on(OptionList.OptionSelected, "#things")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._choices[event.option_index])
