"""All challenges: their logs in the store, and in memory those of which something still runs."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Final

import structlog
from google.protobuf.message import Message

from grimoire.engine import Illegal
from grimoire.eventstore import Conflict, EventStore, Unavailable
from matchmaking.challenge import Challenge, Command, Stage, decide
from matchmaking.log import GAME, SCHEMA, BrokenLogError, Record, next_entry, read_log
from matchmaking.meters import CONFLICTS, EVENTS

__all__ = ["Ledger"]

_log: Final = structlog.stdlib.get_logger(__name__)

_LIVE: Final = tuple(int(stage) for stage in Stage if stage.live)
# What people send as an id is looked up only if it could be one.
_ID: Final = re.compile(r"[0-9a-z]{26}")
_PAGE: Final = 500
_READS_AT_ONCE: Final = 16
_SETTLED_KEPT: Final = 1_000
# Each conflict means that somebody else wrote; a log has at most one entry a seat and a few more.
_TRIES: Final = 64
_PATIENCE_S: Final = 2.0
_PAUSE_S: Final = 0.1


class _Attempt:
    """An entry on its way to the store. Whoever reads it there knows by its hash that it is ours, reply or no reply."""

    __slots__ = ("events", "record", "stored")

    def __init__(self, record: Record, events: Sequence[Message]) -> None:
        self.record = record
        self.events = events
        self.stored = False


class Ledger:
    """Judges commands against challenges and writes down what they do.

    Several instances may work on one store: the version of a log decides who was first, and whoever was not looks
    again. What another instance wrote is learned by `refresh` and `reconcile`. Each entry is told once as our own, also
    when it is read back before the store's reply is here, or when that reply is lost.

    Args:
        store: where the logs lie.
        now_ms: the wall clock, UTC ms.
        wrote: called after each entry of our own, so that other instances hear of it.
    """

    def __init__(
        self, store: EventStore, now_ms: Callable[[], int], wrote: Callable[[Record], Awaitable[None]] | None = None
    ) -> None:
        self._store = store
        self._now_ms = now_ms
        self._wrote = wrote
        self._live: dict[str, Record] = {}
        self._settled: OrderedDict[str, Record] = OrderedDict()
        self._by_match: dict[str, str] = {}
        self._open = 0
        self._by_account: dict[str, set[str]] = {}
        # Challenges of which the store may hold more than memory does.
        self._doubtful: set[str] = set()
        # What tells our entries from another instance's that says the same at the same time.
        self._writer = secrets.token_hex(8)
        self._sent: dict[bytes, _Attempt] = {}
        self._acting: set[asyncio.Task[Record | Illegal]] = set()
        self._on_change: list[Callable[[Record, bool], None]] = []

    def on_change(self, callback: Callable[[Record, bool], None]) -> None:
        """Calls back with each new record, and whether this instance wrote it."""
        self._on_change.append(callback)

    # ---- looking ---------------------------------------------------------------------------------------------------

    @property
    def live(self) -> Iterator[Challenge]:
        """Challenges of which something still runs: the search, the creation, or the match."""
        return (record.challenge for record in self._live.values())

    @property
    def open_count(self) -> int:
        """How many are open."""
        return self._open

    def of_account(self, account_id: str) -> list[Challenge]:
        """Those of them in which this account sits, or sat when the match began."""
        return [self._live[challenge_id].challenge for challenge_id in self._by_account.get(account_id, ())]

    def of_match(self, match_id: str) -> Challenge | None:
        """The one whose match this is, if it still runs."""
        challenge_id = self._by_match.get(match_id)
        return self._live[challenge_id].challenge if challenge_id is not None else None

    async def get(self, challenge_id: str) -> Record | None:
        """Any challenge, from memory or from the store; None if there is none with this id.

        Raises:
            Unavailable: the store does not answer.
        """
        if not _ID.fullmatch(challenge_id):
            return None
        record = None if challenge_id in self._doubtful else self._known(challenge_id)
        return record if record is not None else await self._reread(challenge_id)

    # ---- writing ---------------------------------------------------------------------------------------------------

    async def act(self, challenge_id: str, command: Command) -> Record | Illegal:
        """Judges a command and writes down what it does, to the end even if the caller is broken off meanwhile.

        Returns:
            The challenge after it (also when there was nothing to do), or why it is refused.

        Raises:
            Unavailable: the store does not answer. Asking again is safe.
        """
        acting = asyncio.create_task(self._act(challenge_id, command))
        self._acting.add(acting)
        acting.add_done_callback(self._acting.discard)
        return await asyncio.shield(acting)

    async def close(self) -> None:
        """Waits for what is being written, as long as the store is waited for; then breaks it off."""
        if self._acting:
            _, late = await asyncio.wait(self._acting, timeout=_PATIENCE_S)
            for acting in late:
                acting.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _act(self, challenge_id: str, command: Command) -> Record | Illegal:
        give_up = time.monotonic() + _PATIENCE_S
        attempts: list[_Attempt] = []
        try:
            for _ in range(_TRIES):
                try:
                    done = await self._try(challenge_id, command, attempts)
                except Unavailable:
                    # It may have been written all the same: only the store knows.
                    self._doubtful.add(challenge_id)
                    if time.monotonic() > give_up and not _landed(attempts):
                        raise
                    await asyncio.sleep(_PAUSE_S)
                    continue
                if done is not None:
                    return done
                self._doubtful.add(challenge_id)
        finally:
            for attempt in attempts:
                self._sent.pop(attempt.record.hash, None)
        raise RuntimeError(f"challenge {challenge_id} never came to rest")

    async def _try(self, challenge_id: str, command: Command, attempts: list[_Attempt]) -> Record | Illegal | None:
        """What `act` returns; None if somebody else wrote first. Adds to the attempts."""
        # What is known to be stored needs no store to answer: somebody else may have read it back.
        record = None if _landed(attempts) else await self.get(challenge_id)
        landed = _landed(attempts)
        if landed is not None:
            return await self._told(landed)
        now_ms = self._now_ms()
        events = decide(record.challenge if record else None, command, now_ms)
        if isinstance(events, Illegal):
            return events
        if not events:
            return record
        entry, after = next_entry(record, command, events, now_ms, self._writer)
        attempt = self._sent[after.hash] = _Attempt(after, events)
        attempts.append(attempt)
        try:
            await self._store.append([entry])
        except Conflict:
            # It may be our own of a moment ago, whose reply was lost: it is read again before anything is sent again.
            CONFLICTS.inc()
            return None
        self._land(attempt)
        return await self._told(attempt)

    async def _told(self, written: _Attempt) -> Record:
        """Counts an entry of our own, and tells other instances of it."""
        for event in written.events:
            EVENTS.labels(written.record.challenge.game, SCHEMA.code(event)).inc()
        if self._wrote is not None:
            await self._wrote(written.record)
        return written.record

    def _land(self, attempt: _Attempt) -> None:
        """An entry of our own is stored."""
        if not attempt.stored:
            attempt.stored = True
            self._note(attempt.record, own=True)

    # ---- learning --------------------------------------------------------------------------------------------------

    async def reconcile(self) -> None:
        """Reads what is stored and not known here: all challenges of which something runs, at the start everything.

        A challenge whose log does not hold is reported and set aside; the others go on.

        Raises:
            Unavailable: the store does not answer.
        """
        doubtful = set(self._doubtful)
        stored: dict[str, int] = {}
        after: str | None = None
        while True:
            page = await self._store.heads(GAME, statuses=_LIVE, limit=_PAGE, after=after)
            stored.update((head.match_id, head.version) for head in page)
            if len(page) < _PAGE:
                break
            after = page[-1].match_id
        behind = [
            challenge_id
            for challenge_id, version in stored.items()
            if challenge_id not in self._live or self._live[challenge_id].version < version
        ]
        # What runs here and not there has come to its end elsewhere, or was begun since the heads were read.
        behind += [challenge_id for challenge_id in self._live if challenge_id not in stored]
        for start in range(0, len(behind), _READS_AT_ONCE):
            await asyncio.gather(*map(self._reread, behind[start : start + _READS_AT_ONCE]))
        self._doubtful -= doubtful

    def knows(self, challenge_id: str, version: int) -> bool:
        """Whether what is in memory is at least as new as this version."""
        known = self._known(challenge_id)
        return known is not None and known.version >= version

    async def refresh(self, challenge_id: str, version: int) -> None:
        """Reads a challenge anew if what is known of it is older than this version.

        Raises:
            Unavailable: the store does not answer.
        """
        if not self.knows(challenge_id, version):
            await self._reread(challenge_id)

    async def _reread(self, challenge_id: str) -> Record | None:
        entries = await self._store.read(challenge_id)
        try:
            record = read_log(entries)
        except BrokenLogError as error:
            _log.error("challenge_log_broken", challenge_id=challenge_id, reason=str(error))
            return None
        self._doubtful.discard(challenge_id)
        if self._sent:
            for entry in entries:
                if entry.hash in self._sent:
                    self._land(self._sent[entry.hash])
        if record is not None:
            self._note(record, own=False)
        return record

    def _known(self, challenge_id: str) -> Record | None:
        return self._live.get(challenge_id) or self._settled.get(challenge_id)

    def _note(self, record: Record, *, own: bool) -> None:
        challenge = record.challenge
        challenge_id = challenge.challenge_id
        known = self._known(challenge_id)
        if known is not None and known.version >= record.version:
            return
        was_open = known is not None and known.challenge.stage is Stage.OPEN
        self._open += (challenge.stage is Stage.OPEN) - was_open
        if challenge.stage.live:
            before = self._live.get(challenge_id)
            self._live[challenge_id] = record
            for account_id in challenge.members:
                self._by_account.setdefault(account_id, set()).add(challenge_id)
            if before is not None:
                self._get_up(challenge_id, before.challenge.members - challenge.members)
            if challenge.match_id:
                self._by_match[challenge.match_id] = challenge_id
        else:
            self._retire(challenge_id)
            self._settled[challenge_id] = record
            if len(self._settled) > _SETTLED_KEPT:
                self._settled.popitem(last=False)
        for callback in self._on_change:
            callback(record, own)

    def _retire(self, challenge_id: str) -> None:
        record = self._live.pop(challenge_id, None)
        if record is None:
            return
        self._by_match.pop(record.challenge.match_id, None)
        self._get_up(challenge_id, record.challenge.members)

    def _get_up(self, challenge_id: str, account_ids: Collection[str]) -> None:
        """These accounts have nothing to do with it any more."""
        for account_id in account_ids:
            theirs = self._by_account.get(account_id, set())
            theirs.discard(challenge_id)
            if not theirs:
                self._by_account.pop(account_id, None)


def _landed(attempts: Sequence[_Attempt]) -> _Attempt | None:
    return next((attempt for attempt in attempts if attempt.stored), None)
