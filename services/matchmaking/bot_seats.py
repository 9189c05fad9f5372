"""Which instance of bots plays which seat: held for some seconds at a time, so that nobody plays what another plays.

A row says who holds a seat and until when. Whoever lives asks again in time and holds on; what a dead instance held
goes to whoever asks first after that. Each take-over is one statement that looks at the row as it is, so two instances
of matchmaking on one database never give a seat to two.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final

import structlog
from sqlalchemy import Connection, Row, delete, select, update

from grimoire.eventstore import Unavailable
from grimoire.v1 import matchmaking_pb2
from matchmaking.database import Database
from matchmaking.tables import bot_seats, upsert_into

__all__ = ["BotSeats"]

_log: Final = structlog.stdlib.get_logger(__name__)

# The holder lets go before anybody else gets the seat, also where the clocks of two machines differ a little.
_GRACE: Final = 1 / 3


class BotSeats:
    """Every coroutine may raise `grimoire.eventstore.Unavailable`.

    Args:
        database: of the table.
        held_s: how long a seat is held without asking again.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(self, database: Database, held_s: float, now_ms: Callable[[], int]) -> None:
        self._database = database
        self._now_ms = now_ms
        self._whole_ms = int(held_s * (1 + _GRACE) * 1000)
        # While nothing was answered here, nobody could hold on: whoever held a seat before gets time to ask again.
        self._answering_since_ms = now_ms()
        self.held_ms = int(held_s * 1000)
        """What a holder may count on."""

    async def hold(
        self,
        instance: str,
        most: int,
        invited: Iterable[matchmaking_pb2.BotSeat],
        running: Iterable[matchmaking_pb2.BotSeat],
    ) -> list[matchmaking_pb2.BotSeat]:
        """Holds an instance's seats on, and gives it more.

        Args:
            instance: which.
            most: so many in all, those it holds among them; it loses none for that.
            invited: given first.
            running: seats of matches that are not over; given if nobody holds them.

        Returns:
            All seats that it holds now.
        """
        try:
            return await self._hold(instance, most, {_key(seat): seat for seat in (*invited, *running)})
        except Unavailable:
            self._answering_since_ms = self._now_ms()
            raise

    async def release(self, instance: str) -> None:
        """Gives back all that an instance holds: others may have it at once."""
        statement = delete(bot_seats).where(bot_seats.c.instance == instance)
        await self._database.run(lambda connection: connection.execute(statement))

    async def known(self, match_id: str, seat: int) -> bool:
        """Whether somebody came to this seat; should it be gone since, others find the seat when they ask."""
        statement = select(bot_seats.c.seat).where(bot_seats.c.match_id == match_id, bot_seats.c.seat == seat)
        return await self._database.read(lambda connection: connection.execute(statement).first() is not None)

    async def matches(self) -> set[str]:
        """Every match of which a seat is held, or was until its holder went silent."""
        statement = select(bot_seats.c.match_id).distinct()
        return await self._database.read(lambda connection: set(connection.execute(statement).scalars()))

    async def forget(self, match_ids: Collection[str]) -> None:
        """These matches are over."""
        statement = delete(bot_seats).where(bot_seats.c.match_id.in_(sorted(match_ids)))
        await self._database.run(lambda connection: connection.execute(statement))

    async def keep_only(self, match_id: str, account_ids: Collection[str]) -> None:
        """Of this match only the seats of these bots are still theirs."""
        others = bot_seats.c.match_id == match_id, bot_seats.c.account_id.not_in(sorted(account_ids))
        await self._database.run(lambda connection: connection.execute(delete(bot_seats).where(*others)))

    async def _hold(
        self, instance: str, most: int, wanted: dict[tuple[str, int], matchmaking_pb2.BotSeat]
    ) -> list[matchmaking_pb2.BotSeat]:
        rows = await self._database.read(lambda connection: connection.execute(select(bot_seats)).all())
        now_ms = self._now_ms()
        # Until then what its holder did not renew is free.
        silent_ms = now_ms if now_ms - self._answering_since_ms >= self._whole_ms else 0
        held = sum(row.instance == instance for row in rows)
        # This spares vain statements: what counts is the row as it is when they are carried out.
        for row in rows:
            if row.instance == instance or row.until_ms > silent_ms:
                wanted.pop((row.match_id, row.seat), None)
        chosen = list(wanted.values())[: max(0, most - held)]
        if not held and not chosen:
            return []

        def work(connection: Connection) -> tuple[int, Sequence[Row[Any]]]:
            mine = bot_seats.c.instance == instance
            until_ms = now_ms + self._whole_ms
            connection.execute(update(bot_seats).where(mine).values(until_ms=until_ms))
            taken = sum(_take(connection, seat, instance, until_ms, silent_ms) for seat in chosen)
            return taken, connection.execute(select(bot_seats).where(mine)).all()

        taken, seats = await self._database.run(work)
        if taken:
            _log.info("bot_seats_taken", instance=instance, seats=taken)
        return [
            matchmaking_pb2.BotSeat(
                match_id=row.match_id, game=row.game, seat=row.seat, account_id=row.account_id, level=row.level
            )
            for row in seats
        ]


def _key(seat: matchmaking_pb2.BotSeat) -> tuple[str, int]:
    return seat.match_id, seat.seat


def _take(connection: Connection, seat: matchmaking_pb2.BotSeat, instance: str, until_ms: int, silent_ms: int) -> bool:
    """Whether the seat is the instance's now."""
    mine = {"instance": instance, "until_ms": until_ms}
    row = upsert_into(connection, bot_seats).values(
        match_id=seat.match_id, seat=seat.seat, game=seat.game, account_id=seat.account_id, level=seat.level, **mine
    )
    taken = row.on_conflict_do_update(
        index_elements=["match_id", "seat"], set_=mine, where=bot_seats.c.until_ms <= silent_ms
    )
    return connection.execute(taken.returning(bot_seats.c.seat)).first() is not None
