"""The single writer of the matches of one game on this instance.

A command is decided at once against the state in memory; one committer writes what queued as one transaction; the reply
and the publication follow the commit. Views come from the last committed state.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Final

import msgspec
import structlog
from google.protobuf.message import DecodeError

from grimoire import tracing
from grimoire.bus import (
    Bus,
    BusError,
    Message,
    Subscription,
    free_subject,
    partition_commands,
    who_subject,
)
from grimoire.engine import CLOCK, HOST, Actor, ActorKind, Seat
from grimoire.eventstore import EventStore, StoreError, Unavailable, partition_of
from grimoire.match import (
    Entry,
    MatchState,
    Parsed,
    Referee,
    RulesNotInstalledError,
    Step,
    clock_command,
    due_extensions,
    first_expired,
    reject,
)
from grimoire.match.clock import merged, overlap
from grimoire.runtime.cache import MatchCache
from grimoire.runtime.clockwork import Clockwork
from grimoire.runtime.command_trace import CommandTrace, trace_committed, trace_judged, traced
from grimoire.runtime.committer import Committer, Refused
from grimoire.runtime.faults import trail
from grimoire.runtime.live import Absent, LiveMatch, Pending, Refusal, Reply, Watch
from grimoire.runtime.loader import Loader, stored_parts
from grimoire.runtime.metrics import METRICS
from grimoire.runtime.notary import Notary, dues_of
from grimoire.runtime.outbox import Outbox
from grimoire.runtime.partitions import Held, Partitions
from grimoire.v1 import cluster_pb2, envelope_pb2, frame_pb2, match_pb2

__all__ = ["BrokenMatchError", "MovedError", "Owner", "OwnerLimits", "UnruledMatchError"]

_log: Final = structlog.stdlib.get_logger(__name__)

_RETRY_MS: Final = 100
_SLOW_RETRY_MS: Final = 1_000
_TRIES: Final = 3
_JOINED: Final = 8
_BROKER_S: Final = 1.0
_FINISH_S: Final = 2.0
_WINDING: Final = 8
_NOBODY: Final = Actor(ActorKind.SEAT, Seat(-1))


class MovedError(Exception):
    """The match lives on a partition that another instance owns."""


class BrokenMatchError(Exception):
    """The match's log no longer folds; it has been set aside."""


class UnruledMatchError(BrokenMatchError):
    """The rules that the match began under are not installed here."""


class OwnerLimits(msgspec.Struct, frozen=True):
    """Bounds of one instance.

    Attributes:
        queued_match: commands of one match on their way to disk.
        queued_instance: commands of all matches on their way to disk; of those that wait for their match to be folded;
            and of those that wait for certainty that this instance still owns them.
        cached_matches: idle matches kept in memory; the one touched longest ago goes first and is folded anew.
        cached_s: seconds after which an idle match leaves memory.
        loading_commands: commands that wait for one match to be folded.
        duplicates: repeated commands that are looked up at once.
        submission_bytes: largest message taken from the bus.
        foreign_reads: matches of other instances folded at once for whoever asked the wrong one.
    """

    queued_match: int = 64
    queued_instance: int = 2_048
    cached_matches: int = 4_096
    cached_s: float = 600.0
    loading_commands: int = 256
    duplicates: int = 256
    submission_bytes: int = 64 * 1024
    foreign_reads: int = 4


class _Meters:
    """This game's counters, looked up once."""

    def __init__(self, game: str) -> None:
        self._game = game
        self._codes: dict[str, Any] = {}
        self.accepted = METRICS.commands.labels(game, "accepted")
        self.seconds = METRICS.command_seconds.labels(game)
        self.group = METRICS.commit_group.labels(game)
        self.duplicates = METRICS.duplicates.labels(game)
        self.open_matches = METRICS.open_matches.labels(game)
        self.owned = METRICS.owned_partitions.labels(game)
        self.clock_lag = METRICS.clock_lag.labels(game)

    def refused(self, code: str) -> None:
        """Counts a rejection; codes are few, they are the rulebook's and the platform's."""
        counter = self._codes.get(code)
        if counter is None:
            counter = self._codes[code] = METRICS.commands.labels(self._game, code)
        counter.inc()


class Owner:
    """Serves the matches of one game whose partitions this instance owns.

    Args:
        referee: judges them.
        store: the record.
        bus: the connection.
        instance: our name in this run.
        now_ms: the time, UTC ms.
        limits: bounds.
        notary: gets the leaves of its matches into the transparency log; None: there is no such log here, and nobody
            waits for it.
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
        notary: Notary | None = None,
    ) -> None:
        self.referee = referee
        self._notary = notary
        self.store = store
        self.game = referee.game.id
        self._newest = referee.game.rules_version
        self._older = referee.has_older
        self._bus = bus
        self._instance = instance
        self._address = ""
        self._now_ms = now_ms
        self._limits = limits = limits or OwnerLimits()
        self._deferred: deque[tuple[int, Message, int]] = deque()
        self._late: dict[tuple[int, str], None] = {}
        self._subscriptions: dict[int, list[Subscription]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._looking_up = 0
        self._progress = asyncio.Event()
        self._stopping = False
        self._meters = _Meters(self.game)
        self._outbox = Outbox(bus, self.game)
        self._committer = Committer(store, self.game, self._on_committed, self._on_refused)
        self._clockwork = Clockwork(now_ms, self._on_due)
        self._cache = MatchCache(limits.cached_matches, limits.cached_s)
        self._foreign = asyncio.Semaphore(limits.foreign_reads)
        self.partitions = Partitions(store, self.game, instance, now_ms, self)
        self._loader = Loader(
            referee,
            store,
            self._cache,
            self.partitions.held.get,
            lambda: self.partitions.sure(self._now_ms()),
            waiting=limits.queued_instance,
            waiting_match=limits.loading_commands,
        )

    # ---- life ----------------------------------------------------------------------------------------------------

    async def start(self, address: str) -> None:
        """Takes our share of the partitions and serves them.

        Args:
            address: where our RulesService answers; announced with each partition.

        Raises:
            StoreError, BusError: if store or broker do not answer.
        """
        self._address = address
        # Asked for when somebody looks: they change with every command.
        METRICS.queued_commands.labels(self.game).set_function(lambda: self._committer.queued)
        METRICS.cached_matches.labels(self.game).set_function(lambda: len(self._cache))
        self._outbox.start()
        self._committer.start()
        if self._notary is not None:
            self._notary.denied = self._void
            self._notary.start()
        await self._bus.serve(free_subject(self.game), lambda _: self.partitions.hurry())
        self._bus.on_reconnect(self._on_reconnect)
        await self.partitions.start(address)

    async def failed(self) -> None:
        """Returns only if something that must run has ended: this instance is of no use any more.

        Raises:
            Exception: what it ended with.
        """
        notary = () if self._notary is None else self._notary.tasks
        tasks = {*self.partitions.tasks, *self._committer.tasks, *self._outbox.tasks, *notary}
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def stop(self) -> None:
        """Takes no more commands, finishes those it has, and hands its partitions over."""
        self._stopping = True
        await self.partitions.stop()
        self._clockwork.stop()
        try:
            async with asyncio.timeout(_FINISH_S):
                await self._loader.idle()
                await asyncio.gather(*self._tasks, return_exceptions=True)
        except TimeoutError:
            _log.warning("owner_not_finished", tasks=len(self._tasks))
        await self._committer.stop()
        if self._notary is not None:
            await self._notary.stop()
        await self._outbox.stop()
        self._cache.close()

    async def _on_reconnect(self) -> None:
        self.partitions.hurry()

    # ---- partitions (Tenant) -------------------------------------------------------------------------------------

    async def reachable(self) -> bool:
        """The broker answers."""
        return await self._bus.alive(_BROKER_S)

    async def listen(self, taken: dict[int, Held]) -> None:
        """Subscribes to the commands of partitions, and announces their new owner.

        Raises:
            BusError: if the broker does not take it all.
        """
        listening = (self._listen_to(partition, held.epoch) for partition, held in taken.items())
        for outcome in await asyncio.gather(*listening, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _listen_to(self, partition: int, epoch: int) -> None:
        owner = cluster_pb2.Owner(instance=self._instance, epoch=epoch, address=self._address).SerializeToString()
        subscriptions = self._subscriptions.setdefault(partition, [])
        commands, who = partition_commands(self.game, partition), who_subject(self.game, partition)
        subscriptions.append(await self._bus.serve(commands, lambda message: self._on_command(partition, message)))
        subscriptions.append(await self._bus.serve(who, lambda request: self._outbox.reply(request, owner)))
        await self._bus.announce_owner(self.game, partition, owner)

    async def wind(self, taken: dict[int, Held]) -> None:
        """Sets the clocks from the store. Down time since a match's last entry is still to be given back to it."""
        partitions = list(taken)
        for at in range(0, len(partitions), _WINDING):
            some = partitions[at : at + _WINDING]
            due: dict[int, list[tuple[str, int]]] = {partition: [] for partition in some}
            for deadline in await self.store.deadlines(self.game, some):
                down = taken[deadline.partition].down
                owed_ms = overlap(down, deadline.updated_ms, down[-1][1]) if down else 0
                due[deadline.partition].append((deadline.match_id, deadline.due_ms + owed_ms))
            for partition, deadlines in due.items():
                self._clockwork.set_many(partition, deadlines)
        if self._notary is not None:
            await self._notary.take(partitions)

    async def drain(self, partitions: Collection[int]) -> None:
        """Stops listening, and waits until no command of these partitions is on its way to disk."""
        await asyncio.gather(*(self._mute(partition) for partition in partitions))
        self._settle_deferred()
        while any(live.pending for live in self._cache.of(partitions)):
            self._progress.clear()
            await self._progress.wait()

    async def _mute(self, partition: int) -> None:
        for subscription in self._subscriptions.pop(partition, ()):
            await subscription.stop()

    def forget(self, partitions: Collection[int]) -> None:
        """Drops all that is known of partitions that are no longer ours."""
        for partition in partitions:
            if partition in self._subscriptions:
                self._spawn(self._mute(partition))
            self._clockwork.drop(partition)
        for live in self._cache.of(partitions):
            self._forget(live)
        self._loader.forget(partitions)
        if self._notary is not None:
            self._notary.forget(partitions)
        self._count_held()
        self._settle_deferred()

    async def offer(self, partitions: Collection[int]) -> None:
        """Tells the other instances that some are free."""
        del partitions
        await self._bus.announce_free(self.game)

    def certain(self) -> None:
        """What waited for certainty goes on."""
        self._count_held()
        self._settle_deferred()
        if self._late and self.partitions.sure(self._now_ms()):
            late, self._late = self._late, {}
            self._on_due(list(late))

    def _count_held(self) -> None:
        self._meters.owned.set(len(self.partitions.held))
        self._meters.open_matches.set(len(self._clockwork))

    def uncertain(self) -> None:
        """What waited for certainty waits no longer."""
        if not self.partitions.sure(self._now_ms()):
            deferred, self._deferred = self._deferred, deque()
            for _, message, _ in deferred:
                self._answer(message, self._overloaded(_SLOW_RETRY_MS))

    # ---- commands ------------------------------------------------------------------------------------------------

    def _on_command(self, partition: int, message: Message) -> None:
        now = self._now_ms()
        held = self.partitions.held.get(partition)
        if held is None or held.leaving:
            self._outbox.reply(message, None)
        elif held.served and self.partitions.sure(now):
            self._take(partition, message, self._clockwork.received(now))
        elif len(self._deferred) >= self._limits.queued_instance:
            self._answer(message, self._overloaded(_SLOW_RETRY_MS))
        else:
            # Just taken and not ready yet; or we were suspended, and somebody else may own it by now. The next sign of
            # life tells.
            self._deferred.append((partition, message, now))
            if held.served:
                self.partitions.hurry()

    def _settle_deferred(self) -> None:
        """Commands that waited are judged, wait on, or are left to the new owner."""
        deferred, self._deferred = self._deferred, deque()
        sure = self.partitions.sure(self._now_ms())
        for partition, message, received_ms in deferred:
            held = self.partitions.held.get(partition)
            if held is None or held.leaving:
                self._outbox.reply(message, None)
            elif sure and held.served:
                self._take(partition, message, received_ms)
            else:
                self._deferred.append((partition, message, received_ms))

    def _take(self, partition: int, message: Message, received_ms: int) -> None:
        if len(message.data) > self._limits.submission_bytes:
            size, limit = len(message.data), self._limits.submission_bytes
            self._answer(message, self._refused(reject("too_large", size=size, limit=limit)))
            return
        try:
            submission = envelope_pb2.Submission.FromString(message.data)
        except DecodeError:
            self._answer(message, self._refused(reject("malformed", detail="it does not parse")))
            return
        if message.subject.rpartition(".")[2] != submission.command.match_id:
            self._answer(
                message, self._refused(reject("malformed", detail="its match id is another", field="match_id"))
            )
            return

        line = self._bus.line

        def reply(answer: envelope_pb2.CommandReply | None) -> None:
            # Whoever asked by a line that was lost asks again; the broker would refuse the answer.
            if self._bus.line == line:
                self._answer(message, answer)

        way = CommandTrace(message, submission, self.game, partition, reply) if tracing.on() else reply
        self._submit(partition, submission, received_ms, way)

    def _submit(self, partition: int, submission: envelope_pb2.Submission, received_ms: int, reply: Reply) -> None:
        command, who = submission.command, submission.occupant_id
        parsed = self.referee.read(command, who)
        if not isinstance(parsed, Parsed) and not self._older:
            reply(self._refused(parsed))
            return
        actor = HOST if submission.host else _sender(command)

        def work(found: LiveMatch | Absent) -> None:
            if isinstance(found, Absent):
                reply(self._absent(found))
                return
            read = parsed
            if found.rules_version != self._newest and found.ahead is not None:
                read = self.referee.read(command, who, found.rules_version)
            if isinstance(read, Parsed):
                self._admit(found, actor, read, received_ms, [reply])
            else:
                reply(self._refused(read))

        self._loader.ask(partition, command.match_id, work)

    def _absent(self, why: Absent) -> envelope_pb2.CommandReply | None:
        if why is Absent.MOVED:
            return None
        if why is Absent.BUSY:
            return self._overloaded(_RETRY_MS)
        return self._refused(reject("rules_not_installed" if why is Absent.UNRULED else "match_broken"))

    def _admit(
        self, live: LiveMatch, actor: Actor, parsed: Parsed, received_ms: int, replies: list[Reply], tries: int = 1
    ) -> None:
        """The platform's checks that need the match, in their order; then the referee.

        Args:
            live: the match.
            actor: who claims to send it.
            parsed: the command.
            received_ms: when it came; what counts against a deadline.
            replies: who waits for the answer.
            tries: how often it has been judged, this time included.
        """
        state = live.ahead
        if state is None and not (actor is HOST and parsed.type == "create_match"):
            _reply_all(replies, self._refused(reject("unknown_match")))
            return
        refusal = None if state is None or actor is HOST else self._stranger(state, actor, parsed)
        if refusal is None:
            earlier = live.pending.get(parsed.command_id)
            if earlier is not None and _same(earlier.actor, earlier.parsed, actor, parsed):
                earlier.replies += replies
                # Whoever asks again has given up waiting for the first answers.
                del earlier.replies[:-_JOINED]
                return
            if self._full(live):
                _reply_all(replies, self._overloaded(_SLOW_RETRY_MS if self._committer.stalled else _RETRY_MS))
                return
            if earlier is not None:
                refusal = reject("command_id_reused", version=earlier.entry.version)
            elif parsed.command_id in live.command_ids:
                self._answer_duplicate(live.match_id, actor, parsed, replies)
                return
        if refusal is None and self._notary is not None:
            refusal = self._notary.refusal(live, actor, parsed)
        if refusal is None:
            self._expire_due(live, received_ms)
            began_ns = time.time_ns() if tracing.on() else 0
            result = self._decide(live, live.ahead, actor, parsed, received_ms)
            if began_ns:
                trace_judged(replies, began_ns, result)
            if isinstance(result, Entry):
                self._accept(live, actor, parsed, received_ms, result, replies, tries)
                return
            refusal = result
        self._refuse(live, Refusal(actor, parsed, received_ms, replies, refusal, tries))

    def _stranger(self, state: MatchState[Any], actor: Actor, parsed: Parsed) -> envelope_pb2.Rejection | None:
        if self.referee.holds_seat(state, actor.seat, parsed.occupant_id):
            return None
        return reject("not_a_seat", version=state.version, seat=actor.seat)

    def _full(self, live: LiveMatch) -> bool:
        return (
            self._committer.stalled
            or len(live.pending) >= self._limits.queued_match
            or self._committer.queued >= self._limits.queued_instance
        )

    def _refuse(self, live: LiveMatch, refusal: Refusal) -> None:
        """A rejection is true at once if it rests on what is on disk, else only when that is."""
        if not live.pending:
            _reply_all(refusal.replies, self._refused(refusal.rejection))
            return
        last = next(reversed(live.pending.values()))
        if len(last.after) < self._limits.queued_match:
            last.after.append(refusal)
        else:
            _reply_all(refusal.replies, self._overloaded(_RETRY_MS))

    def _decide(
        self, live: LiveMatch, state: MatchState[Any] | None, actor: Actor, parsed: Parsed, now_ms: int
    ) -> Entry | envelope_pb2.Rejection:
        try:
            if state is None:
                return self.referee.create(live.match_id, parsed, now_ms)
            return self.referee.judge(state, actor, parsed, now_ms, self._owed(live, state, now_ms))
        except Exception as error:
            # A poisonous command: nothing happened in the match; whoever sent it and everybody else go on.
            _log.error(
                "not_judged",
                match_id=live.match_id,
                type=parsed.type,
                actor=actor.kind.name,
                error=type(error).__name__,
                trail=trail(error),
            )
            return reject("not_judged", version=0 if state is None else state.version)

    def _owed(self, live: LiveMatch, state: MatchState[Any], now_ms: int) -> tuple[tuple[int, int], ...]:
        """Down time to give back; nearly always none, and then nothing is computed."""
        held = self.partitions.held.get(live.partition)
        waited = None if self._notary is None else self._notary.waited(live.match_id, now_ms)
        if waited is not None:
            down = [waited] if held is None else merged([*held.down, waited])
            return due_extensions(state, down, now_ms)
        if held is None or not held.down or state.over:
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
        tries: int = 1,
    ) -> None:
        dues = 0 if self._notary is None else dues_of(live.ahead, entry.state)
        pending = Pending(live, actor, parsed, received_ms, entry, replies, tries, dues)
        live.ahead = entry.state
        live.pending[entry.command_id] = pending
        self._committer.put(pending)

    def _answer_duplicate(self, match_id: str, actor: Actor, parsed: Parsed, replies: list[Reply]) -> None:
        if self._looking_up >= self._limits.duplicates:
            _reply_all(replies, self._overloaded(_RETRY_MS))
            return
        self._looking_up += 1
        self._spawn(self._look_up_duplicate(match_id, actor, parsed, replies))

    async def _look_up_duplicate(self, match_id: str, actor: Actor, parsed: Parsed, replies: list[Reply]) -> None:
        """The first reply again, rebuilt from the store, to the same sender of the same command only."""
        try:
            stored = await self.store.by_command(match_id, parsed.command_id)
        except StoreError:
            stored = None
        finally:
            self._looking_up -= 1
        if stored is None:
            _reply_all(replies, self._overloaded(_RETRY_MS))
            return
        self._meters.duplicates.inc()
        record = match_pb2.CommandRecord.FromString(stored_parts(stored.parts)["command"])
        same = (
            record.actor == actor.kind.value
            and record.type == parsed.type
            and record.payload == parsed.payload
            and (record.prompt_id if record.HasField("prompt_id") else None) == parsed.prompt_id
            and record.occupant_id == parsed.occupant_id
            and (actor is HOST or actor is CLOCK or record.seat == actor.seat)
        )
        if same:
            accepted = envelope_pb2.Accepted(version=stored.version, duplicate=True)
            _reply_all(replies, envelope_pb2.CommandReply(accepted=accepted))
        else:
            _reply_all(replies, self._refused(reject("command_id_reused", version=stored.version)))

    # ---- clock ---------------------------------------------------------------------------------------------------

    def _on_due(self, due: list[tuple[int, str]]) -> None:
        if self._stopping:
            return
        now = self._now_ms()
        if not self.partitions.sure(now):
            self._late.update(dict.fromkeys(due))
            self.partitions.hurry()
            return
        for partition, match_id in due:
            self._ring(partition, match_id, now)

    def _ring(self, partition: int, match_id: str, now_ms: int) -> None:
        """A deadline may have passed: the clock acts, or it is set anew."""
        held = self.partitions.held.get(partition)
        if held is None or held.leaving:
            return

        def work(found: LiveMatch | Absent) -> None:
            if isinstance(found, LiveMatch):
                self._strike(found, now_ms)
            elif found is Absent.BUSY:
                self._clockwork.set(partition, match_id, now_ms + _SLOW_RETRY_MS)

        self._loader.ask(partition, match_id, work, urgent=False)

    def _strike(self, live: LiveMatch, now_ms: int) -> None:
        if self._full(live):
            self._clockwork.set(live.partition, live.match_id, now_ms + _SLOW_RETRY_MS)
            return
        self._expire_due(live, now_ms)
        if not live.pending and live.committed is not None:
            # Nothing was due after all (down time is given back): wake again when it is.
            _, next_ms = first_expired(live.committed, self._owed(live, live.committed, now_ms), now_ms)
            self._clockwork.set(live.partition, live.match_id, next_ms)

    def _expire_due(self, live: LiveMatch, now_ms: int) -> None:
        """Lets the clock act first where a deadline has passed: a command that came later is stale."""
        while (state := live.ahead) is not None and not state.over:
            deadline = next(reversed(live.pending.values())).due_ms if live.pending else live.due_ms
            if deadline is None or now_ms < deadline or len(live.pending) >= self._limits.queued_match:
                return
            prompt_id, _ = first_expired(state, self._owed(live, state, now_ms), now_ms)
            if prompt_id is None:
                return
            parsed = clock_command(prompt_id)
            result = self._decide(live, state, CLOCK, parsed, now_ms)
            if not isinstance(result, Entry):
                _log.error("clock_refused", match_id=live.match_id, prompt_id=prompt_id, code=result.code)
                return
            self._meters.clock_lag.observe(max(0, now_ms - deadline) / 1000)
            self._accept(live, CLOCK, parsed, now_ms, result, [])

    # ---- after the commit ----------------------------------------------------------------------------------------

    def _on_committed(self, group: list[Pending]) -> None:
        self._meters.group.observe(len(group))
        self._meters.accepted.inc(len(group))
        now = self._now_ms()
        held = self.partitions.held
        tells = tracing.on()
        if tells:
            trace_committed(group, self._committer.began_ns)
        for pending in group:
            live, entry = pending.live, pending.entry
            live.committed, live.due_ms = entry.state, pending.due_ms
            live.steps = ()
            live.pending.pop(entry.command_id, None)
            live.command_ids.add(entry.command_id)
            if pending.dues and self._notary is not None:
                self._notary.committed(entry, pending.dues)
            self._meters.seconds.observe(max(0, now - pending.received_ms) / 1000)
            if pending.replies:
                accepted = envelope_pb2.Accepted(version=entry.version)
                _reply_all(pending.replies, envelope_pb2.CommandReply(accepted=accepted))
            for refusal in pending.after:
                _reply_all(refusal.replies, self._refused(refusal.rejection))
            way = next(traced(pending.replies), None) if tells else None
            self._outbox.publish(live.match_id, _published(entry), way)
            if live.partition in held:
                self._clockwork.set(live.partition, live.match_id, pending.due_ms)
            for watch in live.watches:
                watch.put(entry)
                if way is not None:
                    watch.traceparent = way.traceparent
        self._progress.set()

    def _on_refused(self, refused: list[Pending], why: Refused) -> None:
        """These are not on disk: what was decided ahead of them is forgotten."""
        if why is Refused.SLOW:
            self._take_back(refused)
        else:
            for live in {id(p.live): p.live for p in refused}.values():
                live.pending.clear()
                self._forget(live)
            for partition, epoch in {(p.live.partition, p.live.epoch) for p in refused if why is Refused.STALE}:
                self.partitions.lose(partition, epoch)
            for pending in refused:
                self._again(pending, why)
        self._progress.set()

    def _take_back(self, refused: list[Pending]) -> None:
        """The store is slow: the match is as it was before these, and whoever waits may come again."""
        again_ms = self._now_ms() + _SLOW_RETRY_MS
        for pending in refused:
            live = pending.live
            live.pending.pop(pending.entry.command_id, None)
            before = next(reversed(live.pending.values())).entry.state if live.pending else live.committed
            live.ahead = before
            for waiting in pending.waiters:
                _reply_all(waiting.replies, self._overloaded(_SLOW_RETRY_MS))
            if pending.actor is CLOCK:
                self._clockwork.set(live.partition, live.match_id, again_ms)

    def _again(self, pending: Pending, why: Refused) -> None:
        """Judges a refused command and what rested on it anew, or says why not."""
        live = pending.live
        for waiting in pending.waiters:
            if why is Refused.STALE:
                _reply_all(waiting.replies, None)
            elif why is Refused.BROKEN and waiting is pending:
                _reply_all(waiting.replies, self._refused(reject("not_judged", version=pending.entry.version - 1)))
            elif waiting.tries >= _TRIES:
                _reply_all(waiting.replies, self._overloaded(_SLOW_RETRY_MS))
            elif waiting.actor is CLOCK:
                self._ring(live.partition, live.match_id, self._now_ms())
            else:
                self._judge_anew(live, waiting)

    def _judge_anew(self, live: LiveMatch, waiting: Pending | Refusal) -> None:
        def work(found: LiveMatch | Absent) -> None:
            if isinstance(found, Absent):
                _reply_all(waiting.replies, self._absent(found))
            else:
                self._admit(
                    found, waiting.actor, waiting.parsed, waiting.received_ms, waiting.replies, waiting.tries + 1
                )

        self._loader.ask(live.partition, live.match_id, work)

    def _forget(self, live: LiveMatch) -> None:
        """What we know of this match is wrong or not ours: the next command folds it anew."""
        for watch in live.watches:
            watch.drop()
        self._cache.remove(live)

    # ---- reading -------------------------------------------------------------------------------------------------

    async def state(self, match_id: str) -> MatchState[Any] | None:
        """The last committed state; None if there is no such match.

        Raises:
            BrokenMatchError: if its log no longer folds.
            Unavailable: if it cannot be had just now.
        """
        return (await self._known(match_id)).committed

    async def walked(self, match_id: str) -> tuple[MatchState[Any] | None, Sequence[Step[Any]]]:
        """The same, and all steps that lead to it if they are still in memory; else none.

        Raises:
            BrokenMatchError, Unavailable: as `state`.
        """
        known = await self._known(match_id)
        state, steps = known.committed, known.steps
        return state, steps if state is not None and state.version == len(steps) else ()

    async def _known(self, match_id: str) -> LiveMatch:
        partition = partition_of(match_id)
        if partition in self.partitions.held:
            try:
                return await self._live(match_id, reading=True)
            except MovedError:
                pass
        return await self._foreign_match(match_id, partition)

    async def _foreign_match(self, match_id: str, partition: int) -> LiveMatch:
        async with self._foreign:
            if self._loader.is_broken(match_id):
                raise BrokenMatchError(match_id)
            try:
                return await self._loader.fold(match_id, partition, 0, reading=True)
            except StoreError as error:
                raise Unavailable(str(error)) from None
            except RulesNotInstalledError as error:
                self._loader.note_unruled(match_id, error)
                raise UnruledMatchError(match_id) from None
            except Exception as error:
                self._loader.set_aside(match_id, error)
                raise BrokenMatchError(match_id) from None

    async def watch(self, match_id: str) -> tuple[MatchState[Any] | None, Watch, Callable[[], None]]:
        """Follows a match: its committed state, the queue of what comes, and how to end it.

        Raises:
            MovedError: if another instance owns it.
            BrokenMatchError: if its log no longer folds.
            Unavailable: if it cannot be had just now.
        """
        live = await self._live(match_id)
        while live.committed is not None and not self._cache.holds(live):
            # It left memory between being found and being handed to us: nothing would ever come from that one.
            live = await self._live(match_id)
        watch = Watch()
        live.watches.add(watch)
        return live.committed, watch, lambda: live.watches.discard(watch)

    async def try_out(self, submission: envelope_pb2.Submission) -> tuple[envelope_pb2.Rejection | None, int]:
        """What sending this would be answered, without doing it: the rejection, or None; and the version.

        Raises:
            MovedError, BrokenMatchError, Unavailable: as `watch`.
        """
        command = submission.command
        live = await self._live(command.match_id)
        state = live.committed
        if state is None:
            return reject("unknown_match"), 0
        parsed = self.referee.read(command, submission.occupant_id, state.rules_version)
        if not isinstance(parsed, Parsed):
            return parsed, state.version
        actor = _sender(command)
        result: Entry | envelope_pb2.Rejection | None = self._stranger(state, actor, parsed)
        if result is None and self._notary is not None:
            result = self._notary.refusal(live, actor, parsed)
        if result is None:
            result = self._decide(live, state, actor, parsed, self._now_ms())
        return (None if isinstance(result, Entry) else result), state.version

    async def _live(self, match_id: str, *, reading: bool = False) -> LiveMatch:
        found: asyncio.Future[LiveMatch | Absent] = asyncio.get_running_loop().create_future()

        def work(match: LiveMatch | Absent) -> None:
            if not found.done():
                found.set_result(match)

        self._loader.ask(partition_of(match_id), match_id, work, reading=reading)
        match = await found
        if match is Absent.BROKEN:
            raise BrokenMatchError(match_id)
        if match is Absent.UNRULED:
            raise UnruledMatchError(match_id)
        if match is Absent.MOVED:
            raise MovedError(match_id)
        if isinstance(match, Absent):
            raise Unavailable("the match cannot be had just now")
        return match

    def _void(self, match_id: str) -> None:
        """The transparency log refuses this match for good: nobody can be asked to play it."""
        message = match_pb2.Void(reason="not_logged")
        parsed = Parsed(secrets.token_bytes(16), "void", message, message.SerializeToString(), None, "")

        def work(found: LiveMatch | Absent) -> None:
            if isinstance(found, LiveMatch):
                self._admit(found, HOST, parsed, self._now_ms(), [])

        self._loader.ask(partition_of(match_id), match_id, work)

    # ---- small things --------------------------------------------------------------------------------------------

    def _answer(self, message: Message, reply: envelope_pb2.CommandReply | None) -> None:
        self._outbox.reply(message, None if reply is None else reply.SerializeToString())

    def _refused(self, rejection: envelope_pb2.Rejection) -> envelope_pb2.CommandReply:
        self._meters.refused(rejection.code)
        return envelope_pb2.CommandReply(rejection=rejection)

    def _overloaded(self, retry_after_ms: int) -> envelope_pb2.CommandReply:
        return self._refused(reject("overloaded", retry_after_ms=retry_after_ms))

    def _spawn(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            await work

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, BusError):
            _log.error("owner_task_failed", exc_info=error)


def _published(entry: Entry) -> bytes:
    """An entry as anybody may see it."""
    return frame_pb2.ViewerEntry(
        header=entry.header,
        public=entry.public,
        digests=[match_pb2.PartDigest(audience=a, digest=d) for a, d in entry.digests],
        hash=entry.hash,
    ).SerializeToString()


def _sender(command: envelope_pb2.Command) -> Actor:
    return Actor.of_seat(command.seat) if command.HasField("seat") else _NOBODY


def _same(actor: Actor, parsed: Parsed, other_actor: Actor, other: Parsed) -> bool:
    return (actor, parsed.type, parsed.payload, parsed.prompt_id, parsed.occupant_id) == (
        other_actor,
        other.type,
        other.payload,
        other.prompt_id,
        other.occupant_id,
    )


def _reply_all(replies: list[Reply], reply: envelope_pb2.CommandReply | None) -> None:
    for answer in replies:
        answer(reply)
