"""The options of a challenge: what a game's data offer, and how a choice is judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from grimoire.engine.rejection import Illegal

__all__ = ["Choice", "Range", "bad_option", "choose_options", "defaults_of", "unknown_option"]

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SHOWN = 40
"""So many characters of a sender's own text come back in a rejection."""


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option with named values."""

    default: str
    values: tuple[str, ...]


class Range(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option with a whole number in `min..max`."""

    default: int
    min: int
    max: int


def defaults_of(known: Mapping[str, Choice | Range]) -> dict[str, str]:
    """Every option's default as text."""
    return {name: str(option.default) for name, option in known.items()}


def choose_options(
    options: Mapping[str, str], known: Mapping[str, Choice | Range], rule: str
) -> tuple[tuple[str, str], ...] | Illegal:
    """Every option with its final value, in the order of `known`; or `bad_option` for the first that is wrong.

    Args:
        options: as they were sent.
        known: the game's, in the rules' order.
        rule: the rule that a wrong option breaks.

    >>> known = {"rounds": Range(3, 1, 9), "mode": Choice("duel", ("duel", "team"))}
    >>> choose_options({"rounds": "5"}, known, "XX-1")
    (('rounds', '5'), ('mode', 'duel'))
    >>> choose_options({"mode": "solo"}, known, "XX-1").message
    "mode must be one of duel, team, not 'solo'."
    """
    refused = unknown_option(options, known, rule)
    if refused is not None:
        return refused
    chosen: list[tuple[str, str]] = []
    for name, option in known.items():
        value = options.get(name, str(option.default))
        if isinstance(option, Choice):
            if value not in option.values:
                allowed = ", ".join(option.values)
                sentence = f"{name} must be one of {allowed}, not {value[:_SHOWN]!r}."
                return bad_option(name, value, allowed, sentence, rule)
        elif not _WHOLE_NUMBER.fullmatch(value) or not option.min <= int(value) <= option.max:
            sentence = f"{name} must be a whole number from {option.min} to {option.max}, not {value[:_SHOWN]}."
            return bad_option(name, value, f"{option.min}..{option.max}", sentence, rule)
        else:
            value = str(int(value))
        chosen.append((name, value))
    return tuple(chosen)


def unknown_option(options: Mapping[str, str], known: Iterable[str], rule: str) -> Illegal | None:
    """`bad_option` for the first name that is no option of the game."""
    names = tuple(known)
    for name in options:
        if name not in names:
            listed = ", ".join(names)
            sentence = f"There is no option {name[:_SHOWN]!r}; the options are {listed}."
            return bad_option(name, options[name], listed, sentence, rule)
    return None


def bad_option(name: str, value: str, allowed: str, sentence: str, rule: str) -> Illegal:
    """An option that is unknown or out of range; the field is named."""
    name, value = name[:_SHOWN], value[:_SHOWN]
    return Illegal("bad_option", rule, sentence, (("name", name), ("value", value), ("allowed", allowed)), name)
