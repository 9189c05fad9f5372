"""Notices who leaves a running match and who is back, and decides in time who plays on."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterable
from typing import Final

import structlog

from grimoire.engine import MatchId
from grimoire.eventstore import Unavailable
from grimoire.match.seats import occupants_of
from grimoire.runtime.identity import occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import frame_pb2, match_pb2
from matchmaking.alarms import Alarms
from matchmaking.challenge import Challenge, Stage
from matchmaking.creation import pauses_s
from matchmaking.errands import Errands
from matchmaking.games import Games
from matchmaking.ledger import Ledger
from matchmaking.log import Record
from matchmaking.partings import Partings
from matchmaking.sitting import new_bot
from matchmaking.texts import DEFAULT_LANGUAGE
from matchmaking.vacancies import Keep, Lose, Mend, Move, Settle, choice_of

__all__ = ["Leavers", "bound_to_others", "seats_said"]

_log: Final = structlog.stdlib.get_logger(__name__)


class Leavers:
    """Follows the seats of running matches.

    Args:
        ledger: the challenges.
        games: tell which bots there are.
        keys: make the seats' pseudonyms.
        partings: takes who leaves out of the party that it was seated with.
        errands: where the work is done.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(
        self,
        ledger: Ledger,
        games: Games,
        keys: KeyRing,
        partings: Partings,
        errands: Errands,
        now_ms: Callable[[], int],
    ) -> None:
        self._ledger = ledger
        self._games = games
        self._keys = keys
        self._partings = partings
        self._errands = errands
        self._now_ms = now_ms
        self._clock = Alarms(now_ms, self._due)
        # By challenge: what its match said and was not written down yet, in the order of its entries.
        self._news: dict[str, list[Move]] = {}
        # Challenges with seats that are given and not bound yet.
        self._giving: set[str] = set()

    def resume(self) -> None:
        """Takes up every seat that is vacant."""
        for challenge in self._ledger.live:
            self._look(challenge)

    def stop(self) -> None:
        """Wakes for nothing any more."""
        self._clock.stop()

    def heed(self, record: Record, own: bool) -> None:
        """A challenge has changed: a vote may have decided, or a seat has changed hands."""
        challenge = record.challenge
        self._look(challenge)
        if challenge.gifts:
            self._giving.add(challenge.challenge_id)
        elif challenge.challenge_id in self._giving:
            self._giving.discard(challenge.challenge_id)
            if own and challenge.stage is Stage.MATCHED:
                self._errands.send(("look at seats", challenge.challenge_id), lambda: self._see(challenge))

    def take(self, challenge: Challenge, moves: Iterable[Move]) -> None:
        """What its match says of its seats, in the order of its entries; see `seats_said`."""
        challenge_id, moves = challenge.challenge_id, list(moves)
        if challenge.leaving and moves:
            self._news.setdefault(challenge_id, []).extend(moves)
            self._errands.send(("seats", challenge_id), functools.partial(self._write_down, challenge_id))

    def compare(self, challenge: Challenge, head: frame_pb2.MatchHead) -> None:
        """How its match stands: what was published while nobody listened has been missed."""
        gone, vacant = set(head.away), {vacancy.seat for vacancy in challenge.vacancies}
        # Why is not in the head; who plays alone keeps the seat then.
        lost = [Lose(seat, "timed_out", head.version, head.updated_ms) for seat in sorted(gone - vacant)]
        kept = [Keep(seat, head.version) for seat in sorted(vacant - gone)]
        self.take(challenge, [*lost, *kept, *bound_to_others(challenge, head, self._keys)])

    async def _see(self, challenge: Challenge) -> None:
        """Who else is away: somebody whom nobody waited for until now, or who left during a handover."""
        try:
            head = await self._games.head(challenge.game, challenge.match_id)
        except Unavailable as error:
            _log.info("seats_not_seen", challenge_id=challenge.challenge_id, reason=str(error))
            return
        if head is not None and head.status == frame_pb2.MATCH_STATUS_RUNNING:
            self.compare(challenge, head)

    # ---- writing it down -------------------------------------------------------------------------------------------

    async def _write_down(self, challenge_id: str) -> None:
        while news := self._news.get(challenge_id):
            await self._act(challenge_id, news[0])
            news.pop(0)
        self._news.pop(challenge_id, None)

    async def _act(self, challenge_id: str, move: Move) -> None:
        for pause_s in pauses_s():
            try:
                await self._partings.act(challenge_id, move)
            except Unavailable:
                await asyncio.sleep(pause_s)
            else:
                return

    # ---- deciding --------------------------------------------------------------------------------------------------

    def _look(self, challenge: Challenge) -> None:
        running = challenge.stage is Stage.MATCHED
        self._clock.set(challenge.challenge_id, challenge.deadline_ms if running else None)
        if running and any(choice_of(challenge, v, self._now_ms()) is not None for v in challenge.vacancies):
            self._due([challenge.challenge_id])

    def _due(self, challenge_ids: list[str]) -> None:
        for challenge_id in challenge_ids:
            self._errands.send(("settle seats", challenge_id), functools.partial(self._settle, challenge_id))

    async def _settle(self, challenge_id: str) -> None:
        for pause_s in pauses_s():
            try:
                if await self._settled(challenge_id):
                    return
            except Unavailable as error:
                _log.info("seat_not_settled_yet", challenge_id=challenge_id, reason=str(error))
            await asyncio.sleep(pause_s)

    async def _settled(self, challenge_id: str) -> bool:
        """Whether nothing is due any more."""
        record = await self._ledger.get(challenge_id)
        if record is None or record.challenge.stage is not Stage.MATCHED:
            return True
        challenge = record.challenge
        due = [v for v in challenge.vacancies if choice_of(challenge, v, self._now_ms()) is not None]
        if not due:
            return True
        levels = (await self._games.manifest(challenge.game, DEFAULT_LANGUAGE)).bot_levels
        if not levels:
            _log.warning("no_bot_for_a_seat", game=challenge.game)
            return True
        # Neither the weakest, nor one that would decide the match.
        level = levels[len(levels) // 2].level
        for vacancy in due:
            await self._ledger.act(challenge_id, Settle(vacancy.seat, new_bot(level)))
        return False


def bound_to_others(challenge: Challenge, head: frame_pb2.MatchHead, keys: KeyRing) -> list[Mend]:
    """Seats that the match has bound to others: a command that was given up or refused has reached it late."""
    if not challenge.given or challenge.gifts:
        return []
    held = {seat: sits.occupant_id for seat, sits in occupants_of(head).items()}
    match_id = MatchId(challenge.match_id)
    return [
        Mend(seat)
        for seat, sitter in challenge.sitters
        if held.get(seat) != occupant_id(keys, match_id, sitter.account_id)
    ]


def seats_said(entry: frame_pb2.ViewerEntry, header: match_pb2.EntryHeader) -> list[Move]:
    """What an entry says of who left its match and who is back.

    Raises:
        DecodeError: if its bytes are no events.
    """
    moves: list[Move] = []
    for event in match_pb2.Events.FromString(entry.public).events:
        if event.type == "seat_left":
            left = match_pb2.SeatLeft.FromString(event.body)
            moves.append(Lose(left.seat, left.reason, header.version, header.server_time_ms))
        elif event.type == "seat_back":
            moves.append(Keep(match_pb2.SeatBack.FromString(event.body).seat, header.version))
    return moves
