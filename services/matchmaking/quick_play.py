"""What a player can do in quick play: enter a queue, look, leave, say whether it is ready."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final

import msgspec

from grimoire.engine import Illegal, Leaving
from grimoire.fairness.hashing import sha256
from grimoire.runtime.identity import Identity
from grimoire.v1 import manifest_pb2, match_pb2
from matchmaking.assigner import Assigner, Tell
from matchmaking.bells import Bells
from matchmaking.bounds import Bounds, default_seats, unreadable_options, unreadable_request_id, wrong_seats
from matchmaking.games import Checked, Games
from matchmaking.limits import Limits
from matchmaking.log import derived_id
from matchmaking.meters import TICKETS
from matchmaking.names import NameBook
from matchmaking.parties import Party, PartyBook
from matchmaking.ratings import Ratings
from matchmaking.ready_book import ReadyBook
from matchmaking.texts import illegal, term
from matchmaking.ticket_book import TicketBook
from matchmaking.tickets import CheckStage, Queue, Ticket, TicketStage
from matchmaking.withdrawals import Withdrawals

__all__ = ["QueueWish", "QuickPlay", "queue_of", "quick_seats"]

_ID: Final = re.compile(r"[0-9a-z]{26}")
_MODES: Final = (match_pb2.MATCH_MODE_UNSPECIFIED, match_pb2.MATCH_MODE_RATED, match_pb2.MATCH_MODE_CASUAL)


class QueueWish(msgspec.Struct, frozen=True):
    """A search as somebody would like it.

    Attributes:
        game: code name.
        preset: one of the game's; empty: the defaults, changed by `options`.
        options: name and value pairs.
        seats: 0: the preset's, or the game's default number.
        mode: number of `grimoire.v1.MatchMode`; unspecified: rated, or casual for a party that plays against others.
        party_id: of a party of one's own; empty: alone.
        request_id: 16 bytes, so that asking twice enters once; empty: each time anew.
        language: of the words in a refusal.
    """

    game: str
    preset: str = ""
    options: tuple[tuple[str, str], ...] = ()
    seats: int = 0
    mode: int = match_pb2.MATCH_MODE_UNSPECIFIED
    party_id: str = ""
    request_id: bytes = b""
    language: str = "en"


class QuickPlay:
    """Quick play of all games. Every method may raise `Unavailable`: a part does not answer, asking again is safe.

    Args:
        book, ready_book, party_book, ratings, names, games, assigner, withdrawals, bells: the parts it works with.
        bounds: how much one account may ask.
        tell: tells everybody who waits for news of tickets.
        limits: the policy's numbers.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        book: TicketBook,
        ready_book: ReadyBook,
        party_book: PartyBook,
        ratings: Ratings,
        names: NameBook,
        games: Games,
        assigner: Assigner,
        withdrawals: Withdrawals,
        bells: Bells,
        bounds: Bounds,
        tell: Tell,
        limits: Limits,
        now_ms: Callable[[], int],
    ) -> None:
        self._book = book
        self._ready_book = ready_book
        self._party_book = party_book
        self._ratings = ratings
        self._names = names
        self._games = games
        self._assigner = assigner
        self._withdrawals = withdrawals
        self._bells = bells
        self._bounds = bounds
        self._tell = tell
        self._limits = limits
        self._now_ms = now_ms

    # ---- coming ----------------------------------------------------------------------------------------------------

    async def enter(self, caller: Identity, wish: QueueWish) -> Ticket | Illegal:
        """Enters a queue, alone or with a party. Who waits there already goes on waiting."""
        refusal = _unreadable(caller, wish) or self._bounds.too_fast(caller)
        if refusal is not None:
            return refusal
        ticket_id = derived_id("ticket", caller.account_id, (wish.request_id or secrets.token_bytes(16)).hex())
        known = await self._book.get(ticket_id)
        if known is not None:
            TICKETS.labels(known.queue.game, "deduplicated").inc()
            return known
        queue = await self._queue(wish)
        if isinstance(queue, Illegal):
            return queue
        party = await self._party(caller, wish, queue)
        if isinstance(party, Illegal):
            return party
        refusal = self._bounds.too_many_matches(caller)
        if refusal is not None:
            return refusal
        members = party.members if party is not None else (caller.account_id,)
        return await self._enter(caller, await self._ticket(ticket_id, queue, wish, members))

    async def _queue(self, wish: QueueWish) -> Queue | Illegal:
        if wish.game not in self._games.known:
            return illegal("unknown_game", field="game", game=wish.game[:64])
        preset = await self._preset(wish)
        if isinstance(preset, Illegal):
            return preset
        options = dict(wish.options) or {option.name: option.value for option in preset.options}
        checked = await self._games.check(wish.game, options)
        if isinstance(checked, Illegal):
            return checked
        aims = quick_seats(await self._games.manifest(wish.game, wish.language), preset, checked)
        seats = wish.seats or aims[0]
        refusal = wrong_seats(checked, seats, wish.language) or _unusual_seats(aims, seats, wish.language)
        if refusal is not None:
            return refusal
        checked = await self._games.check(wish.game, options, seats)
        if isinstance(checked, Illegal):
            return checked
        # Friends who play against others could help each other; who play together shall.
        casual = wish.party_id and checked.leaving != Leaving.VOTED
        if casual and wish.mode == match_pb2.MATCH_MODE_RATED:
            return illegal("bad_option", field="mode", detail=term("party_is_casual", wish.language))
        mode = match_pb2.MATCH_MODE_CASUAL if casual else match_pb2.MATCH_MODE_RATED
        return queue_of(wish.game, checked.options, seats, wish.mode or mode)

    async def _preset(self, wish: QueueWish) -> manifest_pb2.Preset | Illegal:
        """The one that is named; an empty one where none is."""
        if not wish.preset:
            return manifest_pb2.Preset()
        if wish.options:
            return illegal("bad_option", field="preset", detail=term("preset_or_options", wish.language))
        presets = (await self._games.manifest(wish.game, wish.language)).presets
        found = next((preset for preset in presets if preset.preset == wish.preset), None)
        if found is not None:
            return found
        known = ", ".join(preset.preset for preset in presets)
        detail = term("unknown_preset", wish.language, preset=wish.preset[:64], presets=known)
        return illegal("bad_option", field="preset", detail=detail)

    async def _party(self, caller: Identity, wish: QueueWish, queue: Queue) -> Party | Illegal | None:
        if not wish.party_id:
            return None
        party = await self._party_book.get(wish.party_id, self._now_ms()) if _ID.fullmatch(wish.party_id) else None
        if party is None or caller.account_id not in party.members:
            return illegal("unknown_party", field="party_id")
        if party.owner != caller.account_id:
            return illegal("not_party_owner", field="party_id")
        if party.game != wish.game:
            return illegal("wrong_game", field="game", game=party.game)
        if len(party.members) > queue.seats:
            return illegal("party_too_large", field="party_id", size=len(party.members), seats=queue.seats)
        return party

    async def _ticket(self, ticket_id: str, queue: Queue, wish: QueueWish, members: tuple[str, ...]) -> Ticket:
        skills = await self._ratings.of(queue.game, members)
        now_ms = self._now_ms()
        return Ticket(
            ticket_id=ticket_id,
            queue=queue,
            preset=wish.preset,
            party_id=wish.party_id,
            members=members,
            rating=round(sum(skills[account_id].points for account_id in members) / len(members)),
            stage=TicketStage.WAITING,
            generation=1,
            since_ms=now_ms,
            expires_ms=now_ms + int(self._limits.policy.ticket_s * 1000),
        )

    async def _enter(self, caller: Identity, ticket: Ticket) -> Ticket | Illegal:
        await self._names.remember(caller.account_id, caller.name)
        there = await self._book.enter(ticket)
        same = there.queue == ticket.queue and there.members == ticket.members
        if there is not ticket and not same:
            (busy,) = sorted(set(ticket.members) & set(there.members), key=ticket.members.index)[:1]
            names = await self._names.of([busy])
            return illegal("already_searching", name=names.get(busy, ""))
        TICKETS.labels(ticket.queue.game, "entered" if there is ticket else "deduplicated").inc()
        if there is ticket:
            await self._tell(ticket.queue.game, [ticket.ticket_id], ticket.queue.queue_id)
            self._bells.ring([ticket.party_id])
        return there

    # ---- looking ---------------------------------------------------------------------------------------------------

    async def look(self, caller: Identity, ticket_id: str) -> Ticket | Illegal:
        """A ticket of one's own; without an id the one that one waits with now."""
        if not ticket_id:
            current = await self._book.of_account(caller.account_id)
            return current if current is not None else illegal("not_searching")
        ticket = await self._book.get(ticket_id) if _ID.fullmatch(ticket_id) else None
        if ticket is None or caller.account_id not in ticket.members:
            return illegal("unknown_ticket", field="ticket_id")
        return ticket

    async def follow(self, caller: Identity, ticket_id: str) -> AsyncGenerator[Ticket, None]:
        """A ticket as it is, after each change, and every few seconds, until it waits for nothing any more.

        Close the iterator (`contextlib.aclosing`). Nothing comes for a ticket that is not the caller's.
        """
        with self._bells.at(ticket_id) as bell:
            while not self._bells.closed:
                ticket = await self.look(caller, ticket_id)
                if isinstance(ticket, Illegal):
                    return
                yield ticket
                if ticket.stage not in (TicketStage.WAITING, TicketStage.CHECKING, TicketStage.MATCHED):
                    return
                await bell.wait(self._limits.news_s)

    async def crowds(self, game: str) -> Mapping[Queue, int]:
        """Every queue of a game in which somebody waits, with the number of people."""
        return dict(await self._book.crowds(game))

    # ---- going, and being ready ------------------------------------------------------------------------------------

    async def leave(self, caller: Identity, ticket_id: str) -> Illegal | None:
        """Withdraws a ticket; during a ready check that declines it. Withdrawing it twice is withdrawing it once.

        Returns:
            Why not: nobody's or another's ticket, or a match has come of it already.
        """
        ticket = await self.look(caller, ticket_id)
        return ticket if isinstance(ticket, Illegal) else await self._withdrawals.withdraw(ticket)

    async def answer(self, caller: Identity, check_id: str, *, ready: bool) -> Ticket | Illegal:
        """Says that one is ready, or not. Saying it twice is saying it once."""
        known = _ID.fullmatch(check_id)
        answered = (
            await self._ready_book.answer(check_id, caller.account_id, ready=ready, now_ms=self._now_ms())
            if known
            else None
        )
        if answered is None:
            return illegal("unknown_ready_check", field="check_id")
        check = answered.check
        if answered.settled:
            await self._assigner.settled(check)
        seat = check.seat_of(caller.account_id)
        ticket = await self._book.get(seat.ticket_id) if seat is not None else None
        if ticket is None:
            return illegal("unknown_ready_check", field="check_id")
        if not answered.settled:
            await self._tell(ticket.queue.game, {seat.ticket_id for seat in check.seats}, check.queue_id)
        return illegal("ready_check_over") if ready and check.stage is CheckStage.FAILED else ticket


def queue_of(game: str, options: tuple[tuple[str, str], ...], seats: int, mode: int) -> Queue:
    """The queue of all who want exactly this."""
    what = sha256(msgspec.json.encode((game, options, seats, int(mode)))).hex()
    return Queue(derived_id("queue", what), game, options, seats, int(mode))


def quick_seats(manifest: manifest_pb2.Manifest, preset: manifest_pb2.Preset, checked: Checked) -> tuple[int, ...]:
    """The numbers of seats for which a queue finds people, the usual one first."""
    if preset.seats:
        return (preset.seats,)
    return tuple(manifest.quick_seats) or (default_seats(checked),)


def _unusual_seats(aims: tuple[int, ...], seats: int, language: str) -> Illegal | None:
    """Why nobody would be found for so many seats: a game that names its numbers has queues for no others."""
    if len(aims) < 2 or seats in aims:
        return None
    detail = term("no_queue_for_seats", language, seats=seats, known=", ".join(map(str, sorted(aims))))
    return illegal("bad_option", field="seats", detail=detail)


def _unreadable(caller: Identity, wish: QueueWish) -> Illegal | None:
    if caller.bot:
        return illegal("people_only")
    if wish.mode not in _MODES:
        return illegal("bad_option", field="mode", detail=term("rated_or_casual", wish.language))
    return unreadable_request_id(wish.request_id) or unreadable_options(wish.options)
