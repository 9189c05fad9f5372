"""Who plays whom: the tickets of one queue at one moment, turned into groups that fill a match.

A group is legal if its members fill the seats exactly, and either their ratings lie within the window of the member who
has waited least (so everybody's window holds), or one of them is due (has waited so long that anybody will do).

Tickets are served in the order of their waiting. Two things follow, and are tested as properties: as long as a legal
group exists, another is formed; and a ticket that is due is passed over only if no group can hold it at all, whatever
the ratings.
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from grimoire.quickplay.policy import Policy

__all__ = ["Group", "Waiting", "form_groups", "is_legal"]


class Waiting(msgspec.Struct, frozen=True, order=True):
    """A ticket, as far as matching looks at it. Sorts by waiting, the longest first.

    Attributes:
        since_ms: when the waiting began, UTC ms.
        ticket_id: of the ticket.
        rating: in points; of a party, the mean of its members.
        size: how many seats it takes.
    """

    since_ms: int
    ticket_id: str
    rating: int
    size: int = 1


Group = tuple[Waiting, ...]


def is_legal(group: Sequence[Waiting], seats: int, now_ms: int, policy: Policy) -> bool:
    """Whether these tickets may play a match together at this moment.

    >>> ada, bo = Waiting(0, "ada", 1500), Waiting(0, "bo", 1700)
    >>> [is_legal([ada, bo], 2, ms, Policy()) for ms in (0, 9_999, 10_000)]
    [False, False, True]
    """
    if sum(ticket.size for ticket in group) != seats:
        return False
    ratings = [ticket.rating for ticket in group]
    windows = [policy.window(now_ms - ticket.since_ms) for ticket in group]
    return max(windows) == math.inf or max(ratings) - min(ratings) <= min(windows)


def form_groups(tickets: Iterable[Waiting], seats: int, now_ms: int, policy: Policy) -> list[Group]:
    """Matches that can be made now, no ticket in two of them.

    The ticket that has waited longest chooses first: of all legal groups that hold it, the one with the ratings closest
    together (if it is due: closest to its own). Then the next that is still there.

    Args:
        tickets: of one queue, each once.
        seats: of a match.
        now_ms: UTC ms.
        policy: the numbers.

    Returns:
        Groups in the order in which they were chosen, each beginning with the ticket that chose.

    >>> queue = [Waiting(0, "ada", 1500), Waiting(0, "bo", 1590), Waiting(0, "eve", 1520)]
    >>> [[t.ticket_id for t in group] for group in form_groups(queue, 2, 0, Policy())]
    [['ada', 'eve']]
    """
    by_age = sorted(ticket for ticket in tickets if 0 < ticket.size <= seats)
    free = _Free(by_age)
    groups = []
    for anchor in by_age:
        if anchor not in free:
            continue
        # If no group holds it now, none will in this pass: the others only become fewer.
        free.remove(anchor)
        group = _group_of(anchor, free, seats, now_ms, policy)
        if group is not None:
            groups.append(group)
            for ticket in group[1:]:
                free.remove(ticket)
    return groups


class _Free:
    """Tickets that nobody has chosen yet, by rating."""

    def __init__(self, tickets: Iterable[Waiting]) -> None:
        self._by_rating = sorted((ticket.rating, ticket) for ticket in tickets)

    def __contains__(self, ticket: Waiting) -> bool:
        at = bisect.bisect_left(self._by_rating, (ticket.rating, ticket))
        return at < len(self._by_rating) and self._by_rating[at][1] == ticket

    def remove(self, ticket: Waiting) -> None:
        del self._by_rating[bisect.bisect_left(self._by_rating, (ticket.rating, ticket))]

    def within(self, rating: int, points: float) -> Iterator[Waiting]:
        """Those so near to a rating, in the order of their ratings."""
        first = bisect.bisect_left(self._by_rating, rating - points, key=lambda pair: pair[0])
        for its_rating, ticket in self._by_rating[first:]:
            if its_rating > rating + points:
                return
            yield ticket


def _group_of(anchor: Waiting, free: _Free, seats: int, now_ms: int, policy: Policy) -> Group | None:
    """The best legal group of this ticket and free ones, all of which have waited no longer than it."""
    if anchor.size == seats:
        return (anchor,)
    window = policy.window(now_ms - anchor.since_ms)
    near = free.within(anchor.rating, window)
    if window == math.inf:
        nearest_first = sorted(near, key=lambda ticket: (abs(ticket.rating - anchor.rating), ticket))
        return _filled((anchor,), nearest_first, seats)
    accepting = [
        (ticket, its_window)
        for ticket in near
        if abs(ticket.rating - anchor.rating) <= (its_window := policy.window(now_ms - ticket.since_ms))
    ]
    if _filled((anchor,), [ticket for ticket, _ in accepting], seats) is None:
        return None
    return _closest(anchor, window, accepting, seats)


def _closest(anchor: Waiting, window: float, others: Sequence[tuple[Waiting, float]], seats: int) -> Group | None:
    """Of the groups whose ratings lie within the windows of all members, the one with the least spread."""
    row = sorted([(anchor, window), *others], key=lambda pair: (pair[0].rating, pair[0]))
    at = next(index for index, (ticket, _) in enumerate(row) if ticket == anchor)
    # Every stretch of the row that holds the anchor, the narrowest first.
    stretches = [(0, at, at)]
    seen = {(at, at)}
    while stretches:
        spread, low, high = heapq.heappop(stretches)
        group = _within(anchor, row[low : high + 1], spread, seats)
        if group is not None:
            return group
        for wider in ((low - 1, high), (low, high + 1)):
            if wider not in seen and wider[0] >= 0 and wider[1] < len(row):
                seen.add(wider)
                heapq.heappush(stretches, (row[wider[1]][0].rating - row[wider[0]][0].rating, *wider))
    return None


def _within(anchor: Waiting, stretch: Sequence[tuple[Waiting, float]], spread: int, seats: int) -> Group | None:
    """A group of the anchor, both ends of a stretch, and whom of the others it needs."""
    fixed = [anchor]
    for ticket, its_window in (stretch[0], stretch[-1]):
        if its_window < spread:
            return None
        if ticket not in fixed:
            fixed.append(ticket)
    between = sorted(ticket for ticket, its_window in stretch[1:-1] if its_window >= spread and ticket not in fixed)
    return _filled(tuple(fixed), between, seats)


def _filled(fixed: Group, others: Iterable[Waiting], seats: int) -> Group | None:
    """These tickets and as many of the others, the first ones first, as fill the seats exactly; None: they cannot."""
    taken = sum(ticket.size for ticket in fixed)
    reached: dict[int, Group] = {taken: fixed} if taken <= seats else {}
    if seats in reached:
        return fixed
    for ticket in others:
        for sum_, group in sorted(reached.items(), reverse=True):
            after = sum_ + ticket.size
            if after == seats:
                return (*group, ticket)
            if after < seats:
                reached.setdefault(after, (*group, ticket))
    return None
