"""Everything that goes on in the lobby without anybody asking: clocks, creation, invitations, endings, news."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Final

import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, BusError, Message, Subscription, lobby_subject
from grimoire.eventstore import EventStore, Unavailable
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import matchmaking_pb2
from matchmaking.archive import Archive
from matchmaking.assigner import Assigner
from matchmaking.bells import Bells
from matchmaking.bot_seats import BotSeats
from matchmaking.creation import Creation
from matchmaking.database import Database
from matchmaking.endings import Endings
from matchmaking.errands import Errands
from matchmaking.expiry import Expiry
from matchmaking.games import Games
from matchmaking.handover import Handover
from matchmaking.invitations import Invitations
from matchmaking.leavers import Leavers
from matchmaking.ledger import Ledger
from matchmaking.limits import Limits
from matchmaking.log import Record
from matchmaking.parties import PartyBook
from matchmaking.partings import Partings
from matchmaking.ratings import Ratings
from matchmaking.ready_book import ReadyBook
from matchmaking.ticket_book import TicketBook
from matchmaking.watches import Watches
from matchmaking.withdrawals import Withdrawals

__all__ = ["Backstage"]

_log: Final = structlog.stdlib.get_logger(__name__)


class Backstage:
    """Keeps the ledger true and its work going.

    Args:
        store: the challenges' logs.
        database: the tables beside them.
        games: answer for options and matches.
        bus: to games, bots and other instances.
        keys: make the seats' pseudonyms.
        limits: the rhythm of this instance.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        store: EventStore,
        database: Database,
        games: Games,
        bus: Bus,
        keys: KeyRing,
        limits: Limits,
        now_ms: Callable[[], int],
    ) -> None:
        self._bus = bus
        self._games = games
        self._errands = Errands()
        self._subscriptions: list[Subscription] = []
        self.ledger = Ledger(store, now_ms, self._tell)
        self.archive = Archive(database)
        self.ratings = Ratings(database)
        self.tickets = TicketBook(database)
        self.ready = ReadyBook(database)
        self.parties = PartyBook(database)
        self.assigner = Assigner(
            self.tickets, self.ready, self.ledger, games.check, self.tell_tickets, self._errands, limits, now_ms
        )
        self.withdrawals = Withdrawals(self.tickets, self.ready, self.assigner, self.tell_tickets, now_ms)
        self.partings = Partings(self.ledger, self.parties, self.tickets, self.withdrawals, self.tell_party, now_ms)
        self.watches = Watches(self.ledger)
        self.bells = Bells()
        self.bot_seats = BotSeats(database, limits.bots_s, now_ms)
        self.invitations = Invitations(self.ledger, self.bot_seats, bus, self._errands)
        self._leavers = Leavers(self.ledger, games, keys, self.partings, self._errands, now_ms)
        self._handover = Handover(self.ledger, bus, keys, self.partings, self._errands)
        self.endings = Endings(
            self.ledger,
            self.archive,
            self.ratings,
            games,
            self._leavers,
            self.partings,
            bus,
            self._errands,
            now_ms,
            limits.expires_s,
        )
        self._limits = limits
        self._now_ms = now_ms
        self._creation = Creation(self.ledger, bus, keys, self._errands, others_s=limits.others_s)
        self._expiry = Expiry(self.ledger, self._errands, now_ms)

    async def start(self) -> None:
        """Reads what is stored and takes up what was left undone.

        Raises:
            Unavailable: the store does not answer.
            BusError: the broker does not.
        """
        # Listening comes first: what changes while the store is read is read again.
        for game in self._games.known:
            self._subscriptions.append(await self._bus.serve(lobby_subject(game), self._hear))
        await self.endings.start()
        await self.ledger.reconcile()
        # What was read just now is nobody's work yet: it is taken up below, at once.
        parts = (self._expiry, self._creation, self.invitations, self._handover, self._leavers)
        for part in parts:
            self.ledger.on_change(part.heed)
        self._bus.on_reconnect(self._reconnected)
        self._catch_up()

    async def look_round(self, older_than_ms: int) -> None:
        """Looks for what was missed: other instances' news, creations that stopped, ends of matches.

        Args:
            older_than_ms: matches asked for within so long are not asked for again.
        """
        await self.invitations.tidy(self._reconcile)
        self._creation.resume()
        self._handover.resume()
        self._leavers.resume()
        await self._resume_queues()
        await self._tidy()
        await self.endings.check_some(older_than_ms)

    async def stop(self) -> None:
        """Breaks everything off; the next start takes it up again from the logs."""
        for subscription in self._subscriptions:
            await subscription.stop()
        await self.endings.stop()
        self._expiry.stop()
        self._leavers.stop()
        await self._errands.close()
        await self.assigner.stop()
        await self.ledger.close()

    def _catch_up(self) -> None:
        self._expiry.resume()
        self._creation.resume()
        self.invitations.resume()
        self._handover.resume()
        self._leavers.resume()
        self._errands.send("check all matches", self.endings.check_all)
        self._errands.send("resume queues", self._resume_queues)

    async def _reconnected(self) -> None:
        # What was published while the connection was down has been missed.
        self._errands.send("reconcile", self._reconcile)
        self._catch_up()

    async def _reconcile(self) -> bool:
        try:
            await self.ledger.reconcile()
        except Unavailable as error:
            _log.warning("ledger_not_reconciled", reason=str(error))
            return False
        return True

    async def _resume_queues(self) -> None:
        try:
            await self.assigner.resume()
        except Unavailable as error:
            _log.warning("queues_not_resumed", reason=str(error))

    async def _tidy(self) -> None:
        before_ms = self._now_ms() - int(self._limits.kept_s * 1000)
        try:
            await self.tickets.purge(before_ms)
            await self.parties.purge(before_ms)
        except Unavailable as error:
            _log.info("tickets_not_purged", reason=str(error))

    # ---- news ------------------------------------------------------------------------------------------------------

    async def tell_tickets(self, game: str, ticket_ids: Iterable[str], queue_id: str) -> None:
        """Tickets of a queue have changed."""
        await self._publish(game, matchmaking_pb2.LobbyNews(ticket_ids=ticket_ids, queue_id=queue_id))

    async def tell_party(self, game: str, party_id: str) -> None:
        """A party has changed."""
        await self._publish(game, matchmaking_pb2.LobbyNews(party_id=party_id))

    async def _tell(self, record: Record) -> None:
        challenge = record.challenge
        news = matchmaking_pb2.LobbyNews(challenge_id=challenge.challenge_id, version=record.version)
        await self._publish(challenge.game, news)

    async def _publish(self, game: str, news: matchmaking_pb2.LobbyNews) -> None:
        self._heed(news)
        try:
            await self._bus.publish(lobby_subject(game), news.SerializeToString())
        except BusError as error:
            _log.warning("news_not_told", game=game, reason=type(error).__name__)

    def _heed(self, news: matchmaking_pb2.LobbyNews) -> None:
        """What is not in the ledger lies in the database; whoever waits for it looks there."""
        self.bells.ring([*news.ticket_ids, news.party_id])
        if news.queue_id:
            self.assigner.wake(news.queue_id)

    def _hear(self, message: Message) -> None:
        try:
            news = matchmaking_pb2.LobbyNews.FromString(message.data)
        except DecodeError:
            _log.warning("news_malformed", subject=message.subject)
            return
        self._heed(news)
        if news.challenge_id and not self.ledger.knows(news.challenge_id, news.version):
            key = ("refresh", news.challenge_id, news.version)
            self._errands.send(key, functools.partial(self._refresh, news))

    async def _refresh(self, news: matchmaking_pb2.LobbyNews) -> None:
        try:
            await self.ledger.refresh(news.challenge_id, news.version)
        except Unavailable as error:
            _log.warning("news_not_read", challenge_id=news.challenge_id, reason=str(error))
