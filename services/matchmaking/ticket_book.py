"""The tickets in their tables: entering and leaving a queue, what waits in it, and what has run out."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from matchmaking.database import Database
from matchmaking.tables import (
    queue_leases,
    ready_checks,
    ready_seats,
    seekers,
    ticket_seats,
    tickets,
    upsert_into,
)
from matchmaking.tickets import CheckStage, Queue, Ticket, TicketStage, read_tickets

__all__ = ["QueueView", "TicketBook"]

_LIVE = tuple(int(stage) for stage in TicketStage if stage.live)


class QueueView(msgspec.Struct, frozen=True):
    """A queue at one moment.

    Attributes:
        waiting: tickets that may be matched.
        expired: tickets that still wait although their time is up.
        overdue: ready checks that still run although their time is up.
        unopened: ready checks all passed, whose match nobody has written down yet.
        checking: whether any ready check runs.
    """

    waiting: list[Ticket]
    expired: list[str]
    overdue: list[str]
    unopened: list[str]
    checking: bool

    @property
    def idle(self) -> bool:
        """Nothing will happen here until somebody comes."""
        return not (self.waiting or self.expired or self.overdue or self.unopened or self.checking)


class _Taken(Exception):  # noqa: N818 - it undoes a transaction and never leaves this module
    """Somebody on the ticket waits already."""

    def __init__(self, account_id: str) -> None:
        self.account_id = account_id


class TicketBook:
    """Every method may raise `grimoire.eventstore.Unavailable`.

    Args:
        database: of the tables.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    # ---- coming and going ------------------------------------------------------------------------------------------

    async def enter(self, ticket: Ticket) -> Ticket:
        """Puts a ticket into its queue, unless it is there or one of its people waits with another.

        Returns:
            The ticket itself, just entered (generation 1) or as it is; or the other one.
        """
        while True:
            try:
                return await self._database.run(lambda connection: _enter(connection, ticket))
            except _Taken as taken:
                other = await self.of_account(taken.account_id)
                # None: it has gone since.
                if other is not None:
                    return other

    async def leave(self, ticket_id: str, now_ms: int) -> bool:
        """Withdraws a ticket that waits; False: it does not wait (any more)."""

        def work(connection: Connection) -> bool:
            withdrawn = (
                update(tickets)
                .where(tickets.c.ticket_id == ticket_id, tickets.c.stage == TicketStage.WAITING)
                .values(stage=int(TicketStage.CANCELLED), generation=tickets.c.generation + 1, ended_ms=now_ms)
            )
            if not connection.execute(withdrawn).rowcount:
                return False
            connection.execute(delete(seekers).where(seekers.c.ticket_id == ticket_id))
            return True

        return await self._database.run(work)

    async def expire(self, ticket_ids: Collection[str], now_ms: int) -> list[str]:
        """Ends tickets that wait although their time is up; returns those that this call ended."""

        def work(connection: Connection) -> list[str]:
            ended = (
                update(tickets)
                .where(
                    tickets.c.ticket_id.in_(sorted(ticket_ids)),
                    tickets.c.stage == TicketStage.WAITING,
                    tickets.c.expires_ms <= now_ms,
                )
                .values(stage=int(TicketStage.EXPIRED), generation=tickets.c.generation + 1, ended_ms=now_ms)
                .returning(tickets.c.ticket_id)
            )
            gone = list(connection.execute(ended).scalars())
            connection.execute(delete(seekers).where(seekers.c.ticket_id.in_(gone)))
            return gone

        return await self._database.run(work)

    # ---- looking ---------------------------------------------------------------------------------------------------

    async def get(self, ticket_id: str) -> Ticket | None:
        """One ticket as it is."""
        return await self._database.read(lambda connection: next(iter(read_tickets(connection, [ticket_id])), None))

    async def get_all(self, ticket_ids: Collection[str]) -> list[Ticket]:
        """Those of these tickets that exist, the oldest first."""
        return await self._database.read(lambda connection: read_tickets(connection, ticket_ids))

    async def of_account(self, account_id: str) -> Ticket | None:
        """The ticket this account waits with now."""

        def work(connection: Connection) -> Ticket | None:
            mine = select(seekers.c.ticket_id).where(seekers.c.account_id == account_id)
            ticket_id = connection.execute(mine).scalar_one_or_none()
            return next(iter(read_tickets(connection, [ticket_id] if ticket_id else [])), None)

        return await self._database.read(work)

    async def look(self, queue_id: str, now_ms: int, unopened_before_ms: int) -> QueueView:
        """A queue at this moment.

        Args:
            queue_id: of the queue.
            now_ms: UTC ms.
            unopened_before_ms: passed ready checks are left to whoever had the last answer until then.
        """

        def work(connection: Connection) -> QueueView:
            rows = connection.execute(
                select(tickets.c.ticket_id, tickets.c.expires_ms).where(
                    tickets.c.queue_id == queue_id, tickets.c.stage == TicketStage.WAITING
                )
            ).all()
            checks = connection.execute(
                select(ready_checks).where(
                    ready_checks.c.queue_id == queue_id,
                    ready_checks.c.stage.in_([int(CheckStage.RUNNING), int(CheckStage.PASSED)]),
                )
            ).all()
            running = [check for check in checks if check.stage == CheckStage.RUNNING]
            return QueueView(
                waiting=read_tickets(connection, [row.ticket_id for row in rows if row.expires_ms > now_ms]),
                expired=[row.ticket_id for row in rows if row.expires_ms <= now_ms],
                overdue=[check.check_id for check in running if check.expires_ms <= now_ms],
                unopened=[
                    check.check_id
                    for check in checks
                    if check.stage == CheckStage.PASSED and check.ended_ms <= unopened_before_ms
                ],
                checking=bool(checks),
            )

        return await self._database.read(work)

    async def busy_queues(self) -> list[str]:
        """Queues in which something is to be done."""

        def work(connection: Connection) -> list[str]:
            waiting = select(tickets.c.queue_id).where(tickets.c.stage.in_(_LIVE))
            unopened = select(ready_checks.c.queue_id).where(ready_checks.c.stage == CheckStage.PASSED)
            return sorted(set(connection.execute(waiting.union(unopened)).scalars()))

        return await self._database.read(work)

    async def crowds(self, game: str) -> list[tuple[Queue, int]]:
        """Every queue of a game in which somebody waits, and how many people do."""

        def work(connection: Connection) -> list[tuple[Queue, int]]:
            rows = select(tickets.c.ticket_id).where(tickets.c.game == game, tickets.c.stage == TicketStage.WAITING)
            people: dict[Queue, int] = {}
            for ticket in read_tickets(connection, list(connection.execute(rows).scalars())):
                people[ticket.queue] = people.get(ticket.queue, 0) + len(ticket.members)
            return sorted(people.items(), key=lambda pair: (-pair[1], pair[0].queue_id))

        return await self._database.read(work)

    # ---- the right to form matches ---------------------------------------------------------------------------------

    async def lease(self, queue_id: str, instance: str, now_ms: int, until_ms: int) -> bool:
        """Takes, or keeps, the right to form a queue's matches. It spares work; it is not what keeps tickets apart.

        Returns:
            Whether it is ours until then.
        """
        held = await self._database.read(
            lambda connection: connection.execute(
                select(queue_leases).where(queue_leases.c.queue_id == queue_id)
            ).one_or_none()
        )
        if held is not None and held.until_ms > now_ms:
            if held.instance != instance:
                return False
            if held.until_ms - now_ms > (until_ms - now_ms) / 2:
                return True

        def work(connection: Connection) -> bool:
            mine = {"instance": instance, "until_ms": until_ms}
            row = upsert_into(connection, queue_leases).values(queue_id=queue_id, **mine)
            free = (queue_leases.c.instance == instance) | (queue_leases.c.until_ms <= now_ms)
            taken = row.on_conflict_do_update(index_elements=["queue_id"], set_=mine, where=free)
            return connection.execute(taken.returning(queue_leases.c.queue_id)).first() is not None

        return await self._database.run(work)

    async def release(self, instance: str, queue_id: str = "") -> None:
        """Gives the right to one queue back, or to all."""
        statement = delete(queue_leases).where(queue_leases.c.instance == instance)
        if queue_id:
            statement = statement.where(queue_leases.c.queue_id == queue_id)
        await self._database.run(lambda connection: connection.execute(statement))

    # ---- tidying ---------------------------------------------------------------------------------------------------

    async def purge(self, before_ms: int) -> None:
        """Deletes tickets and ready checks that ended before this time."""

        def work(connection: Connection) -> None:
            old = select(tickets.c.ticket_id).where(tickets.c.ended_ms > 0, tickets.c.ended_ms < before_ms)
            connection.execute(delete(ticket_seats).where(ticket_seats.c.ticket_id.in_(old)))
            connection.execute(delete(tickets).where(tickets.c.ended_ms > 0, tickets.c.ended_ms < before_ms))
            done = (
                ready_checks.c.stage.in_([int(CheckStage.FAILED), int(CheckStage.OPENED)]),
                ready_checks.c.ended_ms < before_ms,
            )
            connection.execute(
                delete(ready_seats).where(ready_seats.c.check_id.in_(select(ready_checks.c.check_id).where(*done)))
            )
            connection.execute(delete(ready_checks).where(*done))
            connection.execute(delete(queue_leases).where(queue_leases.c.until_ms < before_ms))

        await self._database.run(work)


def _enter(connection: Connection, ticket: Ticket) -> Ticket:
    known = read_tickets(connection, [ticket.ticket_id])
    if known:
        return known[0]
    # In one order, so that two parties with common friends wait for each other instead of for ever.
    for account_id in sorted(ticket.members):
        row = upsert_into(connection, seekers).values(account_id=account_id, ticket_id=ticket.ticket_id)
        if connection.execute(row.on_conflict_do_nothing().returning(seekers.c.account_id)).first() is None:
            raise _Taken(account_id)
    connection.execute(
        insert(tickets),
        {
            "ticket_id": ticket.ticket_id,
            "queue_id": ticket.queue.queue_id,
            "game": ticket.queue.game,
            "preset": ticket.preset,
            "options": msgspec.json.encode(ticket.queue.options),
            "seats": ticket.queue.seats,
            "mode": ticket.queue.mode,
            "party_id": ticket.party_id,
            "rating": ticket.rating,
            "size": len(ticket.members),
            "stage": int(TicketStage.WAITING),
            "generation": ticket.generation,
            "since_ms": ticket.since_ms,
            "expires_ms": ticket.expires_ms,
            "check_id": "",
            "challenge_id": "",
            "ended_ms": 0,
        },
    )
    connection.execute(
        insert(ticket_seats),
        [
            {"ticket_id": ticket.ticket_id, "place": place, "account_id": account_id}
            for place, account_id in enumerate(ticket.members)
        ],
    )
    return ticket
