"""Things of a position as words: stones `s3 m2`, a village `lizardman_1` or `?vampire_1`, influence `warlock_1*2`.

`?`: the card lies face down. `*2`: the card is worth two influence there. A book stands on a space, or is `gained` or
`lost`.
"""

from __future__ import annotations

import re
from typing import Final

from grimoire.engine.written import PositionError
from spellbound.places import GAINED, LOST

__all__ = ["SHOWN", "read_book", "read_influence", "read_stones", "read_village"]

_STONES: Final = re.compile(r"s(?P<sun>\d{1,2}) m(?P<moon>\d{1,2})")
_VILLAGE: Final = re.compile(r"(?P<down>\??)(?P<card>[a-z][a-z0-9_]*)")
_INFLUENCE: Final = re.compile(r"(?P<card>[a-z][a-z0-9_]*)(?:\*(?P<amount>[12]))?")
_BOOKS: Final = {"gained": GAINED, "lost": LOST}

SHOWN: Final = 40
"""Characters of what was written that a sentence repeats."""


def read_stones(written: object) -> tuple[int, int]:
    """Sunstones and moonstones.

    Raises:
        PositionError: for anything but such a text.

    >>> read_stones("s3 m2")
    (3, 2)
    """
    match = _STONES.fullmatch(written) if isinstance(written, str) else None
    if not match:
        raise PositionError(f"{_shown(written)} is no number of stones: write s3 m2 (three sunstones, two moonstones).")
    return int(match["sun"]), int(match["moon"])


def read_village(written: object) -> tuple[str, bool]:
    """The card at a village, and whether it lies face down; nothing: the village has no card.

    Raises:
        PositionError: for anything else.

    >>> read_village("?vampire_1"), read_village("squire"), read_village(None)
    (('vampire_1', True), ('squire', False), ('', False))
    """
    if written is None:
        return "", False
    match = _VILLAGE.fullmatch(written) if isinstance(written, str) else None
    if not match:
        raise PositionError(
            f"{_shown(written)} is nothing that lies at a village: write squire (face up), ?squire (face down) or ~."
        )
    return match["card"], bool(match["down"])


def read_influence(word: str) -> tuple[str, int]:
    """A card that lies at a village, and its influence there.

    Raises:
        PositionError: if the word is none.

    >>> read_influence("warlock_1*2"), read_influence("basic_influence_red")
    (('warlock_1', 2), ('basic_influence_red', 1))
    """
    match = _INFLUENCE.fullmatch(word)
    if not match:
        raise PositionError(f"{_shown(word)} is no lying influence: write basic_influence_red, or warlock_1*2 for two.")
    return match["card"], int(match["amount"] or 1)


def read_book(written: object) -> int:
    """Where a book stands.

    Raises:
        PositionError: for anything but a number, `gained` and `lost`.

    >>> read_book(7), read_book("gained"), read_book("lost")
    (7, 9, 0)
    """
    if isinstance(written, int) and not isinstance(written, bool) and LOST < written < GAINED:
        return written
    if isinstance(written, str) and written in _BOOKS:
        return _BOOKS[written]
    raise PositionError(f"A book stands on a space in 4..8, or is gained or lost, not {_shown(written)}.", "SB-2.3")


def _shown(written: object) -> str:
    return repr(str(written)[:SHOWN])
