"""Tuples with one value changed: a draft of a state puts values in place of others and changes none."""

from __future__ import annotations

from typing import TypeVar

__all__ = ["put", "without"]

T = TypeVar("T")


def put(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """The values with another one at this index.

    >>> put((1, 2, 3), 1, 9)
    (1, 9, 3)
    """
    return (*values[:index], value, *values[index + 1 :])


def without(values: tuple[T, ...], value: T) -> tuple[T, ...]:
    """The values without this one, which occurs once.

    >>> without(("a", "b", "c"), "b")
    ('a', 'c')
    """
    index = values.index(value)
    return values[:index] + values[index + 1 :]
