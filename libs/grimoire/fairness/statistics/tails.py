"""How likely chance alone is to go so far: the tails of two distributions."""

from __future__ import annotations

import math
from typing import Final

__all__ = ["chi_squared_tail", "normal_tails"]

_MOST_STEPS: Final = 100_000
_EPSILON: Final = 1e-15
_TINY: Final = 1e-300


def chi_squared_tail(value: float, degrees: int) -> float:
    """P(X ≥ value) for chi-squared X: the regularised upper incomplete gamma function Q(degrees/2, value/2).

    By its series below the middle, by its continued fraction above it (modified Lentz).

    Args:
        value: at least 0.
        degrees: of freedom, at least 1.

    >>> round(chi_squared_tail(3.841, 1), 4), round(chi_squared_tail(18.307, 10), 4)
    (0.05, 0.05)
    """
    if value < 0 or degrees < 1:
        raise ValueError("chi-squared has a value of at least 0 and at least one degree of freedom")
    a, x = degrees / 2, value / 2
    if x == 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    tail = 1.0 - scale * _series(a, x) if x < a + 1 else scale * _fraction(a, x)
    return min(1.0, max(0.0, tail))


def _series(a: float, x: float) -> float:
    term = total = 1 / a
    for step in range(1, _MOST_STEPS):
        term *= x / (a + step)
        total += term
        if term < total * _EPSILON:
            break
    return total


def _fraction(a: float, x: float) -> float:
    b = x + 1 - a
    c = 1 / _TINY
    d = 1 / b
    total = d
    for step in range(1, _MOST_STEPS):
        factor = -step * (step - a)
        b += 2
        d = factor * d + b
        d = 1 / (d if abs(d) > _TINY else _TINY)
        c = b + factor / c
        c = c if abs(c) > _TINY else _TINY
        change = c * d
        total *= change
        if abs(change - 1) < _EPSILON:
            break
    return total


def normal_tails(z: float) -> float:
    """P(|Z| ≥ |z|) for a standard normal Z.

    >>> round(normal_tails(-1.96), 3)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))
