"""People as the edge keeps them: accounts, sessions, settings; and how they are erased."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, select, update

from gateway.callers import Caller, Role, Scope
from gateway.database import Database, upsert_into
from gateway.tables import (
    accounts,
    chat_messages,
    chat_mutes,
    chat_reports,
    erasures,
    sessions,
    settings,
    sign_in_failures,
)

__all__ = ["Account", "People", "Session", "Settings", "StaleError"]

_LAST_REVISION: Final = 2**63 - 1
"""What the database can count to."""


class StaleError(Exception):
    """It was changed by somebody else in between."""


class Account(msgspec.Struct, frozen=True):
    """An account as it is kept.

    Attributes:
        account_id: opaque and stable.
        name: as others see it.
        password: hash; None: a guest.
        role: what the person is here.
        created_ms, silenced_until_ms: UTC ms.
    """

    account_id: str
    name: str
    password: str | None
    role: Role
    created_ms: int
    silenced_until_ms: int

    @property
    def guest(self) -> bool:
        """It has no password."""
        return self.password is None

    def __repr__(self) -> str:
        return f"Account({self.account_id!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("account_id", self.account_id)]


class Session(msgspec.Struct, frozen=True):
    """A session as it is kept; times are UTC ms."""

    session_id: str
    scope: Scope
    label: str
    created_ms: int
    used_ms: int
    expires_ms: int


class Settings(msgspec.Struct, frozen=True):
    """What a client keeps with an account."""

    json: str = ""
    revision: int = 0


class People:
    """The tables of people. Every method may raise `DatabaseError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- accounts --------------------------------------------------------------------------------------------------

    async def add(self, account: Account, name_key: str | None) -> None:
        """Keeps a new account.

        Raises:
            TakenError: somebody with a password has this name.
        """
        row = {
            "account_id": account.account_id,
            "name": account.name,
            "name_key": name_key,
            "password": account.password,
            "role": int(account.role),
            "created_ms": account.created_ms,
            "used_ms": account.created_ms,
            "silenced_until_ms": 0,
        }
        await self._database.run(lambda connection: connection.execute(accounts.insert().values(row)))

    async def get(self, account_id: str) -> Account | None:
        """An account by its id."""
        return await self._account(accounts.c.account_id == account_id)

    async def by_name(self, name_key: str) -> Account | None:
        """The account with a password that has this name."""
        return await self._account(accounts.c.name_key == name_key)

    async def names_of(self, account_ids: Collection[str]) -> dict[str, str]:
        """The names of these accounts; those that are gone have none."""
        wanted = sorted(set(account_ids))
        if not wanted:
            return {}
        statement = select(accounts.c.account_id, accounts.c.name).where(accounts.c.account_id.in_(wanted))
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return {row.account_id: row.name for row in rows}

    async def register(self, account_id: str, name: str, name_key: str, password: str) -> None:
        """Gives a guest a name of its own and a password.

        Raises:
            TakenError: somebody with a password has this name.
        """
        await self._update(account_id, name=name, name_key=name_key, password=password)

    async def set_password(self, account_id: str, password: str) -> None:
        """Gives an account another password."""
        await self._update(account_id, password=password)

    async def rename(self, account_id: str, name: str, name_key: str | None) -> None:
        """Gives an account another name.

        Raises:
            TakenError: somebody with a password has this name.
        """
        await self._update(account_id, name=name, name_key=name_key)

    async def set_role(self, account_id: str, role: Role) -> None:
        """Makes somebody a moderator, or a player again."""
        await self._update(account_id, role=int(role))

    async def silence(self, account_id: str, until_ms: int) -> None:
        """Lets somebody not talk until then."""
        await self._update(account_id, silenced_until_ms=until_ms)

    async def erase(self, account_id: str, now_ms: int) -> list[str]:
        """Deletes a person; what matchmaking has yet to forget is noted.

        Returns:
            The sessions that ended by it.
        """

        def work(connection: Connection) -> list[str]:
            ended = _end_sessions(connection, sessions.c.account_id == account_id)
            connection.execute(delete(chat_reports).where(chat_reports.c.author_id == account_id))
            connection.execute(
                update(chat_reports).where(chat_reports.c.reporter_id == account_id).values(reporter_id=None)
            )
            for table in (chat_messages, chat_mutes, settings, accounts):
                connection.execute(delete(table).where(table.c.account_id == account_id))
            row = upsert_into(connection, erasures).values(account_id=account_id, since_ms=now_ms)
            connection.execute(row.on_conflict_do_nothing())
            return ended

        ended = await self._database.run(work)
        await self._database.scrub()
        return ended

    async def to_forget(self) -> list[str]:
        """Accounts that are gone here, and whose names matchmaking has yet to forget."""
        statement = select(erasures.c.account_id).order_by(erasures.c.since_ms).limit(100)
        return list(await self._database.read(lambda connection: connection.execute(statement).scalars().all()))

    async def forgotten(self, account_id: str) -> None:
        """Matchmaking has forgotten it."""
        statement = delete(erasures).where(erasures.c.account_id == account_id)
        await self._database.run(lambda connection: connection.execute(statement))

    async def lost_guests(self, before_ms: int) -> list[str]:
        """Guests that nobody can come back to: without a session, and not seen since."""
        has_session = select(sessions.c.session_id).where(sessions.c.account_id == accounts.c.account_id).exists()
        statement = (
            select(accounts.c.account_id)
            .where(accounts.c.password.is_(None), accounts.c.used_ms < before_ms, ~has_session)
            .limit(500)
        )
        return list(await self._database.read(lambda connection: connection.execute(statement).scalars().all()))

    # ---- sessions --------------------------------------------------------------------------------------------------

    async def open_session(self, account_id: str, session: Session, most: int) -> list[str]:
        """Keeps a new session; of more than `most` the longest unused go.

        Returns:
            Those that went.
        """

        def work(connection: Connection) -> list[str]:
            row = msgspec.structs.asdict(session) | {"account_id": account_id, "scope": int(session.scope)}
            connection.execute(sessions.insert().values(row))
            others = (sessions.c.account_id == account_id, sessions.c.session_id != session.session_id)
            newest = (
                select(sessions.c.session_id)
                .where(*others)
                .order_by(sessions.c.used_ms.desc(), sessions.c.created_ms.desc())
                .limit(most - 1)
            )
            return _end_sessions(connection, *others, sessions.c.session_id.not_in(newest))

        return await self._database.run(work)

    async def caller(self, session_id: str, now_ms: int, idle_ms: int) -> tuple[Caller, int] | None:
        """Whom a session speaks for, and when it was last noted as used; None if there is none, or no longer."""
        statement = (
            select(sessions.c.scope, sessions.c.used_ms, accounts)
            .join(accounts, accounts.c.account_id == sessions.c.account_id)
            .where(
                sessions.c.session_id == session_id,
                sessions.c.expires_ms > now_ms,
                sessions.c.used_ms > now_ms - idle_ms,
            )
        )
        row = await self._database.read(lambda connection: connection.execute(statement).first())
        if row is None:
            return None
        caller = Caller(
            account_id=row.account_id,
            name=row.name,
            session_id=session_id,
            scope=Scope(row.scope),
            role=Role(row.role),
            guest=row.password is None,
            created_ms=row.created_ms,
            silenced_until_ms=row.silenced_until_ms,
        )
        return caller, row[1]

    async def touch(self, session_id: str, account_id: str, now_ms: int) -> None:
        """Notes that a session is used."""

        def work(connection: Connection) -> None:
            connection.execute(update(sessions).where(sessions.c.session_id == session_id).values(used_ms=now_ms))
            connection.execute(update(accounts).where(accounts.c.account_id == account_id).values(used_ms=now_ms))

        await self._database.run(work)

    async def sessions_of(self, account_id: str) -> list[Session]:
        """An account's sessions, the newest used first."""
        statement = (
            select(
                sessions.c.session_id,
                sessions.c.scope,
                sessions.c.label,
                sessions.c.created_ms,
                sessions.c.used_ms,
                sessions.c.expires_ms,
            )
            .where(sessions.c.account_id == account_id)
            .order_by(sessions.c.used_ms.desc(), sessions.c.created_ms.desc())
        )
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return [Session(row[0], Scope(row[1]), *row[2:]) for row in rows]

    async def end_session(self, account_id: str, session_id: str) -> list[str]:
        """Ends one session of this account; gives those that ended."""
        return await self._database.run(
            lambda connection: _end_sessions(
                connection, sessions.c.account_id == account_id, sessions.c.session_id == session_id
            )
        )

    async def end_others(self, account_id: str, but: str) -> list[str]:
        """Ends all sessions of this account but one; gives those that ended."""
        return await self._database.run(
            lambda connection: _end_sessions(
                connection, sessions.c.account_id == account_id, sessions.c.session_id != but
            )
        )

    async def end_idle(self, now_ms: int, idle_ms: int) -> int:
        """Ends sessions whose time is up, or that were not used for long; gives their number."""
        old = (sessions.c.expires_ms <= now_ms) | (sessions.c.used_ms <= now_ms - idle_ms)
        return len(await self._database.run(lambda connection: _end_sessions(connection, old)))

    # ---- settings --------------------------------------------------------------------------------------------------

    async def settings(self, account_id: str) -> Settings:
        """What a client has saved with this account."""
        statement = select(settings.c.json, settings.c.revision).where(settings.c.account_id == account_id)
        row = await self._database.read(lambda connection: connection.execute(statement).first())
        return Settings(*row) if row is not None else Settings()

    async def save_settings(self, account_id: str, json: str, revision: int) -> int:
        """Saves it; gives the new revision.

        Args:
            account_id: whose.
            json: what.
            revision: the one it was made from; 0: whatever is there.

        Raises:
            StaleError: there is another one by now.
        """
        if revision > _LAST_REVISION:
            raise StaleError

        def work(connection: Connection) -> int:
            ours = settings.c.account_id == account_id
            unchanged = ours & (settings.c.revision == revision) if revision else ours
            values = {"json": json, "revision": settings.c.revision + 1}
            saved = update(settings).where(unchanged).values(values).returning(settings.c.revision)
            number: int | None = connection.execute(saved).scalar_one_or_none()
            if number is None and revision:
                raise StaleError
            if number is None:
                row = upsert_into(connection, settings).values(account_id=account_id, json=json, revision=1)
                first = row.on_conflict_do_update(index_elements=["account_id"], set_=values)
                return int(connection.execute(first.returning(settings.c.revision)).scalar_one())
            return number

        return await self._database.run(work)

    # ---- failed sign-ins -------------------------------------------------------------------------------------------

    async def locked_until(self, name_key: str) -> int:
        """Until when nobody may sign in under this name (UTC ms)."""
        statement = select(sign_in_failures.c.locked_until_ms).where(sign_in_failures.c.name_hash == _hash(name_key))
        return await self._database.read(lambda connection: connection.execute(statement).scalar_one_or_none()) or 0

    async def note_failure(self, name_key: str, now_ms: int, free: int, first_ms: int, most_ms: int) -> int:
        """Counts a failed sign-in; gives until when the name is locked.

        Args:
            name_key: whether somebody has it or not.
            now_ms: the time.
            free: so many failures cost nothing; each later one locks for twice as long as that before.
            first_ms: the first lock.
            most_ms: the longest.
        """

        def work(connection: Connection) -> int:
            row = upsert_into(connection, sign_in_failures).values(
                name_hash=_hash(name_key), failures=1, locked_until_ms=0, updated_ms=now_ms
            )
            counted = row.on_conflict_do_update(
                index_elements=["name_hash"],
                set_={"failures": sign_in_failures.c.failures + 1, "updated_ms": now_ms},
            ).returning(sign_in_failures.c.failures)
            over = min(connection.execute(counted).scalar_one() - free, 32)
            until_ms = now_ms + min(first_ms * 2 ** (over - 1), most_ms) if over > 0 else 0
            where = sign_in_failures.c.name_hash == _hash(name_key)
            connection.execute(update(sign_in_failures).where(where).values(locked_until_ms=until_ms))
            return until_ms

        return await self._database.run(work)

    async def forgive(self, name_key: str) -> None:
        """A good sign-in: failures count anew."""
        statement = delete(sign_in_failures).where(sign_in_failures.c.name_hash == _hash(name_key))
        await self._database.run(lambda connection: connection.execute(statement))

    async def forgive_all(self, before_ms: int) -> None:
        """Failures of names that have been left in peace since."""
        statement = delete(sign_in_failures).where(sign_in_failures.c.updated_ms < before_ms)
        await self._database.run(lambda connection: connection.execute(statement))

    # ---- helpers ---------------------------------------------------------------------------------------------------

    async def _account(self, where: object) -> Account | None:
        statement = select(accounts).where(where)  # type: ignore[arg-type]
        row = await self._database.read(lambda connection: connection.execute(statement).first())
        if row is None:
            return None
        return Account(row.account_id, row.name, row.password, Role(row.role), row.created_ms, row.silenced_until_ms)

    async def _update(self, account_id: str, **values: object) -> None:
        statement = update(accounts).where(accounts.c.account_id == account_id).values(values)
        await self._database.run(lambda connection: connection.execute(statement))


def _end_sessions(connection: Connection, *where: object) -> list[str]:
    ended = list(connection.execute(select(sessions.c.session_id).where(*where)).scalars().all())  # type: ignore[arg-type]
    for start in range(0, len(ended), 500):
        chunk = ended[start : start + 500]
        connection.execute(delete(sessions).where(sessions.c.session_id.in_(chunk)))
    return ended


def _hash(name_key: str) -> bytes:
    return hashlib.sha256(name_key.encode()).digest()
