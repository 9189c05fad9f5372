"""What a player can do with a party: make one, join a friend's, leave it, see who is there."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from grimoire.engine import Illegal
from grimoire.runtime.identity import Identity
from matchmaking.bells import Bells
from matchmaking.bounds import Bounds, unreadable_request_id
from matchmaking.games import Games
from matchmaking.limits import Limits
from matchmaking.log import derived_id
from matchmaking.names import NameBook
from matchmaking.parties import Party, PartyBook
from matchmaking.quick_play import QuickPlay
from matchmaking.texts import illegal
from matchmaking.ticket_book import TicketBook
from matchmaking.tickets import Ticket

__all__ = ["Friends"]

_ID: Final = re.compile(r"[0-9a-z]{26}")


class Friends:
    """Parties of all games. Every method may raise `Unavailable`: a part does not answer, asking again is safe.

    Args:
        party_book, ticket_book, quick_play, names, games, bells: the parts it works with.
        bounds: how much one account may ask.
        tell: tells everybody who waits for news of a party: its game and id.
        limits: how long a party lasts.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        party_book: PartyBook,
        ticket_book: TicketBook,
        quick_play: QuickPlay,
        names: NameBook,
        games: Games,
        bells: Bells,
        bounds: Bounds,
        tell: Callable[[str, str], Awaitable[None]],
        limits: Limits,
        now_ms: Callable[[], int],
    ) -> None:
        self._party_book = party_book
        self._ticket_book = ticket_book
        self._quick_play = quick_play
        self._names = names
        self._games = games
        self._bells = bells
        self._bounds = bounds
        self._tell = tell
        self._limits = limits
        self._now_ms = now_ms

    async def make(self, caller: Identity, game: str, request_id: bytes) -> Party | Illegal:
        """A party of one; a party one made or joined before is left."""
        refusal = unreadable_request_id(request_id) or self._refusal(caller)
        if refusal is not None:
            return refusal
        if game not in self._games.known:
            return illegal("unknown_game", field="game", game=game[:64])
        party_id = derived_id("party", caller.account_id, (request_id or secrets.token_bytes(16)).hex())
        now_ms = self._now_ms()
        known = await self._party_book.get(party_id, now_ms)
        if known is not None:
            return known
        busy = await self._busy(caller)
        if busy is not None:
            return busy
        await self._names.remember(caller.account_id, caller.name)
        until_ms = now_ms + int(self._limits.party_s * 1000)
        return await self._party_book.make(party_id, game, caller.account_id, now_ms, until_ms)

    async def join(self, caller: Identity, party_id: str) -> Party | Illegal:
        """Joins a friend's party. Coming twice is coming once."""
        refusal = self._refusal(caller)
        if refusal is not None:
            return refusal
        there = await self.look(party_id)
        if isinstance(there, Illegal) or caller.account_id in there.members:
            return there
        if await self.ticket_of(there) is not None:
            return illegal("party_searching", field="party_id")
        busy = await self._busy(caller)
        if busy is not None:
            return busy
        checked = await self._games.check(there.game, {})
        most = len(there.members) if isinstance(checked, Illegal) else checked.max_seats
        await self._names.remember(caller.account_id, caller.name)
        party = await self._party_book.join(party_id, caller.account_id, most, self._now_ms())
        if party is None:
            return illegal("unknown_party", field="party_id")
        if caller.account_id not in party.members:
            return illegal("party_full", field="party_id", seats=most)
        await self._tell(party.game, party_id)
        return party

    async def leave(self, caller: Identity, party_id: str) -> Illegal | None:
        """Leaves a party, and takes it out of its queue. Leaving twice is leaving once."""
        party = await self.look(party_id)
        if isinstance(party, Illegal) or caller.account_id not in party.members:
            return None
        ticket = await self.ticket_of(party)
        if ticket is not None:
            await self._quick_play.leave(caller, ticket.ticket_id)
        await self._party_book.leave(party_id, caller.account_id)
        await self._tell(party.game, party_id)
        return None

    async def company(self, caller: Identity, party_id: str, game: str) -> tuple[str, ...] | Illegal:
        """The others of a party that the caller made, to sit down with them at a table of this game."""
        party = await self.look(party_id)
        if isinstance(party, Illegal):
            return party
        if party.owner != caller.account_id:
            return illegal("not_party_owner", field="party_id")
        if party.game != game:
            return illegal("wrong_game", field="game", game=party.game)
        if await self.ticket_of(party) is not None:
            return illegal("party_searching", field="party_id")
        return party.members[1:]

    async def look(self, party_id: str) -> Party | Illegal:
        """A party as it is; whoever has its id may look, and join."""
        party = await self._party_book.get(party_id, self._now_ms()) if _ID.fullmatch(party_id) else None
        return party if party is not None else illegal("unknown_party", field="party_id")

    async def ticket_of(self, party: Party) -> Ticket | None:
        """The ticket a party waits with now."""
        ticket = await self._ticket_book.of_account(party.owner)
        return ticket if ticket is not None and ticket.party_id == party.party_id else None

    async def follow(self, party_id: str) -> AsyncGenerator[Party, None]:
        """A party as it is, after each change, and every few seconds, until it is gone.

        Close the iterator (`contextlib.aclosing`).
        """
        with self._bells.at(party_id) as bell:
            while not self._bells.closed:
                party = await self.look(party_id)
                if isinstance(party, Illegal):
                    return
                yield party
                await bell.wait(self._limits.news_s)

    async def _busy(self, caller: Identity) -> Illegal | None:
        """Whoever waits in a queue stays with those it waits with."""
        waiting = await self._ticket_book.of_account(caller.account_id)
        return illegal("already_searching", name=caller.name) if waiting is not None else None

    def _refusal(self, caller: Identity) -> Illegal | None:
        return illegal("people_only") if caller.bot else self._bounds.too_fast(caller)
