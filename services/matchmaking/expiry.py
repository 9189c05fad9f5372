"""The clock of open challenges. Its facts are in the logs; this only wakes up for them."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable

from grimoire.eventstore import Unavailable
from matchmaking.alarms import Alarms
from matchmaking.challenge import Challenge, Expire, Stage
from matchmaking.creation import pauses_s
from matchmaking.errands import Errands
from matchmaking.ledger import Ledger
from matchmaking.log import Record

__all__ = ["Expiry"]


class Expiry:
    """Writes down that an open challenge's time is up.

    Args:
        ledger: the challenges.
        errands: where the work is done.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(self, ledger: Ledger, errands: Errands, now_ms: Callable[[], int]) -> None:
        self._ledger = ledger
        self._errands = errands
        self._clock = Alarms(now_ms, self._due)

    def resume(self) -> None:
        """Sets the clock for all open challenges; those whose time is up already are seen to at once."""
        for challenge in self._ledger.live:
            self._set(challenge)

    def stop(self) -> None:
        """Wakes for nothing any more."""
        self._clock.stop()

    def heed(self, record: Record, _own: bool) -> None:
        """A challenge has changed."""
        self._set(record.challenge)

    def _set(self, challenge: Challenge) -> None:
        self._clock.set(challenge.challenge_id, challenge.expires_ms if challenge.stage is Stage.OPEN else None)

    def _due(self, challenge_ids: list[str]) -> None:
        for challenge_id in challenge_ids:
            self._errands.send(("expire", challenge_id), functools.partial(self._expire, challenge_id))

    async def _expire(self, challenge_id: str) -> None:
        for pause_s in pauses_s():
            try:
                await self._ledger.act(challenge_id, Expire())
            except Unavailable:
                await asyncio.sleep(pause_s)
            else:
                return
