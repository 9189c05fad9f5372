"""The matching rules as properties, against trying out all possibilities."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grimoire.quickplay import POLICY, Waiting, form_groups, is_legal
from grimoire.quickplay.pairing import Group

NOW_MS = 1_000_000

ages_ms = st.one_of(st.integers(0, 59_999), st.integers(0, 120_000), st.sampled_from([0, 59_999, 60_000, 60_001]))
ratings = st.integers(1000, 2000)


@st.composite
def queues(draw: st.DrawFn, most: int = 8) -> tuple[list[Waiting], int]:
    """Tickets of one queue and the number of seats."""
    seats = draw(st.integers(2, 5))
    sizes = st.just(1) if draw(st.booleans()) else st.integers(1, seats)
    rows = draw(st.lists(st.tuples(ages_ms, ratings, sizes), max_size=most))
    return [Waiting(NOW_MS - age, f"t{n}", rating, size) for n, (age, rating, size) in enumerate(rows)], seats


def legal_groups(tickets: list[Waiting], seats: int, now_ms: int = NOW_MS) -> list[Group]:
    """By trying out all."""
    return [
        group
        for size in range(1, seats + 1)
        for group in itertools.combinations(tickets, size)
        if is_legal(group, seats, now_ms, POLICY)
    ]


def ids(groups: list[Group]) -> list[str]:
    return [ticket.ticket_id for group in groups for ticket in group]


@settings(max_examples=150)
@given(queues())
def test_groups_are_legal_and_nobody_is_in_two(queue: tuple[list[Waiting], int]) -> None:
    tickets, seats = queue
    groups = form_groups(tickets, seats, NOW_MS, POLICY)
    assert all(is_legal(group, seats, NOW_MS, POLICY) for group in groups)
    assert len(ids(groups)) == len(set(ids(groups)))
    assert set(ids(groups)) <= {ticket.ticket_id for ticket in tickets}


@settings(max_examples=200)
@given(queues())
@example(([Waiting(NOW_MS, "a", 1500), Waiting(NOW_MS, "b", 1400), Waiting(NOW_MS, "c", 1600)], 3))
def test_while_a_legal_match_exists_one_is_formed(queue: tuple[list[Waiting], int]) -> None:
    assert_none_is_left(*queue)


@pytest.mark.slow
@settings(max_examples=5000)
@given(queues(most=9))
def test_while_a_legal_match_exists_one_is_formed_long(queue: tuple[list[Waiting], int]) -> None:
    assert_none_is_left(*queue)


def assert_none_is_left(tickets: list[Waiting], seats: int) -> None:
    formed = set(ids(form_groups(tickets, seats, NOW_MS, POLICY)))
    left = [ticket for ticket in tickets if ticket.ticket_id not in formed]
    assert legal_groups(left, seats) == []


@settings(max_examples=150)
@given(queues())
def test_the_oldest_that_can_play_at_all_plays_and_as_close_as_can_be(queue: tuple[list[Waiting], int]) -> None:
    tickets, seats = queue
    possible = legal_groups(tickets, seats)
    groups = form_groups(tickets, seats, NOW_MS, POLICY)
    if not possible:
        assert groups == []
        return
    oldest = min(min(group) for group in possible)
    assert groups[0][0] == oldest
    window = POLICY.window(NOW_MS - oldest.since_ms)
    if window < math.inf:
        assert _spread(groups[0]) == min(_spread(group) for group in possible if oldest in group)
    else:
        best = min(_reach(oldest, group) for group in possible if oldest in group)
        assert _reach(oldest, groups[0]) == best


@settings(max_examples=150)
@given(queues())
def test_a_due_ticket_is_passed_over_only_if_nobody_could_play_with_it(queue: tuple[list[Waiting], int]) -> None:
    tickets, seats = queue
    formed = set(ids(form_groups(tickets, seats, NOW_MS, POLICY)))
    left = [ticket for ticket in tickets if ticket.ticket_id not in formed]
    for due in left:
        if POLICY.window(NOW_MS - due.since_ms) == math.inf:
            others = [ticket for ticket in left if ticket is not due]
            sums = {sum(t.size for t in some) for n in range(seats) for some in itertools.combinations(others, n)}
            assert seats - due.size not in sums


@given(st.lists(st.integers(0, 200_000), min_size=2, max_size=2))
def test_windows_never_shrink(waited_ms: list[int]) -> None:
    shorter, longer = sorted(waited_ms)
    assert POLICY.window(shorter) <= POLICY.window(longer)
    assert POLICY.window(-longer) == POLICY.first_window


@given(queues(most=6), st.integers(0, 120_000))
def test_what_is_legal_stays_legal(queue: tuple[list[Waiting], int], later_ms: int) -> None:
    tickets, seats = queue
    now = legal_groups(tickets, seats)
    assert set(now) <= set(legal_groups(tickets, seats, NOW_MS + later_ms))


@given(queues(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(queue: tuple[list[Waiting], int], random: object) -> None:
    tickets, seats = queue
    shuffled = list(tickets)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert form_groups(shuffled, seats, NOW_MS, POLICY) == form_groups(tickets, seats, NOW_MS, POLICY)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nobody_starves_while_others_keep_coming(data: st.DataObject) -> None:
    """A stream of newcomers who suit each other better: the odd one out plays within its bound and one pass."""
    outsider = Waiting(0, "outsider", 3000)
    queue = [outsider]
    bound_ms = int((POLICY.anyone_after_s + POLICY.pass_every_s) * 1000)
    for now_ms in range(1000, bound_ms + 1, 1000):
        arrivals = data.draw(st.integers(2, 4)) if now_ms % 7000 == 0 or now_ms >= 58_000 else 0
        queue += [Waiting(now_ms, f"{now_ms}-{n}", 1500 + n) for n in range(arrivals)]
        played = set(ids(form_groups(queue, 2, now_ms, POLICY)))
        queue = [ticket for ticket in queue if ticket.ticket_id not in played]
        if outsider not in queue:
            return
    raise AssertionError("the outsider never played")


def test_a_party_that_fills_a_match_plays_each_other_at_once() -> None:
    friends, single = Waiting(NOW_MS, "friends", 1500, 2), Waiting(NOW_MS, "single", 1500)
    assert form_groups([single, friends], 2, NOW_MS, POLICY) == [(friends,)]


def test_a_party_that_fits_no_match_waits() -> None:
    assert form_groups([Waiting(0, "crowd", 1500, 3), Waiting(0, "single", 1500)], 2, NOW_MS, POLICY) == []


def _spread(group: Group) -> int:
    held = [ticket.rating for ticket in group]
    return max(held) - min(held)


def _reach(anchor: Waiting, group: Group) -> int:
    return max(abs(ticket.rating - anchor.rating) for ticket in group)
