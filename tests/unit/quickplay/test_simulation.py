"""The model queue: what it counts adds up, and more people wait less and play closer."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.quickplay import POLICY, Demand, Policy, Simulation

demands = st.builds(
    Demand,
    per_minute=st.sampled_from([0.0, 0.5, 3.0, 30.0]),
    rating_sd=st.sampled_from([0.0, 250.0, 600.0]),
    patience_s=st.sampled_from([20.0, 200.0]),
    ready=st.sampled_from([0.0, 0.6, 1.0]),
    seats=st.integers(2, 5),
    parties=st.sampled_from([0.0, 0.5]),
)


@settings(max_examples=30, deadline=None)
@given(demands, st.integers(0, 3))
def test_everybody_is_accounted_for(demand: Demand, seed: int) -> None:
    outcome = Simulation(demand, seed=str(seed)).run(20)
    assert outcome.matched + outcome.left + outcome.not_ready + outcome.waiting == outcome.arrived
    assert outcome.waiting >= 0
    assert outcome.matches * demand.seats >= outcome.matched, "a ticket takes at least one seat"
    assert outcome.matched >= outcome.matches
    if demand.ready == 1.0:
        assert outcome.failed_checks == outcome.not_ready == 0
    if demand.ready == 0.0:
        assert outcome.matches == 0
    if outcome.matched:
        assert outcome.wait_p50_s <= outcome.wait_p95_s <= outcome.wait_max_s
        assert outcome.gap_p50 <= outcome.gap_p95


def test_the_same_seed_gives_the_same_world() -> None:
    first, second, other = (Simulation(Demand(), seed=seed).run(60) for seed in ("7", "7", "8"))
    assert first == second
    assert first != other


def test_more_people_wait_less_and_play_closer() -> None:
    few, many = (Simulation(Demand(per_minute=rate)).run(240) for rate in (1, 40))
    assert many.wait_p50_s < few.wait_p50_s
    assert many.gap_p95 < few.gap_p95
    assert many.fill_rate > few.fill_rate


def test_with_everybody_patient_and_ready_only_the_last_are_left() -> None:
    outcome = Simulation(
        Demand(per_minute=6, patience_s=1e9, ready=1.0), msgspec.structs.replace(POLICY, ticket_s=1e9)
    ).run(60)
    assert outcome.fill_rate == 1.0
    assert outcome.left == 0
    # Due after a minute: then the next who comes will do; an answer takes at most the ready check's time.
    gap_between_arrivals_s = 60
    assert outcome.wait_max_s < POLICY.anyone_after_s + gap_between_arrivals_s + POLICY.ready_s


def test_nobody_comes() -> None:
    outcome = Simulation(Demand(per_minute=0)).run(5)
    assert (outcome.arrived, outcome.matches) == (0, 0)
    assert math.isnan(outcome.fill_rate)
    assert math.isnan(outcome.wait_p50_s)


def test_minutes_are_told_as_they_pass() -> None:
    assert list(Simulation(Demand(), Policy(pass_every_s=0.7)).minutes(5)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("field", ["first_window", "points_per_s"])
def test_wider_windows_wait_less(field: str) -> None:
    demand = Demand(per_minute=3, ready=1.0)
    narrow = Simulation(demand, msgspec.structs.replace(POLICY, **{field: 1})).run(240)
    wide = Simulation(demand, msgspec.structs.replace(POLICY, **{field: 400})).run(240)
    assert wide.wait_p50_s < narrow.wait_p50_s
