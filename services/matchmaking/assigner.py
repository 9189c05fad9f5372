"""Forms the matches of quick play: one instance a queue, once a second as long as somebody waits, by the pure policy.

Which instance that is, a lease in the database says. Should two believe to hold it, the tickets' generations keep each
ticket out of a second match; see `tickets.py`.
"""

from __future__ import annotations

import asyncio
import functools
import random
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

import structlog

from grimoire.engine import Illegal
from grimoire.eventstore import Unavailable
from grimoire.match.seats import GRACE_S
from grimoire.quickplay import form_groups
from grimoire.runtime.identity import new_match_id
from matchmaking.challenge import Open, Sitter
from matchmaking.creation import pauses_s
from matchmaking.errands import Errands
from matchmaking.games import Checked
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.meters import READY_CHECKS, TICKETS, WAITED
from matchmaking.ready_book import Passed, ReadyBook, challenge_of_check
from matchmaking.ticket_book import QueueView, TicketBook
from matchmaking.tickets import Check, CheckStage, ReadySeat, Ticket

__all__ = ["Assigner", "Tell"]

_log: Final = structlog.stdlib.get_logger(__name__)

_SEATING: Final = random.SystemRandom()

Tell = Callable[[str, Iterable[str], str], Awaitable[None]]
"""Says that tickets of a queue have changed: game, ticket ids, queue id."""

Judge = Callable[[str, Mapping[str, str], int], Awaitable[Checked | Illegal]]


class Assigner:
    """Serves the queues in which somebody waits.

    Args:
        book: the tickets.
        ready_book: the ready checks.
        ledger: the challenges that come of them.
        check: lets a game judge options for so many seats; see `Games.check`.
        tell: tells everybody who waits for news, and wakes this assigner for the queue.
        errands: where the work is done.
        limits: the policy's numbers and this instance's rhythm.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        book: TicketBook,
        ready_book: ReadyBook,
        ledger: Ledger,
        check: Judge,
        tell: Tell,
        errands: Errands,
        limits: Limits,
        now_ms: Callable[[], int],
    ) -> None:
        self._book = book
        self._ready_book = ready_book
        self._ledger = ledger
        self._check_options = check
        self._tell = tell
        self._errands = errands
        self._limits = limits
        self._policy = limits.policy
        self._now_ms = now_ms
        self._instance = secrets.token_hex(8)
        self._woken: set[str] = set()

    def wake(self, queue_id: str) -> None:
        """Somebody waits in this queue."""
        self._woken.add(queue_id)
        self._errands.send(("queue", queue_id), functools.partial(self._serve, queue_id))

    async def resume(self) -> None:
        """Takes up every queue in which something is to be done.

        Raises:
            Unavailable: the database does not answer.
        """
        for queue_id in await self._book.busy_queues():
            self.wake(queue_id)

    async def stop(self) -> None:
        """Leaves the queues to the other instances."""
        try:
            await self._book.release(self._instance)
        except Unavailable as error:
            _log.info("leases_not_released", reason=str(error))

    def open(self, check_id: str) -> None:
        """All were ready: the match is to be created."""
        self._errands.send(("open", check_id), functools.partial(self._open, check_id))

    # ---- a queue ---------------------------------------------------------------------------------------------------

    async def _serve(self, queue_id: str) -> None:
        while True:
            await asyncio.sleep(self._policy.pass_every_s)
            self._woken.discard(queue_id)
            try:
                idle = await self.form(queue_id)
            except Unavailable as error:
                _log.warning("queue_not_served", queue_id=queue_id, reason=str(error))
                continue
            # Somebody may have come while we looked.
            if idle and queue_id not in self._woken:
                return

    async def form(self, queue_id: str) -> bool:
        """One pass over a queue: what has run out is ended, what can be matched is asked whether it is ready.

        Returns:
            Whether nothing will happen there until somebody comes.

        Raises:
            Unavailable: the database does not answer.
        """
        now_ms = self._now_ms()
        view = await self._book.look(queue_id, now_ms, now_ms - int(self._limits.others_s * 1000))
        if view.idle:
            await self._book.release(self._instance, queue_id)
            return True
        if await self._book.lease(queue_id, self._instance, now_ms, now_ms + int(self._limits.lease_s * 1000)):
            await self._end(view, queue_id, now_ms)
            for check_id in view.unopened:
                self.open(check_id)
            await self._ask(view.waiting, now_ms)
        return False

    async def _end(self, view: QueueView, queue_id: str, now_ms: int) -> None:
        if view.expired:
            gone = await self._book.get_all(await self._book.expire(view.expired, now_ms))
            for ticket in gone:
                TICKETS.labels(ticket.queue.game, "expired").inc()
            if gone:
                await self._tell(gone[0].queue.game, [ticket.ticket_id for ticket in gone], queue_id)
        for check_id in view.overdue:
            check = await self._ready_book.fail_overdue(check_id, now_ms)
            if check is not None:
                await self.settled(check)

    async def _ask(self, waiting: Sequence[Ticket], now_ms: int) -> None:
        """Forms groups, and asks each whether it is ready."""
        if not waiting:
            return
        queue = waiting[0].queue
        tickets = {ticket.ticket_id: ticket for ticket in waiting}
        groups = form_groups([ticket.waiting for ticket in waiting], queue.seats, now_ms, self._policy)
        for group in groups:
            chosen = [tickets[member.ticket_id] for member in group]
            check = self._check(chosen, now_ms)
            generations = {ticket.ticket_id: ticket.generation for ticket in chosen}
            asked = await self._ready_book.put(check, generations)
            READY_CHECKS.labels(queue.game, "formed" if asked else "lost").inc()
            if asked:
                _log.info("ready_check", check_id=check.check_id, game=queue.game, tickets=len(chosen))
                await self._tell(queue.game, generations, queue.queue_id)

    def _check(self, chosen: Sequence[Ticket], now_ms: int) -> Check:
        """The question, with the seats by lot; friends sit side by side."""
        by_lot = list(chosen)
        _SEATING.shuffle(by_lot)
        people = [(account_id, ticket.ticket_id) for ticket in by_lot for account_id in ticket.members]
        return Check(
            check_id=str(new_match_id()),
            queue_id=by_lot[0].queue.queue_id,
            stage=CheckStage.RUNNING,
            created_ms=now_ms,
            expires_ms=now_ms + int(self._policy.ready_s * 1000),
            ended_ms=0,
            seats=tuple(ReadySeat(seat, *person, ready=False) for seat, person in enumerate(people)),
        )

    # ---- a ready check ---------------------------------------------------------------------------------------------

    async def settled(self, check: Check) -> None:
        """A ready check has ended now, by this instance: counts it, tells it, and takes up what follows.

        Raises:
            Unavailable: the database does not answer.
        """
        if check.stage is CheckStage.PASSED:
            self.open(check.check_id)
        tickets = await self._book.get_all({seat.ticket_id for seat in check.seats})
        game = tickets[0].queue.game
        passed = check.stage is CheckStage.PASSED
        READY_CHECKS.labels(game, "passed" if passed else "failed").inc()
        for ticket in tickets:
            if passed:
                TICKETS.labels(game, "matched").inc()
                WAITED.labels(game).observe((check.ended_ms - ticket.since_ms) / 1000)
            else:
                TICKETS.labels(game, "returned" if ticket.stage.live else "not_ready").inc()
        await self._tell(game, [ticket.ticket_id for ticket in tickets], check.queue_id)

    async def _open(self, check_id: str) -> None:
        """Writes the challenge down; from there its match is created like any other's."""
        for pause_s in pauses_s():
            try:
                passed = await self._ready_book.passed(check_id)
                if passed is None:
                    return
                await self._open_challenge(passed)
            except Unavailable as error:
                _log.warning("match_not_opened_yet", check_id=check_id, reason=str(error))
                await asyncio.sleep(pause_s)
            else:
                return

    async def _open_challenge(self, passed: Passed) -> None:
        check, queue = passed.check, passed.tickets[0].queue
        challenge_id = challenge_of_check(check.check_id)
        checked = await self._check_options(queue.game, dict(queue.options), queue.seats)
        # Options that it accepted when the first came in; should it not any more, it will say so of the match itself.
        leaving, difficulty = (0, ()) if isinstance(checked, Illegal) else (checked.leaving, checked.difficulty)
        opening = Open(
            challenge_id=challenge_id,
            game=queue.game,
            options=queue.options,
            seats=queue.seats,
            sitters=tuple((seat.seat, Sitter(seat.account_id)) for seat in check.seats),
            expires_ms=check.ended_ms,
            match_id=new_match_id(),
            series_id=challenge_id,
            mode=queue.mode,
            leaving=leaving,
            grace_s=GRACE_S if leaving else 0,
            difficulty=difficulty,
            parties=tuple((friend, t.party_id) for t in passed.tickets if t.party_id for friend in t.members[1:]),
        )
        answer = await self._ledger.act(challenge_id, opening)
        if isinstance(answer, Illegal):
            raise RuntimeError(f"a challenge that nobody knew was refused: {answer.code}")
        await self._ready_book.opened(check.check_id)
        await self._tell(queue.game, [ticket.ticket_id for ticket in passed.tickets], queue.queue_id)
