"""Notices when a match is over: from what its game publishes, and by asking where that was missed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, Message, Subscription, event_subject
from grimoire.eventstore import Unavailable
from grimoire.v1 import frame_pb2, match_pb2
from matchmaking.again import missing_in, opened_again
from matchmaking.archive import Archive
from matchmaking.challenge import Challenge, End, Stage
from matchmaking.creation import pauses_s
from matchmaking.errands import Errands
from matchmaking.games import Games
from matchmaking.leavers import Leavers, seats_said
from matchmaking.ledger import Ledger
from matchmaking.meters import RATED
from matchmaking.partings import Partings
from matchmaking.ratings import Ratings

__all__ = ["Endings"]

_log: Final = structlog.stdlib.get_logger(__name__)

_ASKED_AT_ONCE: Final = 8
_ASKED_A_ROUND: Final = 64
# Looked for in the bytes before anything is parsed: nearly all entries end nothing.
_MARKS: Final = (b"match_closed", b"match_voided", b"seat_left", b"seat_back")


class Endings:
    """Writes down the end of each match that came of a challenge.

    Args:
        ledger: the challenges.
        archive: where matches that are over are filed.
        ratings: what rated ones change.
        games: answer for single matches.
        leavers: told of everything else that the matches say of their seats.
        partings: takes who never came out of the party that it was seated with.
        bus: the games' published entries.
        errands: where the work is done.
        now_ms: the wall clock, UTC ms.
        open_s: how long a table stays open whose match never began.
    """

    def __init__(
        self,
        ledger: Ledger,
        archive: Archive,
        ratings: Ratings,
        games: Games,
        leavers: Leavers,
        partings: Partings,
        bus: Bus,
        errands: Errands,
        now_ms: Callable[[], int],
        open_s: float,
    ) -> None:
        self._ledger = ledger
        self._archive = archive
        self._ratings = ratings
        self._games = games
        self._leavers = leavers
        self._partings = partings
        self._bus = bus
        self._errands = errands
        self._now_ms = now_ms
        self._open_s = open_s
        self._subscriptions: list[Subscription] = []
        # Match id -> when it was asked for last.
        self._asked_ms: dict[str, int] = {}

    async def start(self) -> None:
        """Begins to listen."""
        for game in self._games.known:
            self._subscriptions.append(await self._bus.serve(event_subject(game), self._hear))

    async def stop(self) -> None:
        """Listens no more."""
        for subscription in self._subscriptions:
            await subscription.stop()

    async def check_all(self) -> None:
        """Asks for every match that is thought to run: what was published while nobody listened has been missed."""
        await self._ask([c for c in self._ledger.live if c.match_id])

    async def check_some(self, older_than_ms: int) -> None:
        """Asks for some of the matches that have not been asked for since so long, the longest first."""
        before_ms = self._now_ms() - older_than_ms
        due = [
            (asked_ms, challenge)
            for challenge in self._ledger.live
            if challenge.match_id
            and (asked_ms := self._asked_ms.get(challenge.match_id, challenge.filled_ms)) < before_ms
        ]
        due.sort(key=lambda pair: pair[0])
        await self._ask([challenge for _, challenge in due[:_ASKED_A_ROUND]])

    async def check(self, challenge: Challenge) -> None:
        """Asks for one match now, and writes its end down if it is over.

        Raises:
            Unavailable: the game or the store does not answer.
        """
        self._asked_ms[challenge.match_id] = self._now_ms()
        head = await self._games.head(challenge.game, challenge.match_id)
        if head is None:
            if challenge.stage is Stage.MATCHED:
                _log.warning("created_match_is_unknown", match_id=challenge.match_id, game=challenge.game)
            return
        if head.status in (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID):
            void = match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_VOID)
            closed = head.closed if head.HasField("closed") else void
            await self._end(challenge, closed, head.updated_ms)
        else:
            self._leavers.compare(challenge, head)

    def _hear(self, message: Message) -> None:
        if not any(mark in message.data for mark in _MARKS):
            return
        match_id = message.subject.rpartition(".")[2]
        challenge = self._ledger.of_match(match_id)
        if challenge is None:
            return
        try:
            entry = frame_pb2.ViewerEntry.FromString(message.data)
            closed = _closed_in(entry.public)
            missing = missing_in(entry.public)
            header = match_pb2.EntryHeader.FromString(entry.header)
            said = seats_said(entry, header)
        except DecodeError:
            _log.warning("published_entry_malformed", match_id=match_id)
            return
        if message.subject != event_subject(challenge.game, match_id) or header.match_id != match_id:
            # The broker lets a game speak on its own subjects only: this one speaks of a match that is not its own.
            _log.warning("published_entry_foreign", match_id=match_id, subject=message.subject)
            return
        self._leavers.take(challenge, said)
        ended_ms = header.server_time_ms
        if closed is not None:
            self._errands.send(("end", match_id), lambda: self._write_down(match_id, closed, ended_ms, missing))

    async def _write_down(
        self, match_id: str, closed: match_pb2.MatchClosed, ended_ms: int, missing: tuple[int, ...]
    ) -> None:
        for pause_s in pauses_s():
            challenge = self._ledger.of_match(match_id)
            if challenge is None:
                return
            try:
                never_came = _accounts_at(challenge, missing)
                await self._partings.part(pair for pair in challenge.parties if pair[0] in never_came)
                await self._open_again(challenge, missing)
                await self._end(challenge, closed, ended_ms)
            except Unavailable:
                await asyncio.sleep(pause_s)
            else:
                return

    async def _open_again(self, challenge: Challenge, missing: tuple[int, ...]) -> None:
        """Before its end is written down: done twice it is done once, and a crash in between loses nothing."""
        opening = opened_again(challenge, missing, self._now_ms(), self._open_s)
        if opening is not None:
            await self._ledger.act(opening.challenge_id, opening)
            _log.info("table_open_again", match_id=challenge.match_id, challenge_id=opening.challenge_id)

    async def _end(self, challenge: Challenge, closed: match_pb2.MatchClosed, ended_ms: int) -> None:
        # Filed and counted first: a match whose log says that it is over is not looked at again after a restart.
        closed_bytes = closed.SerializeToString()
        await self._archive.add(challenge, closed_bytes, ended_ms)
        if await self._ratings.apply(challenge, closed, ended_ms):
            RATED.labels(challenge.game).inc()
        await self._ledger.act(challenge.challenge_id, End(closed_bytes, ended_ms))
        self._asked_ms.pop(challenge.match_id, None)
        _log.info("match_over", match_id=challenge.match_id, game=challenge.game)

    async def _ask(self, challenges: list[Challenge]) -> None:
        for start in range(0, len(challenges), _ASKED_AT_ONCE):
            some = challenges[start : start + _ASKED_AT_ONCE]
            await asyncio.gather(*(self._quietly(self.check(challenge)) for challenge in some))

    async def _quietly(self, asking: Awaitable[None]) -> None:
        try:
            await asking
        except Unavailable as error:
            _log.info("match_not_asked", reason=str(error))


def _accounts_at(challenge: Challenge, seats: tuple[int, ...]) -> list[str]:
    return [sitter.account_id for seat, sitter in challenge.sitters if seat in seats]


def _closed_in(public: bytes) -> match_pb2.MatchClosed | None:
    """How an entry ends its match, if it does.

    Raises:
        DecodeError: if the bytes are no events.
    """
    for event in match_pb2.Events.FromString(public).events:
        if event.type == "match_closed":
            return match_pb2.MatchClosed.FromString(event.body)
        if event.type == "match_voided":
            void = match_pb2.MatchVoided.FromString(event.body)
            return match_pb2.MatchClosed(kind=match_pb2.OUTCOME_KIND_VOID, reasons=[void.reason] if void.reason else [])
    return None
