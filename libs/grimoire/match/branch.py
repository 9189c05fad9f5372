"""Positions to play from: of a match at one version, or as somebody arranged them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from grimoire.engine import Illegal, Setup, usual_seats
from grimoire.fairness.draws import RecordedDraws
from grimoire.fairness.secret import Secret
from grimoire.match.state import MatchState, Phase
from grimoire.plugins import GamePlugin

__all__ = ["MAX_POSITION_BYTES", "Arranged", "arrange", "position_at"]

MAX_POSITION_BYTES: Final = 6 * 1024
"""Of a serialised position: it travels in the command that creates the match."""


class Arranged(msgspec.Struct, frozen=True):
    """A position that can be played: the game's serialised `PositionArranged`, and all options with their values."""

    position: bytes
    options: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"Arranged(position={len(self.position)} bytes, options={self.options})"


def position_at(plugin: GamePlugin, state: MatchState[Any]) -> bytes | Illegal:
    """The position of a match as it stands, to play on from there. The caller has checked that all of it may be seen.

    Args:
        plugin: the game.
        state: folded up to the version wanted.

    Returns:
        The game's serialised `PositionArranged`; or why there is nothing to play on from.
    """
    if state.phase is Phase.HANDSHAKE or state.game is None:
        return _refused("no_position", f"At version {state.version} nothing had been dealt yet; choose a later one.")
    if state.over:
        return _refused("no_position", f"At version {state.version} the match was over; choose an earlier one.")
    try:
        return plugin.positions.from_state(state.game).SerializeToString(deterministic=True)
    except ValueError as error:
        return _refused("bad_position", str(error))


def arrange(plugin: GamePlugin, position: str | bytes, options: Mapping[str, str], seats: int) -> Arranged | Illegal:
    """Judges a position: what this accepts, an analysis match can begin with.

    Args:
        plugin: the game.
        position: as people write it, a JSON object; or serialised.
        options: by name; those that are missing get their defaults.
        seats: 0: as few as the game allows.
    """
    game = plugin.game
    seats = seats or usual_seats(game.min_seats, game.max_seats)
    facts = game.configure(options, seats)
    if isinstance(facts, Illegal):
        return facts
    body = _written(plugin, position, dict(facts.options)) if isinstance(position, str) else position
    if isinstance(body, Illegal):
        return body
    if len(body) > MAX_POSITION_BYTES:
        return _refused("bad_position", f"A position has at most {MAX_POSITION_BYTES} bytes, not {len(body)}.")
    if not body:
        return _refused("bad_position", "There is no position.")
    # These draws are thrown away: the match has its own.
    draws = RecordedDraws(game.id, Secret(bytes(32)))
    start = game.start(Setup("analysis", seats, dict(facts.options), body), draws)
    return start if isinstance(start, Illegal) else Arranged(body, facts.options)


def _written(plugin: GamePlugin, text: str, options: Mapping[str, str]) -> bytes | Illegal:
    try:
        plan = msgspec.json.decode(text, type=dict[str, object])
        return plugin.positions.parse(plan, options).SerializeToString(deterministic=True)
    except (ValueError, RecursionError) as error:
        return _refused("bad_position", str(error)[:400])


def _refused(code: str, sentence: str) -> Illegal:
    return Illegal(code, "", sentence, field="version" if code == "no_position" else "position")
