"""Many people at many tables: they play by the rules, send again what was not answered, and remember every answer."""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.message import Message

from grimoire.bus import Bus, BusError
from grimoire.engine import ALL, Actor, Game
from grimoire.eventstore import EventStore, StoredEntry, Unavailable
from grimoire.fairness.commitments import nonce_seal, server_seed
from grimoire.fairness.verify import first_lie, verify
from grimoire.match import Entry, MatchState, Parsed, Referee, opened_entry, redecide
from grimoire.match.clock import merged, overlap
from grimoire.runtime.game_service import now_ms
from grimoire.runtime.identity import new_match_id
from grimoire.runtime.keys import KeyRing
from grimoire.v1 import audit_pb2, envelope_pb2, frame_pb2, match_pb2

_EXPECTED = {"stale_prompt", "not_your_prompt", "match_over", "handshake_over", "match_not_started", "not_due"}
_PATIENCE_S = 90.0


class Crowd:
    """Players at tables of one game.

    Attributes:
        acknowledged: version by (match, command id), of all that was accepted.
        waits: seconds from the first sending of a command to its answer, with the time of the answer.
        oddities: answers that nobody should get.
    """

    def __init__(self, game: Game[Any], keys: KeyRing, bus: Bus, store: EventStore, *, seed: int = 1) -> None:
        self.game = game
        self.bus = bus
        self.store = store
        host = keys.host_key
        self.referee = Referee(
            game, lambda name, match_id, _key: server_seed(host.key, name, match_id), host_key_id=host.key_id
        )
        self.rng = random.Random(seed)
        self.acknowledged: dict[tuple[str, bytes], int] = {}
        self.matches: list[str] = []
        self.waits: list[tuple[float, float]] = []
        self.oddities: list[str] = []
        self.overloads = 0
        self.resent = 0
        self.options: dict[str, str] = {}
        self.reply_s = 2.0
        self.thinking_s = 0.0
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Everybody finishes the command at hand."""
        self._stop.set()

    async def more(self, commands: int, within_s: float = 90.0) -> None:
        """Waits until so many more commands have been acknowledged."""
        wanted = len(self.acknowledged) + commands
        await until(lambda: len(self.acknowledged) >= wanted, within_s)

    async def turned_away(self, commands: int, within_s: float = 60.0) -> None:
        """Waits until so many more were told to come later, or were left without an answer."""
        wanted = self.overloads + self.resent + commands
        await until(lambda: self.overloads + self.resent >= wanted, within_s)

    # ---- sending -------------------------------------------------------------------------------------------------

    async def send(
        self,
        match_id: str,
        message: Message,
        *,
        seat: int | None = None,
        prompt_id: int | None = None,
        command_id: bytes | None = None,
    ) -> envelope_pb2.CommandReply:
        """Sends a command until it is answered, as the edge and clients do together."""
        command = envelope_pb2.Command(
            command_id=command_id or secrets.token_bytes(16),
            match_id=match_id,
            seat=seat,
            prompt_id=prompt_id,
            type=self.referee.schema.code(message),
            payload=message.SerializeToString(),
        )
        submission = envelope_pb2.Submission(
            command=command, occupant_id="" if seat is None else f"o{seat}", host=seat is None
        )
        return await self.submit(submission)

    async def submit(self, submission: envelope_pb2.Submission) -> envelope_pb2.CommandReply:
        """The same for a whole submission."""
        data, command = submission.SerializeToString(), submission.command
        first = time.monotonic()
        while True:
            try:
                answer = await self.bus.request_command(
                    self.game.id, command.match_id, data, reply_s=self.reply_s, owner_s=5.0
                )
            except BusError:
                assert time.monotonic() - first < _PATIENCE_S, f"no answer for {command.type}"
                self.resent += 1
                await asyncio.sleep(0.01)
                continue
            reply = envelope_pb2.CommandReply.FromString(answer)
            if reply.rejection.code in ("overloaded", "not_logged_yet"):
                assert time.monotonic() - first < _PATIENCE_S, f"overloaded for ever: {command.type}"
                self.overloads += 1
                await asyncio.sleep(reply.rejection.retry_after_ms / 1000 * self.rng.uniform(0.5, 1.0))
                continue
            break
        self.waits.append((time.monotonic(), time.monotonic() - first))
        if reply.HasField("accepted"):
            self.acknowledged[command.match_id, command.command_id] = reply.accepted.version
        elif reply.rejection.code not in _EXPECTED and not reply.rejection.rule:
            self.oddities.append(f"{command.type}: {reply.rejection.code}")
        return reply

    # ---- playing -------------------------------------------------------------------------------------------------

    async def begin(self, match_id: str | None = None, **spec: Any) -> str:
        """A match whose first prompt is open."""
        match_id = match_id or new_match_id()
        self.matches.append(match_id)
        create = match_pb2.CreateMatch(
            game=self.game.id,
            mode=match_pb2.MATCH_MODE_CASUAL,
            options=[match_pb2.OptionValue(name=k, value=v) for k, v in self.options.items()],
            seats=[match_pb2.SeatOccupant(seat=n, occupant_id=f"o{n}", kind=1) for n in (0, 1)],
            **spec,
        )
        reply = await self.send(match_id, create)
        assert reply.HasField("accepted"), reply
        nonces = [secrets.token_bytes(32) for _ in (0, 1)]
        for seat, nonce in enumerate(nonces):
            seal = match_pb2.SealNonce(seal=nonce_seal(self.game.id, match_id, seat, nonce))
            await self.send(match_id, seal, seat=seat)
        for seat, nonce in enumerate(nonces):
            await self.send(match_id, match_pb2.OpenNonce(nonce=nonce), seat=seat)
        return match_id

    async def play(self) -> None:
        """One match after another, until the crowd is stopped."""
        while not self._stop.is_set():
            await self.play_on(await self.begin())

    async def play_on(self, match_id: str, commands: int = 1_000_000) -> None:
        """Goes on with a match that has begun, until it is over, so many commands are sent, or the crowd is stopped."""
        state = await self.state(match_id)
        while not state.over and not self._stop.is_set() and commands:
            commands -= 1
            await asyncio.sleep(self.rng.uniform(0, self.thinking_s))
            opened = self.rng.choice(state.prompts)
            legal = self.rng.choice(self.game.legal(state.game, opened.prompt.seat, opened.prompt))
            message = self.referee.schema.command(legal.type, legal.fixed)
            expected = self._foresee(state, opened.prompt.seat, opened.prompt_id, message)
            reply = await self.send(match_id, message, seat=opened.prompt.seat, prompt_id=opened.prompt_id)
            if expected is not None and reply.accepted.version == expected.version:
                state = expected
            else:
                state = await self.state(match_id)

    def _foresee(self, state: MatchState[Any], seat: int, prompt_id: int, message: Message) -> MatchState[Any] | None:
        parsed = Parsed(
            bytes(16),
            self.referee.schema.code(message),
            message,
            message.SerializeToString(),
            prompt_id,
            f"o{seat}",
        )
        entry = self.referee.judge(state, Actor.of_seat(seat), parsed, now_ms())
        return entry.state if isinstance(entry, Entry) else None

    async def state(self, match_id: str) -> MatchState[Any]:
        """Folded from the store, as soon as that answers."""
        async with asyncio.timeout(_PATIENCE_S):
            while True:
                with contextlib.suppress(Unavailable):
                    return fold(self.referee, await self.store.read(match_id, parts=True))
                await asyncio.sleep(0.05)

    async def finish(self) -> None:
        """The host ends what still runs, so that every log is revealed."""
        for match_id in self.matches:
            if not (await self.state(match_id)).over:
                await self.send(match_id, match_pb2.Void(reason="enough"))

    # ---- proofs --------------------------------------------------------------------------------------------------

    async def prove(self) -> int:
        """Everything that was acknowledged is in a log once; logs verify and re-decide; clocks are intact.

        Returns:
            How many entries there are.
        """
        assert self.oddities == []
        entries = 0
        down: dict[int, list[tuple[int, int]]] = {}  # as it was written down
        found: set[tuple[str, bytes]] = set()
        for match_id in self.matches:
            log = await self.store.read(match_id, parts=True)
            entries += len(log)
            assert [entry.version for entry in log] == list(range(1, len(log) + 1))
            for entry in log:
                version = self.acknowledged.get((match_id, entry.command_id))
                if version is not None:
                    assert entry.version == version
                    found.add((match_id, entry.command_id))
            self._audit(match_id, log)
            head = await self.store.head(match_id)
            assert head is not None
            if head.partition not in down:
                down[head.partition] = await self.store.downtime(self.game.id, head.partition)
            self._check_clocks(log, down[head.partition])
        assert found == self.acknowledged.keys()
        return entries

    def _audit(self, match_id: str, log: Sequence[StoredEntry]) -> None:
        shown = viewer_entries(self.referee, match_id, log)
        report = verify(shown, game=self.game.id, match_id=match_id, schema=self.referee.schema)
        lie = first_lie(report)
        assert lie is None, (match_id, lie)
        walk = redecide(self.game, shown)
        assert walk.status == audit_pb2.CHECK_STATUS_PASSED, (match_id, walk)

    def _check_clocks(self, log: Sequence[StoredEntry], down: Sequence[tuple[int, int]]) -> None:
        """No clock ran out early; all down time that had ended was given back, and none that had not begun."""
        everything = merged(down)
        state: MatchState[Any] | None = None
        for entry in log:
            header = match_pb2.EntryHeader.FromString(entry.header)
            at_ms = header.server_time_ms
            ended = merged([one for one in down if one[1] <= at_ms])
            before, state = state, fold(self.referee, [entry], state)
            if before is None or before.over:
                continue
            if header.actor == match_pb2.ACTOR_KIND_CLOCK and before.prompts:
                due = [
                    p.opened_ms + p.limit_ms + overlap(ended, p.opened_ms, at_ms) for p in before.prompts if p.limit_ms
                ]
                assert at_ms >= min(due), "a clock ran out early"
            for prompt in state.prompts:
                if prompt.limit_ms and before.open_prompt(prompt.prompt_id) is not None:
                    least = overlap(ended, prompt.opened_ms, at_ms)
                    most = overlap(everything, prompt.opened_ms, at_ms)
                    assert least <= prompt.extended_ms <= most, (least, prompt.extended_ms, most)


async def until(condition: Callable[[], bool], within_s: float = 60.0) -> None:
    """Waits for a condition.

    Raises:
        TimeoutError: if it does not come true.
    """
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.02)


def fold(referee: Referee[Any], log: Sequence[StoredEntry], state: MatchState[Any] | None = None) -> MatchState[Any]:
    """The state after these entries."""
    for entry in log:
        parts = {p.audience: p.body for p in match_pb2.Parts.FromString(entry.parts or b"").parts}
        state = referee.fold(state, entry.header, entry.public, parts, entry.hash)
    assert state is not None
    return state


def viewer_entries(referee: Referee[Any], match_id: str, log: Sequence[StoredEntry]) -> list[frame_pb2.ViewerEntry]:
    """A revealed log as everybody may have it."""
    state = fold(referee, log)
    return [
        opened_entry(
            match_id=match_id,
            version=entry.version,
            header=entry.header,
            public=entry.public,
            digests=entry.digests,
            hash_=entry.hash,
            parts={p.audience: p.body for p in match_pb2.Parts.FromString(entry.parts or b"").parts},
            viewer=ALL,
            revealed=state.revealed,
            seed=referee.seed(state),
        )
        for entry in log
    ]
