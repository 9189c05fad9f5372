"""Games by name: what each installed game registers under the entry-point group `grimoire.games`."""

from __future__ import annotations

import functools
import importlib.metadata
from typing import Any

import msgspec

from grimoire.engine.game import Bot, Game, Positions, Terminal
from grimoire.engine.texts import GameTexts

GROUP = "grimoire.games"


class GamePlugin(msgspec.Struct, frozen=True):
    """Everything a game brings along.

    Attributes:
        game: its rules.
        bot: its built-in player.
        texts: its words and tables.
        terminal: its picture in text.
        positions: its arranged positions, for scenario files and analysis matches.
        older: earlier versions of its rules, for the matches that began under them (`services/README.md`).
        screen: dotted path `module:Class` of its textual widget for the terminal client; empty: the plain text is used.
        quick_seats: numbers of seats for which quick play finds people, the usual one first; empty: two, or the
            nearest number the game allows.
    """

    game: Game[Any]
    bot: Bot
    texts: GameTexts
    terminal: Terminal
    positions: Positions
    screen: str = ""
    older: tuple[Game[Any], ...] = ()
    quick_seats: tuple[int, ...] = ()

    @property
    def games(self) -> tuple[Game[Any], ...]:
        """All versions of the rules that are installed, the newest first."""
        return (self.game, *self.older)

    def rules(self, rules_version: int) -> Game[Any] | None:
        """The rules of this version; None if they are not installed."""
        return next((game for game in self.games if game.rules_version == rules_version), None)


class UnknownGameError(LookupError):
    """No installed game has this name."""


def game_names() -> tuple[str, ...]:
    """Names of all installed games, sorted."""
    return tuple(sorted(entry.name for entry in importlib.metadata.entry_points(group=GROUP)))


@functools.cache
def load_game(name: str) -> GamePlugin:
    """The plug-in of one game.

    Raises:
        UnknownGameError: if no such game is installed; the message lists those that are.
    """
    for entry in importlib.metadata.entry_points(group=GROUP):
        if entry.name == name:
            plugin: GamePlugin = entry.load()
            return plugin
    raise UnknownGameError(f"no game is called {name!r}; installed: {', '.join(game_names()) or 'none'}")
