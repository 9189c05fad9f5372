"""The sums over a span of the log, with those matches looked after that have not ended yet."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from grimoire.fairness.transparency.summary import Story, Summary, allowed_until, read_stories, summarise
from grimoire.v1 import frame_pb2
from replay.refusals import RefusalKind, Refused
from replay.transparency.limits import LogLimits
from replay.transparency.log import TransparencyLog

__all__ = ["Census"]

_AT_ONCE: Final = 16


class Census:
    """Counts.

    Args:
        log: what was promised.
        head: a match's head from the service that plays it; None: no service knows it.
        now_ms: the time, UTC ms.
        limits: how much is counted at once.
    """

    def __init__(
        self,
        log: TransparencyLog,
        head: Callable[[str], Awaitable[frame_pb2.MatchHead | None]],
        now_ms: Callable[[], int],
        limits: LogLimits,
    ) -> None:
        self._store = log
        self._head = head
        self._now_ms = now_ms
        self._limits = limits

    async def summary(self, first: int, last: int) -> Summary:
        """The sums over the matches whose commit leaf lies between two places of the log (`last` is not among them).

        Raises:
            Refused: too much at once, or a game does not answer.
            LogUnavailableError: the log cannot be read.
        """
        leaves = await self._store.stories(first, last)
        stories = list((await asyncio.to_thread(read_stories, leaves)).values())
        allowed = await self._allowed([story for story in stories if self._is_open(story)])
        return summarise(stories, self._now_ms(), allowed)

    def _is_open(self, story: Story) -> bool:
        return story.awaits is not None and self._now_ms() > story.young_until_ms

    async def _allowed(self, stories: Sequence[Story]) -> dict[str, int]:
        if len(stories) > self._limits.summary_heads:
            raise Refused(
                RefusalKind.BUSY,
                "too_large",
                f"More than {self._limits.summary_heads} matches of this span are open; ask for a smaller one.",
            )
        gate = asyncio.Semaphore(_AT_ONCE)

        async def ask(story: Story) -> tuple[str, int]:
            async with gate:
                head = await self._head(story.match_id)
            return story.match_id, 0 if head is None else allowed_until(head)

        return dict(await asyncio.gather(*map(ask, stories)))
