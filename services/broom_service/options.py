"""The options of a challenge (BS-1.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from broom_service.catalogue import DATA
from broom_service.rejections import RULES
from broom_service.state import Terms
from grimoire.engine import Illegal, Leaving, MatchFacts
from grimoire.engine.options import Choice, Range, bad_option, choose_options

__all__ = ["DEFAULTS", "OPTIONS", "PRESETS", "RANDOM", "configure", "fewest_heavy_clouds", "terms_of"]

_OPTIONS: Final = DATA.options
_SWITCH: Final = ("false", "true")
RANDOM: Final = _OPTIONS.first_player.default
_FRONT: Final = _OPTIONS.board.default
_SIDED: Final = {
    "mountain_tiles": _OPTIONS.mountain_tiles,
    "forest_tiles": _OPTIONS.forest_tiles,
    "hill_tiles": _OPTIONS.hill_tiles,
}
"""Options whose default and values depend on the board."""


def _word(value: bool) -> str:
    return _SWITCH[value]


OPTIONS: Final[dict[str, Choice | Range]] = {
    "board": Choice(_FRONT, _OPTIONS.board.one_of),
    "storm_clouds": Choice(_word(_OPTIONS.storm_clouds.default), _SWITCH),
    "heavy_clouds": Range(
        _OPTIONS.heavy_clouds.default,
        min(_OPTIONS.heavy_clouds.min_with_storm_clouds.values()),
        _OPTIONS.heavy_clouds.max,
    ),
    **{name: Choice(_word(option.default[_FRONT]), _SWITCH) for name, option in _SIDED.items()},
    "first_player": Choice(RANDOM, _OPTIONS.first_player.one_of),
    "turn_time_s": Range(_OPTIONS.turn_time_s.default, _OPTIONS.turn_time_s.min, _OPTIONS.turn_time_s.max),
    "timeout_limit": Range(_OPTIONS.timeout_limit.default, _OPTIONS.timeout_limit.min, _OPTIONS.timeout_limit.max),
}
"""By name, in the rules' order, with the front's defaults; which values go together `configure` judges."""

DEFAULTS: Final = {name: str(option.default) for name, option in OPTIONS.items()}
"""On the front."""

PRESETS: Final[dict[str, dict[str, str]]] = {
    "normal": {},
    "storm": {"storm_clouds": "true"},
    "back": {"board": "back"},
    "back_storm": {"board": "back", "storm_clouds": "true"},
}
"""Queues of quick play."""


def fewest_heavy_clouds(board: str, *, storm_clouds: bool) -> int:
    """Enough for every space together with the storm clouds.

    >>> fewest_heavy_clouds("back", storm_clouds=True), fewest_heavy_clouds("front", storm_clouds=False)
    (11, 24)
    """
    option = _OPTIONS.heavy_clouds
    return option.min_with_storm_clouds[board] if storm_clouds else option.min_without_storm_clouds


def configure(options: Mapping[str, str], seats: int) -> MatchFacts | Illegal:
    """All options with their defaults, or `bad_option` with the field at fault.

    >>> dict(configure({"board": "back"}, 3).options)["hill_tiles"]
    'true'
    >>> configure({"heavy_clouds": "20"}, 3).message
    'heavy_clouds must be a whole number from 24 to 24, not 20.'
    """
    least, most = _OPTIONS.seats.min, _OPTIONS.seats.max
    if not least <= seats <= most:  # BS-1.1
        sentence = "Broom Service is played by two to five seats."
        return bad_option("seats", str(seats), f"{least}..{most}", sentence, "BS-1.1")
    # Empty, as absent: as the board has it.
    options = {name: value for name, value in options.items() if value or name not in _SIDED}
    side = options.get("board", _FRONT)
    known = dict(OPTIONS)
    if side in _OPTIONS.board.one_of:
        for name, option in _SIDED.items():
            values = tuple(_word(value) for value in option.legal[side])
            known[name] = Choice(_word(option.default[side]), values)
        storm_clouds = options.get("storm_clouds", OPTIONS["storm_clouds"].default) == _word(True)
        least = fewest_heavy_clouds(side, storm_clouds=storm_clouds)
        known["heavy_clouds"] = Range(_OPTIONS.heavy_clouds.default, least, _OPTIONS.heavy_clouds.max)
    present = tuple(name for name in _OPTIONS.first_player.one_of if name == RANDOM or _seat_of(name) < seats)
    known["first_player"] = Choice(RANDOM, present)
    chosen = choose_options(options, known, RULES["bad_option"])
    if isinstance(chosen, Illegal):
        return chosen
    final = dict(chosen)
    return MatchFacts(
        options=chosen,
        seconds=(("turn", int(final["turn_time_s"])),),
        timeout_limit=int(final["timeout_limit"]),
        leaving=Leaving.RETIRES,  # BS-12.4; who only goes away is replaced until it comes back
    )


def terms_of(options: Mapping[str, str], seats: int) -> Terms:
    """What configured options mean for the whole match.

    Raises:
        ValueError: for options that `configure` refuses.

    >>> terms_of({"board": "back", "first_player": "seat_1"}, 2).first_player
    1
    """
    facts = configure(options, seats)
    if isinstance(facts, Illegal):
        raise ValueError(facts.message)
    chosen = dict(facts.options)
    first = chosen["first_player"]
    return Terms(
        seats=seats,
        board=chosen["board"],
        storm_clouds=chosen["storm_clouds"] == _word(True),
        heavy_clouds=int(chosen["heavy_clouds"]),
        mountain_tiles=chosen["mountain_tiles"] == _word(True),
        forest_tiles=chosen["forest_tiles"] == _word(True),
        hill_tiles=chosen["hill_tiles"] == _word(True),
        timeout_limit=int(chosen["timeout_limit"]),
        first_player=None if first == RANDOM else _seat_of(first),
    )


def _seat_of(name: str) -> int:
    """The seat of `seat_<n>`."""
    return int(name.removeprefix("seat_"))
