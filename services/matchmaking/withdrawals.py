"""Takes a ticket out of its queue, whatever becomes of it meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from grimoire.engine import Illegal
from matchmaking.assigner import Assigner, Tell
from matchmaking.meters import TICKETS
from matchmaking.ready_book import ReadyBook
from matchmaking.texts import illegal
from matchmaking.ticket_book import TicketBook
from matchmaking.tickets import Ticket, TicketStage

__all__ = ["Withdrawals"]


class Withdrawals:
    """Ends searches.

    Args:
        book, ready_book: the tickets, and the ready checks that they may be in.
        assigner: told of ready checks that fail by it.
        tell: tells everybody who waits for news of tickets.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self, book: TicketBook, ready_book: ReadyBook, assigner: Assigner, tell: Tell, now_ms: Callable[[], int]
    ) -> None:
        self._book = book
        self._ready_book = ready_book
        self._assigner = assigner
        self._tell = tell
        self._now_ms = now_ms

    async def withdraw(self, ticket: Ticket) -> Illegal | None:
        """Withdraws a ticket; during a ready check that declines it. Withdrawing it twice is withdrawing it once.

        Returns:
            Why not: a match has come of it already, its time is up, or nobody remembers it.

        Raises:
            Unavailable: the database does not answer.
        """
        while True:
            if ticket.stage is TicketStage.WAITING and await self._book.leave(ticket.ticket_id, self._now_ms()):
                TICKETS.labels(ticket.queue.game, "cancelled").inc()
                await self._tell(ticket.queue.game, [ticket.ticket_id], ticket.queue.queue_id)
                return None
            if ticket.stage is TicketStage.CHECKING and ticket.check is not None:
                # Should the last of the others have been quicker, it stands in the ticket.
                await self._decline(ticket, ticket.check.check_id)
            if not ticket.stage.live:
                gone = ticket.stage in (TicketStage.MATCHED, TicketStage.EXPIRED)
                return illegal("ticket_gone") if gone else None
            # It has changed since it was looked at.
            again = await self._book.get(ticket.ticket_id)
            if again is None:
                return illegal("unknown_ticket", field="ticket_id")
            ticket = again

    async def _decline(self, ticket: Ticket, check_id: str) -> None:
        answered = await self._ready_book.answer(check_id, ticket.members[0], ready=False, now_ms=self._now_ms())
        if answered is not None and answered.settled:
            await self._assigner.settled(answered.check)
