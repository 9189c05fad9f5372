"""Quick play without gRPC and without a game: real tables, real challenges, several assigners on one database."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec
from sqlalchemy import select

from grimoire.eventstore import EventStore, open_store
from grimoire.quickplay import Policy
from grimoire.v1 import match_pb2
from matchmaking.assigner import Assigner
from matchmaking.challenge import Challenge
from matchmaking.database import Database
from matchmaking.errands import Errands
from matchmaking.games import Checked
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.log import derived_id
from matchmaking.quick_play import queue_of
from matchmaking.ready_book import ReadyBook
from matchmaking.tables import ready_checks, seekers, tickets
from matchmaking.ticket_book import TicketBook
from matchmaking.tickets import Check, CheckStage, Queue, Ticket, TicketStage, read_check, read_tickets

POLICY = Policy(pass_every_s=0.01)
_FRESH = itertools.count()


def fresh_queue(seats: int = 2, mode: int = match_pb2.MATCH_MODE_RATED) -> Queue:
    """A queue nobody has waited in."""
    return queue_of("toy", (("nth", str(next(_FRESH))),), seats, mode)


def fresh_ticket(
    queue: Queue, *members: str, since_ms: int = 0, rating: int = 1500, expires_ms: int = 1_000_000
) -> Ticket:
    """A ticket that has not entered."""
    return Ticket(
        ticket_id=derived_id("test", queue.queue_id, next(_FRESH)),
        queue=queue,
        preset="",
        party_id="",
        members=members,
        rating=rating,
        stage=TicketStage.WAITING,
        generation=1,
        since_ms=since_ms,
        expires_ms=expires_ms,
    )


async def _as_it_is(_game: str, options: Mapping[str, str], seats: int) -> Checked:
    """What a game says of options that it has judged before."""
    return Checked(tuple(options.items()), seats, seats)


class Instance:
    """One matchmaker: its own connections, its own assigner. Its clock is set by hand."""

    def __init__(self, store: EventStore, database: Database, *, lease_s: float) -> None:
        self.now_ms = 0
        self.database = database
        self.book = TicketBook(database)
        self.ready = ReadyBook(database)
        self.errands = Errands()
        self.ledger = Ledger(store, lambda: self.now_ms)
        self.told: list[str] = []
        limits = Limits(policy=POLICY, lease_s=lease_s, others_s=0.0)
        self.assigner = Assigner(
            self.book, self.ready, self.ledger, _as_it_is, self._tell, self.errands, limits, lambda: self.now_ms
        )

    async def _tell(self, _game: str, ticket_ids: Iterable[str], _queue_id: str) -> None:
        self.told += ticket_ids

    async def answer(self, check_id: str, account_id: str, *, ready: bool) -> None:
        answered = await self.ready.answer(check_id, account_id, ready=ready, now_ms=self.now_ms)
        if answered is not None and answered.settled:
            await self.assigner.settled(answered.check)

    async def rest(self) -> None:
        """Waits until nothing is under way any more."""
        async with asyncio.timeout(30):
            while len(self.errands):
                await asyncio.sleep(0.001)


@asynccontextmanager
async def instances(url: str, number: int, *, lease_s: float = 10.0) -> AsyncIterator[list[Instance]]:
    """So many matchmakers on one database. With `lease_s` 0 each of them believes to be the only one."""
    async with AsyncExitStack() as cleanup:
        made = []
        for _ in range(number):
            store = await cleanup.enter_async_context(await open_store(url))
            database = await cleanup.enter_async_context(Database(url))
            instance = Instance(store, database, lease_s=lease_s)
            cleanup.push_async_callback(instance.errands.close)
            made.append(instance)
        yield made


class Books(msgspec.Struct, frozen=True):
    """All rows of one queue."""

    tickets: list[Ticket]
    checks: list[Check]
    seekers: dict[str, str]


async def books(instance: Instance, queue: Queue) -> Books:
    """What stands in the tables."""

    def work(connection):  # type: ignore[no-untyped-def]
        ids = connection.execute(select(tickets.c.ticket_id).where(tickets.c.queue_id == queue.queue_id)).scalars()
        found = read_tickets(connection, list(ids))
        check_ids = connection.execute(
            select(ready_checks.c.check_id).where(ready_checks.c.queue_id == queue.queue_id)
        ).scalars()
        checks = [read_check(connection, check_id) for check_id in list(check_ids)]
        held = connection.execute(
            select(seekers).where(seekers.c.ticket_id.in_([ticket.ticket_id for ticket in found]))
        )
        return Books(found, checks, {row.account_id: row.ticket_id for row in held})

    return await instance.database.read(work)


async def assert_sound(instance: Instance, queue: Queue) -> list[Challenge]:
    """What must hold whatever happened; returns the challenges that came of it."""
    rows = await books(instance, queue)
    passed = [check for check in rows.checks if check.stage in (CheckStage.PASSED, CheckStage.OPENED)]
    uses: dict[str, set[str]] = {}
    for check in passed:
        assert len(check.seats) == queue.seats
        assert all(seat.ready for seat in check.seats)
        for seat in check.seats:
            uses.setdefault(seat.ticket_id, set()).add(check.check_id)
    assert all(len(checks) == 1 for checks in uses.values()), "one ticket, one match"
    matched = {ticket.ticket_id for ticket in rows.tickets if ticket.stage is TicketStage.MATCHED}
    assert matched == set(uses)
    running = [check for check in rows.checks if check.stage is CheckStage.RUNNING]
    asked = [seat.ticket_id for check in running for seat in check.seats]
    checking = {ticket.ticket_id for ticket in rows.tickets if ticket.stage is TicketStage.CHECKING}
    assert set(asked) == checking
    live = {account_id: t.ticket_id for t in rows.tickets if t.stage.live for account_id in t.members}
    assert rows.seekers == live, "who waits is noted once, who does not is free"
    challenges = []
    for ticket in rows.tickets:
        if ticket.stage is TicketStage.MATCHED:
            record = await instance.ledger.get(ticket.challenge_id)
            assert record is not None, "a match that all were ready for is written down"
            sitting = {sitter.account_id for _, sitter in record.challenge.sitters}
            assert set(ticket.members) <= sitting
            challenges.append(record.challenge)
    return challenges
