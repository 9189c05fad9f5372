"""Things of a position as words: resources `o1 g2 p0 w3`, of which those that are none may be left out."""

from __future__ import annotations

import re
from typing import Final

from broom_service.resources import RESOURCE_IDS, Holding, amounts_of
from grimoire.engine.written import PositionError

__all__ = ["SHOWN", "read_resources", "write_resources"]

_LETTERS: Final[dict[str, str]] = {resource[0]: resource for resource in RESOURCE_IDS}
_AMOUNT: Final = re.compile(rf"(?P<letter>[{''.join(_LETTERS)}])(?P<amount>\d{{1,3}})")

SHOWN: Final = 40
"""Characters of what was written that a sentence repeats."""


def read_resources(written: object) -> Holding:
    """How many of each.

    Raises:
        PositionError: for anything but such a text, and for a resource that is named twice.

    >>> read_resources("o1 p2 w3"), read_resources("")
    ((1, 0, 2, 3), (0, 0, 0, 0))
    """
    words = written.split() if isinstance(written, str) else [""]
    found = [_AMOUNT.fullmatch(word) for word in words]
    amounts = {_LETTERS[match["letter"]]: int(match["amount"]) for match in found if match}
    if len(amounts) < len(words):
        raise PositionError(
            f"{str(written)[:SHOWN]!r} is no holding: write o1 g2 p3 w4 (orange, green, purple potions, wands), "
            "each at most once."
        )
    return amounts_of(amounts)


def write_resources(holding: Holding) -> str:
    """The text of a holding.

    >>> write_resources((1, 0, 2, 3))
    'o1 p2 w3'
    """
    named = zip(_LETTERS, holding, strict=True)
    return " ".join(f"{letter}{amount}" for letter, amount in named if amount)
