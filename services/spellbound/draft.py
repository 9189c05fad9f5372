"""A state under change: thawed, changed in place by `evolve.py`, and frozen again."""

from __future__ import annotations

from msgspec.structs import astuple

from spellbound.places import FIRST_VILLAGE, NOWHERE
from spellbound.state import Fields, State

__all__ = ["Draft", "face_up_at"]


class Draft(Fields, gc=False):
    """The fields of a `State`, open to change. Values are put in place of others, never changed themselves."""

    @classmethod
    def of(cls, state: State) -> Draft:
        """A draft that is equal to the state."""
        return cls(*astuple(state))

    def freeze(self) -> State:
        """The state as it is now."""
        return State(*astuple(self))


def face_up_at(fields: Fields, card: str) -> int:
    """Place of the village where this card lies face up, or `NOWHERE`."""
    if card in fields.villages:
        index = fields.villages.index(card)
        if fields.face_up[index]:
            return FIRST_VILLAGE + index
    return NOWHERE
