"""The options of a challenge (WG-1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from grimoire.engine import Illegal, MatchFacts
from grimoire.engine.options import Choice, Range, bad_option, choose_options, defaults_of
from wizards_garden.catalogue import DATA

__all__ = ["DEFAULTS", "OPTIONS", "PRESETS", "RULE", "SECONDS", "configure"]

OPTIONS: Final[dict[str, Choice | Range]] = {
    "spells_per_player": DATA.options.spells_per_player,
    "first_player": DATA.options.first_player,
    "turn_limit": DATA.options.turn_limit,
}
"""By name, in the rules' order."""

DEFAULTS: Final = defaults_of(OPTIONS)

RULE: Final = "WG-1.4"
"""The rule that a wrong option breaks."""

PRESETS: Final[dict[str, dict[str, str]]] = {
    "normal": {},
    "three_spells": {"spells_per_player": "3"},
}
"""Queues of quick play."""

SECONDS: Final = (("setup", 180), ("turn", 120), ("reaction", 60))
"""How long a decision of each class may take; the rules leave clocks to the platform (WG-12.3)."""


def configure(options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
    """All options with their defaults, or `bad_option` with the field at fault.

    >>> configure({"first_player": "red"}, 2).options
    (('spells_per_player', '2'), ('first_player', 'red'), ('turn_limit', '200'))
    >>> configure({"spells_per_player": "4"}, 2).message
    'spells_per_player must be a whole number from 1 to 3, not 4.'
    """
    if seats != DATA.players:  # WG-1.2
        return bad_option("seats", str(seats), "2", "The Wizard's Garden is played by exactly two seats.", "WG-1.2")
    chosen = choose_options(options, OPTIONS, RULE)
    if isinstance(chosen, Illegal):
        return chosen
    return MatchFacts(options=chosen, seconds=SECONDS)
