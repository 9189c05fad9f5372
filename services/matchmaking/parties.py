"""Parties: friends who queue together. An account is in one at a time; who made it leads it, and it goes with them."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from matchmaking.database import Database
from matchmaking.tables import parties, party_members

__all__ = ["Party", "PartyBook"]


class Party(msgspec.Struct, frozen=True):
    """Some friends.

    Attributes:
        game: they want to play.
        owner: account that made it and takes it into a queue.
        members: accounts, the owner first.
        expires_ms: UTC ms.
    """

    party_id: str
    game: str
    owner: str
    members: tuple[str, ...]
    expires_ms: int


class PartyBook:
    """Every method may raise `grimoire.eventstore.Unavailable`. A party whose time is up is none.

    Args:
        database: of the tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def make(self, party_id: str, game: str, owner: str, now_ms: int, expires_ms: int) -> Party:
        """A party of one, unless it is there already; a party the account was in is left."""

        def work(connection: Connection) -> Party:
            known = _read(connection, party_id, now_ms)
            if known is not None:
                return known
            _leave(connection, owner)
            row = {"party_id": party_id, "game": game, "owner": owner, "expires_ms": expires_ms}
            connection.execute(insert(parties), row)
            connection.execute(insert(party_members), {"account_id": owner, "party_id": party_id, "place": 0})
            return Party(party_id, game, owner, (owner,), expires_ms)

        return await self._database.run(work)

    async def join(self, party_id: str, account_id: str, most: int, now_ms: int) -> Party | None:
        """Joins a party; one the account was in is left.

        Returns:
            The party, with the account in it if there was room; None: there is no such party.
        """

        def work(connection: Connection) -> Party | None:
            party = _read(connection, party_id, now_ms, lock=True)
            if party is None or account_id in party.members or len(party.members) >= most:
                return party
            _leave(connection, account_id)
            last = select(func.max(party_members.c.place)).where(party_members.c.party_id == party_id)
            place = connection.execute(last).scalar_one() + 1
            row = {"account_id": account_id, "party_id": party_id, "place": place}
            connection.execute(insert(party_members), row)
            return _read(connection, party_id, now_ms)

        return await self._database.run(work)

    async def leave(self, party_id: str, account_id: str) -> None:
        """Leaves a party; if it is the owner who goes, all do."""

        def work(connection: Connection) -> None:
            mine = select(party_members.c.party_id).where(party_members.c.account_id == account_id)
            if connection.execute(mine).scalar_one_or_none() == party_id:
                _leave(connection, account_id)

        await self._database.run(work)

    async def let_go(self, party_id: str, account_ids: Collection[str]) -> bool:
        """Takes some friends out of a party, never who leads it.

        Returns:
            Whether any of them was in it.
        """

        def work(connection: Connection) -> bool:
            led = select(parties.c.owner).where(parties.c.party_id == party_id).with_for_update()
            friends = set(account_ids) - {connection.execute(led).scalar_one_or_none()}
            theirs = delete(party_members).where(
                party_members.c.party_id == party_id, party_members.c.account_id.in_(sorted(friends))
            )
            return connection.execute(theirs).rowcount > 0

        return await self._database.run(work)

    async def get(self, party_id: str, now_ms: int) -> Party | None:
        """One party as it is."""
        return await self._database.read(lambda connection: _read(connection, party_id, now_ms))

    async def purge(self, before_ms: int) -> None:
        """Deletes parties whose time was up before this time."""

        def work(connection: Connection) -> None:
            old = select(parties.c.party_id).where(parties.c.expires_ms < before_ms)
            connection.execute(delete(party_members).where(party_members.c.party_id.in_(old)))
            connection.execute(delete(parties).where(parties.c.expires_ms < before_ms))

        await self._database.run(work)


def _read(connection: Connection, party_id: str, now_ms: int, *, lock: bool = False) -> Party | None:
    statement = select(parties).where(parties.c.party_id == party_id, parties.c.expires_ms > now_ms)
    row = connection.execute(statement.with_for_update() if lock else statement).one_or_none()
    if row is None:
        return None
    members = select(party_members.c.account_id).where(party_members.c.party_id == party_id)
    accounts = connection.execute(members.order_by(party_members.c.place)).scalars()
    return Party(row.party_id, row.game, row.owner, tuple(accounts), row.expires_ms)


def _leave(connection: Connection, account_id: str) -> None:
    """Out of whatever party the account is in."""
    owned = select(parties.c.party_id).where(parties.c.owner == account_id)
    connection.execute(delete(party_members).where(party_members.c.party_id.in_(owned)))
    connection.execute(delete(parties).where(parties.c.owner == account_id))
    connection.execute(delete(party_members).where(party_members.c.account_id == account_id))
