"""Folds matches into memory when somebody asks for them: a few at a time, commands before clocks."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection
from typing import Any, Final

import structlog
from google.protobuf.message import DecodeError

from grimoire.eventstore import EventStore, StoreError, Unavailable, partition_of
from grimoire.fairness import chain
from grimoire.fairness.names import check_match_id
from grimoire.fairness.secret import Secret
from grimoire.match import MatchState, Referee, RulesNotInstalledError, Step
from grimoire.match.entry import seal_parts
from grimoire.runtime.cache import MatchCache
from grimoire.runtime.faults import trail
from grimoire.runtime.live import Absent, LiveMatch
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.partitions import Held
from grimoire.v1 import match_pb2

__all__ = ["DamagedError", "Loader", "Work", "stored_parts"]

_log: Final = structlog.stdlib.get_logger(__name__)

AT_ONCE: Final = 4
BROKEN_S: Final = 60.0
CHUNK: Final = 128
"""Entries read at once: a usual match whole, since asking costs as much as thirty rows."""
BREATH: Final = 32
"""Entries folded before others have their turn."""
REMEMBERED: Final = 16
"""Matches whose steps are kept once they are folded for a reader: who asks for a head mostly asks for the frames next.

For commands and clocks none are kept: so many objects that stay cost a fold about a quarter of its time.
"""
REMEMBERED_BYTES: Final = 256 * 1024
"""A match whose entries hold more is not remembered; a usual one holds a tenth. In memory they take ten times that."""


class DamagedError(ValueError):
    """An entry's bytes are not those that its hash was made of."""


Work = Callable[[LiveMatch | Absent], None]
"""What somebody wants of a match; called on the event loop, at once if the match is in memory."""


class Loader:
    """Gives matches to whoever asks.

    A match whose log no longer folds is set aside: it is counted, logged once, and tried again when it is asked for
    after `BROKEN_S`; all others go on.

    Args:
        referee: folds them.
        store: where they are.
        cache: those in memory.
        held: what we own of a partition now.
        sure: whether we may act for what we own now.
        waiting: how many may wait at once, for all matches together.
        waiting_match: the same for one match.
    """

    def __init__(
        self,
        referee: Referee[Any],
        store: EventStore,
        cache: MatchCache,
        held: Callable[[int], Held | None],
        sure: Callable[[], bool],
        *,
        waiting: int,
        waiting_match: int,
    ) -> None:
        self._referee = referee
        self._store = store
        self._cache = cache
        self._held = held
        self._sure = sure
        self._waiting_max = waiting
        self._waiting_match = waiting_match
        self._waiting: dict[str, list[Work]] = {}
        self._count = 0
        self._urgent: deque[tuple[int, str]] = deque()
        self._later: deque[tuple[int, str]] = deque()
        self._loading: set[str] = set()
        self._remembered: deque[LiveMatch] = deque()
        self._read: set[str] = set()
        self._workers: set[asyncio.Task[None]] = set()
        self._broken: dict[str, float] = {}
        self._unruled: set[int] = set()
        self._folded = METRICS.folded_entries.labels(referee.game.id)
        self._fold_seconds = METRICS.fold_seconds.labels(referee.game.id)

    def ask(self, partition: int, match_id: str, work: Work, *, urgent: bool = True, reading: bool = False) -> None:
        """Calls back with the match, or with why it cannot be had.

        Args:
            partition: where it lives.
            match_id: which.
            work: called once; `Absent.BUSY` at once where too many wait.
            urgent: somebody waits for the answer. What is not urgent comes after all that is, and is never refused.
            reading: it is to be shown; its steps are kept for a while if it must be folded.
        """
        held = self._held(partition)
        if held is None:
            work(Absent.MOVED)
            return
        live = self._cache.get(match_id)
        if live is not None and live.partition == partition and live.epoch == held.epoch:
            work(live)
            return
        if self.is_broken(match_id):
            work(Absent.BROKEN)
            return
        waiting = self._waiting.get(match_id, ())
        if urgent and (self._count >= self._waiting_max or len(waiting) >= self._waiting_match):
            work(Absent.BUSY)
            return
        if reading:
            self._read.add(match_id)
        self._enqueue(partition, match_id, work, urgent)

    def is_broken(self, match_id: str) -> bool:
        """It has been set aside, and it is not time to try again."""
        again_s = self._broken.get(match_id)
        return again_s is not None and time.monotonic() < again_s

    def forget(self, partitions: Collection[int]) -> None:
        """They are no longer ours: what is broken there is somebody else's."""
        for match_id in [m for m in self._broken if partition_of(m) in partitions]:
            del self._broken[match_id]

    async def idle(self) -> None:
        """Waits until nobody waits."""
        while self._workers:
            await asyncio.wait(self._workers)

    async def fold(self, match_id: str, partition: int, epoch: int, *, reading: bool = False) -> LiveMatch:
        """A match folded from the store, in memory or not. Its chain is checked: nobody plays on with a damaged log.

        With `reading` it remembers its steps, unless they are many.

        Raises:
            StoreError: if it cannot be read.
            DamagedError: if it is not what was written.
            Exception: whatever the fold fails with.
        """
        game = self._referee.game
        live = LiveMatch(match_id, game.id, game.rules_version, partition, epoch, None)
        if not _is_match_id(match_id):
            return live
        started = time.perf_counter()
        state: MatchState[Any] | None = None
        seed: Secret | None = None
        steps: list[Step[Any]] = []
        size = 0
        async for chunk in self._store.read_chunks(match_id, parts=True, size=CHUNK):
            for stored in chunk:
                if state is None and _is_anothers(stored.public, game.id):
                    # Games may share a database; whoever looks for a match asks them all.
                    return live
                parts = stored_parts(stored.parts)
                before = state.hash if state is not None else chain.genesis(match_id)
                step = self._referee.step(state, stored.header, stored.public, parts, stored.hash)
                state = step.state
                if reading and stored.version <= CHUNK:
                    size += len(stored.public) + len(stored.parts or b"")
                    if size <= REMEMBERED_BYTES:
                        steps.append(step.put_by())
                # The first entry names the host's key, and so the seed of them all.
                seed = seed or self._referee.seed(state)
                digests = seal_parts(seed, match_id, stored.version, tuple(parts.items()))
                if chain.link(before, stored.header, stored.public, digests) != stored.hash:
                    raise DamagedError(match_id)
                live.command_ids.add(stored.command_id)
                if stored.version % BREATH == 0:
                    await asyncio.sleep(0)
            self._folded.inc(len(chunk))
        live.committed = live.ahead = state
        if state is not None:
            live.rules_version = state.rules_version
            live.due_ms = state.next_deadline_ms
            if reading and state.version == len(steps):
                live.steps = steps
        self._fold_seconds.inc(time.perf_counter() - started)
        return live

    def _remember(self, live: LiveMatch) -> None:
        self._remembered.append(live)
        if len(self._remembered) > REMEMBERED:
            self._remembered.popleft().steps = ()

    # ---- the queue -----------------------------------------------------------------------------------------------

    def _enqueue(self, partition: int, match_id: str, work: Work, urgent: bool) -> None:
        waiting = self._waiting.get(match_id)
        if waiting is None:
            waiting = self._waiting[match_id] = []
            (self._urgent if urgent else self._later).append((partition, match_id))
        elif urgent and match_id not in self._loading:
            # It may stand in the slower queue only.
            self._urgent.append((partition, match_id))
        waiting.append(work)
        self._count += 1
        if len(self._workers) < AT_ONCE:
            self._workers.add(asyncio.create_task(self._run(), name="loader"))

    async def _run(self) -> None:
        try:
            await self._work()
        finally:
            # In the same breath as the last look at the queues. A callback would come later: whoever asks in between
            # would find as many workers as there may be, and none that works.
            self._workers.discard(asyncio.current_task())

    async def _work(self) -> None:
        while self._urgent or self._later:
            partition, match_id = (self._urgent or self._later).popleft()
            if match_id not in self._waiting or match_id in self._loading:
                continue
            self._loading.add(match_id)
            found = await self._load(partition, match_id)
            self._loading.discard(match_id)
            self._read.discard(match_id)
            works = self._waiting.pop(match_id)
            self._count -= len(works)
            for work in works:
                try:
                    work(found)
                except Exception as error:
                    _log.error("work_failed", match_id=match_id, error=type(error).__name__, trail=trail(error))
            if isinstance(found, LiveMatch) and found.ahead is None and found.idle:
                # There is no such match; asking for it shall not push others out.
                self._cache.remove(found)

    async def _load(self, partition: int, match_id: str) -> LiveMatch | Absent:
        held = self._held(partition)
        if held is None or partition_of(match_id) != partition:
            return Absent.MOVED
        try:
            live = await self.fold(match_id, partition, held.epoch, reading=match_id in self._read)
        except Unavailable as error:
            _log.warning("match_not_loaded", match_id=match_id, reason=str(error))
            return Absent.BUSY
        except StoreError as error:
            _log.error("match_not_loaded", match_id=match_id, reason=str(error))
            return Absent.BUSY
        except RulesNotInstalledError as error:
            self.note_unruled(match_id, error)
            return Absent.UNRULED
        except Exception as error:
            self.set_aside(match_id, error)
            return Absent.BROKEN
        if self._held(partition) is not held:
            return Absent.MOVED
        if not self._sure():
            # We were suspended meanwhile: what was read may be old.
            return Absent.BUSY
        self._broken.pop(match_id, None)
        self._cache.put(live)
        if live.steps:
            self._remember(live)
        return live

    def note_unruled(self, match_id: str, error: RulesNotInstalledError) -> None:
        """A match needs rules that are not here; told once for each version."""
        version = error.rules_version
        METRICS.unruled_matches.labels(self._referee.game.id, str(version)).inc()
        if version not in self._unruled:
            self._unruled.add(version)
            _log.error("rules_not_installed", match_id=match_id, rules_version=version, installed=error.installed)

    def set_aside(self, match_id: str, error: Exception) -> None:
        """This match cannot be folded: it is left alone for a while."""
        if match_id not in self._broken:
            METRICS.broken_matches.labels(self._referee.game.id).inc()
            _log.error("match_broken", match_id=match_id, error=type(error).__name__, trail=trail(error))
        self._broken[match_id] = time.monotonic() + BROKEN_S


def _is_match_id(text: str) -> bool:
    """Whether a match can have this name; databases refuse some others in words of their own."""
    try:
        check_match_id(text)
    except ValueError:
        return False
    return True


def stored_parts(stored: bytes | None) -> dict[str, bytes]:
    """The private parts of a stored entry by audience."""
    return {p.audience: p.body for p in match_pb2.Parts.FromString(stored or b"").parts}


def _is_anothers(first: bytes, game: str) -> bool:
    """Whether a log, by the public bytes of its first entry, is another game's, or no match's at all.

    What cannot be read is not: it is this game's, and broken.
    """
    try:
        events = match_pb2.Events.FromString(first).events
        if not events or events[0].type != "match_created":
            return bool(events)
        return match_pb2.MatchCreated.FromString(events[0].body).game != game
    except DecodeError:
        return False
