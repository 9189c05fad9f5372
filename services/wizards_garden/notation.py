"""Pieces as words: `B@a4*fire`, `PP@a3`, `PB@c3`, `F3@c4`, `w2@a4`, and threats: `a3>a4`, `PP@b3>a3`.

`B`, `R`: a gnome of blue, of red; `P`, `PP`: one pest, two; `PB`, `PR`: a possessed pair; `F3`: three crystals of fish
fire; `w2`: two water. `*fire` after a gnome: it bears the bright fire lantern; `~fire`: the dim one.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from grimoire.engine.written import PositionError

__all__ = ["Placed", "PositionError", "Threat", "read_placed", "read_threat"]

_SEATS: Final = {"B": 0, "R": 1}
_GNOME: Final = re.compile(r"(?P<seat>[BR])@(?P<space>[a-z]\d)(?:(?P<light>[*~])(?P<lantern>[a-z]+))?")
_PESTS: Final = re.compile(r"(?P<pests>PP?)(?P<seat>[BR]?)@(?P<space>[a-z]\d)")
_CRYSTALS: Final = re.compile(r"(?P<what>[Fw])(?P<amount>\d)@(?P<space>[a-z]\d)")
_THREAT: Final = re.compile(r"(?:(?P<pieces>[BR1]|PP?)@)?(?P<origin>[a-z]\d)>(?P<target>[a-z]\d)")
_SHOWN: Final = 40


class Placed(msgspec.Struct, frozen=True):
    """What one word puts onto a space.

    Attributes:
        seat: whose gnome; None: no gnome.
        pests: how many; with a gnome: a possessed pair.
        fish_fire, water: crystals.
        lantern: its kind; empty: the gnome bears none.
    """

    space: str
    seat: int | None = None
    pests: int = 0
    fish_fire: int = 0
    water: int = 0
    lantern: str = ""
    bright: bool = False


class Threat(msgspec.Struct, frozen=True):
    """What one word sets on a border.

    Attributes:
        seat: of a gnome in transit; None: no such gnome.
        pests: in transit.
        lone: of a stack only the next pest.
    """

    origin: str
    target: str
    seat: int | None = None
    pests: int = 0
    lone: bool = False

    @property
    def group(self) -> str:
        """The group's id (WG-8.2)."""
        return f"{self.origin}>{self.target}"

    @property
    def in_transit(self) -> bool:
        """Its pieces come from the supply (WG-8.1)."""
        return self.seat is not None or self.pests > 0


def read_placed(word: str) -> Placed:
    """Reads one piece or heap of crystals.

    Raises:
        PositionError: if the word is none.

    >>> read_placed("B@a4*fire")
    Placed(space='a4', seat=0, pests=0, fish_fire=0, water=0, lantern='fire', bright=True)
    >>> read_placed("PR@c3").pests, read_placed("w2@a4").water
    (1, 2)
    """
    if match := _GNOME.fullmatch(word):
        return Placed(
            match["space"], seat=_SEATS[match["seat"]], lantern=match["lantern"] or "", bright=match["light"] == "*"
        )
    if (match := _PESTS.fullmatch(word)) and not (match["pests"] == "PP" and match["seat"]):
        return Placed(match["space"], seat=_SEATS.get(match["seat"]), pests=len(match["pests"]))
    if match := _CRYSTALS.fullmatch(word):
        space, amount = match["space"], int(match["amount"])
        return Placed(space, fish_fire=amount) if match["what"] == "F" else Placed(space, water=amount)
    raise PositionError(
        f"{word[:_SHOWN]!r} is no piece: write B@a4, R@a4*fire, R@a4~fire, P@a3, PP@a3, PB@c3, F3@c4 or w2@a4."
    )


def read_threat(word: str) -> Threat:
    """Reads one threat: `a3>a4` by all that stands on a3, `1@a3>a4` by one pest of its stack, `PP@b3>a3` in transit.

    Raises:
        PositionError: if the word is none.

    >>> read_threat("B@a2>a3")
    Threat(origin='a2', target='a3', seat=0, pests=0, lone=False)
    """
    match = _THREAT.fullmatch(word)
    if not match:
        raise PositionError(
            f"{word[:_SHOWN]!r} is no threat: write a3>a4 (all that stands on a3), 1@a3>a4 (one pest of a stack), "
            "or P@b3>a3, PP@b3>a3, B@a2>a3 (in transit)."
        )
    pieces = match["pieces"] or ""
    return Threat(
        match["origin"],
        match["target"],
        seat=_SEATS.get(pieces),
        pests=len(pieces) if pieces.startswith("P") else 0,
        lone=pieces == "1",
    )
