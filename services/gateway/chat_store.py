"""Chat as it is kept: messages, who does not hear whom, reports."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from gateway.database import Database, upsert_into
from gateway.tables import chat_messages, chat_mutes, chat_reports

__all__ = ["WATCHERS", "ChatStore", "FullError", "Line", "ReportRow"]

WATCHERS = -1
"""Stands in a mute for all who have no seat."""


class FullError(Exception):
    """A match holds no more messages."""


class Line(msgspec.Struct, frozen=True):
    """One message; times are UTC ms.

    Attributes:
        number: counts the messages of a match from 1.
        seat: None: a watcher's.
    """

    message_id: str
    match_id: str
    number: int
    account_id: str
    seat: int | None
    text: str
    sent_ms: int
    removed: bool = False

    def __repr__(self) -> str:
        return f"Line({self.message_id!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("message_id", self.message_id)]


class ReportRow(msgspec.Struct, frozen=True):
    """One report; times are UTC ms."""

    report_id: str
    message_id: str
    match_id: str
    author_id: str
    reporter_id: str | None
    reason: str
    reported_ms: int
    state: int

    def __repr__(self) -> str:
        return f"ReportRow({self.report_id!r})"

    def __rich_repr__(self) -> list[tuple[str, object]]:
        return [("report_id", self.report_id)]


_LINE = (
    chat_messages.c.message_id,
    chat_messages.c.match_id,
    chat_messages.c.number,
    chat_messages.c.account_id,
    chat_messages.c.seat,
    chat_messages.c.text,
    chat_messages.c.sent_ms,
    chat_messages.c.removed,
)
_REPORT = (
    chat_reports.c.report_id,
    chat_reports.c.message_id,
    chat_reports.c.match_id,
    chat_reports.c.author_id,
    chat_reports.c.reporter_id,
    chat_reports.c.reason,
    chat_reports.c.reported_ms,
    chat_reports.c.state,
)


class ChatStore:
    """The tables of chat. Every method may raise `DatabaseError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- messages --------------------------------------------------------------------------------------------------

    async def add(self, line: Line, request_id: bytes, most: int) -> Line:
        """Keeps a message; what was sent twice under one `request_id` is kept once.

        Returns:
            It, with its number.

        Raises:
            FullError: the match has `most` messages.
            TakenError: somebody else took the number just now; try again.
        """

        def work(connection: Connection) -> Line:
            if request_id:
                statement = select(*_LINE).where(
                    chat_messages.c.match_id == line.match_id,
                    chat_messages.c.account_id == line.account_id,
                    chat_messages.c.request_id == request_id,
                )
                before = connection.execute(statement).first()
                if before is not None:
                    return Line(*before)
            last = connection.execute(
                select(func.max(chat_messages.c.number)).where(chat_messages.c.match_id == line.match_id)
            ).scalar_one()
            number = (last or 0) + 1
            if number > most:
                raise FullError
            numbered = msgspec.structs.replace(line, number=number)
            row = msgspec.structs.asdict(numbered) | {"request_id": request_id or None}
            connection.execute(chat_messages.insert().values(row))
            return numbered

        return await self._database.run(work)

    async def of_match(self, match_id: str, after: int = 0) -> list[Line]:
        """Messages of a match in order, behind a number."""
        statement = (
            select(*_LINE)
            .where(chat_messages.c.match_id == match_id, chat_messages.c.number > after)
            .order_by(chat_messages.c.number)
        )
        return await self._lines(statement)

    async def get(self, message_id: str) -> Line | None:
        """One message."""
        found = await self._lines(select(*_LINE).where(chat_messages.c.message_id == message_id))
        return found[0] if found else None

    async def before(self, line: Line, most: int) -> list[Line]:
        """The few messages before one."""
        statement = (
            select(*_LINE)
            .where(chat_messages.c.match_id == line.match_id, chat_messages.c.number < line.number)
            .order_by(chat_messages.c.number.desc())
            .limit(most)
        )
        return (await self._lines(statement))[::-1]

    async def of_account(self, account_id: str) -> list[Line]:
        """Everything somebody has said."""
        statement = select(*_LINE).where(chat_messages.c.account_id == account_id).order_by(chat_messages.c.sent_ms)
        return await self._lines(statement)

    async def remove(self, message_id: str) -> None:
        """Leaves of a message that there was one."""
        statement = update(chat_messages).where(chat_messages.c.message_id == message_id)
        await self._database.run(lambda connection: connection.execute(statement.values(text="", removed=True)))
        await self._database.scrub()

    async def sweep(self, messages_before_ms: int, reports_before_ms: int) -> None:
        """Deletes what is old: messages, mutes, and reports that are decided."""

        def work(connection: Connection) -> None:
            connection.execute(delete(chat_messages).where(chat_messages.c.sent_ms < messages_before_ms))
            connection.execute(delete(chat_mutes).where(chat_mutes.c.since_ms < messages_before_ms))
            connection.execute(
                delete(chat_reports).where(chat_reports.c.decided_ms > 0, chat_reports.c.decided_ms < reports_before_ms)
            )

        await self._database.run(work)

    # ---- mutes -----------------------------------------------------------------------------------------------------

    async def mutes(self, match_id: str, account_id: str) -> frozenset[int]:
        """The seats somebody does not hear; `WATCHERS`: none without a seat."""
        statement = select(chat_mutes.c.seat).where(
            chat_mutes.c.match_id == match_id, chat_mutes.c.account_id == account_id
        )
        return frozenset(await self._database.read(lambda connection: connection.execute(statement).scalars().all()))

    async def set_mute(self, match_id: str, account_id: str, seat: int, muted: bool, now_ms: int) -> None:
        """Hears a seat no longer, or again."""
        where = (
            chat_mutes.c.match_id == match_id,
            chat_mutes.c.account_id == account_id,
            chat_mutes.c.seat == seat,
        )

        def work(connection: Connection) -> None:
            if not muted:
                connection.execute(delete(chat_mutes).where(*where))
                return
            row = upsert_into(connection, chat_mutes).values(
                match_id=match_id, account_id=account_id, seat=seat, since_ms=now_ms
            )
            connection.execute(row.on_conflict_do_nothing())

        await self._database.run(work)

    # ---- reports ---------------------------------------------------------------------------------------------------

    async def add_report(self, report: ReportRow) -> None:
        """Keeps a report; a second one of the same person about the same message is none."""

        def work(connection: Connection) -> None:
            statement = select(chat_reports.c.report_id).where(
                chat_reports.c.message_id == report.message_id, chat_reports.c.reporter_id == report.reporter_id
            )
            if connection.execute(statement).first() is None:
                row = msgspec.structs.asdict(report) | {"decided_ms": 0}
                connection.execute(chat_reports.insert().values(row))

        await self._database.run(work)

    async def reports(self, states: Collection[int] | None, limit: int) -> list[ReportRow]:
        """Reports: those in these states, the oldest first; None: all, the newest first."""
        statement = select(*_REPORT).limit(limit)
        if states is None:
            statement = statement.order_by(chat_reports.c.reported_ms.desc())
        else:
            statement = statement.where(chat_reports.c.state.in_(states)).order_by(chat_reports.c.reported_ms)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return [ReportRow(*row) for row in rows]

    async def report(self, report_id: str) -> ReportRow | None:
        """One report."""
        statement = select(*_REPORT).where(chat_reports.c.report_id == report_id)
        row = await self._database.read(lambda connection: connection.execute(statement).first())
        return ReportRow(*row) if row is not None else None

    async def decide(self, message_id: str, state: int, now_ms: int) -> None:
        """Decides all reports about one message."""
        statement = update(chat_reports).where(chat_reports.c.message_id == message_id)
        await self._database.run(
            lambda connection: connection.execute(statement.values(state=state, decided_ms=now_ms))
        )

    async def upheld(self, author_id: str, states: Collection[int]) -> int:
        """How many messages of somebody were reported and found to be as reported."""
        statement = select(func.count(func.distinct(chat_reports.c.message_id))).where(
            chat_reports.c.author_id == author_id, chat_reports.c.state.in_(states)
        )
        return await self._database.read(lambda connection: connection.execute(statement).scalar_one())

    async def _lines(self, statement: object) -> list[Line]:
        rows = await self._database.read(lambda connection: connection.execute(statement).all())  # type: ignore[call-overload]
        return [Line(*row) for row in rows]
