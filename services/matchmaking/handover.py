"""From a seat that was given to one that is bound: told to the game again and again until it has acknowledged.

Like the creation of a match: what is asked is in the log first, and the command is the same bytes under the same id
however often and by however many instances it is sent.
"""

from __future__ import annotations

import asyncio
import functools
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
from matchmaking.challenge import Challenge
from matchmaking.creation import PASSING, pauses_s
from matchmaking.errands import Errands
from matchmaking.ledger import Ledger
from matchmaking.log import Record
from matchmaking.meters import HANDOVERS
from matchmaking.partings import Partings
from matchmaking.sitting import Gift
from matchmaking.vacancies import MENDED, RETURNED, Bound

__all__ = ["Handover", "bind_seat"]

_log: Final = structlog.stdlib.get_logger(__name__)

_REPLY_S: Final = 5.0


def bind_seat(challenge: Challenge, gift: Gift, keys: KeyRing) -> envelope_pb2.Submission:
    """The host's command that binds a seat: the same bytes whenever and wherever it is made."""
    sitter = gift.sitter
    payload = match_pb2.BindSeat(
        seat=gift.seat,
        occupant_id=occupant_id(keys, MatchId(challenge.match_id), sitter.account_id),
        kind=match_pb2.OCCUPANT_KIND_BOT if sitter.bot else match_pb2.OCCUPANT_KIND_PERSON,
        level=sitter.level,
        reason=gift.reason,
        if_left=gift.reason not in (RETURNED, MENDED),
    )
    what = lines("grimoire/bind-seat/1", challenge.challenge_id, gift.number)
    command = envelope_pb2.Command(
        command_id=sha256(what)[:16],
        match_id=challenge.match_id,
        type="bind_seat",
        payload=payload.SerializeToString(deterministic=True),
    )
    return envelope_pb2.Submission(command=command, host=True)


class Handover:
    """Binds seats that were given.

    Args:
        ledger: the challenges.
        bus: the way to the games.
        keys: make the seats' pseudonyms.
        partings: takes whose seat is another's now out of the party that it was seated with.
        errands: where the work is done.
    """

    def __init__(self, ledger: Ledger, bus: Bus, keys: KeyRing, partings: Partings, errands: Errands) -> None:
        self._ledger = ledger
        self._bus = bus
        self._keys = keys
        self._partings = partings
        self._errands = errands

    def resume(self) -> None:
        """Takes up every seat that was given and is not known to be bound."""
        for challenge in self._ledger.live:
            self._begin(challenge)

    def heed(self, record: Record, _own: bool) -> None:
        """A challenge has changed."""
        self._begin(record.challenge)

    def _begin(self, challenge: Challenge) -> None:
        for gift in challenge.gifts:
            work = functools.partial(self._bind, challenge.challenge_id, gift)
            self._errands.send(("bind", challenge.challenge_id, gift.number), work)

    async def _bind(self, challenge_id: str, gift: Gift) -> None:
        for pause_s in pauses_s():
            try:
                if await self._attempt(challenge_id, gift):
                    return
            except (BusError, Unavailable, DecodeError) as error:
                _log.warning("seat_not_bound_yet", challenge_id=challenge_id, reason=type(error).__name__)
            await asyncio.sleep(pause_s)

    async def _attempt(self, challenge_id: str, gift: Gift) -> bool:
        """Whether there is nothing left to do."""
        record = await self._ledger.get(challenge_id)
        if record is None or gift not in record.challenge.gifts:
            return True
        challenge = record.challenge
        submission = bind_seat(challenge, gift, self._keys).SerializeToString(deterministic=True)
        reply = envelope_pb2.CommandReply.FromString(
            await self._bus.request_command(challenge.game, challenge.match_id, submission, reply_s=_REPLY_S, owner_s=0)
        )
        account_id = gift.sitter.account_id
        about = {"match_id": challenge.match_id, "seat": gift.seat, "reason": gift.reason}
        if reply.HasField("accepted"):
            await self._partings.act(challenge_id, Bound(gift.seat, account_id))
            HANDOVERS.labels(challenge.game, "bot" if gift.sitter.bot else "person").inc()
            _log.info("seat_bound", **about)
            return True
        refusal = reply.rejection
        if not refusal.code or refusal.code in PASSING or refusal.retry_after_ms:
            return False
        # Nobody can be bound there: the match is over (its end is written down by itself), or does not allow it.
        await self._ledger.act(challenge_id, Bound(gift.seat, account_id, refused=True))
        _log.info("seat_not_bound", **about, code=refusal.code)
        return True
