"""The single writer of the matches of one game on this instance.

A command is decided at once against the state in memory; one committer writes what queued as one transaction; the reply
and the publication follow the commit. Views come from the last committed state.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
import structlog
from google.protobuf.message import DecodeError

from grimoire.bus import Bus, Message, Subscription, partition_commands, who_subject
from grimoire.engine import CLOCK, HOST, Actor
from grimoire.eventstore import ConflictKind, EventStore, StoreError, Unavailable, partition_of
from grimoire.match import (
    Entry,
    MatchState,
    Parsed,
    Referee,
    clock_command,
    due_extensions,
    first_expired,
    reject,
)
from grimoire.runtime.clockwork import Clockwork
from grimoire.runtime.committer import Committer
from grimoire.runtime.live import LiveMatch, Pending, Refusal, Reply, Watch
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.outbox import Outbox
from grimoire.runtime.partitions import Held, Partitions
from grimoire.v1 import cluster_pb2, envelope_pb2, frame_pb2, match_pb2

__all__ = ["BrokenMatchError", "MovedError", "Owner", "OwnerLimits"]

_log: Final = structlog.stdlib.get_logger(__name__)

_RETRY_MS: Final = 100


class MovedError(Exception):
    """The match lives on a partition that another instance owns."""


class BrokenMatchError(Exception):
    """The match's log no longer folds; it has been set aside."""


class OwnerLimits(msgspec.Struct, frozen=True):
    """Bounds of one instance.

    Attributes:
        queued_match: commands of one match on their way to disk.
        queued_instance: commands of all matches on their way to disk.
        cached_matches: idle matches kept in memory; the one touched longest ago goes first and is folded anew.
        loading_commands: commands that wait for one match to be folded.
        submission_bytes: largest message taken from the bus.
        read_chunk: entries folded before others get their turn.
    """

    queued_match: int = 64
    queued_instance: int = 2_048
    cached_matches: int = 4_096
    loading_commands: int = 256
    submission_bytes: int = 64 * 1024
    read_chunk: int = 64


Work = Callable[[LiveMatch | None], None]


class _Meters:
    """This game's counters, looked up once."""

    def __init__(self, game: str) -> None:
        self.accepted = METRICS.commands.labels(game, "accepted")
        self.seconds = METRICS.command_seconds.labels(game)
        self.group = METRICS.commit_group.labels(game)
        self.duplicates = METRICS.duplicates.labels(game)
        self.folded = METRICS.folded_entries.labels(game)
        self.fold_seconds = METRICS.fold_seconds.labels(game)
        self.open_matches = METRICS.open_matches.labels(game)
        self.owned = METRICS.owned_partitions.labels(game)
        self.clock_lag = METRICS.clock_lag.labels(game)
        self.broken = METRICS.broken_matches.labels(game)


class Owner:
    """Serves the matches of one game whose partitions this instance owns.

    Args:
        referee: judges them.
        store: the record.
        bus: the connection.
        instance: our name in this run.
        now_ms: the time, UTC ms.
        limits: bounds.
    """

    def __init__(
        self,
        referee: Referee[Any],
        store: EventStore,
        bus: Bus,
        *,
        instance: str,
        now_ms: Callable[[], int],
        limits: OwnerLimits | None = None,
    ) -> None:
        self.referee = referee
        self.store = store
        self.game = referee.game.id
        self._bus = bus
        self._instance = instance
        self._address = ""
        self._now_ms = now_ms
        self._limits = limits or OwnerLimits()
        self._matches: OrderedDict[str, LiveMatch] = OrderedDict()
        self._loading: dict[str, list[Work]] = {}
        self._broken: set[str] = set()
        self._deferred: deque[tuple[Message, int]] = deque()
        self._deferred_due: set[str] = set()
        self._subscriptions: dict[int, list[Subscription]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._outbox = Outbox(bus, self.game)
        self._committer = Committer(store, self._on_committed, self._on_refused)
        self._clockwork = Clockwork(now_ms, self._on_due)
        self._stopping = False
        self._meters = _Meters(self.game)
        self.partitions = Partitions(
            store, self.game, instance, now_ms, self._on_taken, self._on_lost, self._run_deferred
        )

    # ---- life ----------------------------------------------------------------------------------------------------

    async def start(self, address: str) -> None:
        """Takes what partitions are free and serves them.

        Args:
            address: where our RulesService answers; announced with each partition.
        """
        self._address = address
        self._outbox.start()
        self._committer.start()
        await self.partitions.start(address)

    async def stop(self) -> None:
        """Takes no more commands, finishes those it has, and gives its partitions up."""
        self._stopping = True
        self._clockwork.stop()
        for subscriptions in list(self._subscriptions.values()):
            for subscription in subscriptions:
                await subscription.stop()
        self._subscriptions.clear()
        while self._loading or self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._committer.drain()
        await self._committer.stop()
        for live in self._matches.values():
            _drop_watches(live)
        await self._outbox.stop()
        await self.partitions.stop()

    async def _on_taken(self, taken: dict[int, Held]) -> None:
        game = self.game
        for deadline in await self.store.deadlines(game, list(taken)):
            self._clockwork.set(deadline.match_id, deadline.due_ms)
        for partition, held in taken.items():
            owner = cluster_pb2.Owner(
                instance=self._instance, epoch=held.epoch, address=self._address
            ).SerializeToString()
            self._subscriptions[partition] = [
                await self._bus.serve(partition_commands(game, partition), self._on_command),
                await self._bus.serve(who_subject(game, partition), _answer_with(self._outbox, owner)),
            ]
            await self._bus.announce_owner(game, partition, owner)

    async def _on_lost(self, lost: set[int]) -> None:
        for partition in lost:
            for subscription in self._subscriptions.pop(partition, ()):
                await subscription.stop()
        gone = [live for live in self._matches.values() if live.partition in lost]
        for live in gone:
            self._forget(live)
        self._clockwork.forget([m for m in self._clockwork.known() if partition_of(m) in lost])

    # ---- commands ------------------------------------------------------------------------------------------------

    def _on_command(self, message: Message) -> None:
        now = self._now_ms()
        if not self.partitions.sure(now):
            # We were suspended: somebody else may own the match by now. The next beat tells.
            if len(self._deferred) >= self._limits.queued_instance:
                self._answer(message, _overloaded())
                return
            self._deferred.append((message, now))
            self.partitions.hurry()
            return
        self._take(message, now)

    def _run_deferred(self) -> None:
        self._meters.owned.set(len(self.partitions.held))
        self._meters.open_matches.set(len(self._clockwork))
        while self._deferred and self.partitions.sure(self._now_ms()):
            self._take(*self._deferred.popleft())
        if self._deferred_due and self.partitions.sure(self._now_ms()):
            due, self._deferred_due = self._deferred_due, set()
            self._on_due(list(due))

    def _take(self, message: Message, received_ms: int) -> None:
        if len(message.data) > self._limits.submission_bytes:
            size, limit = len(message.data), self._limits.submission_bytes
            self._answer(message, _refused(reject("too_large", size=size, limit=limit)))
            return
        try:
            submission = envelope_pb2.Submission.FromString(message.data)
        except DecodeError:
            self._answer(message, _refused(reject("malformed", detail="it does not parse")))
            return
        match_id = submission.command.match_id
        if message.subject.rpartition(".")[2] != match_id:
            self._answer(message, _refused(reject("malformed", detail="its match id is another", field="match_id")))
            return
        self.submit(submission, received_ms, lambda reply: self._answer(message, reply))

    def submit(self, submission: envelope_pb2.Submission, received_ms: int, reply: Reply) -> None:
        """Judges a command as soon as its match is in memory.

        Args:
            submission: what came over the bus.
            received_ms: when it came; what counts against a deadline.
            reply: called once, after the commit or with the rejection.
        """
        match_id = submission.command.match_id
        parsed = self.referee.read(submission.command, submission.occupant_id)
        if not isinstance(parsed, Parsed):
            reply(_refused(parsed))
            return
        self._with_match(match_id, lambda live: self._judge(live, submission, parsed, received_ms, reply))

    def _with_match(self, match_id: str, work: Work) -> None:
        """Calls back with the match, at once if it is in memory; with None if it cannot be had."""
        live = self._matches.get(match_id)
        if live is not None:
            self._matches.move_to_end(match_id)
            work(live)
            return
        if partition_of(match_id) not in self.partitions.held or match_id in self._broken:
            work(None)
            return
        waiting = self._loading.get(match_id)
        if waiting is None:
            self._loading[match_id] = [work]
            self._spawn(self._load(match_id))
        elif len(waiting) >= self._limits.loading_commands:
            work(None)
        else:
            waiting.append(work)

    async def _load(self, match_id: str) -> None:
        partition = partition_of(match_id)
        live: LiveMatch | None = None
        try:
            held = self.partitions.held.get(partition)
            if held is not None:
                live = await self._folded(match_id, partition, held.epoch)
        except Unavailable as error:
            _log.warning("match_not_loaded", match_id=match_id, reason=str(error))
        except Exception:
            # The log no longer folds: this match is set aside, all others go on.
            self._broken.add(match_id)
            self._meters.broken.inc()
            _log.exception("match_broken", match_id=match_id)
        held = self.partitions.held.get(partition)
        if live is not None and (held is None or held.epoch != live.epoch):
            live = None
        if live is not None:
            self._remember(live)
        for work in self._loading.pop(match_id):
            work(live)

    async def _folded(self, match_id: str, partition: int, epoch: int) -> LiveMatch:
        game = self.referee.game
        live = LiveMatch(match_id, self.game, game.rules_version, partition, epoch, None)
        started = time.perf_counter()
        state: MatchState[Any] | None = None
        async for chunk in self.store.read_chunks(match_id, parts=True, size=self._limits.read_chunk):
            for stored in chunk:
                state = self.referee.fold(state, stored.header, stored.public, _parts(stored.parts), stored.hash)
                live.command_ids.add(stored.command_id)
            self._meters.folded.inc(len(chunk))
            await asyncio.sleep(0)
        live.committed = live.ahead = state
        self._meters.fold_seconds.inc(time.perf_counter() - started)
        return live

    def _remember(self, live: LiveMatch) -> None:
        self._matches[live.match_id] = live
        if live.committed is not None:
            self._clockwork.set(live.match_id, live.committed.next_deadline_ms)
        while len(self._matches) > self._limits.cached_matches:
            oldest = next((m for m, kept in self._matches.items() if kept.idle and kept is not live), None)
            if oldest is None:
                break
            del self._matches[oldest]

    def _judge(
        self,
        live: LiveMatch | None,
        submission: envelope_pb2.Submission,
        parsed: Parsed,
        received_ms: int,
        reply: Reply,
    ) -> None:
        """The platform's checks that need the match, in their order; then the referee."""
        if live is None:
            broken = submission.command.match_id in self._broken
            reply(_refused(reject("match_broken")) if broken else _overloaded())
            return
        state, command = live.ahead, submission.command
        if state is None and not (submission.host and parsed.type == "create_match"):
            reply(_refused(reject("unknown_match")))
            return
        actor = HOST
        if not submission.host:
            seat = command.seat if command.HasField("seat") else -1
            if state is None or not self.referee.holds_seat(state, seat, submission.occupant_id):
                version = 0 if state is None else state.version
                reply(_refused(reject("not_a_seat", version=version, seat=seat)))
                return
            actor = Actor.of_seat(seat)
        if (
            len(live.pending) >= self._limits.queued_match
            or self._committer.queued >= self._limits.queued_instance
            or self._stopping
        ):
            reply(_overloaded())
            return
        self._settle(live, actor, parsed, received_ms, [reply])

    def _settle(self, live: LiveMatch, actor: Actor, parsed: Parsed, received_ms: int, replies: list[Reply]) -> None:
        """Answers a duplicate, or judges."""
        earlier = live.pending.get(parsed.command_id)
        if earlier is not None:
            if _same(earlier.actor, earlier.parsed, actor, parsed):
                earlier.replies += replies
            else:
                _reply_all(replies, _refused(reject("command_id_reused", version=earlier.entry.version)))
            return
        if parsed.command_id in live.command_ids:
            self._spawn(self._answer_duplicate(live.match_id, actor, parsed, replies))
            return
        self._expire_due(live, received_ms)
        result = self._decide(live, actor, parsed, received_ms)
        if isinstance(result, Entry):
            self._accept(live, actor, parsed, received_ms, result, replies)
        else:
            METRICS.commands.labels(self.game, result.code).inc()
            if live.pending:
                # It rests on entries that are not on disk yet: it is true only when they are.
                last = next(reversed(live.pending.values()))
                last.after.append(Refusal(actor, parsed, received_ms, replies, result))
            else:
                _reply_all(replies, _refused(result))

    def _decide(self, live: LiveMatch, actor: Actor, parsed: Parsed, now_ms: int) -> Entry | envelope_pb2.Rejection:
        state = live.ahead
        try:
            if state is None:
                return self.referee.create(live.match_id, parsed, now_ms)
            return self.referee.judge(state, actor, parsed, now_ms, self._owed(live, now_ms))
        except Exception:
            # A poisonous command: nothing happened in the match; whoever sent it and everybody else go on.
            _log.exception("not_judged", match_id=live.match_id, type=parsed.type, actor=actor.kind.name)
            return reject("not_judged", version=0 if state is None else state.version)

    def _owed(self, live: LiveMatch, now_ms: int) -> tuple[tuple[int, int], ...]:
        """Down time to give back; nearly always none, and then nothing is computed."""
        held = self.partitions.held.get(live.partition)
        state = live.ahead
        if held is None or not held.down or state is None or state.over:
            return ()
        since = min((p.opened_ms for p in state.prompts), default=state.created_ms)
        return due_extensions(state, held.down, now_ms) if held.down[-1][1] > since else ()

    def _accept(
        self,
        live: LiveMatch,
        actor: Actor,
        parsed: Parsed,
        received_ms: int,
        entry: Entry,
        replies: list[Reply],
    ) -> None:
        pending = Pending(live, actor, parsed, received_ms, entry, replies)
        live.ahead = entry.state
        live.pending[entry.command_id] = pending
        self._committer.put(pending)

    async def _answer_duplicate(self, match_id: str, actor: Actor, parsed: Parsed, replies: list[Reply]) -> None:
        """The first reply again, rebuilt from the store, to the same sender of the same command only."""
        try:
            stored = await self.store.by_command(match_id, parsed.command_id)
        except (Unavailable, StoreError):
            _reply_all(replies, _overloaded())
            return
        self._meters.duplicates.inc()
        if stored is None:
            _reply_all(replies, _overloaded())
            return
        record = match_pb2.CommandRecord.FromString(_parts(stored.parts)["command"])
        same = (
            record.actor == actor.kind.value
            and record.type == parsed.type
            and record.payload == parsed.payload
            and record.occupant_id == parsed.occupant_id
            and (actor is HOST or actor is CLOCK or record.seat == actor.seat)
        )
        if same:
            accepted = envelope_pb2.Accepted(version=stored.version, duplicate=True)
            _reply_all(replies, envelope_pb2.CommandReply(accepted=accepted))
        else:
            _reply_all(replies, _refused(reject("command_id_reused", version=stored.version)))

    # ---- clock ---------------------------------------------------------------------------------------------------

    def _on_due(self, match_ids: list[str]) -> None:
        if self._stopping:
            return
        now = self._now_ms()
        if not self.partitions.sure(now):
            self._deferred_due.update(match_ids)
            self.partitions.hurry()
            return
        for match_id in match_ids:
            self._with_match(match_id, lambda live: self._ring(live, now))

    def _ring(self, live: LiveMatch | None, now_ms: int) -> None:
        if live is None:
            return
        self._expire_due(live, now_ms)
        if live.ahead is live.committed and live.committed is not None:
            self._rearm(live, now_ms)

    def _rearm(self, live: LiveMatch, now_ms: int) -> None:
        """Nothing was due after all (down time is given back): wake again when it is."""
        state = live.ahead
        if state is not None:
            _, next_ms = first_expired(state, self._owed(live, now_ms), now_ms)
            self._clockwork.set(live.match_id, next_ms)

    def _expire_due(self, live: LiveMatch, now_ms: int) -> None:
        """Lets the clock act first where a deadline has passed: a command that came later is stale."""
        while (state := live.ahead) is not None and not state.over:
            deadline = state.next_deadline_ms
            if deadline is None or now_ms < deadline or len(live.pending) >= self._limits.queued_match:
                return
            prompt_id, _ = first_expired(state, self._owed(live, now_ms), now_ms)
            if prompt_id is None:
                return
            parsed = clock_command(prompt_id)
            result = self._decide(live, CLOCK, parsed, now_ms)
            if not isinstance(result, Entry):
                _log.error("clock_refused", match_id=live.match_id, prompt_id=prompt_id, code=result.code)
                return
            self._meters.clock_lag.observe(max(0, now_ms - deadline) / 1000)
            self._accept(live, CLOCK, parsed, now_ms, result, [])

    # ---- after the commit ----------------------------------------------------------------------------------------

    def _on_committed(self, group: list[Pending]) -> None:
        self._meters.group.observe(len(group))
        now = self._now_ms()
        for pending in group:
            live, entry = pending.live, pending.entry
            live.committed = entry.state
            live.pending.pop(entry.command_id, None)
            live.command_ids.add(entry.command_id)
            self._meters.accepted.inc()
            self._meters.seconds.observe(max(0, now - pending.received_ms) / 1000)
            if pending.replies:
                accepted = envelope_pb2.Accepted(version=entry.version)
                _reply_all(pending.replies, envelope_pb2.CommandReply(accepted=accepted))
            for refusal in pending.after:
                _reply_all(refusal.replies, _refused(refusal.rejection))
            self._outbox.publish(live.match_id, _published(entry))
            self._clockwork.set(live.match_id, entry.state.next_deadline_ms)
            for watch in live.watches:
                watch.put(entry)

    def _on_refused(self, refused: list[Pending], faults: dict[str, ConflictKind] | None) -> None:
        """Nothing of this is on disk, or nobody knows: forget what was decided ahead and judge anew."""
        for reason in {k.value for k in faults.values()} if faults else ("unavailable",):
            METRICS.conflicts.labels(self.game, reason).inc()
        stale = {m for m, kind in (faults or {}).items() if kind is ConflictKind.STALE_EPOCH}
        for partition, epoch in {(p.live.partition, p.live.epoch) for p in refused if p.live.match_id in stale}:
            self._spawn(self.partitions.lose(partition, epoch))
        for live in {id(p.live): p.live for p in refused}.values():
            live.pending.clear()
            if faults is None or live.match_id in faults:
                self._forget(live)
            else:
                live.ahead = live.committed
        if faults is not None:
            self._committer.one_by_one(len(refused))
        for pending in refused:
            waiters: list[Pending | Refusal] = [pending, *pending.after]
            for waiting in waiters:
                if faults is None or pending.live.match_id in stale:
                    _reply_all(waiting.replies, _overloaded())
                else:
                    self._again(pending.live.match_id, waiting)

    def _again(self, match_id: str, waiting: Pending | Refusal) -> None:
        def work(live: LiveMatch | None) -> None:
            if live is None:
                _reply_all(waiting.replies, _overloaded())
            elif waiting.actor is CLOCK:
                self._expire_due(live, waiting.received_ms)
            else:
                self._settle(live, waiting.actor, waiting.parsed, waiting.received_ms, waiting.replies)

        self._with_match(match_id, work)

    def _forget(self, live: LiveMatch) -> None:
        """What we know of this match is wrong or not ours: the next command folds it anew."""
        _drop_watches(live)
        if self._matches.get(live.match_id) is live:
            del self._matches[live.match_id]

    # ---- reading -------------------------------------------------------------------------------------------------

    async def state(self, match_id: str) -> MatchState[Any] | None:
        """The last committed state; None if there is no such match.

        Raises:
            BrokenMatchError: if its log no longer folds.
            Unavailable: if it cannot be had just now.
        """
        if match_id in self._broken:
            raise BrokenMatchError(match_id)
        if partition_of(match_id) in self.partitions.held:
            return (await self._live(match_id)).committed
        return (await self._folded(match_id, partition_of(match_id), 0)).committed

    async def watch(self, match_id: str) -> tuple[MatchState[Any] | None, Watch, Callable[[], None]]:
        """Follows a match: its committed state, the queue of what comes, and how to end it.

        Raises:
            MovedError: if another instance owns it.
            BrokenMatchError: if its log no longer folds.
        """
        if match_id in self._broken:
            raise BrokenMatchError(match_id)
        if partition_of(match_id) not in self.partitions.held:
            raise MovedError(match_id)
        live = await self._live(match_id)
        watch = Watch()
        live.watches.add(watch)
        return live.committed, watch, lambda: live.watches.discard(watch)

    async def try_out(self, submission: envelope_pb2.Submission) -> tuple[envelope_pb2.Rejection | None, int]:
        """What sending this would be answered, without doing it: the rejection, or None; and the version.

        Raises:
            MovedError, BrokenMatchError: as `watch`.
        """
        parsed = self.referee.read(submission.command, submission.occupant_id)
        if not isinstance(parsed, Parsed):
            return parsed, 0
        if partition_of(submission.command.match_id) not in self.partitions.held:
            raise MovedError(submission.command.match_id)
        live = await self._live(submission.command.match_id)
        state = live.committed
        if state is None:
            return reject("unknown_match"), 0
        seat = submission.command.seat if submission.command.HasField("seat") else -1
        if not self.referee.holds_seat(state, seat, submission.occupant_id):
            return reject("not_a_seat", version=state.version, seat=seat), state.version
        result = self.referee.judge(state, Actor.of_seat(seat), parsed, self._now_ms())
        return (None if isinstance(result, Entry) else result), state.version

    async def _live(self, match_id: str) -> LiveMatch:
        found: asyncio.Future[LiveMatch | None] = asyncio.get_running_loop().create_future()

        def work(live: LiveMatch | None) -> None:
            if not found.done():
                found.set_result(live)

        self._with_match(match_id, work)
        live = await found
        if live is None:
            if match_id in self._broken:
                raise BrokenMatchError(match_id)
            raise Unavailable("the match cannot be had just now")
        return live

    # ---- small things --------------------------------------------------------------------------------------------

    def _answer(self, message: Message, reply: envelope_pb2.CommandReply) -> None:
        self._outbox.reply(message, reply.SerializeToString())

    def _spawn(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("owner_task_failed", exc_info=error)


def _published(entry: Entry) -> bytes:
    """An entry as anybody may see it."""
    return frame_pb2.ViewerEntry(
        header=entry.header,
        public=entry.public,
        digests=[match_pb2.PartDigest(audience=a, digest=d) for a, d in entry.digests],
        hash=entry.hash,
    ).SerializeToString()


def _parts(stored: bytes | None) -> dict[str, bytes]:
    return {p.audience: p.body for p in match_pb2.Parts.FromString(stored or b"").parts}


def _same(actor: Actor, parsed: Parsed, other_actor: Actor, other: Parsed) -> bool:
    return (actor, parsed.type, parsed.payload, parsed.occupant_id) == (
        other_actor,
        other.type,
        other.payload,
        other.occupant_id,
    )


def _refused(rejection: envelope_pb2.Rejection) -> envelope_pb2.CommandReply:
    return envelope_pb2.CommandReply(rejection=rejection)


def _overloaded() -> envelope_pb2.CommandReply:
    return _refused(reject("overloaded", retry_after_ms=_RETRY_MS))


def _reply_all(replies: list[Reply], reply: envelope_pb2.CommandReply) -> None:
    for answer in replies:
        answer(reply)


def _answer_with(outbox: Outbox, data: bytes) -> Callable[[Message], None]:
    return lambda request: outbox.reply(request, data)


def _drop_watches(live: LiveMatch) -> None:
    for watch in live.watches:
        watch.drop()
