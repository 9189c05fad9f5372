"""Names that are hashed: only characters that cannot be taken for anything else."""

from __future__ import annotations

import re

__all__ = ["check_game", "check_label", "check_match_id"]

_LABEL = re.compile(r"[a-z0-9_/.-]{1,64}", re.ASCII).fullmatch
_MATCH_ID = re.compile(r"[a-zA-Z0-9_/.-]{1,64}", re.ASCII).fullmatch


def check_label(label: str) -> str:
    """The label of a draw, if it is one: 1 to 64 of `[a-z0-9_/.-]`.

    Raises:
        ValueError: otherwise.

    >>> check_label("draw/13")
    'draw/13'
    """
    if _LABEL(label) is None:
        raise ValueError(f"{label[:80]!r} is no label: 1 to 64 of a-z 0-9 _ / . -")
    return label


def check_game(game: str) -> str:
    """The code name of a game, if it is one: 1 to 64 of `[a-z0-9_/.-]`.

    Raises:
        ValueError: otherwise.
    """
    if _LABEL(game) is None:
        raise ValueError(f"{game[:80]!r} is no game's code name: 1 to 64 of a-z 0-9 _ / . -")
    return game


def check_match_id(match_id: str) -> str:
    """The id of a match, if it is one: 1 to 64 of `[a-zA-Z0-9_/.-]`.

    Raises:
        ValueError: otherwise.
    """
    if _MATCH_ID(match_id) is None:
        raise ValueError(f"{match_id[:80]!r} is no match id: 1 to 64 of a-z A-Z 0-9 _ / . -")
    return match_id
