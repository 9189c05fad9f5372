"""The published numbers of quick play. They stand here and nowhere else; README.md beside this file explains them."""

from __future__ import annotations

import math
from typing import Final

import msgspec

__all__ = ["POLICY", "Policy"]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """By which numbers tickets are matched.

    Attributes:
        first_window: how many rating points away a ticket accepts others at once.
        points_per_s: how many more with every second of waiting.
        anyone_after_s: after so long a ticket is due: anybody will do, and it is served before all younger ones.
        pass_every_s: matches are formed so often.
        ready_s: how long everybody has to say that they are ready.
        ticket_s: how long a ticket waits at most.
    """

    first_window: int = 100
    points_per_s: int = 10
    anyone_after_s: float = 60.0
    pass_every_s: float = 1.0
    ready_s: float = 30.0
    ticket_s: float = 900.0

    def window(self, waited_ms: int) -> float:
        """How many points away a ticket accepts others after so much waiting; never shrinks.

        >>> [POLICY.window(ms) for ms in (0, 15_000, 59_999, 60_000)]
        [100.0, 250.0, 699.99, inf]
        """
        waited_ms = max(waited_ms, 0)
        if waited_ms >= self.anyone_after_s * 1000:
            return math.inf
        return self.first_window + self.points_per_s * waited_ms / 1000


POLICY: Final = Policy()
"""What the platform plays by."""
