"""How much one account may ask of the lobby, and how much the lobby holds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

import msgspec

from grimoire.quickplay import POLICY, Policy

__all__ = ["Limits", "Pace"]

_SWEEP_AT: Final = 4096


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of the lobby, and its rhythm.

    Attributes:
        open_per_account: open challenges of one account.
        open_total: open challenges in all.
        matches_per_account: matches of one account that are not over.
        asks_per_s, asks_at_once: rate and burst of what makes or takes a challenge, for one account.
        watches_per_account: streams of one account: challenges, tickets and parties.
        expires_s: how long a challenge stays open.
        rematch_s: how long after the end of a match its rematch can be asked for.
        created_s: how long the answer to who filled a challenge waits for its match.
        look_round_s: seconds between looks for what was missed.
        others_s: what another instance has begun to create is left to it for so long.
        policy: by which numbers quick play matches.
        lease_s: how long an instance that is gone keeps the right to form a queue's matches.
        bots_s: how long an instance of bots that has gone silent keeps its seats, at least.
        news_s: a stream looks for itself so often, should a piece of news have been lost.
        party_s: how long a party lasts.
        kept_s: how long tickets can be looked at after their end.
    """

    open_per_account: int = 5
    open_total: int = 10_000
    matches_per_account: int = 1_000
    asks_per_s: float = 5.0
    asks_at_once: int = 30
    watches_per_account: int = 64
    expires_s: float = 3600.0
    rematch_s: float = 600.0
    created_s: float = 3.0
    look_round_s: float = 60.0
    others_s: float = 5.0
    policy: Policy = POLICY
    lease_s: float = 10.0
    bots_s: float = 6.0
    news_s: float = 5.0
    party_s: float = 24 * 3600.0
    kept_s: float = 24 * 3600.0


class Pace:
    """A steady rate with room for a burst, by key (generic cell rate algorithm, ITU-T I.371).

    Args:
        per_s: asks per second that never run dry.
        at_once: asks that may come in a burst.
        now_s: seconds of a clock that never goes back.

    >>> clock = iter([0.0, 0.0, 0.0]).__next__
    >>> pace = Pace(per_s=10, at_once=2, now_s=clock)
    >>> [pace.wait_ms("ada") for _ in range(3)]
    [0, 0, 100]
    """

    def __init__(self, per_s: float, at_once: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._interval_s = 1 / per_s
        self._slack_s = (at_once - 1) / per_s
        self._now_s = now_s
        # By key: when it will have been quiet long enough to count as new.
        self._quiet_at: dict[str, float] = {}

    def wait_ms(self, key: str) -> int:
        """Counts one ask; 0 if it is allowed, otherwise (not counted) milliseconds until it would be."""
        now = self._now_s()
        quiet_at = max(self._quiet_at.get(key, now), now)
        early_s = quiet_at - now - self._slack_s
        if early_s > 1e-9:
            return math.ceil(early_s * 1000)
        if len(self._quiet_at) >= _SWEEP_AT:
            self._quiet_at = {k: at for k, at in self._quiet_at.items() if at > now}
        self._quiet_at[key] = quiet_at + self._interval_s
        return 0
