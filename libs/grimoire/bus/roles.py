"""Who may say what to whom on the broker: one role per kind of service, each with its own password and inbox."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from grimoire.bus.subjects import inbox_prefix

__all__ = ["BOTS", "GATEWAY", "MATCHMAKING", "REPLAY", "Permissions", "game_role", "permissions", "platform_roles"]

GATEWAY: Final = "gateway"
MATCHMAKING: Final = "matchmaking"
REPLAY: Final = "replay"
BOTS: Final = "bots"

_GAME_PREFIX: Final = "game_"
_GAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the broker lets a role do; everything else is refused.

    Attributes:
        publish: subjects it may send to.
        subscribe: subjects it may listen to.
        may_answer: it may reply once to each request it received.
    """

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    may_answer: bool = False


def game_role(game: str) -> str:
    """The role of a game's service.

    >>> game_role("two_towers")
    'game_two_towers'
    """
    if not _GAME.fullmatch(game):
        raise ValueError(f"{game!r} cannot name a game")
    return _GAME_PREFIX + game


def platform_roles() -> tuple[str, ...]:
    """All roles that are not a game's."""
    return tuple(_PLATFORM)


def permissions(role: str) -> Permissions:
    """The rights of a role.

    Raises:
        ValueError: if there is no such role.
    """
    if role in _PLATFORM:
        return _PLATFORM[role]
    game = role.removeprefix(_GAME_PREFIX)
    if game == role or not _GAME.fullmatch(game):
        raise ValueError(f"no role is called {role!r}")
    return Permissions(
        publish=(f"evt.{game}.>", f"own.{game}.>", f"free.{game}", f"log.{game}"),
        subscribe=(f"cmd.{game}.>", f"who.{game}.>", f"free.{game}", _own_inbox(role)),
        may_answer=True,
    )


def _own_inbox(role: str) -> str:
    return f"{inbox_prefix(role)}.>"


_PLATFORM: Final = {
    GATEWAY: Permissions(
        publish=("cmd.>", "bots.>", "who.>", "edge.*"),
        subscribe=("evt.>", "own.>", "lobby.>", "edge.*", _own_inbox(GATEWAY)),
    ),
    MATCHMAKING: Permissions(
        # It creates matches: the host's first command goes the way of all commands.
        publish=("cmd.>", "bots.>", "who.>", "lobby.>"),
        subscribe=("evt.>", "own.>", "lobby.>", _own_inbox(MATCHMAKING)),
    ),
    # It keeps the transparency log: leaves come from the games, each from its own.
    REPLAY: Permissions(publish=("who.>",), subscribe=("own.>", "log.*", _own_inbox(REPLAY)), may_answer=True),
    BOTS: Permissions(publish=(), subscribe=("bots.>",), may_answer=True),
}
