"""The options of a challenge (WG-1.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from grimoire.engine import Illegal, MatchFacts
from wizards_garden.catalogue import DATA, Choice, Range
from wizards_garden.rejections import bad_option

__all__ = ["DEFAULTS", "OPTIONS", "PRESETS", "SECONDS", "configure"]

OPTIONS: Final[dict[str, Choice | Range]] = {
    "spells_per_player": DATA.options.spells_per_player,
    "first_player": DATA.options.first_player,
    "turn_limit": DATA.options.turn_limit,
}
"""By name, in the rules' order."""

DEFAULTS: Final = {name: str(option.default) for name, option in OPTIONS.items()}

PRESETS: Final[dict[str, dict[str, str]]] = {
    "normal": {},
    "three_spells": {"spells_per_player": "3"},
}
"""Queues of quick play."""

SECONDS: Final = (("setup", 180), ("turn", 120), ("reaction", 60))
"""How long a decision of each class may take; the rules leave clocks to the platform (WG-12.3)."""

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}")


def configure(options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
    """All options with their defaults, or `bad_option` with the field at fault.

    >>> configure({"first_player": "red"}, 2).options
    (('spells_per_player', '2'), ('first_player', 'red'), ('turn_limit', '200'))
    >>> configure({"spells_per_player": "4"}, 2).message
    'spells_per_player must be a whole number from 1 to 3, not 4.'
    """
    if seats != DATA.players:  # WG-1.2
        return bad_option("seats", str(seats), "2", "The Wizard's Garden is played by exactly two seats.", "WG-1.2")
    for name in options:
        if name not in OPTIONS:
            known = ", ".join(OPTIONS)
            return bad_option(name, options[name], known, f"There is no option {name[:40]!r}; the options are {known}.")
    chosen: list[tuple[str, str]] = []
    for name, option in OPTIONS.items():
        value = options.get(name, DEFAULTS[name])
        if isinstance(option, Choice):
            if value not in option.values:
                allowed = ", ".join(option.values)
                return bad_option(name, value, allowed, f"{name} must be one of {allowed}, not {value[:40]!r}.")
        elif not _WHOLE_NUMBER.fullmatch(value) or not option.min <= int(value) <= option.max:
            allowed = f"{option.min}..{option.max}"
            sentence = f"{name} must be a whole number from {option.min} to {option.max}, not {value[:40]}."
            return bad_option(name, value, allowed, sentence)
        else:
            value = str(int(value))
        chosen.append((name, value))
    return MatchFacts(options=tuple(chosen), seconds=SECONDS)
