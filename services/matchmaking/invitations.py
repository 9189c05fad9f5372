"""Calls bots to the seats that were kept for them, until one has come."""

from __future__ import annotations

import asyncio
import functools
from typing import Final

import structlog

from grimoire.bus import Bus, BusError, bots_subject
from grimoire.v1 import cluster_pb2, matchmaking_pb2
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
    """Invites a bot for each of its seats once the match exists, and again after a restart: coming twice does no harm.

    Args:
        ledger: the challenges.
        bus: the way to the bots.
        errands: where the work is done.
    """

    def __init__(self, ledger: Ledger, bus: Bus, errands: Errands) -> None:
        self._ledger = ledger
        self._bus = bus
        self._errands = errands
        self._turn = asyncio.Semaphore(_AT_ONCE)

    def seats(self) -> list[matchmaking_pb2.BotSeat]:
        """Seats that bots hold in matches that are not over."""
        running = (challenge for challenge in self._ledger.live if challenge.stage is Stage.MATCHED)
        return [seat for challenge in running for seat in _bot_seats(challenge)]

    def resume(self) -> None:
        """Invites for every match that is not over: whether a bot came before a restart is not known."""
        for challenge in self._ledger.live:
            self._begin(challenge)

    def heed(self, record: Record, _own: bool) -> None:
        """A challenge has changed."""
        challenge = record.challenge
        self._begin(challenge)
        if challenge.stage is Stage.ENDED:
            for seat, _ in challenge.bots:
                self._errands.recall(("invite", challenge.match_id, seat))

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
                    await self._bus.request(bots_subject(seat.game), invitation, reply_s=_REPLY_S)
            except BusError as error:
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
