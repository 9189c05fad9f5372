"""One match as one viewer plays or watches it."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec
import structlog
from google.protobuf.message import Message

from grimoire import tracing
from grimoire.client.connection import Connection
from grimoire.client.errors import Alarm, ClientError, Rejected, UnavailableError
from grimoire.client.keepsakes import Keepsakes
from grimoire.client.logbook import LogBook, LogBookError, evidence_of
from grimoire.client.texts import sends_text
from grimoire.client.verify import Verdict, verify
from grimoire.client.witness import Step, Witness
from grimoire.match.seats import occupants_of
from grimoire.plugins import UnknownGameError, load_game
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2, play_pb2, prompt_pb2, transparency_pb2

__all__ = ["MatchSession", "Update"]

_log: Final = structlog.stdlib.get_logger(__name__)

_SILENCE_S: Final = 35.0
_FIRST_PAUSE_S: Final = 0.05
_LAST_PAUSE_S: Final = 2.0
_SAVE_EVERY_S: Final = 1.0
_HANDSHAKE_RETRY_S: Final = 0.25
_WAITING: Final = (frame_pb2.MATCH_STATUS_UNSPECIFIED, frame_pb2.MATCH_STATUS_HANDSHAKE)
_OVER: Final = (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID)
_COME_AGAIN: Final = ("slow_client", "seat_rebound", "rate_limited", "overloaded", "unavailable")
_WAIT_OUT: Final = ("rate_limited", "overloaded", "not_logged_yet")
_HANDSHAKE_PASSED: Final = ("handshake_over", "nonce_already_set", "match_over", "seals_missing")


class Update(msgspec.Struct, frozen=True):
    """What came with one frame.

    Attributes:
        first, last: versions of the entries, inclusive; first > last: none, only the view was renewed.
        events: of these entries in order, as far as this viewer may see them.
        snapshot: head, view and prompts after them.
    """

    first: int
    last: int
    events: tuple[match_pb2.Event, ...]
    snapshot: frame_pb2.Snapshot


@sends_text
class MatchSession:
    """A match followed from its first entry; made by `Client.open_match`.

    In the background it keeps the stream open (resuming by version), checks the chain of every entry, carries out this
    seat's part of the handshake, and keeps the keepsake. When anything that is shown cannot be true, `alarm` is set and
    every call from then on raises it: the session does not play on by itself. Where seats change hands, the session of
    a seat that is given to somebody else ends with `Rejected` (`not_a_seat`); open the match anew to watch it.

    Example:
        >>> async def play(session: MatchSession) -> None:
        ...     async for update in session.updates():
        ...         for prompt in session.own_prompts:
        ...             first = prompt.legal[0]
        ...             await session.submit(first.type, first.payload, prompt.prompt_id)
        ...     print(session.closed)
    """

    def __init__(
        self,
        connection: Connection,
        match_id: str,
        *,
        seat: int | None,
        as_public: bool,
        phrase: str,
        keepsakes: Keepsakes,
        logbook: LogBook,
    ) -> None:
        self._connection = connection
        self._logbook = logbook
        self._asked_seat = seat
        self._as_public = as_public
        self._phrase = phrase
        self._keepsakes = keepsakes
        self._witness = Witness(match_id)
        self._sent: set[bytes] = set()
        self._snapshot: frame_pb2.Snapshot | None = None
        self._fetched: list[match_pb2.Event] = []
        self._fetched_from = 1
        self._failure: ClientError | None = None
        self._over = False
        self._connected = False
        self._clock_offset_ms = 0
        self._saved_at = 0.0
        self._unsaved = False
        self._changed = asyncio.Condition()
        self._listeners: set[asyncio.Queue[Update | None]] = set()
        self._callbacks: list[Callable[[Update], None]] = []
        self._tasks: list[asyncio.Task[None]] = []

    # ---- what is known ----------------------------------------------------------------------------------------------

    @property
    def match_id(self) -> str:
        """Of the match."""
        return self._witness.match_id

    @property
    def game(self) -> str:
        """Code name, e.g. `two_towers`."""
        return self.head.game

    @property
    def seat(self) -> int | None:
        """One's own, from 0; None: one watches."""
        return self._witness.seat

    @property
    def snapshot(self) -> frame_pb2.Snapshot:
        """The latest screen."""
        if self._snapshot is None:
            raise UnavailableError("nothing has been received of this match yet")
        return self._snapshot

    @property
    def head(self) -> frame_pb2.MatchHead:
        """Facts that everybody knows, the status among them."""
        return self.snapshot.head

    @property
    def version(self) -> int:
        """Of the latest entry that was checked."""
        return self._witness.chain.version

    @property
    def view(self) -> bytes:
        """The game's view message, serialised; empty before the match has started."""
        return self.snapshot.view

    @property
    def view_message(self) -> Message | None:
        """The view, parsed; None where the game is not installed here, or the match has not started."""
        if not self.view:
            return None
        try:
            view_type = load_game(self.game).game.view_type
        except UnknownGameError:
            return None
        return view_type.FromString(self.view)

    @property
    def prompts(self) -> tuple[prompt_pb2.Prompt, ...]:
        """All open prompts; what is legal stands only in one's own."""
        return tuple(self.snapshot.prompts)

    @property
    def own_prompts(self) -> tuple[prompt_pb2.Prompt, ...]:
        """What this seat is asked, with everything it may answer."""
        return tuple(p for p in self.snapshot.prompts if self.seat is not None and p.seat == self.seat)

    @property
    def finished(self) -> bool:
        """The match is over and its secrets are open."""
        return self._over

    @property
    def closed(self) -> match_pb2.MatchClosed | None:
        """How it ended; None while it runs, and for a void match."""
        return self.head.closed if self.head.HasField("closed") else None

    @property
    def failed(self) -> bool:
        """Nothing more will come, for a reason that the next call raises."""
        return self._failure is not None

    @property
    def alarm(self) -> Alarm | None:
        """What the server showed that cannot be true."""
        return self._failure if isinstance(self._failure, Alarm) else None

    @property
    def connected(self) -> bool:
        """The stream is open at this moment."""
        return self._connected

    @property
    def server_time_ms(self) -> int:
        """The server's clock now (UTC, ms), as well as it is known; deadlines are in it."""
        return int(time.time() * 1000) + self._clock_offset_ms

    @property
    def keepsake_path(self) -> Path | None:
        """Where this seat's evidence lies; None for spectators."""
        return None if self.seat is None else self._keepsakes.path(self.match_id, self.seat)

    # ---- what one does ----------------------------------------------------------------------------------------------

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Every frame from now on, first the present one; ends when the match is over.

        Raises:
            Alarm, Rejected, ClientError: why nothing more will come.
        """
        queue: asyncio.Queue[Update | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            if self._snapshot is not None:
                yield Update(self.version + 1, self.version, (), self._snapshot)
            while not (self._ended and queue.empty()):
                update = await queue.get()
                if update is None:
                    break
                yield update
        finally:
            self._listeners.discard(queue)
        self._raise_failure()

    def on_update(self, callback: Callable[[Update], None]) -> None:
        """Calls back with every frame from now on."""
        self._callbacks.append(callback)

    async def submit(
        self,
        command: str,
        message: Message | bytes = b"",
        prompt_id: int | None = None,
        *,
        command_id: bytes | None = None,
    ) -> envelope_pb2.Accepted:
        """Sends a command; returns when it is committed and this session has seen it.

        The same bytes are sent again while the server is away: the id makes that safe.

        Args:
            command: its code, e.g. `play_card`.
            message: the game's command message, or its bytes.
            prompt_id: the open prompt it answers; None for standing commands such as `resign`.
            command_id: 16 random bytes; None: fresh ones. To send a command again whose fate is unknown, give the id of
                the `UnavailableError`.

        Raises:
            Rejected: the rules or the platform say no; nothing happened.
            UnavailableError: no reply for as long as this connection waits; its `command_id` may be sent again.
            Alarm: this session has raised one.
        """
        self._raise_failure()
        accepted = await self._send(command, message, prompt_id, command_id or secrets.token_bytes(16))
        with contextlib.suppress(TimeoutError):
            await self.reached(accepted.version, timeout_s=self._connection.patience_s)
        return accepted

    async def resign(self) -> envelope_pb2.Accepted:
        """Gives the match up; where the match goes on for others, somebody else may play on. Raises as `submit`."""
        return await self.submit("resign", match_pb2.Resign())

    async def leave(self) -> envelope_pb2.Accepted:
        """Leaves one's seats to somebody else, where the match allows it. Raises as `submit`.

        Any command makes one be there again, as long as nobody else was bound; afterwards `Client.return_to_seat` does.
        """
        return await self.submit("leave_seat", match_pb2.LeaveSeat())

    @property
    def occupants(self) -> Mapping[int, match_pb2.SeatOccupant]:
        """Who sits where now, by seat."""
        return occupants_of(self.head)

    async def explain(
        self, command: str, message: Message | bytes = b"", prompt_id: int | None = None
    ) -> Rejected | None:
        """What sending this command would answer; None: it would be accepted. Nothing happens.

        Raises:
            UnavailableError, ClientError: if there is no answer.
        """
        request = play_pb2.ExplainRequest(command=self._command(command, message, prompt_id, secrets.token_bytes(16)))
        reply = await self._connection.ask(self._connection.play.Explain, request)
        return Rejected(reply.rejection) if reply.HasField("rejection") else None

    async def look(self, version: int = 0) -> frame_pb2.Snapshot:
        """The screen at an earlier version through the same eyes; 0: now.

        Raises:
            Rejected: if there is no such version.
        """
        return (await self._connection.ask(self._connection.play.Look, self._look_request(version))).snapshot

    async def reached(self, version: int, *, timeout_s: float | None = None) -> None:
        """Waits until this session has seen an entry.

        Raises:
            TimeoutError: after `timeout_s` seconds.
            Alarm, Rejected, ClientError: why it will not come.
        """
        await self._until(lambda: self.version >= version, timeout_s)

    async def started(self, *, timeout_s: float | None = None) -> None:
        """Waits until the handshake is over and the match has begun, or is over. Raises as `reached`."""
        await self._until(lambda: self._over or self.head.status not in _WAITING, timeout_s)

    async def wait_finished(self, *, timeout_s: float | None = None) -> None:
        """Waits until the match is over and its secrets are open. Raises as `reached`."""
        await self._until(lambda: self._over, timeout_s)

    async def verify_result(self) -> Verdict:
        """Audits the finished match on this machine: checks 1 to 7 over the exported log, and one's own keepsake.

        The transparency log's key is the one that was kept since it was first seen, and its checkpoint must be
        consistent with all that were seen of it.

        Raises:
            UnavailableError, Rejected: if the log cannot be had.
        """
        self.save()
        witness = self._witness
        return await verify(self._connection, self._logbook, self.match_id, witness.keepsake, witness.chain.head)

    def save(self) -> None:
        """Writes the keepsake to its file now; otherwise that happens about once a second, and at the end."""
        if self._unsaved and self._witness.keepsake is not None:
            self._keepsakes.save(self._witness.keepsake)
            self._unsaved = False
            self._saved_at = time.monotonic()

    def forget_keepsake(self) -> None:
        """Throws this seat's evidence away, e.g. for a bot that has no need of it once the match is over."""
        if self.seat is not None:
            self._unsaved = False
            self._keepsakes.remove(self.match_id, self.seat)

    async def close(self) -> None:
        """Stops following; the match goes on without."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self._connected = False
        self.save()
        if not self._ended:
            await self._fail(ClientError("this session is closed"))

    async def __aenter__(self) -> MatchSession:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # ---- following --------------------------------------------------------------------------------------------------

    async def open(self, timeout_s: float) -> None:
        """Begins to follow; returns with the first screen. `Client.open_match` calls it.

        Raises:
            Rejected: `unknown_match`, or `not_a_seat` for a seat that is not one's own.
            UnavailableError: if the server does not answer within `timeout_s`.
            KeepsakeError: if what lies in this seat's keepsake file is none.
        """
        await self._take_seat(timeout_s)
        self._tasks.append(asyncio.create_task(self._follow(), name=f"follow {self.match_id}"))
        try:
            await self._until(lambda: self._snapshot is not None, timeout_s)
        except TimeoutError:
            await self.close()
            raise UnavailableError("the server does not show this match") from None
        except ClientError:
            await self.close()
            raise
        if self.seat is not None and not self._over:
            self._tasks.append(asyncio.create_task(self._shake_hands(), name=f"handshake {self.match_id}"))

    async def _take_seat(self, timeout_s: float) -> None:
        """Which seat one has, and what is kept of it: known before the first entry is looked at."""
        request = self._look_request(0)
        viewer = (await self._connection.ask(self._connection.play.Look, request, patience_s=timeout_s)).snapshot.viewer
        if viewer.kind == frame_pb2.VIEWER_KIND_SEAT:
            keepsake = self._keepsakes.load(self.match_id, viewer.seat)
            self._witness = Witness(self.match_id, viewer.seat, keepsake)
            self._sent = self._keepsakes.sent(self.match_id, viewer.seat)

    async def _follow(self) -> None:
        pause = _FIRST_PAUSE_S
        while not self._ended:
            before = self.version
            try:
                await self._follow_stream()
            except UnavailableError as lost:
                _log.debug("stream_lost", match_id=self.match_id, reason=str(lost))
            except Rejected as rejected:
                if rejected.code not in _COME_AGAIN:
                    await self._fail(rejected)
                pause = max(pause, rejected.retry_after_ms / 1000)
            except ClientError as failure:
                await self._fail(failure)
            except Exception as error:
                _log.exception("follow_failed", match_id=self.match_id)
                await self._fail(ClientError(f"following the match failed: {type(error).__name__}"))
            self._connected = False
            if self.version > before:
                pause = _FIRST_PAUSE_S
            if not self._ended:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LAST_PAUSE_S)

    async def _follow_stream(self) -> None:
        chain = self._witness.chain
        # The eyes it was opened with and no others: seats may change hands while it runs.
        request = play_pb2.WatchRequest(
            match_id=self.match_id,
            seat=self.seat,
            as_public=self.seat is None,
            since_version=chain.version,
            since_hash=chain.head,
        )
        play = self._connection.play
        async with contextlib.aclosing(self._connection.stream(play.Watch, request, silence_s=_SILENCE_S)) as responses:
            async for response in responses:
                self._connected = True
                if not await self._take(response.frame) or self._ended:
                    return

    async def _take(self, frame: frame_pb2.Frame) -> bool:
        """Takes a frame in; False: something is missing, and the stream has to be asked again from here."""
        kind = frame.WhichOneof("kind")
        if kind == "heartbeat":
            self._set_clock(frame.heartbeat.server_time_ms)
            return frame.heartbeat.version <= self.version
        if kind == "delta":
            delta = frame.delta
            if delta.to <= self.version:
                return True
            if getattr(delta, "from") > self.version:
                return False
            began_ns = time.time_ns()
            try:
                self._take_delta(delta)
            except Alarm as alarm:
                self._keep_evidence(frame)
                raise alarm from None
            if self._snapshot is not None and self._snapshot.head.version == self.version:
                await self._tell()
            if delta.traceparent:
                eyes = "public" if self.seat is None else f"seat:{self.seat}"
                about: tracing.Attributes = {"viewer": eyes, "version": delta.to}
                tracing.record("client frame", delta.traceparent, began_ns, attributes=about)
            return True
        if kind == "snapshot":
            # Entries were asked for from a known hash: the server does not know that history.
            self._keep_evidence(frame)
            raise Alarm(self.match_id, self.version, "the server's history is not the one that was shown before")
        return True

    def _take_delta(self, delta: frame_pb2.Delta) -> None:
        for entry in delta.entries[self.version - getattr(delta, "from") :]:
            self._fetched += self._witness.take(entry)
            self._own_command(entry)
        self._unsaved = True
        if delta.HasField("snapshot"):
            self._witness.check_head(delta.snapshot.head)
            self._snapshot = delta.snapshot
            self._set_clock(delta.snapshot.server_time_ms)

    def _own_command(self, entry: frame_pb2.ViewerEntry) -> None:
        keepsake = self._witness.keepsake
        if keepsake is not None and self._sent:
            header = match_pb2.EntryHeader.FromString(entry.header)
            if header.command_id in self._sent:
                keepsake.sent(header.command_id)

    async def _tell(self) -> None:
        head = self.head
        self._over = head.status in _OVER and head.revealed
        update = Update(self._fetched_from, self.version, tuple(self._fetched), self.snapshot)
        self._fetched, self._fetched_from = [], self.version + 1
        if self._over or time.monotonic() - self._saved_at >= _SAVE_EVERY_S:
            self.save()
        for queue in self._listeners:
            queue.put_nowait(update)
        for callback in self._callbacks:
            callback(update)
        if self._over:
            self._wake_listeners()
        async with self._changed:
            self._changed.notify_all()

    async def _fail(self, failure: ClientError) -> None:
        self._failure = failure
        if isinstance(failure, Alarm):
            _log.error("alarm", match_id=failure.match_id, version=failure.version, reason=failure.reason)
        self.save()
        self._wake_listeners()
        async with self._changed:
            self._changed.notify_all()

    def _wake_listeners(self) -> None:
        for queue in self._listeners:
            queue.put_nowait(None)

    def _keep_evidence(self, frame: frame_pb2.Frame) -> None:
        if self.seat is not None:
            self._unsaved = True
            self._keepsakes.keep_evidence(self.match_id, self.seat, frame.SerializeToString())

    @property
    def _ended(self) -> bool:
        return self._over or self._failure is not None

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    async def _until(self, reached: Callable[[], bool], timeout_s: float | None) -> None:
        async with asyncio.timeout(timeout_s), self._changed:
            await self._changed.wait_for(lambda: self._failure is not None or reached())
        if not (self._snapshot is not None and reached()):
            self._raise_failure()

    def _set_clock(self, server_time_ms: int) -> None:
        self._clock_offset_ms = server_time_ms - int(time.time() * 1000)

    # ---- the handshake ----------------------------------------------------------------------------------------------

    async def _shake_hands(self) -> None:
        """This seat's seal and opening, each as soon as it is due."""
        while not self._ended and self._witness.in_handshake:
            version = self.version
            step = self._witness.next_step()
            try:
                if step is not None:
                    version = await self._carry_out(step)
            except (Alarm, LogBookError) as error:
                await self._fail(error if isinstance(error, Alarm) else ClientError(str(error)))
                return
            except Rejected as rejected:
                if step is Step.CHECK_LOG or rejected.code in _WAIT_OUT:
                    # Not in the log yet, or the log is away: nobody seals before.
                    await asyncio.sleep(max(_HANDSHAKE_RETRY_S, rejected.retry_after_ms / 1000))
                    continue
                if rejected.code not in _HANDSHAKE_PASSED:
                    _log.warning("handshake_refused", match_id=self.match_id, code=rejected.code)
                step = None
            except ClientError as error:
                if step is not Step.CHECK_LOG and not isinstance(error, UnavailableError):
                    raise
                await asyncio.sleep(_HANDSHAKE_RETRY_S)
                continue
            # The next step is known once this one's entry, or anybody's next entry, has been seen.
            async with self._changed:
                await self._changed.wait_for(_reached(self, version if step else version + 1))

    async def _carry_out(self, step: Step) -> int:
        """Does it, and gives the version that has to be seen before the next."""
        keepsake = self._witness.keepsake
        if step is Step.CHECK_LOG:
            await self._check_log()
            return self.version
        if step is Step.MAKE_NONCE or keepsake is None:
            # Stored before it is sealed: a program that is killed in between still knows its nonce.
            self._keepsakes.save(self._witness.make_nonce(self._phrase), to_disk=True)
            return self.version
        if step is Step.SEAL:
            code, message = "seal_nonce", match_pb2.SealNonce(seal=keepsake.seal).SerializeToString()
        else:
            code, message = "open_nonce", match_pb2.OpenNonce(nonce=keepsake.nonce.open()).SerializeToString()
        return (await self._send(code, message, None, secrets.token_bytes(16))).version

    async def _check_log(self) -> None:
        """Sees for itself that what the server promised is in its transparency log; nothing is sealed before."""
        name = transparency_pb2.LogLeafName(match_id=self.match_id, kind=transparency_pb2.LOG_LEAF_KIND_COMMIT)
        request = transparency_pb2.GetInclusionRequest(name=name)
        reply = await self._connection.ask(self._connection.transparency.GetInclusion, request)
        evidence = evidence_of(reply)
        await self._logbook.check(self._connection, self.match_id, evidence.key, evidence.checkpoint)
        key = self._logbook.key
        if key is None:
            raise AssertionError("a checked checkpoint has a key")
        self._witness.check_log(evidence, key)
        if self._witness.keepsake is not None:
            self._keepsakes.save(self._witness.keepsake, to_disk=True)

    # ---- sending ----------------------------------------------------------------------------------------------------

    def _look_request(self, version: int) -> play_pb2.LookRequest:
        return play_pb2.LookRequest(
            match_id=self.match_id, seat=self._asked_seat, as_public=self._as_public, version=version
        )

    def _command(
        self, command: str, message: Message | bytes, prompt_id: int | None, command_id: bytes
    ) -> envelope_pb2.Command:
        if self.seat is None:
            raise ValueError("only a seat sends commands; this session watches")
        return envelope_pb2.Command(
            command_id=command_id,
            match_id=self.match_id,
            seat=self.seat,
            prompt_id=prompt_id,
            type=command,
            payload=message if isinstance(message, bytes) else message.SerializeToString(),
        )

    async def _send(
        self, command: str, message: Message | bytes, prompt_id: int | None, command_id: bytes
    ) -> envelope_pb2.Accepted:
        whole = self._command(command, message, prompt_id, command_id)
        if not tracing.on():
            return await self._exchange(whole)
        about: tracing.Attributes = {
            "match_id": self.match_id,
            "seat": whole.seat,
            "type": command,
            "command_id": command_id.hex(),
        }
        with tracing.span("client submit", about, kind=tracing.SpanKind.CLIENT):
            return await self._exchange(whole)

    async def _exchange(self, command: envelope_pb2.Command) -> envelope_pb2.Accepted:
        """Sends until there is an answer that counts."""
        command_id = command.command_id
        request = play_pb2.SubmitRequest(command=command)
        self._sent.add(command_id)
        self._keepsakes.note_sent(self.match_id, request.command.seat, command_id)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self._connection.patience_s
        while True:
            response = await self._connection.ask(
                self._connection.play.Submit, request, patience_s=give_up - loop.time(), command_id=command_id
            )
            reply = response.reply
            if reply.HasField("accepted"):
                if self._witness.keepsake is not None:
                    self._witness.keepsake.sent(command_id)
                    self._unsaved = True
                return reply.accepted
            rejected = Rejected(reply.rejection)
            wait_s = max(rejected.retry_after_ms, 20) / 1000
            if rejected.code not in _WAIT_OUT or loop.time() + wait_s > give_up:
                raise rejected
            await asyncio.sleep(wait_s)


def _reached(session: MatchSession, version: int) -> Callable[[], bool]:
    return lambda: session.version >= version or session.finished or session.failed
