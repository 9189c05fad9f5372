"""Who sits where, by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from grimoire.cli.screens.wording import Wording
from grimoire.cli.screens.words import Words
from grimoire.client import Client
from grimoire.v1 import matchmaking_pb2

__all__ = ["MARKS", "Sitter", "Sitters", "find_sitters", "mark"]

MARKS: Final = ("●", "▲", "■", "◆", "✚")
"""Seats are told apart by shape, never by colour alone."""


def mark(seat: int) -> str:
    """A seat's shape."""
    return MARKS[seat] if 0 <= seat < len(MARKS) else str(seat)


class Sitter(msgspec.Struct, frozen=True):
    """One seat's holder: a person's name, or the level of a built-in player."""

    name: str
    level: str = ""


class Sitters:
    """The holders of a match's seats.

    Args:
        by_seat: what is known of them.
    """

    def __init__(self, by_seat: Mapping[int, Sitter] | None = None) -> None:
        self._by_seat = dict(by_seat or {})
        self._holders = Counter(self._by_seat.values())

    @classmethod
    def of(cls, seats: Iterable[matchmaking_pb2.ChallengeSeat]) -> Sitters:
        """As the lobby lists them; a built-in player keeps its level, so that its name can be said in any language."""
        return cls({s.seat: Sitter(s.name, s.level if s.bot else "") for s in seats if s.name or s.bot})

    def names(self, words: Words, wording: Wording) -> dict[int, str]:
        """Display names in one language; seats of which nothing is known are left out.

        Holders of equal names are numbered in the order of their seats, so that a sentence tells who it is about.
        """
        met: Counter[Sitter] = Counter()
        found = {}
        for seat, holder in sorted(self._by_seat.items()):
            met[holder] += 1
            name = wording.level(holder.level) if holder.level else holder.name
            if self._holders[holder] > 1:
                name = f"{name} {met[holder]}"
            found[seat] = words("seat.bot", level=name) if holder.level else name
        return found

    def __bool__(self) -> bool:
        return bool(self._by_seat)


async def find_sitters(client: Client, match_id: str, game: str = "") -> Sitters:
    """Looks a match up among those that run or are over, one's own first; nobody, if it is not listed.

    Raises:
        ClientError: if the lobby does not answer.
    """
    for mine in (True, False):
        for finished in (False, True):
            for summary in await client.matches(mine=mine, game=game, finished=finished, limit=200):
                if summary.match_id == match_id:
                    return Sitters.of(summary.seats)
    return Sitters()
