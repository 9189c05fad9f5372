"""Ratings in their tables: one a game and account, and what each rated match did to them, exactly once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import msgspec
from sqlalchemy import Connection, RowMapping, delete, insert, select, update

from grimoire.v1 import match_pb2
from matchmaking.challenge import Challenge
from matchmaking.database import Database
from matchmaking.skill import NEWCOMER, PROVISIONAL_SIGMA, TOGETHER, Skill, counts, rate, rate_together, standing
from matchmaking.tables import (
    difficulties,
    difficulty_changes,
    rated_matches,
    rating_changes,
    ratings,
    upsert_into,
)

__all__ = ["Change", "Difficulty", "Ratings"]


_TASK: Final = [
    difficulty_changes.c[f"{what}_{when}"].label(f"task_{what}_{when}")
    for when in ("before", "after")
    for what in ("mu", "sigma", "matches")
]
_CHANGES: Final = select(rating_changes, *_TASK).select_from(
    rating_changes.outerjoin(difficulty_changes, difficulty_changes.c.match_id == rating_changes.c.match_id)
)


class Change(msgspec.Struct, frozen=True):
    """What one rated match did to one player.

    Attributes:
        ended_ms: UTC ms.
        rank: 1 is best.
        difficulty_before, difficulty_after: of a co-operative match: how hard its options were thought to be; no
            `after` where it did not move, for somebody else played for a while.
    """

    match_id: str
    seat: int
    game: str
    account_id: str
    ended_ms: int
    rank: int
    before: Skill
    after: Skill
    difficulty_before: Skill | None = None
    difficulty_after: Skill | None = None


class Difficulty(msgspec.Struct, frozen=True):
    """What people play against in a co-operative game: some options and a number of seats. `won`: by people."""

    options: tuple[tuple[str, str], ...]
    seats: int
    skill: Skill
    won: int


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
        newest = _CHANGES.where(*mine).order_by(rating_changes.c.number.desc()).limit(limit)
        return await self._database.read(
            lambda connection: [_change(row) for row in connection.execute(newest).mappings()]
        )

    async def changes_of(self, match_ids: Collection[str]) -> dict[str, list[Change]]:
        """What these matches did, by match, in the order of seats."""
        if not match_ids:
            return {}
        statement = _CHANGES.where(rating_changes.c.match_id.in_(sorted(match_ids)))
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

    async def difficulties(self, game: str, limit: int) -> list[Difficulty]:
        """What people have played against in a co-operative game, the hardest first."""
        order = difficulties.c.mu.desc(), difficulties.c.options, difficulties.c.seats
        statement = select(difficulties).where(difficulties.c.game == game).order_by(*order).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return [
            Difficulty(
                msgspec.json.decode(row.options, type=tuple[tuple[str, str], ...]),
                row.seats,
                Skill(row.mu, row.sigma, row.matches),
                row.won,
            )
            for row in rows
        ]

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
    ranks = standing(challenge, closed)
    seats = tuple(ranks)
    accounts = {seat: sitter.account_id for seat in seats if (sitter := challenge.started[seat])}
    before = _locked(connection, challenge.game, list(accounts.values()))
    skills = [before[accounts[seat]] for seat in seats]
    if closed.kind in TOGETHER:
        after = _rate_together(connection, challenge, skills, won=closed.kind == match_pb2.OUTCOME_KIND_COOP_WON)
    else:
        after = rate(skills, [*ranks.values()])
    rows = []
    for seat, was, skill in zip(seats, skills, after, strict=True):
        account_id = accounts[seat]
        theirs = ratings.c.game == challenge.game, ratings.c.account_id == account_id
        connection.execute(update(ratings).where(*theirs).values(mu=skill.mu, sigma=skill.sigma, matches=skill.matches))
        rows.append(
            {
                "match_id": challenge.match_id,
                "seat": seat,
                "game": challenge.game,
                "account_id": account_id,
                "ended_ms": ended_ms,
                "rank": ranks[seat],
                "mu_before": was.mu,
                "sigma_before": was.sigma,
                "mu_after": skill.mu,
                "sigma_after": skill.sigma,
                "number": skill.matches,
            }
        )
    connection.execute(insert(rating_changes), rows)
    return True


def _rate_together(
    connection: Connection, challenge: Challenge, skills: Sequence[Skill], *, won: bool
) -> Sequence[Skill]:
    """What is thought of the people; the difficulty moves only if all of them played the match to its end."""
    chosen = dict(challenge.options)
    options = msgspec.json.encode([(name, chosen.get(name, "")) for name in challenge.difficulty]).decode()
    key = {"game": challenge.game, "options": options, "seats": len(challenge.seats)}
    fresh = {"mu": NEWCOMER.mu, "sigma": NEWCOMER.sigma, "matches": 0, "won": 0}
    connection.execute(upsert_into(connection, difficulties).values(**key, **fresh).on_conflict_do_nothing())
    this = tuple(difficulties.c[name] == value for name, value in key.items())
    row = connection.execute(select(difficulties).where(*this).with_for_update()).one()
    before = Skill(row.mu, row.sigma, row.matches)
    after, moved = rate_together(skills, before, won=won)
    difficulty = before if challenge.substituted else moved
    if difficulty is moved:
        values = {"mu": moved.mu, "sigma": moved.sigma, "matches": moved.matches, "won": row.won + won}
        connection.execute(update(difficulties).where(*this).values(**values))
    change = {
        "match_id": challenge.match_id,
        "mu_before": before.mu,
        "sigma_before": before.sigma,
        "mu_after": difficulty.mu,
        "sigma_after": difficulty.sigma,
        "matches_before": before.matches,
        "matches_after": difficulty.matches,
    }
    connection.execute(insert(difficulty_changes), change)
    return after


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
        difficulty_before=_difficulty(row, "before"),
        difficulty_after=_difficulty(row, "after") if row["task_matches_after"] != row["task_matches_before"] else None,
    )


def _difficulty(row: RowMapping, when: str) -> Skill | None:
    """How hard a co-operative match was thought to be; None: it was none."""
    if row["task_mu_before"] is None:
        return None
    return Skill(row[f"task_mu_{when}"], row[f"task_sigma_{when}"], row[f"task_matches_{when}"])
