"""Calls bots to the seats that were kept for them, until one has come."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from grimoire.bus import Bus, BusError, bots_subject
from grimoire.eventstore import Unavailable
from grimoire.v1 import cluster_pb2, matchmaking_pb2
from matchmaking.bot_seats import BotSeats
from matchmaking.challenge import Challenge, Stage
from matchmaking.creation import pauses_s
from matchmaking.errands import Errands
from matchmaking.ledger import Ledger
from matchmaking.log import Record

__all__ = ["Invitations"]

_log: Final = structlog.stdlib.get_logger(__name__)

_REPLY_S: Final = 2.0
_AT_ONCE: Final = 64


class Invitations:
    """Invites a bot for each of its seats once the match exists. Whoever accepts holds the seat, and nobody else.

    Args:
        ledger: the challenges.
        held: who holds which seat.
        bus: the way to the bots.
        errands: where the work is done.
    """

    def __init__(self, ledger: Ledger, held: BotSeats, bus: Bus, errands: Errands) -> None:
        self._ledger = ledger
        self._held = held
        self._bus = bus
        self._errands = errands
        self._turn = asyncio.Semaphore(_AT_ONCE)

    def seats(self) -> list[matchmaking_pb2.BotSeat]:
        """Seats of bots in matches that are not over."""
        running = (challenge for challenge in self._ledger.live if challenge.stage is Stage.MATCHED)
        return [seat for challenge in running for seat in _bot_seats(challenge)]

    def resume(self) -> None:
        """Invites to every seat to which nobody has come."""
        for challenge in self._ledger.live:
            self._begin(challenge)

    def heed(self, record: Record, _own: bool) -> None:
        """A challenge has changed.

        Every instance forgets seats as it learns of it: one that did not know yet may have given them away again.
        """
        challenge = record.challenge
        self._begin(challenge)
        if challenge.first and challenge.stage is Stage.MATCHED:
            self._hand_over(challenge)
        if challenge.stage is Stage.ENDED and challenge.bots:
            for seat, _ in challenge.bots:
                self._errands.recall(("invite", challenge.match_id, seat))
            match_id = challenge.match_id
            self._errands.send(("get up", match_id), lambda: self._forget([match_id]))

    def _hand_over(self, challenge: Challenge) -> None:
        """Seats have changed hands: whoever held one for another bot gets up."""
        match_id, bots = challenge.match_id, dict(challenge.bots)
        for seat in range(len(challenge.seats)):
            if seat not in bots:
                self._errands.recall(("invite", match_id, seat))
        accounts = frozenset(sitter.account_id for sitter in bots.values())
        self._errands.send(("hand over", match_id, accounts), lambda: self._keep_only(match_id, accounts))

    async def _keep_only(self, match_id: str, accounts: frozenset[str]) -> None:
        try:
            await self._held.keep_only(match_id, accounts)
        except Unavailable as error:
            _log.info("bot_seats_not_forgotten", reason=str(error))

    async def tidy(self, reconcile: Callable[[], Awaitable[bool]]) -> None:
        """Forgets who held seats of matches that are over, where that was missed.

        Args:
            reconcile: reads what is stored and not known here; whether that could be done.
        """
        try:
            # Before the challenges are: a match that is held now has begun, and is found there unless it is over.
            matches = await self._held.matches()
            for challenge in [c for c in self._ledger.live if c.first and c.match_id in matches]:
                accounts = frozenset(sitter.account_id for _, sitter in challenge.bots)
                await self._held.keep_only(challenge.match_id, accounts)
        except Unavailable as error:
            _log.info("bot_seats_not_tidied", reason=str(error))
            matches = set()
        if await reconcile() and (over := [m for m in matches if self._ledger.of_match(m) is None]):
            await self._forget(over)

    async def _forget(self, match_ids: list[str]) -> None:
        try:
            await self._held.forget(match_ids)
        except Unavailable as error:
            _log.info("bot_seats_not_forgotten", reason=str(error))

    def _begin(self, challenge: Challenge) -> None:
        if challenge.stage is not Stage.MATCHED:
            return
        for seat in _bot_seats(challenge):
            work = functools.partial(self._invite, seat)
            self._errands.send(("invite", seat.match_id, seat.seat), work)

    async def _invite(self, seat: matchmaking_pb2.BotSeat) -> None:
        invitation = cluster_pb2.BotInvitation(
            match_id=seat.match_id, game=seat.game, seat=seat.seat, account_id=seat.account_id, level=seat.level
        ).SerializeToString()
        for pause_s in pauses_s():
            try:
                async with self._turn:
                    if not await self._held.known(seat.match_id, seat.seat):
                        await self._bus.request(bots_subject(seat.game), invitation, reply_s=_REPLY_S)
            except (BusError, Unavailable) as error:
                _log.info("bot_not_there_yet", match_id=seat.match_id, reason=type(error).__name__)
                await asyncio.sleep(pause_s)
            else:
                return


def _bot_seats(challenge: Challenge) -> list[matchmaking_pb2.BotSeat]:
    return [
        matchmaking_pb2.BotSeat(
            match_id=challenge.match_id,
            game=challenge.game,
            seat=seat,
            account_id=sitter.account_id,
            level=sitter.level,
        )
        for seat, sitter in challenge.bots
    ]
