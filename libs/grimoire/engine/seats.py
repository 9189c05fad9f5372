"""Seats, actors and viewers: who does something, and who looks."""

from __future__ import annotations

import enum
from typing import NewType

import msgspec

MatchId = NewType("MatchId", str)
"""The platform's text id of a match: 1 to 64 of `[a-zA-Z0-9_/.-]`; never reused."""

Seat = NewType("Seat", int)
"""A place at the table, from 0."""

CommandId = NewType("CommandId", bytes)
"""16 random bytes made by the sender."""


class ActorKind(enum.Enum):
    """Who acts: a seat, the platform's clock, or the host."""

    SEAT = 1
    CLOCK = 2
    HOST = 3


class Actor(msgspec.Struct, frozen=True):
    """Who sends a command to `Game.decide`; `seat` is -1 for clock and host."""

    kind: ActorKind
    seat: Seat = Seat(-1)

    @staticmethod
    def of_seat(seat: int) -> Actor:
        """The actor for a seat.

        >>> Actor.of_seat(1).seat
        1
        """
        return _SEAT_ACTORS[seat] if seat < len(_SEAT_ACTORS) else Actor(ActorKind.SEAT, Seat(seat))


_SEAT_ACTORS = tuple(Actor(ActorKind.SEAT, Seat(n)) for n in range(8))
CLOCK = Actor(ActorKind.CLOCK)
HOST = Actor(ActorKind.HOST)


class ViewerKind(enum.Enum):
    """What sort of eyes: one seat's, anybody's, or (after the reveal) all-seeing."""

    SEAT = 1
    PUBLIC = 2
    ALL = 3


class Viewer(msgspec.Struct, frozen=True):
    """Who looks at a match. There is no default viewer: "no viewer" must never mean "everything"."""

    kind: ViewerKind
    seat: Seat = Seat(-1)

    @staticmethod
    def of_seat(seat: int) -> Viewer:
        """The viewer for a seat.

        >>> str(Viewer.of_seat(0)), str(PUBLIC)
        ('seat:0', 'public')
        """
        return Viewer(ViewerKind.SEAT, Seat(seat))

    @staticmethod
    def parse(text: str) -> Viewer:
        """Reads `seat:N`, `public` or `all`.

        Raises:
            ValueError: for anything else.

        >>> Viewer.parse("seat:1") == Viewer.of_seat(1)
        True
        """
        if text == "public":
            return PUBLIC
        if text == "all":
            return ALL
        head, _, number = text.partition(":")
        if head == "seat" and number.isdecimal():
            return Viewer.of_seat(int(number))
        raise ValueError(f"{text!r} is no viewer: use seat:N, public or all")

    def __str__(self) -> str:
        return f"seat:{self.seat}" if self.kind is ViewerKind.SEAT else self.kind.name.lower()

    def may_see(self, audience: str) -> bool:
        """Whether a private part with this audience is open to this viewer before the reveal."""
        return self.kind is ViewerKind.ALL or (self.kind is ViewerKind.SEAT and audience == f"seat/{self.seat}")


PUBLIC = Viewer(ViewerKind.PUBLIC)
ALL = Viewer(ViewerKind.ALL)
