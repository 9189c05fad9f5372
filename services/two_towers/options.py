"""The options of a challenge (TT-1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from grimoire.engine import Illegal, MatchFacts
from grimoire.engine.options import Choice, Range, bad_option, choose_options, defaults_of
from two_towers.catalogue import DATA
from two_towers.rejections import RULES

__all__ = ["DEFAULTS", "OPTIONS", "PRESETS", "configure"]

OPTIONS: Final[dict[str, Choice | Range]] = {
    "battlefield": DATA.options.battlefield.choice,
    "deck_type": DATA.options.deck_type.choice,
    "turn_time_s": DATA.options.turn_time_s,
    "timeout_limit": DATA.options.timeout_limit,
    "first_player": DATA.options.first_player.choice,
}
"""By name, in the rules' order."""

DEFAULTS: Final = defaults_of(OPTIONS)

PRESETS: Final[dict[str, dict[str, str]]] = {
    "normal": {},
    "short": {"turn_time_s": "20"},
    "days": {"turn_time_s": "86400"},
}
"""Queues of quick play: how long a decision may take, everything else at its default."""


def configure(options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
    """All options with their defaults, or `bad_option` with the field at fault.

    >>> configure({"deck_type": "endless"}, 2).options[:2]
    (('battlefield', 'archmage_fortress'), ('deck_type', 'endless'))
    >>> configure({"turn_time_s": "5"}, 2).message
    'turn_time_s must be a whole number from 10 to 86400, not 5.'
    """
    if seats != DATA.constants.seats:  # TT-1.1
        return bad_option("seats", str(seats), "2", "Two Towers is played by exactly two seats.", rule="TT-1.1")
    chosen = choose_options(options, OPTIONS, RULES["bad_option"])
    if isinstance(chosen, Illegal):
        return chosen
    final = dict(chosen)
    return MatchFacts(
        options=chosen,
        seconds=(("turn", int(final["turn_time_s"])),),
        timeout_limit=int(final["timeout_limit"]),
    )
