"""The course of a match: what follows from an accepted command, written down as events in the rules' order.

A `Course` changes a draft by the events it tells. It judges no command: `tricks.py`, `carrying_out.py`, `choosing.py`
and `endings.py` do, before they call it.
"""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.message import Message

from broom_service.boards import BOARDS, Board
from broom_service.draft import Draft
from broom_service.evolve import apply
from broom_service.messages import step_message
from broom_service.resources import NOTHING, Holding
from broom_service.state import State, Step
from grimoire.engine import Decision, Draws
from grimoire.games.broom_service.v1 import broom_service_pb2 as pb

__all__ = ["Course"]


class Course:
    """Events and the state they lead to.

    Args:
        state: before the command.
        draws: the match's randomness.

    Attributes:
        draft: the state as it is now.
        board: the side that is played on.
    """

    __slots__ = ("_events", "board", "draft", "draws")

    def __init__(self, state: State, draws: Draws) -> None:
        self.draft = Draft.of(state)
        self.draws = draws
        self.board: Board = BOARDS[state.terms.board]
        self._events: list[Message] = []

    def decision(self) -> Decision[State]:
        """Everything that happened."""
        return Decision((*self._events,), self.draft.freeze())

    def tell(self, event: Message) -> None:
        """Something happens."""
        apply(self.draft, event)
        self._events.append(event)

    @property
    def over(self) -> bool:
        """The match has ended."""
        return self.draft.result is not None

    @property
    def staying(self) -> tuple[int, ...]:
        """Seats that have not retired (BS-12.4)."""
        return tuple(seat for seat, gone in enumerate(self.draft.retired) if not gone)

    def clockwise_from(self, seat: int) -> Iterable[int]:
        """Every seat once, this one first (BS-1.1)."""
        seats = self.draft.terms.seats
        return ((seat + distance) % seats for distance in range(seats))

    # ---- what a seat has ---------------------------------------------------------------------------------------------

    def change_vp(self, seat: int, delta: int, reason: str) -> None:
        """VP come or go; they may fall below 0 (BS-2.2). No change writes nothing (BS-11.3)."""
        if delta:
            self.tell(pb.VpChanged(seat=seat, delta=delta, vp=self.draft.vp[seat] + delta, reason=reason))

    def change_resources(self, seat: int, by: Holding, reason: str) -> None:
        """Resources come from the supply, which never runs out, or go to it (BS-2.1)."""
        if by != NOTHING:
            orange, green, purple, wand = by
            deltas = pb.Deltas(orange=orange, green=green, purple=purple, wand=wand)
            self.tell(pb.ResourcesChanged(seat=seat, deltas=deltas, reason=reason))

    # ---- steps (BS-6) ------------------------------------------------------------------------------------------------

    def open_group(self, seat: int, steps: Iterable[Step], *, begins: bool = False) -> None:
        """A new group goes on top of the stack (BS-6.1, BS-6.5).

        Args:
            steps: as they shall be; their numbers are given here.
            begins: an action begins with it, and so do the numbers.
        """
        draft = self.draft
        number = 0 if begins else draft.last_step
        group = 1 if begins else draft.last_group + 1
        for step in steps:
            number += 1
            message = step_message(step)
            message.step, message.group = number, group
            self.tell(pb.StepOpened(seat=seat, step=message))

    def close_step(self, step: Step, reason: str) -> None:
        """A step is used up, given up or impossible (BS-6.3, BS-6.4)."""
        self.tell(pb.StepClosed(step=step.number, reason=reason))
