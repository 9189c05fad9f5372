"""Friends who were seated by whoever leads their party, and did not stay: nobody seats them again unasked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Final

import structlog

from grimoire.engine import Illegal
from matchmaking.challenge import Command, decide, fold
from matchmaking.ledger import Ledger
from matchmaking.log import Record
from matchmaking.parties import PartyBook
from matchmaking.ticket_book import TicketBook
from matchmaking.withdrawals import Withdrawals

__all__ = ["Partings"]

_log: Final = structlog.stdlib.get_logger(__name__)


class Partings:
    """Takes people out of parties.

    Joining a party is agreeing to be seated by who leads it, at any table and unasked. Who got up from such a table,
    left its match or never came to it agrees no more: it is out of that party, and joining it again is one call. Who is
    only away may come back; it is out when its seat is another's. Who came to a table by itself parts from nobody.

    Args:
        ledger: the challenges.
        parties: the parties.
        tickets: what they search with.
        withdrawals: ends the search of a party of which somebody is gone.
        tell: tells everybody who waits for news of a party: its game and id.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        ledger: Ledger,
        parties: PartyBook,
        tickets: TicketBook,
        withdrawals: Withdrawals,
        tell: Callable[[str, str], Awaitable[None]],
        now_ms: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._parties = parties
        self._tickets = tickets
        self._withdrawals = withdrawals
        self._tell = tell
        self._now_ms = now_ms

    async def act(self, challenge_id: str, command: Command) -> Record | Illegal:
        """As `Ledger.act`, and takes out of their parties whom the command parts from them.

        First the party: if it ends in between, nothing is written down yet, and asking again does both.
        """
        record = await self._ledger.get(challenge_id)
        if record is not None and record.challenge.parties:
            now_ms = self._now_ms()
            events = decide(record.challenge, command, now_ms)
            if events and not isinstance(events, Illegal):
                stay = fold(record.challenge, events, now_ms).parties
                await self.part(pair for pair in record.challenge.parties if pair not in stay)
        return await self._ledger.act(challenge_id, command)

    async def part(self, parties: Iterable[tuple[str, str]]) -> None:
        """These are in these parties no more. Doing it twice is doing it once.

        Args:
            parties: account, and the party whose leader seated it; a leader is never taken out.

        Raises:
            Unavailable: the database does not answer.
        """
        friends: dict[str, set[str]] = {}
        for account_id, party_id in parties:
            friends.setdefault(party_id, set()).add(account_id)
        for party_id, account_ids in friends.items():
            await self._part(party_id, account_ids)

    async def _part(self, party_id: str, account_ids: Collection[str]) -> None:
        party = await self._parties.get(party_id, self._now_ms())
        if party is None or not set(account_ids) & set(party.members[1:]):
            return
        # Nobody waits in a queue with friends who are gone. First that: where it ends in between, it is done again.
        ticket = await self._tickets.of_account(party.owner)
        if ticket is not None and ticket.party_id == party_id and not set(account_ids).isdisjoint(ticket.members):
            await self._withdrawals.withdraw(ticket)
        if await self._parties.let_go(party_id, account_ids):
            _log.info("party_parted", party_id=party_id, game=party.game)
            await self._tell(party.game, party_id)
