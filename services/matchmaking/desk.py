"""Everything that the calls to the lobby work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matchmaking.analysis import Analyses
from matchmaking.archive import Archive
from matchmaking.bot_seats import BotSeats
from matchmaking.calls import Streams
from matchmaking.friends import Friends
from matchmaking.games import Games
from matchmaking.invitations import Invitations
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.lobby import Lobby
from matchmaking.names import NameBook
from matchmaking.people import Faces
from matchmaking.quick_play import QuickPlay
from matchmaking.ratings import Ratings
from matchmaking.watches import Watches

__all__ = ["Desk"]


@dataclass(frozen=True, slots=True)
class Desk:
    """The parts, each documented where it is written; `streams` counts those of each account, of all kinds."""

    lobby: Lobby
    analyses: Analyses
    quick_play: QuickPlay
    friends: Friends
    ratings: Ratings
    faces: Faces
    names: NameBook
    archive: Archive
    games: Games
    ledger: Ledger
    watches: Watches
    invitations: Invitations
    bot_seats: BotSeats
    streams: Streams
    limits: Limits
    now_ms: Callable[[], int]
