"""What a person asked for on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

__all__ = ["SEATS", "Wish"]

SEATS: Final = "seats"
"""Name under which the number of seats stands among the options a person chooses; it is none of the game's."""


class Wish(msgspec.Struct, frozen=True):
    """How to come to a match; with none of `level`, `challenge`, `join`, `match`, `source` one chooses in the lobby.

    Attributes:
        game: its name.
        level: of the bot to play against.
        challenge: open a challenge and wait.
        join: id of the challenge to join.
        match: id of the match to go back to.
        seat: which of one's own seats; None: the first.
        source: id of a match that is over, to play on from; against a bot, with a guest (`challenge`), or alone.
        version: at which one plays on from it.
        name: one's own; empty: the one from before, or one that is made up.
        phrase: one's own words, mixed into one's random number.
        plain: lines of text instead of a full screen.
        options: of the game, for a new match, and the number of its seats as `SEATS`.
        language: of everything that is said.
        server: edge of a server, `host:port`; empty: the stack on this machine.
        watch: only watch; `match` empty: choose which.
    """

    game: str = "two_towers"
    level: str = ""
    challenge: bool = False
    join: str = ""
    match: str = ""
    seat: int | None = None
    source: str = ""
    version: int = 0
    name: str = ""
    phrase: str = ""
    plain: bool = False
    options: Mapping[str, str] = {}
    language: str = "en"
    server: str = ""
    watch: bool = False

    @property
    def alone(self) -> bool:
        """One plays on from a match, on all its seats."""
        return bool(self.source) and not (self.level or self.challenge)

    def command(self, action: str, value: str = "") -> str:
        """What to type for something about this game on this server, e.g. to join a challenge.

        >>> Wish().command("--join", "abc")
        'grimoire play two_towers --join abc'
        >>> Wish(server="10.0.0.2:7420").command("watch", "xyz")
        'grimoire watch xyz --server 10.0.0.2:7420'
        """
        server = f" --server {self.server}" if self.server else ""
        if action == "watch":
            return f"grimoire watch {value}".rstrip() + server
        return f"grimoire play {self.game} {action} {value}".rstrip() + server
