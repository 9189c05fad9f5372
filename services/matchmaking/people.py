"""Accounts as players see each other: by name and rating, never by id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from grimoire.eventstore import Unavailable
from grimoire.v1 import manifest_pb2, rating_pb2
from matchmaking.games import Games
from matchmaking.names import NameBook
from matchmaking.ratings import Ratings
from matchmaking.skill import NEWCOMER, Skill
from matchmaking.texts import term

__all__ = ["Faces", "People"]


class People:
    """Some accounts, to one who looks.

    Args:
        caller: account id of who looks.
        names: by account id.
        skills: by account id, in one game.
        language: of the word for those without a name.
    """

    def __init__(self, caller: str, names: Mapping[str, str], skills: Mapping[str, Skill], language: str) -> None:
        self.caller = caller
        self._names = names
        self._skills = skills
        self._language = language

    def name(self, account_id: str) -> str:
        """The name to show."""
        return self._names.get(account_id) or term("former_player", self._language)

    def rating(self, account_id: str) -> rating_pb2.Rating:
        """The rating to show."""
        return self._skills.get(account_id, NEWCOMER).message


class Faces:
    """Finds out what is needed to show something.

    Args:
        names, ratings, games: where it stands.
    """

    def __init__(self, names: NameBook, ratings: Ratings, games: Games) -> None:
        self._names = names
        self._ratings = ratings
        self._games = games

    async def people(self, caller: str, game: str, accounts: Iterable[str], language: str) -> People:
        """These accounts in one game, as the caller sees them.

        Raises:
            Unavailable: the database does not answer.
        """
        wanted = set(accounts)
        return People(caller, await self._names.of(wanted), await self._ratings.of(game, wanted), language)

    async def manifest(self, game: str, language: str) -> manifest_pb2.Manifest:
        """The game in words; an empty one while it is away: a list with plain names is better than none."""
        try:
            return await self._games.manifest(game, language)
        except Unavailable:
            return manifest_pb2.Manifest(game=game)
