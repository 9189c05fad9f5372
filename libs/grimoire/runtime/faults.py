"""What may be told of an exception that came out of a game's code."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Final

__all__ = ["trail"]

_LONGEST: Final = 16


def trail(error: BaseException) -> list[str]:
    """Where an exception came from, without what it says: a game's own may quote a hidden card.

    >>> try:
    ...     {}["ruby"]
    ... except KeyError as error:
    ...     len(trail(error)), "ruby" in str(trail(error))
    (1, False)
    """
    frames = list(traceback.walk_tb(error.__traceback__))[-_LONGEST:]
    return [f"{_short(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}" for frame, line in frames]


def _short(filename: str) -> str:
    return "/".join(Path(filename).parts[-2:])
