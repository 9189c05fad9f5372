"""Quick play in a model world: people come, wait, are matched by the real policy, answer or not, and lose patience."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator, Sequence

import msgspec

from grimoire.quickplay.pairing import Group, Waiting, form_groups
from grimoire.quickplay.policy import POLICY, Policy

__all__ = ["Demand", "Outcome", "Simulation"]

_SLOWEST_ANSWER: float = 0.9
"""Whoever answers a ready check does so within this part of its time."""


class Demand(msgspec.Struct, frozen=True, kw_only=True):
    """Who comes.

    Attributes:
        per_minute: tickets that arrive in a minute, on average (Poisson).
        rating_mean, rating_sd: of their ratings, in points (normal).
        patience_s: how long people wait before they leave, on average (exponential).
        ready: part of the ready checks that a ticket answers with yes; the others it lets pass.
        answer_s: how long an answer takes, on average (exponential).
        seats: of a match.
        parties: part of the tickets that are parties of two, where a match has more seats.
    """

    per_minute: float = 4.0
    rating_mean: float = 1500.0
    rating_sd: float = 250.0
    patience_s: float = 180.0
    ready: float = 0.95
    answer_s: float = 4.0
    seats: int = 2
    parties: float = 0.0


class Outcome(msgspec.Struct, frozen=True):
    """What came of it. Times in seconds, gaps in points (highest less lowest rating of a match); NaN where nothing was.

    Attributes:
        arrived: tickets that came.
        matched: of these, those that got their match.
        left: those that lost patience, or whose time ran out.
        not_ready: those that did not answer a ready check.
        waiting: those still there at the end.
        matches: that were made.
        failed_checks: ready checks that somebody did not answer.
        wait_p50_s, wait_p95_s, wait_max_s: from arrival to the match, of the matched.
        gap_p50, gap_p95: of the matches.
        fill_rate: matched, of those whose search has ended.
    """

    arrived: int
    matched: int
    left: int
    not_ready: int
    waiting: int
    matches: int
    failed_checks: int
    wait_p50_s: float
    wait_p95_s: float
    wait_max_s: float
    gap_p50: float
    gap_p95: float
    fill_rate: float


class _Check(msgspec.Struct, frozen=True, order=True):
    ends_ms: int
    number: int
    group: Group
    absent: frozenset[str]


class Simulation:
    """A model queue.

    Args:
        demand: who comes.
        policy: by which numbers they are matched.
        seed: the same seed gives the same people.
    """

    def __init__(self, demand: Demand, policy: Policy = POLICY, seed: str = "0") -> None:
        self._demand = demand
        self._policy = policy
        self._random = random.Random(seed)  # noqa: S311 - a model, not a secret
        self._queue: dict[str, Waiting] = {}
        self._leaves_ms: dict[str, int] = {}
        self._checks: list[_Check] = []
        self._arrived = self._left = self._not_ready = self._failed = self._checked = 0
        self._waits_s: list[float] = []
        self._gaps: list[int] = []

    def run(self, minutes: int) -> Outcome:
        """Lets the world run for so long.

        >>> outcome = Simulation(Demand(per_minute=60)).run(10)
        >>> outcome.matched + outcome.left + outcome.not_ready + outcome.waiting == outcome.arrived
        True
        """
        for _ in self.minutes(minutes):
            pass
        return self.outcome()

    def minutes(self, minutes: int) -> Iterator[int]:
        """The same minute by minute, for whoever wants to show how far it is; yields how many have passed."""
        every_ms = int(self._policy.pass_every_s * 1000)
        arrivals = self._arrivals_ms(minutes * 60_000)
        next_ms, now_ms = next(arrivals, math.inf), every_ms
        for minute in range(1, minutes + 1):
            while now_ms <= minute * 60_000:
                while next_ms <= now_ms:
                    self._arrive(int(next_ms))
                    next_ms = next(arrivals, math.inf)
                self._pass(now_ms)
                now_ms += every_ms
            yield minute

    def outcome(self) -> Outcome:
        """What has come of it so far."""
        matched = len(self._waits_s)
        ended = matched + self._left + self._not_ready
        return Outcome(
            arrived=self._arrived,
            matched=matched,
            left=self._left,
            not_ready=self._not_ready,
            waiting=self._arrived - ended,
            matches=len(self._gaps),
            failed_checks=self._failed,
            wait_p50_s=_quantile(self._waits_s, 0.5),
            wait_p95_s=_quantile(self._waits_s, 0.95),
            wait_max_s=_quantile(self._waits_s, 1.0),
            gap_p50=_quantile(self._gaps, 0.5),
            gap_p95=_quantile(self._gaps, 0.95),
            fill_rate=matched / ended if ended else math.nan,
        )

    # ---- what happens ----------------------------------------------------------------------------------------------

    def _arrivals_ms(self, until_ms: int) -> Iterator[float]:
        at_ms = 0.0
        while self._demand.per_minute > 0:
            at_ms += self._random.expovariate(self._demand.per_minute / 60_000)
            if at_ms > until_ms:
                return
            yield at_ms

    def _arrive(self, now_ms: int) -> None:
        demand = self._demand
        self._arrived += 1
        size = 2 if demand.seats > 2 and self._random.random() < demand.parties else 1
        rating = round(self._random.gauss(demand.rating_mean, demand.rating_sd))
        ticket = Waiting(now_ms, f"{self._arrived:09}", rating, size)
        patience_s = min(self._random.expovariate(1 / demand.patience_s), self._policy.ticket_s)
        self._queue[ticket.ticket_id] = ticket
        self._leaves_ms[ticket.ticket_id] = now_ms + round(patience_s * 1000)

    def _pass(self, now_ms: int) -> None:
        while self._checks and self._checks[0].ends_ms <= now_ms:
            self._settle(heapq.heappop(self._checks))
        for ticket_id in [t for t in self._queue if self._leaves_ms[t] <= now_ms]:
            del self._queue[ticket_id]
            self._left += 1
        for group in form_groups(self._queue.values(), self._demand.seats, now_ms, self._policy):
            for ticket in group:
                del self._queue[ticket.ticket_id]
            heapq.heappush(self._checks, self._check(group, now_ms))

    def _check(self, group: Group, now_ms: int) -> _Check:
        demand, ready_s = self._demand, self._policy.ready_s
        absent = frozenset(t.ticket_id for t in group if self._random.random() >= demand.ready)
        answers = (self._random.expovariate(1 / demand.answer_s) for _ in group)
        slowest_s = min(max(answers), ready_s * _SLOWEST_ANSWER)
        self._checked += 1
        ends_ms = now_ms + round((ready_s if absent else slowest_s) * 1000)
        return _Check(ends_ms, self._checked, group, absent)

    def _settle(self, check: _Check) -> None:
        """The match is made; or who was ready waits on, as long as it has waited already."""
        if check.absent:
            self._failed += 1
            self._not_ready += len(check.absent)
            self._queue.update((t.ticket_id, t) for t in check.group if t.ticket_id not in check.absent)
            return
        ratings = [ticket.rating for ticket in check.group]
        self._gaps.append(max(ratings) - min(ratings))
        self._waits_s.extend((check.ends_ms - ticket.since_ms) / 1000 for ticket in check.group)


def _quantile(values: Sequence[float], part: float) -> float:
    """The least value that so large a part does not exceed (nearest rank).

    >>> _quantile([4, 1, 3, 2], 0.5), _quantile([4, 1, 3, 2], 0.95)
    (2, 4)
    """
    if not values:
        return math.nan
    return sorted(values)[max(math.ceil(part * len(values)), 1) - 1]
