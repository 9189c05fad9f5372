"""A state under change: thawed, changed in place by `evolve.py`, and frozen again."""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import astuple

from broom_service.state import Fields, State

__all__ = ["Draft", "put", "without"]

T = TypeVar("T")


class Draft(Fields, gc=False):
    """The fields of a `State`, open to change. Values are put in place of others, never changed themselves."""

    @classmethod
    def of(cls, state: State) -> Draft:
        """A draft that is equal to the state."""
        return cls(*astuple(state))

    def freeze(self) -> State:
        """The state as it is now."""
        return State(*astuple(self))


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
