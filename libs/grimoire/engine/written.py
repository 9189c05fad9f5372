"""What people write as a mapping (a scenario's position): keys, numbers and words, each judged with a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ParamSpec

__all__ = [
    "PositionError",
    "by_name",
    "by_number",
    "demand",
    "fault_of",
    "flag",
    "known_keys",
    "known_word",
    "once_each",
    "one_of",
    "whole_number",
    "words",
]

P = ParamSpec("P")

_SHOWN = 40
"""Characters of what was written that a sentence repeats."""


class PositionError(ValueError):
    """A position that cannot be.

    Attributes:
        sentence: what is wrong and what is allowed.
        rule: the rule that forbids it; empty: it cannot even be read.
    """

    def __init__(self, sentence: str, rule: str = "") -> None:
        super().__init__(f"{sentence.removesuffix('.')} ({rule})." if rule else sentence)
        self.sentence = sentence
        self.rule = rule


def demand(holds: object, sentence: str, rule: str = "") -> None:
    """Judges one thing that must be true of a position.

    Raises:
        PositionError: if it does not hold.
    """
    if not holds:
        raise PositionError(sentence, rule)


def fault_of(check: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> str:
    """What a check finds wrong with what it is given, as a sentence; empty: nothing.

    >>> fault_of(demand, False, "A hand has six cards.", "XX-2")
    'A hand has six cards (XX-2).'
    """
    try:
        check(*args, **kwargs)
    except PositionError as error:
        return str(error)
    return ""


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


def flag(mapping: Mapping[str, object], key: str) -> bool:
    """The key's truth value; false where it is not named.

    Raises:
        PositionError: for anything else.
    """
    value = mapping.get(key, False)
    if not isinstance(value, bool):
        raise PositionError(f"`{key}` must be true or false.")
    return value


def words(mapping: Mapping[str, object], key: str, default: Sequence[str] = ()) -> list[str]:
    """The key's list of words.

    Raises:
        PositionError: for anything else.

    >>> words({"hand": ["ruby", "orc"]}, "hand"), words({}, "hand")
    (['ruby', 'orc'], [])
    """
    value = mapping.get(key, default)
    if not isinstance(value, Sequence) or isinstance(value, str) or not all(isinstance(each, str) for each in value):
        raise PositionError(f"`{key}` must be a list of words.")
    return [str(each) for each in value]


def known_word(word: str, known: Iterable[str], what: str, rule: str = "") -> str:
    """The word itself.

    Args:
        word: as it was written.
        known: every word there is.
        what: how a sentence calls such a thing.
        rule: the one that says which there are.

    Raises:
        PositionError: for any other word.

    >>> known_word("ruby", ("ruby", "orc"), "card")
    'ruby'
    """
    demand(word in known, f"There is no {what} {word[:_SHOWN]!r}.", rule)
    return word


def once_each(things: Iterable[str], known: Iterable[str], what: str, rule: str = "", *, twice: str = "") -> None:
    """Judges that things are known, and each of them in one place.

    Args:
        things: from all places together.
        known: every thing there is.
        what: how a sentence calls such a thing.
        rule: the one that says which there are.
        twice: the one that nothing is in two places; the same unless it is named.

    Raises:
        PositionError: for the first that is not.

    >>> fault_of(once_each, ["ruby", "orc", "ruby"], ("ruby", "orc", "elf"), "card", "XX-2")
    'ruby is in two places (XX-2).'
    """
    known = {*known}
    for thing, times in Counter(things).items():
        known_word(thing, known, what, rule)
        demand(times == 1, f"{thing} is in two places.", twice or rule)


def by_name(mapping: Mapping[str, object], key: str, names: Sequence[str]) -> dict[str, object]:
    """The key's mapping, whose own keys are some of these names; empty where it is not named.

    Raises:
        ValueError: for anything else.

    >>> by_name({"hats": {"red": 3}}, "hats", ("red", "blue"))
    {'red': 3}
    """
    value = mapping.get(key, {})
    if not isinstance(value, Mapping):
        raise PositionError(f"`{key}` must be a mapping, e.g. {{{next(iter(names), '')}: ..}}.")
    found = {str(name): each for name, each in value.items()}
    known_keys(found, names, f"`{key}`")
    return found


def by_number(mapping: Mapping[str, object], key: str, numbers: Sequence[int]) -> dict[int, object]:
    """The key's list, or its mapping from numbers; fewer may be named, and none where the key is not.

    Raises:
        ValueError: for anything else.

    >>> by_number({"wands": [0, 3]}, "wands", range(4)), by_number({"wands": {2: 1}}, "wands", range(4))
    ({0: 0, 1: 3}, {2: 1})
    """
    value = mapping.get(key, {})
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = dict(enumerate(value))
    if not isinstance(value, Mapping):
        raise PositionError(f"`{key}` must be a list, or a mapping from numbers, e.g. {{0: ..}}.")
    found = {str(number): each for number, each in value.items()}
    known_keys(found, [str(number) for number in numbers], f"`{key}`")
    return {int(number): each for number, each in found.items()}
