"""People who have closed the match while others wait: after a while the match is told that they are away."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

import structlog
from google.protobuf.message import DecodeError

from gateway.matches import Matches, MatchFacts
from gateway.play import Commands
from gateway.presence import BELIEVED_S, Absence, Presence
from gateway.refusals import Refused
from grimoire.bus import BusError
from grimoire.fairness.hashing import lines, sha256
from grimoire.v1 import envelope_pb2, match_pb2

__all__ = ["Absences", "mark_away"]

_log: Final = structlog.stdlib.get_logger(__name__)

_GONE_MS: Final = 30_000
"""So long after its last stream a person is away; a page that is loaded anew, or a train in a tunnel, is no leave."""
_BACK_MS: Final = int(BELIEVED_S * 1000)
"""So long after a restart others have told twice whom they see, and who lost its stream has opened another."""
_COMPARED: Final = 200
"""Matches in one round, so that the next round is not late."""
_ROUND_S: Final = 5.0
_REPLY_S: Final = 5.0
_REMEMBERED: Final = 10_000


def mark_away(match_id: str, seat: int, since_ms: int) -> envelope_pb2.Submission:
    """The host's command that says so: the same bytes however often it is sent.

    Args:
        match_id: of the match.
        seat: one of the person's.
        since_ms: UTC ms, when it was seen last.
    """
    command = envelope_pb2.Command(
        command_id=sha256(lines("grimoire/mark-away/1", match_id, seat, since_ms))[:16],
        match_id=match_id,
        type="mark_away",
        payload=match_pb2.MarkAway(seat=seat).SerializeToString(deterministic=True),
    )
    return envelope_pb2.Submission(command=command, host=True)


class Absences:
    """Goes round every few seconds. It speaks of whom this edge has seen come and go.

    In a match that is older than this edge, whoever has not come while another follows it for a minute is away, too:
    when the edge was restarted, that one may have been gone already.

    Nobody is away where seats never change hands, where a turn has an hour or more, or where nobody else waits.

    Args:
        presence: who follows what.
        matches: who sits where.
        commands: way to the owners.
        now_ms: the wall clock, UTC ms.
    """

    def __init__(self, presence: Presence, matches: Matches, commands: Commands, now_ms: Callable[[], int]) -> None:
        self._presence = presence
        self._matches = matches
        self._commands = commands
        self._now_ms = now_ms
        self._told: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._failed: dict[str, str] = {}
        """Matches that failed in the last round, with their games."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins."""
        self._task = asyncio.create_task(self._run(), name="absences")

    async def stop(self) -> None:
        """Breaks off."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def look(self) -> None:
        """One round. A game of which one match failed is left alone until the next round, where that match is last."""
        now_ms = self._now_ms()
        before_ms = now_ms - _GONE_MS
        absences = {
            absence.match_id: partial(self._look_at, absence, before_ms)
            for absence in self._presence.absences(before_ms)
        }
        newcomers = {
            match_id: partial(self._compare, match_id) for match_id in self._presence.newcomers(now_ms - _BACK_MS)
        }
        failed: dict[str, str] = {}
        await self._go_round(absences, failed, len(absences))
        await self._go_round(newcomers, failed, _COMPARED)
        self._failed = failed

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:
                _log.exception("absences_failed")
            await asyncio.sleep(_ROUND_S)

    async def _go_round(
        self, work: Mapping[str, Callable[[], Awaitable[None]]], failed: dict[str, str], most: int
    ) -> None:
        for match_id in sorted(work, key=self._failed.__contains__):
            game = self._matches.game_of(match_id)
            if game and game in failed.values():
                continue
            if not most:
                break
            most -= 1
            if not await self._succeeds(match_id, work[match_id]):
                failed[match_id] = game

    async def _succeeds(self, match_id: str, work: Callable[[], Awaitable[None]]) -> bool:
        try:
            await work()
        except (BusError, DecodeError, Refused) as error:
            _log.info("absence_not_told_yet", match_id=match_id, why=type(error).__name__)
            return False
        except Exception:
            _log.exception("absence_failed", match_id=match_id)
            return False
        return True

    async def _compare(self, match_id: str) -> None:
        """Once for each match: who should have come back since this edge began?"""
        facts = await self._matches.facts(match_id)
        is_older = facts.created_ms < self._presence.began_ms
        self._presence.compare(match_id, facts.people if is_older else ())

    async def _look_at(self, absence: Absence, before_ms: int) -> None:
        facts = await self._matches.facts(absence.match_id)
        if not facts.changing or facts.over or not facts.hurried:
            return
        there = {occupant for seat, occupant in facts.occupants if seat in absence.online}
        away = dict.fromkeys(o for seat, o in facts.occupants if seat in facts.people and o not in there)
        for occupant in away if there else ():
            # Who has several seats follows one of them at a time: what counts is when the last of them was left.
            theirs = facts.seats_of(occupant)
            since_ms = max((absence.since_ms[seat] for seat in theirs if seat in absence.since_ms), default=0)
            if 0 < since_ms <= before_ms:
                await self._tell(facts, theirs[0], occupant, since_ms)

    async def _tell(self, facts: MatchFacts, seat: int, occupant: str, since_ms: int) -> None:
        key = (facts.match_id, occupant)
        if self._told.get(key) == since_ms:
            return
        submission = mark_away(facts.match_id, seat, since_ms).SerializeToString(deterministic=True)
        answer = await self._commands.request_command(
            facts.game, facts.match_id, submission, reply_s=_REPLY_S, owner_s=_REPLY_S
        )
        reply = envelope_pb2.CommandReply.FromString(answer)
        if reply.rejection.retry_after_ms:
            return
        self._told[key] = since_ms
        if len(self._told) > _REMEMBERED:
            self._told.popitem(last=False)
        _log.info("seat_marked_away", match_id=facts.match_id, seat=seat, code=reply.rejection.code)
