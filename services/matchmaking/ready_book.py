"""Ready checks in their tables: put, answered, passed or failed, each in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, update

from matchmaking.database import Database
from matchmaking.log import derived_id
from matchmaking.tables import ready_checks, ready_seats, seekers, tickets
from matchmaking.tickets import Check, CheckStage, ReadySeat, Ticket, TicketStage, read_check, read_tickets

__all__ = ["Answered", "Passed", "ReadyBook", "challenge_of_check"]


class Passed(msgspec.Struct, frozen=True):
    """A ready check all passed, with the tickets of its people."""

    check: Check
    tickets: tuple[Ticket, ...]


class Answered(msgspec.Struct, frozen=True):
    """A ready check after somebody's answer, and whether it was this answer that settled it."""

    check: Check
    settled: bool = False


class _Lost(Exception):  # noqa: N818 - it undoes a transaction and never leaves this module
    """A ticket has changed since it was looked at."""


def challenge_of_check(check_id: str) -> str:
    """The id of the challenge that comes of a ready check: asking for it twice opens one."""
    return derived_id("ready", check_id)


class ReadyBook:
    """Every method may raise `grimoire.eventstore.Unavailable`.

    Args:
        database: of the tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, check: Check, generations: Mapping[str, int]) -> bool:
        """Asks the people of some tickets whether they are ready.

        Args:
            check: the question, with everybody's seat.
            generations: of each ticket, as it was when it was chosen.

        Returns:
            False, and nothing has happened, if one of the tickets has changed since.
        """
        try:
            await self._database.run(lambda connection: _put(connection, check, generations))
        except _Lost:
            return False
        return True

    async def answer(self, check_id: str, account_id: str, *, ready: bool, now_ms: int) -> Answered | None:
        """Takes somebody's answer, and settles what it settles; an answer that comes too late changes nothing.

        Returns:
            None: there is no such check with this account.
        """

        def work(connection: Connection) -> Answered | None:
            check = read_check(connection, check_id, lock=True)
            seat = check.seat_of(account_id) if check else None
            if check is None or seat is None:
                return None
            if check.stage is not CheckStage.RUNNING:
                return Answered(check)
            if now_ms >= check.expires_ms:
                return Answered(_fail(connection, check, _silent(check), now_ms), settled=True)
            if not ready:
                return Answered(_fail(connection, check, {seat.ticket_id}, now_ms), settled=True)
            after = _say_ready(connection, check, seat, now_ms)
            return Answered(after, settled=after.stage is CheckStage.PASSED)

        return await self._database.run(work)

    async def fail_overdue(self, check_id: str, now_ms: int) -> Check | None:
        """Ends a check whose time is up; None: there is nothing to end."""

        def work(connection: Connection) -> Check | None:
            check = read_check(connection, check_id, lock=True)
            if check is None or check.stage is not CheckStage.RUNNING or now_ms < check.expires_ms:
                return None
            return _fail(connection, check, _silent(check), now_ms)

        return await self._database.run(work)

    async def passed(self, check_id: str) -> Passed | None:
        """A check all passed whose challenge is not known to be written down yet."""

        def work(connection: Connection) -> Passed | None:
            check = read_check(connection, check_id)
            if check is None or check.stage is not CheckStage.PASSED:
                return None
            return Passed(check, tuple(read_tickets(connection, {seat.ticket_id for seat in check.seats})))

        return await self._database.read(work)

    async def opened(self, check_id: str) -> None:
        """The challenge of a passed check is written down."""
        statement = (
            update(ready_checks)
            .where(ready_checks.c.check_id == check_id, ready_checks.c.stage == CheckStage.PASSED)
            .values(stage=int(CheckStage.OPENED))
        )
        await self._database.run(lambda connection: connection.execute(statement))

    async def get(self, check_id: str) -> Check | None:
        """One check as it is."""
        return await self._database.read(lambda connection: read_check(connection, check_id))


def _put(connection: Connection, check: Check, generations: Mapping[str, int]) -> None:
    # In one order, so that two who form matches wait for each other instead of for ever.
    for ticket_id, generation in sorted(generations.items()):
        claimed = (
            update(tickets)
            .where(
                tickets.c.ticket_id == ticket_id,
                tickets.c.generation == generation,
                tickets.c.stage == TicketStage.WAITING,
            )
            .values(stage=int(TicketStage.CHECKING), generation=generation + 1, check_id=check.check_id)
        )
        if not connection.execute(claimed).rowcount:
            raise _Lost
    connection.execute(
        insert(ready_checks),
        {
            "check_id": check.check_id,
            "queue_id": check.queue_id,
            "stage": int(check.stage),
            "created_ms": check.created_ms,
            "expires_ms": check.expires_ms,
            "ended_ms": 0,
        },
    )
    connection.execute(
        insert(ready_seats),
        [
            {
                "check_id": check.check_id,
                "seat": seat.seat,
                "account_id": seat.account_id,
                "ticket_id": seat.ticket_id,
                "ready": seat.ready,
            }
            for seat in check.seats
        ],
    )


def _silent(check: Check) -> set[str]:
    """Tickets of which somebody has not said to be ready."""
    return {seat.ticket_id for seat in check.seats if not seat.ready}


def _say_ready(connection: Connection, check: Check, seat: ReadySeat, now_ms: int) -> Check:
    connection.execute(
        update(ready_seats)
        .where(ready_seats.c.check_id == check.check_id, ready_seats.c.seat == seat.seat)
        .values(ready=True)
    )
    seats = tuple(replace(s, ready=s.ready or s is seat) for s in check.seats)
    check = replace(check, seats=seats)
    if not all(s.ready for s in seats):
        return check
    matched = {
        "stage": int(TicketStage.MATCHED),
        "challenge_id": challenge_of_check(check.check_id),
        "ended_ms": now_ms,
    }
    _move(connection, check, _tickets(check), matched)
    return _end(connection, check, CheckStage.PASSED, now_ms)


def _fail(connection: Connection, check: Check, guilty: Collection[str], now_ms: int) -> Check:
    """Who was not ready loses the ticket; the others wait on, as long as they have waited already."""
    _move(connection, check, guilty, {"stage": int(TicketStage.NOT_READY), "ended_ms": now_ms})
    innocent = [ticket_id for ticket_id in _tickets(check) if ticket_id not in guilty]
    _move(connection, check, innocent, {"stage": int(TicketStage.WAITING)})
    return _end(connection, check, CheckStage.FAILED, now_ms)


def _tickets(check: Check) -> Sequence[str]:
    return sorted({seat.ticket_id for seat in check.seats})


def _move(connection: Connection, check: Check, ticket_ids: Collection[str], values: Mapping[str, object]) -> None:
    """Takes tickets out of a check."""
    ours = (
        tickets.c.ticket_id.in_(sorted(ticket_ids)),
        tickets.c.check_id == check.check_id,
        tickets.c.stage == TicketStage.CHECKING,
    )
    moved = update(tickets).where(*ours).values(check_id="", generation=tickets.c.generation + 1, **values)
    connection.execute(moved)
    if "ended_ms" in values:
        connection.execute(delete(seekers).where(seekers.c.ticket_id.in_(sorted(ticket_ids))))


def _end(connection: Connection, check: Check, stage: CheckStage, now_ms: int) -> Check:
    connection.execute(
        update(ready_checks).where(ready_checks.c.check_id == check.check_id).values(stage=int(stage), ended_ms=now_ms)
    )
    return replace(check, stage=stage, ended_ms=now_ms)
