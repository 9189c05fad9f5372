"""What people write as a mapping (a scenario's position): keys, numbers and words, each judged with a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

__all__ = ["known_keys", "one_of", "whole_number"]

_SHOWN = 40
"""Characters of what was written that a sentence repeats."""


def known_keys(mapping: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Refuses keys that are not known.

    Raises:
        ValueError: for the first such key.
    """
    known = tuple(known)
    for key in mapping:
        if key not in known:
            raise ValueError(f"{where}: there is no key {str(key)[:_SHOWN]!r}; the keys are {', '.join(known)}.")


def whole_number(mapping: Mapping[str, object], key: str, default: int, low: int, high: int) -> int:
    """The key's number, in `low..high`.

    Raises:
        ValueError: for anything else.

    >>> whole_number({"turn": 7}, "turn", 1, 1, 40), whole_number({}, "turn", 1, 1, 40)
    (7, 1)
    """
    value = mapping.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"`{key}` must be a whole number in {low}..{high}, not {str(value)[:_SHOWN]!r}.")
    return value


def one_of(mapping: Mapping[str, object], key: str, allowed: Sequence[str]) -> str:
    """The key's word; the first allowed one is the default.

    Raises:
        ValueError: for any other word.
    """
    value = mapping.get(key, allowed[0])
    if value not in allowed:
        raise ValueError(f"`{key}` must be one of {', '.join(allowed)}, not {str(value)[:_SHOWN]!r}.")
    return str(value)
