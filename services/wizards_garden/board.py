"""The yard (WG-2.6): spaces by index, what touches what, and what each space is."""

from __future__ import annotations

from typing import Final

from wizards_garden.catalogue import DATA
from wizards_garden.pieces import COLOURS, PIECE_INDEX

__all__ = [
    "ADJACENT",
    "DEPOSITS",
    "FOR_GNOMES",
    "FOR_PESTS",
    "IS_DEPOSIT",
    "IS_PIT",
    "PITS",
    "SPACES",
    "SPACE_INDEX",
    "START",
    "TERRACE",
    "TERRACE_DEPOSIT",
    "group_id",
]

SPACES: Final = tuple(space.id for space in DATA.board.spaces)
SPACE_INDEX: Final = {space: index for index, space in enumerate(SPACES)}
ADJACENT: Final = tuple(tuple(SPACE_INDEX[a] for a in space.adjacent) for space in DATA.board.spaces)
IS_PIT: Final = tuple(space.kind == "pit" for space in DATA.board.spaces)
IS_DEPOSIT: Final = tuple(space.has_deposit for space in DATA.board.spaces)
PITS: Final = tuple(index for index, pit in enumerate(IS_PIT) if pit)
DEPOSITS: Final = tuple(index for index, deposit in enumerate(IS_DEPOSIT) if deposit)
"""All nine, in the order of the spaces."""

TERRACE: Final = tuple(
    -1 if space.terrace_owner is None else COLOURS.index(space.terrace_owner) for space in DATA.board.spaces
)
"""Whose terrace each space belongs to; -1: nobody's (WG-2.7)."""

TERRACE_DEPOSIT: Final = (
    SPACE_INDEX[DATA.board.terrace_deposit.blue],
    SPACE_INDEX[DATA.board.terrace_deposit.red],
)
"""By seat."""

START: Final = tuple(
    (PIECE_INDEX[gnome], SPACE_INDEX[space])
    for places in (DATA.board.start.blue, DATA.board.start.red)
    for space, gnome in places.items()
)
"""Gnome and space (WG-3.2)."""

FOR_PESTS: Final = tuple(not pit and owner < 0 for pit, owner in zip(IS_PIT, TERRACE, strict=True))
"""Where pests, pairs, fish fire and a Doll's gnome may ever stand: no pit, no terrace (WG-2.9)."""

FOR_GNOMES: Final = tuple(
    tuple(not pit and owner in (-1, seat) for pit, owner in zip(IS_PIT, TERRACE, strict=True)) for seat in range(2)
)
"""Where a seat's gnomes may ever stand (WG-2.9)."""

_GROUP_IDS: Final = {
    (origin, target): f"{SPACES[origin]}>{SPACES[target]}"
    for origin in range(len(SPACES))
    for target in ADJACENT[origin]
}


def group_id(origin: int, target: int) -> str:
    """The id of the threat over this border (WG-8.2).

    >>> group_id(SPACE_INDEX["a3"], SPACE_INDEX["a4"])
    'a3>a4'
    """
    return _GROUP_IDS[origin, target]
