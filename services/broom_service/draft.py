"""A state under change: thawed, changed in place by `evolve.py`, and frozen again."""

from __future__ import annotations

from msgspec.structs import astuple

from broom_service.state import Fields, State

__all__ = ["Draft"]


class Draft(Fields, gc=False):
    """The fields of a `State`, open to change. Values are put in place of others, never changed themselves."""

    @classmethod
    def of(cls, state: State) -> Draft:
        """A draft that is equal to the state."""
        return cls(*astuple(state))

    def freeze(self) -> State:
        """The state as it is now."""
        return State(*astuple(self))
