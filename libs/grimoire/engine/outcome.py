"""How a match ended, in the one shape that matchmaking and ratings read."""

from __future__ import annotations

import enum

import msgspec


class OutcomeKind(enum.Enum):
    """Numbers are those of `grimoire.v1.OutcomeKind`."""

    WIN = 1
    DRAW = 2
    SHARED = 3
    COOP_WON = 4
    COOP_LOST = 5
    VOID = 6


class Outcome(msgspec.Struct, frozen=True):
    """The end of a match.

    Attributes:
        kind: win, draw, shared win, co-operative win or loss.
        ranks: one per seat; 1 is best, equal ranks are shared.
        reasons: the game's reason codes, in the game's order.
    """

    kind: OutcomeKind
    ranks: tuple[int, ...]
    reasons: tuple[str, ...]

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats of rank 1, unless everybody shares it in a draw."""
        if self.kind in (OutcomeKind.DRAW, OutcomeKind.COOP_LOST, OutcomeKind.VOID):
            return ()
        return tuple(seat for seat, rank in enumerate(self.ranks) if rank == 1)
