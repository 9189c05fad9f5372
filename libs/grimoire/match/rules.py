"""Which rules a match is judged by: every installed version of a game, each with the schema of its logs.

A match ends under the rules it began with. New matches begin under the newest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

import msgspec
from google.protobuf.message import DecodeError, Message

from grimoire.engine import Folding, Game, Schema
from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["PLATFORM", "Rulebook", "Rules", "RulesNotInstalledError", "created_in"]

S = TypeVar("S")

PLATFORM = Schema([match_pb2.DESCRIPTOR])
"""The platform's own events and commands."""


class RulesNotInstalledError(LookupError):
    """A match was begun under a version of the rules that is not installed here.

    Attributes:
        game: its game.
        rules_version: the version it needs.
        installed: the versions that are there, newest first.
    """

    def __init__(self, game: str, rules_version: int, installed: Sequence[int]) -> None:
        there = ", ".join(map(str, installed))
        super().__init__(f"rules version {rules_version} of {game} is not installed (installed: {there})")
        self.game = game
        self.rules_version = rules_version
        self.installed = tuple(installed)


class Rules(msgspec.Struct, Generic[S], frozen=True, eq=False):
    """One version of a game's rules.

    Attributes:
        game: the rules themselves.
        schema: of everything in a log under these rules, the platform's events and commands among it.
        standing: command codes that answer no prompt.
        fold: the game's state after some of its events.
    """

    game: Game[S]
    schema: Schema
    standing: frozenset[str]
    fold: Callable[[S, Iterable[Message]], S]


class Rulebook(Generic[S]):
    """Every installed version of one game.

    Args:
        game: the newest.
        older: the others.
    """

    def __init__(self, game: Game[S], older: Iterable[Game[S]] = ()) -> None:
        self.newest = _rules(game)
        self._versions = {game.rules_version: self.newest}
        for one in older:
            if one.id != game.id or one.rules_version in self._versions or one.rules_version > game.rules_version:
                raise ValueError(f"{one.id} version {one.rules_version} is no older version of {game.id}")
            self._versions[one.rules_version] = _rules(one)

    @property
    def versions(self) -> tuple[int, ...]:
        """Newest first."""
        return tuple(sorted(self._versions, reverse=True))

    def of(self, rules_version: int) -> Rules[S]:
        """The rules of this version.

        Raises:
            RulesNotInstalledError: if there are none.
        """
        rules = self._versions.get(rules_version)
        if rules is None:
            raise RulesNotInstalledError(self.newest.game.id, rules_version, self.versions)
        return rules


def created_in(entries: Sequence[frame_pb2.ViewerEntry]) -> match_pb2.MatchCreated | None:
    """What a log says its match began with; None if it does not begin as logs do. Nothing in it is trusted."""
    try:
        first = match_pb2.Events.FromString(entries[0].public).events[0]
        return match_pb2.MatchCreated.FromString(first.body) if first.type == "match_created" else None
    except (IndexError, DecodeError):
        return None


def _rules(game: Game[S]) -> Rules[S]:
    # Looked at once: asking whether an object fits a protocol costs more than folding an event.
    fold = game.fold if isinstance(game, Folding) else functools.partial(_one_by_one, game)
    return Rules(game, game.schema.union(PLATFORM), frozenset(PLATFORM.standing | game.standing), fold)


def _one_by_one(game: Game[S], state: S, events: Iterable[Message]) -> S:
    for event in events:
        state = game.evolve(state, event)
    return state
