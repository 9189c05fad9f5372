"""Friends who were seated by whoever leads their party, and did not stay: nobody seats them again unasked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Final

import structlog

from matchmaking.parties import PartyBook

__all__ = ["Partings"]

_log: Final = structlog.stdlib.get_logger(__name__)


class Partings:
    """Takes people out of parties.

    Joining a party is agreeing to be seated by who leads it, at any table and unasked. Who got up from such a table,
    left its match or never came to it agrees no more: it is out of the party, and joining it again is one call.

    Args:
        parties: the parties.
        tell: tells everybody who waits for news of a party: its game and id.
    """

    def __init__(self, parties: PartyBook, tell: Callable[[str, str], Awaitable[None]]) -> None:
        self._parties = parties
        self._tell = tell

    async def part(self, owner: str, account_ids: Collection[str]) -> None:
        """These are in no party of this owner any more. Doing it twice is doing it once.

        Args:
            owner: who opened the table.
            account_ids: who did not stay at it; the owner is never taken out of its own party.

        Raises:
            Unavailable: the database does not answer.
        """
        friends = set(account_ids) - {owner}
        party = await self._parties.let_go(owner, friends) if friends else None
        if party is not None:
            _log.info("party_parted", party_id=party.party_id, game=party.game)
            await self._tell(party.game, party.party_id)
