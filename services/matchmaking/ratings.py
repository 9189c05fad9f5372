"""Ratings in their tables: one a game and account, and what each rated match did to them, exactly once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from grimoire.v1 import match_pb2
from matchmaking.challenge import Challenge
from matchmaking.database import Database
from matchmaking.skill import NEWCOMER, PROVISIONAL_SIGMA, Skill, counts, rate
from matchmaking.tables import rated_matches, rating_changes, ratings, upsert_into

__all__ = ["Change", "Ratings"]


class Change(msgspec.Struct, frozen=True):
    """What one rated match did to one player. `ended_ms`: UTC ms; `rank`: 1 is best."""

    match_id: str
    seat: int
    game: str
    account_id: str
    ended_ms: int
    rank: int
    before: Skill
    after: Skill


class Ratings:
    """Every method may raise `grimoire.eventstore.Unavailable`.

    Args:
        database: of the tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def apply(self, challenge: Challenge, closed: match_pb2.MatchClosed, ended_ms: int) -> bool:
        """Counts a match that is over. However often and by however many it is asked for: once.

        Returns:
            Whether it was counted now.
        """
        if not counts(challenge, closed):
            return False
        return await self._database.run(lambda connection: _apply(connection, challenge, closed, ended_ms))

    async def of(self, game: str, account_ids: Collection[str]) -> dict[str, Skill]:
        """What is thought of these accounts in a game; newcomers too."""
        known = select(ratings).where(ratings.c.game == game, ratings.c.account_id.in_(sorted(set(account_ids))))
        rows = await self._database.read(lambda connection: connection.execute(known).all())
        found = {row.account_id: Skill(row.mu, row.sigma, row.matches) for row in rows}
        return {account_id: found.get(account_id, NEWCOMER) for account_id in account_ids}

    async def of_account(self, account_id: str) -> list[tuple[str, Skill]]:
        """Every game in which this account has played a rated match, and what is thought of it there."""
        mine = select(ratings).where(ratings.c.account_id == account_id).order_by(ratings.c.game)
        rows = await self._database.read(lambda connection: connection.execute(mine).all())
        return [(row.game, Skill(row.mu, row.sigma, row.matches)) for row in rows]

    async def history(self, account_id: str, game: str, limit: int) -> list[Change]:
        """An account's changes in a game, the newest first."""
        mine = rating_changes.c.account_id == account_id, rating_changes.c.game == game
        newest = select(rating_changes).where(*mine).order_by(rating_changes.c.number.desc()).limit(limit)
        return await self._database.read(
            lambda connection: [_change(row) for row in connection.execute(newest).mappings()]
        )

    async def changes_of(self, match_ids: Collection[str]) -> dict[str, list[Change]]:
        """What these matches did, by match, in the order of seats."""
        if not match_ids:
            return {}
        statement = select(rating_changes).where(rating_changes.c.match_id.in_(sorted(match_ids)))
        statement = statement.order_by(rating_changes.c.match_id, rating_changes.c.seat)
        rows = await self._database.read(lambda connection: connection.execute(statement).mappings().all())
        found: dict[str, list[Change]] = {}
        for change in map(_change, rows):
            found.setdefault(change.match_id, []).append(change)
        return found

    async def best(self, game: str, limit: int) -> list[tuple[str, Skill]]:
        """The leaderboard: accounts whose rating is certain enough, the best first."""
        certain = ratings.c.game == game, ratings.c.sigma <= PROVISIONAL_SIGMA
        order = ratings.c.mu.desc(), ratings.c.sigma, ratings.c.account_id
        statement = select(ratings).where(*certain).order_by(*order).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return [(row.account_id, Skill(row.mu, row.sigma, row.matches)) for row in rows]

    async def forget(self, account_id: str) -> None:
        """Erases an account's ratings and history; nobody else's change."""

        def work(connection: Connection) -> None:
            connection.execute(delete(ratings).where(ratings.c.account_id == account_id))
            connection.execute(delete(rating_changes).where(rating_changes.c.account_id == account_id))

        await self._database.run(work)


def _apply(connection: Connection, challenge: Challenge, closed: match_pb2.MatchClosed, ended_ms: int) -> bool:
    once = upsert_into(connection, rated_matches).values(match_id=challenge.match_id).on_conflict_do_nothing()
    if connection.execute(once.returning(rated_matches.c.match_id)).first() is None:
        return False
    accounts = [sitter.account_id for _, sitter in challenge.sitters]
    before = _locked(connection, challenge.game, accounts)
    skills = [before[account_id] for account_id in accounts]
    after = rate(skills, closed.ranks)
    for account_id, skill in zip(accounts, after, strict=True):
        theirs = ratings.c.game == challenge.game, ratings.c.account_id == account_id
        connection.execute(update(ratings).where(*theirs).values(mu=skill.mu, sigma=skill.sigma, matches=skill.matches))
    rows = [
        {
            "match_id": challenge.match_id,
            "seat": seat,
            "game": challenge.game,
            "account_id": accounts[seat],
            "ended_ms": ended_ms,
            "rank": closed.ranks[seat],
            "mu_before": skills[seat].mu,
            "sigma_before": skills[seat].sigma,
            "mu_after": after[seat].mu,
            "sigma_after": after[seat].sigma,
            "number": after[seat].matches,
        }
        for seat in range(len(accounts))
    ]
    connection.execute(insert(rating_changes), rows)
    return True


def _locked(connection: Connection, game: str, accounts: Sequence[str]) -> dict[str, Skill]:
    """Ratings that nobody else changes before this transaction ends; newcomers get a row."""
    # In one order, so that two matches with common players wait for each other instead of for ever.
    for account_id in sorted(accounts):
        row = upsert_into(connection, ratings).values(
            game=game, account_id=account_id, mu=NEWCOMER.mu, sigma=NEWCOMER.sigma, matches=0
        )
        connection.execute(row.on_conflict_do_nothing())
    ours = ratings.c.game == game, ratings.c.account_id.in_(sorted(accounts))
    locked = select(ratings).where(*ours).order_by(ratings.c.account_id).with_for_update()
    return {row.account_id: Skill(row.mu, row.sigma, row.matches) for row in connection.execute(locked)}


def _change(row: RowMapping) -> Change:
    return Change(
        match_id=row["match_id"],
        seat=row["seat"],
        game=row["game"],
        account_id=row["account_id"],
        ended_ms=row["ended_ms"],
        rank=row["rank"],
        before=Skill(row["mu_before"], row["sigma_before"], row["number"] - 1),
        after=Skill(row["mu_after"], row["sigma_after"], row["number"]),
    )
