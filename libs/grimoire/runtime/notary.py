"""Gets the leaves of this instance's matches into the transparency log, and holds seats back until they are there.

What a match owes the log is written down with the entry that makes it owe (`NewEntry.dues`), so that whoever owns the
match next sends what is missing; the log knows a leaf that comes twice. Nothing here looks at matches that owe nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import msgspec
import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, BusError, log_subject
from grimoire.engine import Actor, ActorKind
from grimoire.eventstore import EventStore, StoreError, partition_of
from grimoire.fairness.transparency.leaves import LeafKind, leaves_of_entry
from grimoire.match import Entry, MatchState, Parsed, Phase, reject
from grimoire.runtime.live import LiveMatch
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.tasks import cancelled
from grimoire.v1 import cluster_pb2, envelope_pb2, match_pb2

__all__ = ["Notary", "dues_of"]

_log: Final = structlog.stdlib.get_logger(__name__)

_BITS: Final = {kind: 1 << place for place, kind in enumerate(LeafKind)}
_HOLDING: Final = _BITS[LeafKind.COMMIT] | _BITS[LeafKind.START]
"""Until these are in the log, seats wait."""
_HANDSHAKE: Final = ("seal_nonce", "open_nonce")
_REQUEST_LEAVES: Final = 256
_REQUESTS: Final = 4
_REPLY_S: Final = 3.0
_FIRST_PAUSE_S: Final = 0.1
_LAST_PAUSE_S: Final = 1.0
_PROBE_S: Final = 10.0
_START_S: Final = 10.0
_STOP_S: Final = 2.0
_RETRY_MS: Final = 200
_CREDIT_MS: Final = 3_000
_CHUNK: Final = 64


def dues_of(before: MatchState[Any] | None, after: MatchState[Any]) -> int:
    """Which leaves an entry makes its match owe, as bits; nearly always none.

    Args:
        before: the state before the entry; None: it creates the match.
        after: the state after it.
    """
    if before is not None and before.phase is after.phase and before.revealed is after.revealed:
        return 0
    if after.mode == match_pb2.MATCH_MODE_ANALYSIS:
        return 0
    bits = 0 if before is not None else _BITS[LeafKind.COMMIT]
    if after.joint is not None and (before is None or before.joint is None):
        bits |= _BITS[LeafKind.START]
    if after.over and (before is None or not before.over):
        bits |= _BITS[LeafKind.CLOSE]
    if after.revealed and (before is None or not before.revealed):
        bits |= _BITS[LeafKind.REVEAL]
    return bits


class _Owing(msgspec.Struct):
    """What a match owes.

    Attributes:
        bits: of the kinds that are not in the log yet.
        leaves: those of them that are known; the others are read from the store.
        since_ms: since when seats have been held back; 0: they are not.
    """

    bits: int = 0
    leaves: dict[LeafKind, bytes] = {}
    since_ms: int = 0


class Notary:
    """Sends leaves, several matches together, and each match's one request after the other.

    Args:
        game: whose matches.
        store: the record.
        bus: the way to the log.
        now_ms: the time, UTC ms.
        tell: called with whether the log takes leaves, whenever that changes.
        denied: called with a match whose promise or start the log refuses: it cannot be played.
    """

    def __init__(
        self,
        game: str,
        store: EventStore,
        bus: Bus,
        now_ms: Callable[[], int],
        *,
        tell: Callable[[bool], None] = lambda _: None,
        denied: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.denied = denied
        self._game = game
        self._store = store
        self._bus = bus
        self._now_ms = now_ms
        self._tell = tell
        self._owing: dict[str, _Owing] = {}
        self._queue: dict[str, None] = {}
        self._flying: set[str] = set()
        self._waited: dict[str, tuple[int, int]] = {}
        self._done: dict[str, int] = {}
        self._reachable: bool | None = None
        self._wake = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._task: asyncio.Task[None] | None = None
        self._requests: set[asyncio.Task[None]] = set()
        self._unlogged = METRICS.unlogged.labels(game)
        self._away = METRICS.log_away.labels(game)

    @property
    def owing(self) -> Mapping[str, int]:
        """By match, the bits of what is not in the log yet."""
        return {match_id: owing.bits for match_id, owing in self._owing.items()}

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """What must not end by itself."""
        return () if self._task is None else (self._task,)

    def start(self) -> None:
        """Begins to send."""
        self._task = asyncio.create_task(self._run(), name="notary")

    async def stop(self) -> None:
        """Sends what it can within two seconds; the next owner sends the rest."""
        if self._reachable:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STOP_S):
                    await self._quiet.wait()
        await cancelled(self._task)
        self._task = None
        for request in list(self._requests):
            await cancelled(request)
        await self._discharge({})

    # ---- what is owed --------------------------------------------------------------------------------------------

    async def take(self, partitions: Collection[int]) -> None:
        """Finds what the matches of these partitions owe, e.g. because their last owner could not send it any more.

        Raises:
            StoreError: if it cannot be read.
        """
        for match_id, bits in (await self._store.dues(self._game, partitions)).items():
            known = self._owing.get(match_id)
            if known is None or known.bits & bits != bits:
                self._owe(match_id, bits, {}, self._now_ms() if bits & _HOLDING else 0)

    def forget(self, partitions: Collection[int]) -> None:
        """These partitions are no longer ours; whoever has them sends what is missing."""
        for match_id in [m for m in self._owing if partition_of(m) in partitions]:
            del self._owing[match_id]
            self._queue.pop(match_id, None)
        for match_id in [m for m in self._waited if partition_of(m) in partitions]:
            del self._waited[match_id]
        self._unlogged.set(len(self._owing))

    def committed(self, entry: Entry, dues: int) -> None:
        """An entry with dues is on disk."""
        leaves = {leaf.kind: leaf.encode() for leaf in leaves_of_entry(entry.header, entry.public, entry.hash)}
        self._owe(entry.match_id, dues, leaves, entry.server_time_ms if dues & _HOLDING else 0)
        if entry.state.over:
            self._waited.pop(entry.match_id, None)

    def _owe(self, match_id: str, bits: int, leaves: dict[LeafKind, bytes], since_ms: int) -> None:
        owing = self._owing.setdefault(match_id, _Owing(leaves={}))
        owing.bits |= bits
        owing.leaves.update(leaves)
        owing.since_ms = owing.since_ms or since_ms
        self._unlogged.set(len(self._owing))
        self._again(match_id)

    # ---- what waits for it ---------------------------------------------------------------------------------------

    def refusal(self, live: LiveMatch, actor: Actor, parsed: Parsed) -> envelope_pb2.Rejection | None:
        """Why a seat's command has to wait: what was promised of its match must be in the log before anybody moves.

        Before the commit leaf is there no seat seals, before the start leaf no seat plays.
        """
        state = live.ahead
        if actor.kind is not ActorKind.SEAT or state is None or state.mode == match_pb2.MATCH_MODE_ANALYSIS:
            return None
        if state.phase is Phase.HANDSHAKE:
            if parsed.type not in _HANDSHAKE:
                return None
        elif state.phase is not Phase.RUNNING:
            return None
        committed = live.committed
        owing = self._owing.get(live.match_id)
        on_disk = committed is not None and committed.phase is state.phase
        if on_disk and (owing is None or not owing.bits & _HOLDING):
            return None
        return reject("not_logged_yet", version=state.version, retry_after_ms=_RETRY_MS)

    def waited(self, match_id: str, now_ms: int) -> tuple[int, int] | None:
        """When seats were held back (from, to; UTC ms): their clocks stand still meanwhile. None: they were not."""
        owing = self._owing.get(match_id)
        if owing is not None and owing.since_ms:
            return owing.since_ms, now_ms
        return self._waited.get(match_id) if self._waited else None

    # ---- sending -------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        pause = _FIRST_PAUSE_S
        await self._ask({}, responder_s=_START_S)
        while True:
            self._wake.clear()
            batch = await self._batch()
            if not batch:
                # Not wait_for: it may swallow a cancellation that comes together with the event.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_PROBE_S):
                        await self._wake.wait()
                if not self._queue and not self._requests and not self._wake.is_set():
                    await self._ask({})
                continue
            if len(self._requests) >= _REQUESTS:
                await asyncio.wait(self._requests, return_when=asyncio.FIRST_COMPLETED)
            self._flying.update(batch)
            request = asyncio.create_task(self._send(batch))
            self._requests.add(request)
            request.add_done_callback(self._requests.discard)
            if self._reachable is False:
                # One at a time while nobody knows whether the log is back.
                await asyncio.wait({request})
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LAST_PAUSE_S)
            else:
                pause = _FIRST_PAUSE_S

    async def _batch(self) -> dict[str, list[bytes]]:
        """Leaves of as many matches as fit into a request; their matches leave the queue."""
        batch: dict[str, list[bytes]] = {}
        size = 0
        for match_id in list(self._queue):
            owing = self._owing.get(match_id)
            if match_id in self._flying:
                continue
            self._queue.pop(match_id, None)
            if owing is None:
                continue
            try:
                leaves = await self._leaves(match_id, owing)
            except (StoreError, DecodeError) as error:
                _log.warning("log_leaves_not_read", match_id=match_id, reason=type(error).__name__)
                asyncio.get_running_loop().call_later(_LAST_PAUSE_S, self._again, match_id)
                continue
            batch[match_id] = leaves
            size += len(leaves)
            if size + len(LeafKind) > _REQUEST_LEAVES:
                break
        return batch

    def _again(self, match_id: str) -> None:
        if match_id in self._owing:
            self._queue[match_id] = None
            self._quiet.clear()
            self._wake.set()

    async def _leaves(self, match_id: str, owing: _Owing) -> list[bytes]:
        """What a match owes, in the order of kinds."""
        missing = [kind for kind, bit in _BITS.items() if owing.bits & bit and kind not in owing.leaves]
        if missing:
            await self._read(match_id, owing, missing)
        return [owing.leaves[kind] for kind, bit in _BITS.items() if owing.bits & bit and kind in owing.leaves]

    async def _read(self, match_id: str, owing: _Owing, missing: list[LeafKind]) -> None:
        """Makes the leaves of a match anew from its log."""
        head = await self._store.head(match_id)
        if head is not None and LeafKind.COMMIT not in missing and LeafKind.START not in missing:
            # They are made by its last entries.
            for stored in await self._store.read(match_id, max(1, head.version - 1)):
                self._note(owing, stored.header, stored.public, stored.hash)
        async for chunk in self._store.read_chunks(match_id, size=_CHUNK):
            if all(kind in owing.leaves for kind in missing):
                return
            for stored in chunk:
                self._note(owing, stored.header, stored.public, stored.hash)

    def _note(self, owing: _Owing, header: bytes, public: bytes, hash_: bytes) -> None:
        for leaf in leaves_of_entry(header, public, hash_):
            owing.leaves.setdefault(leaf.kind, leaf.encode())
            if owing.since_ms and owing.bits & _BITS[leaf.kind] & _HOLDING:
                # Seats were held back by the last owner already.
                owing.since_ms = min(owing.since_ms, leaf.unix_ms)

    async def _send(self, batch: dict[str, list[bytes]]) -> None:
        try:
            reply = await self._ask(batch)
            if reply is not None:
                await self._note_results(batch, reply)
        finally:
            self._flying.difference_update(batch)
            self._wake.set()
        if reply is None:
            for match_id in batch:
                self._again(match_id)
        elif not self._queue and not self._flying:
            self._quiet.set()

    async def _note_results(self, batch: dict[str, list[bytes]], reply: cluster_pb2.LogAppended) -> None:
        results = iter(reply.results)
        done: dict[str, int] = {}
        for match_id, leaves in batch.items():
            for leaf in leaves:
                kind = _kind(leaf)
                result = next(results)
                if result.HasField("number") or await self._denied(match_id, kind, result.refused):
                    done[match_id] = done.get(match_id, 0) | _BITS[kind]
        for match_id, bits in done.items():
            self._settle(match_id, bits)
        await self._discharge(done)

    async def _ask(
        self, batch: Mapping[str, list[bytes]], *, responder_s: float = 0.0
    ) -> cluster_pb2.LogAppended | None:
        """The log's answer; None: it did not take them."""
        leaves = [leaf for of_match in batch.values() for leaf in of_match]
        request = cluster_pb2.LogAppend(leaves=leaves).SerializeToString()
        why = "it has no room just now"
        reply = None
        try:
            reply = cluster_pb2.LogAppended.FromString(
                await self._bus.request(log_subject(self._game), request, reply_s=_REPLY_S, responder_s=responder_s)
            )
        except (BusError, DecodeError) as error:
            why = str(error)
        taken = reply is not None and reply.taken and len(reply.results) == len(leaves)
        if taken is not self._reachable:
            self._reachable = taken
            self._away.set(not taken)
            if taken:
                _log.info("log_takes_leaves", game=self._game, matches=len(self._owing))
            else:
                _log.warning("log_away", game=self._game, reason=why, matches=len(self._owing))
            self._tell(taken)
        return reply if taken else None

    async def _denied(self, match_id: str, kind: LeafKind, why: str) -> bool:
        """The log refuses a leaf for good. Whether nothing is to be done about it any more."""
        _log.error("log_refused", match_id=match_id, kind=kind, why=why)
        if not _BITS[kind] & _HOLDING:
            return True
        with contextlib.suppress(StoreError):
            head = await self._store.head(match_id)
            if head is not None and head.status in (Phase.CLOSED, Phase.VOID):
                return True
        self.denied(match_id)
        return False

    def _settle(self, match_id: str, bits: int) -> None:
        owing = self._owing.get(match_id)
        if owing is None:
            return
        owing.bits &= ~bits
        if owing.since_ms and not owing.bits & _HOLDING:
            now = self._now_ms()
            # A moment is no loss, and not worth an event in every match.
            if now - owing.since_ms > _CREDIT_MS:
                self._waited[match_id] = (owing.since_ms, now)
            owing.since_ms = 0
        if not owing.bits:
            del self._owing[match_id]
        self._unlogged.set(len(self._owing))

    async def _discharge(self, done: Mapping[str, int]) -> None:
        """Strikes off in the store what is in the log; what cannot be struck off now goes along with the next."""
        for match_id, bits in done.items():
            self._done[match_id] = self._done.get(match_id, 0) | bits
        if not self._done:
            return
        going, self._done = self._done, {}
        try:
            await self._store.discharge(going)
        except StoreError as error:
            _log.warning("log_dues_not_struck_off", matches=len(going), reason=str(error))
            for match_id, bits in going.items():
                self._done[match_id] = self._done.get(match_id, 0) | bits


def _kind(leaf: bytes) -> LeafKind:
    """Of a leaf made here: `grimoire/log/<kind>/1` and so on."""
    return LeafKind(leaf.split(b"/", 3)[2].decode())
