"""Tickets of quick play as records, and how they lie in their rows.

    WAITING ──others found──> CHECKING ──all ready──> MATCHED
      │  ^                       │
      │  └─somebody else is not──┤
      │                          └──this one is not──> NOT_READY
      ├──withdrawn──> CANCELLED
      └──time up──> EXPIRED

Every change counts the ticket's `generation` up. Whoever forms a match names, for each ticket, the generation it has
seen; a ticket that has changed since is not taken. So two who form matches at the same time cannot put one ticket into
two, whatever each of them believes about being the only one.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable

import msgspec
from sqlalchemy import Connection, RowMapping, select

from grimoire.quickplay import Waiting
from matchmaking.tables import ready_checks, ready_seats, ticket_seats, tickets

__all__ = ["Check", "CheckStage", "Queue", "ReadySeat", "Ticket", "TicketStage", "read_check", "read_tickets"]


class TicketStage(enum.IntEnum):
    """Where a ticket stands. Numbers are those of `grimoire.v1.TicketStatus`."""

    WAITING = 1
    CHECKING = 2
    MATCHED = 3
    CANCELLED = 4
    EXPIRED = 5
    NOT_READY = 6

    @property
    def live(self) -> bool:
        """Its people are looking for a match."""
        return self in (TicketStage.WAITING, TicketStage.CHECKING)


class CheckStage(enum.IntEnum):
    """Where a ready check stands: PASSED becomes OPENED when the challenge of its match is written down."""

    RUNNING = 1
    PASSED = 2
    FAILED = 3
    OPENED = 4


class Queue(msgspec.Struct, frozen=True):
    """What all tickets that may meet have in common.

    Attributes:
        queue_id: follows from all the rest.
        game: code name.
        options: every option with its final value, in the game's order.
        seats: of a match.
        mode: number of `grimoire.v1.MatchMode`: rated or casual.
    """

    queue_id: str
    game: str
    options: tuple[tuple[str, str], ...]
    seats: int
    mode: int


class ReadySeat(msgspec.Struct, frozen=True):
    """A seat of the match that is to be, who gets it, by which ticket, and whether that person is ready."""

    seat: int
    account_id: str
    ticket_id: str
    ready: bool


class Check(msgspec.Struct, frozen=True):
    """A ready check. Times are UTC ms; `ended_ms` is 0 while it runs."""

    check_id: str
    queue_id: str
    stage: CheckStage
    created_ms: int
    expires_ms: int
    ended_ms: int
    seats: tuple[ReadySeat, ...]

    def seat_of(self, account_id: str) -> ReadySeat | None:
        """This account's seat in it."""
        return next((seat for seat in self.seats if seat.account_id == account_id), None)


class Ticket(msgspec.Struct, frozen=True):
    """A wish to play, of one person or of a party.

    Attributes:
        queue: where it waits.
        preset: how its people called the options; empty: their own.
        party_id: empty: not a party's.
        members: accounts; who made the party comes first.
        rating: in points; of a party, the mean.
        generation: counts every change.
        since_ms: when the waiting began, UTC ms.
        expires_ms: when it ends, UTC ms.
        check: while CHECKING.
        challenge_id: once MATCHED: the challenge of its match.
    """

    ticket_id: str
    queue: Queue
    preset: str
    party_id: str
    members: tuple[str, ...]
    rating: int
    stage: TicketStage
    generation: int
    since_ms: int
    expires_ms: int
    check: Check | None = None
    challenge_id: str = ""

    @property
    def waiting(self) -> Waiting:
        """As matching looks at it."""
        return Waiting(self.since_ms, self.ticket_id, self.rating, len(self.members))


def read_tickets(connection: Connection, ticket_ids: Collection[str]) -> list[Ticket]:
    """Those of these tickets that exist, with their members and running ready checks, the oldest first."""
    if not ticket_ids:
        return []
    rows = connection.execute(select(tickets).where(tickets.c.ticket_id.in_(sorted(ticket_ids)))).mappings().all()
    seats = select(ticket_seats).where(ticket_seats.c.ticket_id.in_([row["ticket_id"] for row in rows]))
    members: dict[str, list[str]] = {}
    for seat in connection.execute(seats.order_by(ticket_seats.c.ticket_id, ticket_seats.c.place)):
        members.setdefault(seat.ticket_id, []).append(seat.account_id)
    checks = {row["check_id"]: read_check(connection, row["check_id"]) for row in rows if row["check_id"]}
    found = [_ticket(row, members.get(row["ticket_id"], ()), checks.get(row["check_id"])) for row in rows]
    return sorted(found, key=lambda ticket: ticket.waiting)


def read_check(connection: Connection, check_id: str, *, lock: bool = False) -> Check | None:
    """A ready check with its seats. `lock`: nobody else changes it before this transaction ends."""
    statement = select(ready_checks).where(ready_checks.c.check_id == check_id)
    row = connection.execute(statement.with_for_update() if lock else statement).mappings().one_or_none()
    if row is None:
        return None
    seats = select(ready_seats).where(ready_seats.c.check_id == check_id).order_by(ready_seats.c.seat)
    return Check(
        check_id=row["check_id"],
        queue_id=row["queue_id"],
        stage=CheckStage(row["stage"]),
        created_ms=row["created_ms"],
        expires_ms=row["expires_ms"],
        ended_ms=row["ended_ms"],
        seats=tuple(ReadySeat(s.seat, s.account_id, s.ticket_id, s.ready) for s in connection.execute(seats)),
    )


def _ticket(row: RowMapping, members: Iterable[str], check: Check | None) -> Ticket:
    options = msgspec.json.decode(row["options"], type=tuple[tuple[str, str], ...])
    return Ticket(
        ticket_id=row["ticket_id"],
        queue=Queue(row["queue_id"], row["game"], options, row["seats"], row["mode"]),
        preset=row["preset"],
        party_id=row["party_id"],
        members=tuple(members),
        rating=row["rating"],
        stage=TicketStage(row["stage"]),
        generation=row["generation"],
        since_ms=row["since_ms"],
        expires_ms=row["expires_ms"],
        check=check,
        challenge_id=row["challenge_id"],
    )
