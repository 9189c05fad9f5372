"""Tails of distributions, against tables and against closed forms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.fairness.statistics import chi_squared_tail, normal_tails


@pytest.mark.parametrize(
    ("value", "degrees", "tail"),
    [
        # Quantiles of the chi-squared distribution as printed tables have them.
        (3.841459, 1, 0.05),
        (10.827566, 1, 0.001),
        (0.102587, 2, 0.95),
        (11.070498, 5, 0.05),
        (18.307038, 10, 0.05),
        (23.209251, 10, 0.01),
        (43.772972, 30, 0.05),
        (124.342113, 100, 0.05),
        (149.449253, 100, 0.001),
        (1074.679449, 1000, 0.05),
    ],
)
def test_quantiles_of_printed_tables(value: float, degrees: int, tail: float) -> None:
    assert chi_squared_tail(value, degrees) == pytest.approx(tail, rel=2e-6)


@given(value=st.floats(0, 400), half=st.integers(1, 100))
def test_even_degrees_are_a_sum_of_poisson_terms(value: float, half: int) -> None:
    x = value / 2
    expected = math.fsum(
        math.exp(-x + i * math.log(x) - math.lgamma(i + 1)) if x else float(i == 0) for i in range(half)
    )
    assert chi_squared_tail(value, 2 * half) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@given(value=st.floats(1e-6, 400), degrees=st.integers(1, 199))
def test_two_degrees_more_add_one_term(value: float, degrees: int) -> None:
    a, x = degrees / 2, value / 2
    term = math.exp(a * math.log(x) - x - math.lgamma(a + 1))
    assert chi_squared_tail(value, degrees + 2) == pytest.approx(
        chi_squared_tail(value, degrees) + term, rel=1e-9, abs=1e-13
    )


@given(value=st.floats(0, 400))
def test_one_degree_is_a_squared_normal(value: float) -> None:
    assert chi_squared_tail(value, 1) == pytest.approx(normal_tails(math.sqrt(value)), rel=1e-9, abs=1e-13)


@given(value=st.floats(0, 1e9), degrees=st.integers(1, 10**6))
def test_a_tail_is_a_probability(value: float, degrees: int) -> None:
    assert 0 <= chi_squared_tail(value, degrees) <= 1


def test_in_the_middle_of_very_many_degrees_the_tail_is_near_a_half() -> None:
    assert chi_squared_tail(4_000_000, 4_000_000) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(("value", "degrees"), [(-1.0, 3), (1.0, 0), (1.0, -2)])
def test_what_is_no_chi_squared_is_refused(value: float, degrees: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        chi_squared_tail(value, degrees)
