"""The options of a challenge (SB-1.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from grimoire.engine import Illegal, Leaving, MatchFacts
from grimoire.engine.options import bad_option, unknown_option
from spellbound.catalogue import DATA
from spellbound.state import Terms

__all__ = ["DIFFICULTY", "MAX_MAGES", "OPTIONS", "PRESETS", "RANDOM", "SECONDS", "configure", "terms_of"]

MAX_MAGES: Final = DATA.options.mages.max
RANDOM: Final = "random"
DIFFICULTY: Final = ("mages", "troll_buster", "dan", "witchfinder_general")
"""Options that make a match harder or easier (SB-24)."""

RULE: Final = "SB-1.4"
"""What a wrong option breaks."""

_SWITCH: Final = ("false", "true")

OPTIONS: Final = ("mages", "mage_seats", "first_mage", "troll_buster", "dan", "witchfinder_general")
"""Names, in the rules' order."""

PRESETS: Final[dict[str, dict[str, str]]] = {
    "normal": {},
    "troll_buster": {"troll_buster": "true"},
    "third_dan": {"dan": "3"},
}
"""Queues of quick play."""

SECONDS: Final = (("turn", 180), ("reaction", 60))
"""How long a decision of each class may take; the rules leave clocks to the platform (SB-16.9)."""

_SEAT_LIST: Final = re.compile(r"[0-3](,[0-3]){0,3}")


def configure(options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
    """All options with their defaults, or `bad_option` with the field at fault.

    >>> dict(configure({"mages": "3"}, 2).options)["mage_seats"]
    '0,1,0'
    >>> configure({"dan": "2"}, 1).message
    'dan must be one of 0, 3, 4, 5, 6, 7, 8, not 2.'
    """
    if not 1 <= seats <= MAX_MAGES:  # SB-1.2
        return bad_option(
            "seats", str(seats), f"1..{MAX_MAGES}", "Spellbound is played by one to four seats.", "SB-1.2"
        )
    unknown = unknown_option(options, OPTIONS, RULE)
    if unknown is not None:
        return unknown
    chosen: dict[str, str] = {}
    for name in OPTIONS:
        judge = _JUDGES[name]
        value = judge(options.get(name), seats, chosen)
        if isinstance(value, Illegal):
            return value
        chosen[name] = value
    return MatchFacts(tuple(chosen.items()), SECONDS, leaving=Leaving.VOTED, difficulty=DIFFICULTY)


def terms_of(options: Mapping[str, str], seats: int) -> Terms:
    """What configured options mean for the whole match.

    >>> terms_of({"mage_seats": "0,1,0", "dan": "3"}, 2)
    Terms(seats=2, mage_seats=(0, 1, 0), troll_buster=False, dan=3, witchfinder_general=False, arranged=False)
    """
    facts = configure(options, seats)
    if isinstance(facts, Illegal):
        raise ValueError(facts.message)
    chosen = dict(facts.options)
    return Terms(
        seats=seats,
        mage_seats=tuple(int(seat) for seat in chosen["mage_seats"].split(",")),
        troll_buster=chosen["troll_buster"] == "true",
        dan=int(chosen["dan"]),
        witchfinder_general=chosen["witchfinder_general"] == "true",
    )


_Judge = Callable[[str | None, int, Mapping[str, str]], str | Illegal]


def _among(name: str, value: str, allowed: tuple[str, ...]) -> str | Illegal:
    if value in allowed:
        return value
    listed = ", ".join(allowed)
    return bad_option(name, value, listed, f"{name} must be one of {listed}, not {value[:40]}.", RULE)


def _mages(value: str | None, seats: int, _chosen: Mapping[str, str]) -> str | Illegal:
    """Empty, as absent: as many as there are seats."""
    if not value:
        return str(seats)
    return _among("mages", value, tuple(str(number) for number in range(seats, MAX_MAGES + 1)))


def _mage_seats(value: str | None, seats: int, chosen: Mapping[str, str]) -> str | Illegal:
    """Empty, as absent: mage i has seat i mod k."""
    mages = int(chosen["mages"])
    if not value:
        return ",".join(str(mage % seats) for mage in range(mages))
    fits = _SEAT_LIST.fullmatch(value) and len(value.split(",")) == mages
    if fits and {*value.split(",")} == {str(seat) for seat in range(seats)}:
        return value
    sentence = f"mage_seats must name the seat of each of the {mages} mages, every seat at least once, as in 0,1,0."
    return bad_option("mage_seats", value, f"{mages} seats, divided by commas", sentence, RULE)


def _first_mage(value: str | None, _seats: int, chosen: Mapping[str, str]) -> str | Illegal:
    allowed = (RANDOM, *(str(mage) for mage in range(int(chosen["mages"]))))
    return _among("first_mage", RANDOM if value is None else value, allowed)


def _switch(name: str, default: bool) -> _Judge:
    def judge(value: str | None, _seats: int, _chosen: Mapping[str, str]) -> str | Illegal:
        return _among(name, _SWITCH[default] if value is None else value, _SWITCH)

    return judge


def _dan(value: str | None, _seats: int, _chosen: Mapping[str, str]) -> str | Illegal:
    allowed = tuple(str(number) for number in DATA.options.dan.values)
    return _among("dan", str(DATA.options.dan.default) if value is None else value, allowed)


_JUDGES: Final[dict[str, _Judge]] = {
    "mages": _mages,
    "mage_seats": _mage_seats,
    "first_mage": _first_mage,
    "troll_buster": _switch("troll_buster", DATA.options.troll_buster.default),
    "dan": _dan,
    "witchfinder_general": _switch("witchfinder_general", DATA.options.witchfinder_general.default),
}
