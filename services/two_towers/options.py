"""The options of a challenge (TT-1.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from grimoire.engine import Illegal, MatchFacts
from two_towers.catalogue import DATA, Choice, Range
from two_towers.rejections import bad_option

__all__ = ["DEFAULTS", "OPTIONS", "PRESETS", "configure"]

OPTIONS: Final[dict[str, Choice | Range]] = {
    "battlefield": DATA.options.battlefield,
    "deck_type": DATA.options.deck_type,
    "turn_time_s": DATA.options.turn_time_s,
    "timeout_limit": DATA.options.timeout_limit,
    "first_player": DATA.options.first_player,
}
"""By name, in the rules' order."""

DEFAULTS: Final = {name: str(option.default) for name, option in OPTIONS.items()}

PRESETS: Final[dict[str, dict[str, str]]] = {
    "normal": {},
    "short": {"turn_time_s": "20"},
    "days": {"turn_time_s": "86400"},
}
"""Queues of quick play: how long a decision may take, everything else at its default."""

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


def configure(options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
    """All options with their defaults, or `bad_option` with the field at fault.

    >>> configure({"deck_type": "endless"}, 2).options[:2]
    (('battlefield', 'archmage_fortress'), ('deck_type', 'endless'))
    >>> configure({"turn_time_s": "5"}, 2).message
    'turn_time_s must be a whole number from 10 to 86400, not 5.'
    """
    if seats != DATA.constants.seats:  # TT-1.1
        return bad_option("seats", str(seats), "2", "Two Towers is played by exactly two seats.", rule="TT-1.1")
    for name in options:
        if name not in OPTIONS:
            known = ", ".join(OPTIONS)
            return bad_option(name, options[name], known, f"There is no option {name[:40]!r}; the options are {known}.")
    chosen: list[tuple[str, str]] = []
    for name, option in OPTIONS.items():
        value = options.get(name, DEFAULTS[name])
        if isinstance(option, Choice):
            if value not in option.one_of:
                allowed = ", ".join(option.one_of)
                return bad_option(name, value, allowed, f"{name} must be one of {allowed}, not {value[:40]!r}.")
        elif not _WHOLE_NUMBER.fullmatch(value) or not option.min <= int(value) <= option.max:
            allowed = f"{option.min}..{option.max}"
            sentence = f"{name} must be a whole number from {option.min} to {option.max}, not {value[:40]}."
            return bad_option(name, value, allowed, sentence)
        else:
            value = str(int(value))
        chosen.append((name, value))
    final = dict(chosen)
    return MatchFacts(
        options=tuple(chosen),
        seconds=(("turn", int(final["turn_time_s"])),),
        timeout_limit=int(final["timeout_limit"]),
    )
