"""Fair shares: whoever works them out alone, from the same facts, fits the others."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.eventstore import PARTITIONS, Instance, Owner
from grimoire.runtime.shares import Shares, shares, targets

STALE_MS = 2_000
NOW_MS = 100_000

Holdings = dict[int, str | None]
NAMES = ("a", "b", "c", "d", "e")


def facts(holdings: Holdings, silent: frozenset[str] = frozenset()) -> list[Owner]:
    return [Owner(p, who, f"{who}:1", 1, NOW_MS - (STALE_MS if who in silent else 0)) for p, who in holdings.items()]


def share(holdings: Holdings, alive: list[str], me: str, silent: frozenset[str] = frozenset()) -> Shares:
    return shares(
        facts(holdings, silent),
        [Instance(one, NOW_MS) for one in alive],
        me,
        {p for p, who in holdings.items() if who == me},
        NOW_MS,
        stale_after_ms=STALE_MS,
        silent_after_ms=1_000,
    )


alive = st.lists(st.sampled_from(NAMES), min_size=1, unique=True)
anything = st.dictionaries(st.integers(0, PARTITIONS - 1), st.sampled_from((*NAMES, None)))


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, PARTITIONS), min_size=1))
def test_targets_fill_everything_evenly(counts: dict[str, int]) -> None:
    wanted = targets(counts)
    assert wanted.keys() == counts.keys()
    assert sum(wanted.values()) == PARTITIONS
    assert max(wanted.values()) - min(wanted.values()) <= 1


@given(anything, alive)
def test_from_the_same_facts_nobody_claims_what_another_claims_or_holds(holdings: Holdings, alive: list[str]) -> None:
    silent = frozenset(NAMES) - frozenset(alive)
    claims = Counter[int]()
    for me in alive:
        mine = share(holdings, alive, me, silent)
        claims.update(mine.claim)
        assert not mine.claim or not mine.release
        assert set(mine.release) <= {p for p, who in holdings.items() if who == me}
        assert all(holdings.get(p) in (None, *silent) for p in mine.claim)
    assert all(count == 1 for count in claims.values())


@settings(max_examples=200)
@given(anything, alive, st.randoms(use_true_random=False))
def test_acting_one_after_the_other_all_come_to_rest_in_balance(
    holdings: Holdings, alive: list[str], rng: random.Random
) -> None:
    """Each sees what the others have done so far; within a few rounds nobody wants anything more."""
    silent = frozenset(NAMES) - frozenset(alive)
    moved = 0
    excess = sum(max(0, n - PARTITIONS // len(alive)) for n in Counter(holdings.values()).values())
    for _ in range(4):
        rng.shuffle(alive)
        for me in alive:
            mine = share(holdings, alive, me, silent)
            moved += len(mine.release)
            holdings |= dict.fromkeys(mine.release) | dict.fromkeys(mine.claim, me)
    counts = Counter(holdings.values())
    assert set(counts) == set(alive)
    assert max(counts.values()) - min(counts.values()) <= 1
    assert all(share(holdings, alive, me, silent) == Shares() for me in alive)
    # Nothing is moved that could have stayed.
    assert moved <= excess


@settings(max_examples=200)
@given(anything, alive, st.data())
def test_acting_on_old_facts_all_come_to_rest_in_balance(
    holdings: Holdings, alive: list[str], data: st.DataObject
) -> None:
    """Everybody looks, then everybody acts, and the store lets the first claim win."""
    silent = frozenset(NAMES) - frozenset(alive)
    for _ in range(6):
        plans = {me: share(holdings, alive, me, silent) for me in alive}
        for me in data.draw(st.permutations(alive)):
            for p in plans[me].release:
                if holdings.get(p) == me:
                    holdings[p] = None
            for p in plans[me].claim:
                if holdings.get(p) in (None, *silent):
                    holdings[p] = me
    counts = Counter(holdings.values())
    assert set(counts) == set(alive)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_claim_whose_answer_was_lost_is_claimed_again() -> None:
    owners = [Owner(p, "a", "a:1", 1, NOW_MS) for p in range(PARTITIONS)]
    plan = shares(owners, [], "a", range(60), NOW_MS, stale_after_ms=STALE_MS, silent_after_ms=1_000)
    assert plan.claim == (60, 61, 62, 63)


def test_it_says_when_a_silent_owners_partitions_become_free() -> None:
    owners = [Owner(p, "b", "b:1", 1, NOW_MS - 1_400 - p) for p in range(PARTITIONS)]
    plan = shares(owners, [], "a", (), NOW_MS, stale_after_ms=STALE_MS, silent_after_ms=1_000)
    assert plan == Shares(soonest_ms=NOW_MS + 600 - 63)


def test_an_instance_that_has_fallen_silent_gets_nothing() -> None:
    plan = shares(
        [], [Instance("b", NOW_MS - STALE_MS)], "a", (), NOW_MS, stale_after_ms=STALE_MS, silent_after_ms=1_000
    )
    assert len(plan.claim) == PARTITIONS
