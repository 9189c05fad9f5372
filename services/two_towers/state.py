"""The state of a match: frozen records that compare by value. Hidden cards never show in a repr.

The records hold no cycles, so the garbage collector need not look at them (`gc=False`).
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from grimoire.engine import Seat

__all__ = ["EMPTY", "HAND_SIZE", "Phase", "Result", "SeatState", "Shown", "State", "Terms", "other"]

EMPTY: Final = ""
"""What an empty slot holds (TT-2.1)."""

HAND_SIZE: Final = 6


class Phase(enum.StrEnum):
    """Where the match stands (TT-4)."""

    SETUP = "setup"
    MAIN = "main"
    FORCED_DISCARD = "forced_discard"
    OVER = "over"


class Terms(msgspec.Struct, frozen=True, gc=False):
    """What is fixed for the whole match.

    Attributes:
        standard: one shared pack of 102 cards; otherwise the endless deck (TT-2.5).
        timeout_limit: timed-out turns in a row that lose (TT-7.2).
        arranged: the match began from an arranged position.
    """

    deck_type: str
    battlefield: str
    goal_tower: int = 0
    goal_resource: int = 0
    timeout_limit: int = 0
    first_seat: Seat = Seat(0)
    arranged: bool = False
    standard: bool = True


class SeatState(msgspec.Struct, frozen=True, gc=False):
    """One seat (TT-2.1).

    Attributes:
        numbers: the eight numbers in the order of `fields.FIELDS`.
        hand: six slots, each a card id or `EMPTY`.
        timeouts: timed-out turns in a row.
    """

    numbers: tuple[int, ...] = (0,) * 8
    hand: tuple[str, ...] = (EMPTY,) * HAND_SIZE
    timeouts: int = 0

    def __repr__(self) -> str:
        return f"SeatState(numbers={self.numbers}, hand={self.hand_count} cards, timeouts={self.timeouts})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("numbers", self.numbers), ("hand_count", self.hand_count), ("timeouts", self.timeouts)]

    @property
    def hand_count(self) -> int:
        """How many cards the hand holds."""
        return HAND_SIZE - self.hand.count(EMPTY)


class Shown(msgspec.Struct, frozen=True, gc=False):
    """A card that left a hand face up; `how` is `played`, `chosen`, `forced` or `timeout`."""

    seat: int
    card: str
    how: str
    turn_no: int


class Result(msgspec.Struct, frozen=True, gc=False):
    """How the match ended (TT-4.8).

    Attributes:
        winner: None in a draw.
        reasons: in the rules' order.
        ladder_step: `tower`, `wall` or `stock` where the ladder decided, otherwise empty.
    """

    winner: int | None
    reasons: tuple[str, ...]
    ladder_step: str = ""

    @property
    def outcome(self) -> str:
        """`win` or `draw` (TT-1.4)."""
        return "draw" if self.winner is None else "win"


class State(msgspec.Struct, frozen=True, gc=False):
    """A match at one version.

    Attributes:
        active: whose turn it is.
        turn_no: 0 before the first turn.
        decisions: how many decisions were answered; the open one has the next number.
        plays: cards played in this turn (TT-4.7).
        pile: the draw pile, index 0 on top; empty in an endless match.
        discards: oldest first; empty in an endless match.
        reshuffles: how often the pile was reshuffled (TT-8.1).
        draws_made: draws of an endless match so far, the deal included (TT-8.3).
        shown_before, shown_now: cards that left a hand in the former turn and in this one.
        result: None while the match runs.
    """

    terms: Terms
    seats: tuple[SeatState, SeatState] = (SeatState(), SeatState())
    active: int = 0
    turn_no: int = 0
    phase: Phase = Phase.SETUP
    decisions: int = 0
    plays: int = 0
    pile: tuple[str, ...] = ()
    discards: tuple[str, ...] = ()
    reshuffles: int = 0
    draws_made: int = 0
    shown_before: tuple[Shown, ...] = ()
    shown_now: tuple[Shown, ...] = ()
    result: Result | None = None

    def __repr__(self) -> str:
        return (
            f"State(turn_no={self.turn_no}, active={self.active}, phase={self.phase.value}, seats={self.seats}, "
            f"pile={len(self.pile)} cards, discards={len(self.discards)} cards, result={self.result})"
        )

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("turn_no", self.turn_no), ("active", self.active), ("phase", self.phase.value), ("seats", self.seats)]


def other(seat: int) -> int:
    """The enemy's seat."""
    return 1 - seat
