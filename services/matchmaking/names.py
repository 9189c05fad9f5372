"""The names people show to each other: beside the logs, so that erasing one changes no log."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, delete, select

from matchmaking.database import Database
from matchmaking.tables import names, upsert_into

__all__ = ["NameBook"]


class NameBook:
    """Names by account. Every method may raise `grimoire.eventstore.Unavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, account_id: str, name: str) -> None:
        """Keeps the name an account goes by now."""

        def work(connection: Connection) -> None:
            known = connection.execute(
                select(names.c.name).where(names.c.account_id == account_id)
            ).scalar_one_or_none()
            if known != name:
                row = upsert_into(connection, names).values(account_id=account_id, name=name)
                connection.execute(row.on_conflict_do_update(index_elements=["account_id"], set_={"name": name}))

        await self._database.run(work)

    async def of(self, account_ids: Collection[str]) -> dict[str, str]:
        """The names that are known among these accounts."""
        wanted = sorted(set(account_ids))
        if not wanted:
            return {}
        statement = select(names.c.account_id, names.c.name).where(names.c.account_id.in_(wanted))
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return {row.account_id: row.name for row in rows}

    async def forget(self, account_id: str) -> None:
        """Erases an account's name."""
        statement = delete(names).where(names.c.account_id == account_id)
        await self._database.run(lambda connection: connection.execute(statement))
