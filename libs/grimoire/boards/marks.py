"""Signs before what may be picked, and before what is picked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

__all__ = ["DIGITS", "marks_of"]

DIGITS: Final = 9
"""So many things are picked by a digit."""

_SIGNS: Final = "¹²³⁴⁵⁶⁷⁸⁹"
"""Not to be taken for numbers of the picture."""
_USABLE: Final = "›"
_PICKED: Final = "▶"


def marks_of(offered: Sequence[str], picked: Iterable[str]) -> Mapping[str, str]:
    """The sign of each ref.

    Args:
        offered: what may be picked next, in the order of the digits.
        picked: what is picked.

    >>> marks_of(["region:f1", "region:f3"], ["pawn:0"])
    {'region:f1': '¹', 'region:f3': '²', 'pawn:0': '▶'}
    """
    found = {ref: _SIGNS[number - 1] if number <= DIGITS else _USABLE for number, ref in enumerate(offered, 1)}
    return {**found, **dict.fromkeys(picked, _PICKED)}
