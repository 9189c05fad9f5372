"""From a full challenge to its match: asked for again and again until the game has acknowledged it.

The match's id is in the log before anything is created, and the command that creates it is always the same bytes under
the same id: however often it is sent, and by however many instances, there is one match.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, BusError
from grimoire.engine import MatchId
from grimoire.eventstore import Unavailable
from grimoire.fairness.hashing import lines, sha256
from grimoire.runtime.identity import occupant_id
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import envelope_pb2, match_pb2
from matchmaking.challenge import Challenge, Create, Fail, Stage
from matchmaking.errands import Errands
from matchmaking.ledger import Ledger
from matchmaking.log import Record

__all__ = ["PASSING", "Creation", "create_match", "pauses_s"]

_log: Final = structlog.stdlib.get_logger(__name__)

_REPLY_S: Final = 5.0
_AT_ONCE: Final = 16
PASSING: Final = frozenset({"overloaded", "rate_limited", "unavailable"})
"""Rejections that say nothing about the match itself."""


def pauses_s(first: float = 0.1, last: float = 5.0) -> Iterator[float]:
    """Seconds to wait before each new attempt: doubling, up to a bound, without end.

    >>> pauses = pauses_s()
    >>> [next(pauses) for _ in range(8)]
    [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    """
    while True:
        yield first
        first = min(first * 2, last)


def create_match(challenge: Challenge, keys: KeyRing) -> envelope_pb2.Submission:
    """The host's first command of a full challenge's match: the same bytes whenever and wherever it is made."""
    match_id = challenge.match_id
    payload = match_pb2.CreateMatch(
        game=challenge.game,
        mode=match_pb2.MatchMode.ValueType(challenge.mode),
        options=[match_pb2.OptionValue(name=name, value=value) for name, value in challenge.options],
        seats=[
            match_pb2.SeatOccupant(
                seat=seat,
                occupant_id=occupant_id(keys, MatchId(match_id), sitter.account_id),
                kind=match_pb2.OCCUPANT_KIND_BOT if sitter.bot else match_pb2.OCCUPANT_KIND_PERSON,
                level=sitter.level,
            )
            for seat, sitter in challenge.sitters
        ],
        series=match_pb2.Series(series_id=challenge.series_id, game_no=challenge.game_no),
        position=challenge.position,
        spectator_delay_s=challenge.spectator_delay_s,
        grace_s=challenge.grace_s,
    )
    command = envelope_pb2.Command(
        command_id=sha256(lines("grimoire/create-match/1", challenge.challenge_id))[:16],
        match_id=match_id,
        type="create_match",
        payload=payload.SerializeToString(deterministic=True),
    )
    return envelope_pb2.Submission(command=command, host=True)


class Creation:
    """Creates the matches of full challenges.

    Args:
        ledger: the challenges.
        bus: the way to the games.
        keys: make the seats' pseudonyms.
        errands: where the work is done.
        others_s: what another instance filled is left to it for so long.
    """

    def __init__(self, ledger: Ledger, bus: Bus, keys: KeyRing, errands: Errands, *, others_s: float = 5.0) -> None:
        self._ledger = ledger
        self._bus = bus
        self._keys = keys
        self._errands = errands
        self._others_s = others_s
        # By game, so that one that hangs holds up only its own.
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(_AT_ONCE))

    def resume(self) -> None:
        """Takes up every full challenge whose match is not known to exist; what is under way goes on."""
        for challenge in self._ledger.live:
            self._begin(challenge, 0.0)

    def heed(self, record: Record, own: bool) -> None:
        """A challenge has changed."""
        self._begin(record.challenge, 0.0 if own else self._others_s)

    def _begin(self, challenge: Challenge, patience_s: float) -> None:
        if challenge.stage is Stage.FULL:
            challenge_id = challenge.challenge_id
            self._errands.send(("create", challenge_id), lambda: self._create(challenge_id, patience_s))

    async def _create(self, challenge_id: str, patience_s: float) -> None:
        await asyncio.sleep(patience_s)
        for pause_s in pauses_s():
            try:
                if await self._attempt(challenge_id):
                    return
            except (BusError, Unavailable, DecodeError) as error:
                _log.warning("match_not_created_yet", challenge_id=challenge_id, reason=type(error).__name__)
            await asyncio.sleep(pause_s)

    async def _attempt(self, challenge_id: str) -> bool:
        """Whether there is nothing left to do."""
        record = await self._ledger.get(challenge_id)
        if record is None or record.challenge.stage is not Stage.FULL:
            return True
        reply = await self._ask(record.challenge)
        if reply.HasField("accepted"):
            await self._ledger.act(challenge_id, Create())
            _log.info("match_created", challenge_id=challenge_id, match_id=record.challenge.match_id)
            return True
        refusal = reply.rejection
        if not refusal.code or refusal.code in PASSING or refusal.retry_after_ms:
            _log.warning("match_not_created_yet", challenge_id=challenge_id, reason=refusal.code or "empty reply")
            return False
        await self._ledger.act(challenge_id, Fail(refusal.message or refusal.code))
        _log.error("match_refused", challenge_id=challenge_id, match_id=record.challenge.match_id, code=refusal.code)
        return True

    async def _ask(self, challenge: Challenge) -> envelope_pb2.CommandReply:
        submission = create_match(challenge, self._keys).SerializeToString(deterministic=True)
        async with self._turns[challenge.game]:
            reply = await self._bus.request_command(
                challenge.game, challenge.match_id, submission, reply_s=_REPLY_S, owner_s=0
            )
        return envelope_pb2.CommandReply.FromString(reply)
