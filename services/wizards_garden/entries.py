"""Entries of what is legal, and the refs of what can be pointed at.

A label is the text of the command's code, or of a variant of it that tells what the command is about.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final

from grimoire.engine import Legal
from grimoire.engine.legal import Fixed
from grimoire.engine.slots import Slot
from wizards_garden.board import SPACES
from wizards_garden.pieces import FIRST_PEST, PIECES

__all__ = ["PIECE_REFS", "SPACE_REFS", "About", "Refs", "card_refs", "complete", "opened", "space_refs"]

About = tuple[tuple[str, str], ...]
"""What an entry's label tells beside its fixed fields."""

Refs = tuple[str, ...]

SPACE_REFS: Final = tuple(f"space:{space}" for space in SPACES)
PIECE_REFS: Final = tuple(f"{'gnome' if n < FIRST_PEST else 'pest'}:{piece}" for n, piece in enumerate(PIECES))


def _label(command: str, about: About) -> str:
    return f"{command}_at" if about else command


@functools.cache
def complete(command: str, *fixed: tuple[str, Fixed], label: str = "", about: About = ()) -> Legal:
    """A command with nothing open; each is made once."""
    return Legal(command, fixed, label=label or _label(command, about), about=about)


def opened(
    command: str, *slots: Slot, fixed: tuple[tuple[str, Fixed], ...] = (), label: str = "", about: About = ()
) -> Legal:
    """A family of commands."""
    return Legal(command, fixed, slots, label=label or _label(command, about), about=about)


def space_refs(indices: Iterable[int]) -> Refs:
    """Refs of spaces."""
    return tuple([SPACE_REFS[space] for space in indices])


def card_refs(ids: Iterable[str]) -> Refs:
    """Refs of spirit cards."""
    return tuple([f"card:{card}" for card in ids])
