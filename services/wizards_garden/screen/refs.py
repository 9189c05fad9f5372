"""What may be picked: which space a thing stands on, in what order things are offered, and what a click means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from grimoire.engine.board import Shown
from grimoire.games.wizards_garden.v1 import wizards_garden_pb2 as pb
from wizards_garden.pieces import KINDS
from wizards_garden.screen.speech import view_of
from wizards_garden.short import RECORDS

__all__ = ["DIGITS", "beside", "choices", "clicked", "place_of"]

DIGITS: Final = 9
"""So many things are picked by a digit."""

_PIECES: Final = frozenset({"gnome", "pest"})
_ORDER: Final = (
    "with", "light", "to", "group", "index", "kind", "slot", "pile", "card",
    "gnome", "pest", "space",
)  # fmt: skip
"""Kinds of refs as they are offered; what stands in the yard comes last, for one can point at it."""

_NAMES: Final = ("none", *KINDS, "True", "False", "target", "origin", "deck")
"""Names that have an order of their own; all others go by the alphabet."""


def place_of(ref: str, view: pb.View) -> str:
    """The space that a ref is about; empty: none."""
    kind, _, name = ref.partition(":")
    if kind == "space":
        return name if name in RECORDS else ""
    if kind in _PIECES:
        return next((held.space for held in view.spaces if held.gnome == name or name in held.pests), "")
    return ""


def choices(shown: Shown) -> Sequence[str]:
    """What may be picked next, in the order of the digits."""
    view = view_of(shown)
    offered = (ref for ref in shown.fits or shown.instead if _is_offered(ref, view))
    return sorted(offered, key=lambda ref: (bool(place_of(ref, view)), _rank(ref)))


def _is_offered(ref: str, view: pb.View) -> bool:
    """Open cards are offered while spirits are drawn; what else is done with them is among all choices."""
    kind, _, name = ref.partition(":")
    if kind == "card" and view.HasField("own_seat") and name not in view.seats[view.own_seat].hand:
        return view.HasField("action")
    return kind in _ORDER


def _rank(ref: str) -> tuple[int, int, str]:
    kind, _, name = ref.partition(":")
    return _ORDER.index(kind), _NAMES.index(name) if name in _NAMES else len(_NAMES), ref


def clicked(space: str, shown: Shown) -> str:
    """The ref that a click on a space means: what fits, else what could stand instead, else anything usable there.

    A second click puts the same thing back, or takes the next one that stands there. Nothing usable: the space itself.
    """
    view = view_of(shown)

    def here(refs: Iterable[str]) -> list[str]:
        return sorted((ref for ref in refs if place_of(ref, view) == space), key=_rank)

    picked = here(shown.picked)
    others = [ref for ref in here(shown.instead) if not picked or _rank(ref) > _rank(picked[-1])]
    for found in (here(shown.fits), others, picked, here(shown.usable)):
        if found:
            return found[0]
    return f"space:{space}"


def beside(ref: str, shown: Shown, right: int, down: int) -> str:
    """The thing that an arrow leads to: from a picked piece its way in that direction, else the next of all.

    Args:
        ref: what was picked last; empty: nothing.
        shown: what is drawn.
        right: 1, 0 or -1 spaces, as it is drawn.
        down: likewise.
    """
    view = view_of(shown)
    offered = choices(shown)
    here = place_of(ref, view)
    if not ref or (shown.fits and not here):
        return offered[0] if offered else ""
    if not here:
        ring = sorted({*offered, ref}, key=_rank)
        return ring[(ring.index(ref) + (right or down)) % len(ring)]
    start = here if shown.fits else place_of(shown.picked[-2], view) if len(shown.picked) > 1 else ""
    if start:
        return next((other for other in offered if _steps(start, place_of(other, view), right, down) == 1), "")
    ahead = [(n, other) for other in offered if (n := _steps(here, place_of(other, view), right, down, aslant=True))]
    return min(ahead, default=(0, ""))[1]


def _steps(here: str, there: str, right: int, down: int, *, aslant: bool = False) -> int:
    """How far `there` lies from `here` in this direction, x to the right and y upwards; 0: it does not.

    >>> _steps("a1", "a3", 0, -1), _steps("a1", "b3", 0, -1), _steps("a1", "b3", 0, -1, aslant=True)
    (2, 0, 5)
    """
    if not there:
        return 0
    dx, dy = RECORDS[there].x - RECORDS[here].x, RECORDS[there].y - RECORDS[here].y
    along, across = (dx * right, abs(dy)) if right else (-dy * down, abs(dx))
    if along <= 0 or (across and not aslant):
        return 0
    return along + 3 * across
