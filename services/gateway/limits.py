"""How often somebody may ask."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable

__all__ = ["RateLimiter"]

_SWEEP_AT = 4096
"""Keys held before those that have been quiet are forgotten."""


class RateLimiter:
    """A steady rate with room for a burst, for each key apart (generic cell rate algorithm, ITU-T I.371).

    One number a key: the time at which it would have been quiet again, had it kept to the rate. A key that is quiet
    needs no memory and is forgotten.

    Args:
        rate: asks per second that never run dry.
        burst: asks that may come at once.
        now: seconds of a clock that never goes back.

    >>> clock = iter([0.0, 0.0, 0.0, 0.1]).__next__
    >>> limiter = RateLimiter(rate=10, burst=2, now=clock)
    >>> [limiter.take("seat") for _ in range(4)]
    [0, 0, 100, 0]
    """

    def __init__(self, rate: float, burst: int, now: Callable[[], float] = time.monotonic) -> None:
        self._interval = 1.0 / rate
        self._slack = (burst - 1) / rate
        self._now = now
        self._quiet_at: dict[Hashable, float] = {}
        self._sweep_at = _SWEEP_AT

    def take(self, key: Hashable) -> int:
        """Counts one ask.

        Returns:
            0 if it is allowed; otherwise (and then it is not counted) after how many milliseconds it would be.
        """
        now = self._now()
        quiet_at = max(self._quiet_at.get(key, now), now)
        early = quiet_at - now - self._slack
        if early > 1e-9:
            return math.ceil(early * 1000 - 1e-6)
        self._quiet_at[key] = quiet_at + self._interval
        if len(self._quiet_at) >= self._sweep_at:
            self._sweep(now)
        return 0

    def __len__(self) -> int:
        """Keys held in memory."""
        return len(self._quiet_at)

    def _sweep(self, now: float) -> None:
        self._quiet_at = {key: at for key, at in self._quiet_at.items() if at > now}
        # Never twice in a row: a sweep that frees little makes room first.
        self._sweep_at = max(_SWEEP_AT, 2 * len(self._quiet_at))
