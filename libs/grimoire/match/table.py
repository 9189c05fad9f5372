"""A table: one match played through the referee in this process, without services. For scenarios, records and tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message

from grimoire.engine import CLOCK, HOST, Actor, Game, Viewer
from grimoire.fairness.commitments import NONCE_SIZE, nonce_seal
from grimoire.fairness.secret import Secret
from grimoire.match.clock import clock_command, due_extensions
from grimoire.match.codes import reject
from grimoire.match.entry import Entry, opened_entry
from grimoire.match.parsed import Parsed
from grimoire.match.referee import Forcing, Referee
from grimoire.match.state import MatchState, Phase
from grimoire.v1 import envelope_pb2, frame_pb2, match_pb2

__all__ = ["START_MS", "Table", "default_nonces", "default_seed"]

START_MS: Final = 1_767_225_600_000
"""When a table's match is created unless somebody says otherwise: 2026-01-01 00:00 UTC."""

Answer = Entry | envelope_pb2.Rejection | envelope_pb2.Accepted
"""What came of a command: its entry, why not, or (a duplicate) the version it had made before."""


def default_seed() -> Secret:
    """The S of the published vectors, bytes 00 to 1f; for tables whose result nobody relies on."""
    return Secret(bytes(range(32)))


def default_nonces(seats: int) -> tuple[bytes, ...]:
    """The nonces of the published vectors: 32 times 11 for seat 0, 32 times 22 for seat 1, and so on."""
    return tuple(bytes([0x11 * (seat + 1)]) * NONCE_SIZE for seat in range(seats))


class Table:
    """One match, its seats, its clock. Commands come as they would over the bus, duplicates and strangers included.

    Args:
        game: the rules.
        match_id: of the match.
        seats: how many.
        options: by name; the others take their defaults.
        mode: number of `MatchMode`.
        position: analysis only: the serialised position.
        seed: S.
        nonces: by seat, 32 bytes each.
        forced: analysis only: draws set by hand.
        handshake_s: 0: the default.
        game_no: number of the match in its series.
        grace_s: where seats may change hands, how long one waits; 0: the default.
        occupants: the seats' holders; persons `seat-0`, `seat-1`, ... unless given.
        now_ms: time of creation, UTC ms. Afterwards `now_ms` is the caller's to move.

    Attributes:
        state: None until `create`.
        entries: all of them.
        down: intervals (from, to) in which nobody could be served, UTC ms.

    >>> from grimoire.plugins import load_game
    >>> table = Table(load_game("two_towers").game, match_id="tt-vector-1", seats=2)
    >>> table.begin()
    >>> table.state
    <MatchState tt-vector-1 version 5 running>
    """

    def __init__(
        self,
        game: Game[Any],
        *,
        match_id: str,
        seats: int,
        options: Mapping[str, str] | None = None,
        mode: int = match_pb2.MATCH_MODE_CASUAL,
        position: bytes = b"",
        seed: Secret | None = None,
        nonces: Sequence[bytes] = (),
        forced: Forcing | None = None,
        handshake_s: int = 0,
        game_no: int = 0,
        grace_s: int = 0,
        occupants: Sequence[match_pb2.SeatOccupant] = (),
        now_ms: int = START_MS,
    ) -> None:
        self.seed = seed or default_seed()
        self.referee = Referee(game, lambda *_: self.seed, host_key_id="table", forced=forced)
        self.match_id = match_id
        self.nonces = tuple(nonces) or default_nonces(seats)
        self.now_ms = now_ms
        self.state: MatchState[Any] | None = None
        self.entries: list[Entry] = []
        self.down: list[tuple[int, int]] = []
        self._commands = 0
        self._known: dict[bytes, tuple[Actor, Parsed, int]] = {}
        self._create = match_pb2.CreateMatch(
            game=game.id,
            mode=mode,  # type: ignore[arg-type]
            options=[match_pb2.OptionValue(name=n, value=v) for n, v in (options or {}).items()],
            seats=occupants or [_person(seat) for seat in range(seats)],
            handshake_s=handshake_s,
            position=position,
            grace_s=grace_s,
        )
        if game_no:
            self._create.series.series_id = "series"
            self._create.series.game_no = game_no

    @property
    def running(self) -> MatchState[Any]:
        """The state of a match that was created.

        Raises:
            RuntimeError: if it was not.
        """
        if self.state is None:
            raise RuntimeError("this match was not created")
        return self.state

    # ---- sending -------------------------------------------------------------------------------------------------

    def create(self) -> Answer:
        """The host creates the match."""
        return self._settle(HOST, self._parsed(self._create))

    def begin(self) -> None:
        """Creates the match and goes through the handshake.

        Raises:
            RuntimeError: if any of it is refused.
        """
        answers = [self.create()]
        if self.state is not None:
            seats = range(len(self.state.occupants))
            answers += [self.seal(seat) for seat in seats]
            answers += [self.open(seat) for seat in seats]
        for answer in answers:
            if isinstance(answer, envelope_pb2.Rejection):
                raise RuntimeError(f"{answer.code}: {answer.message}")

    def seal(self, seat: int, nonce: bytes = b"") -> Answer:
        """This seat seals its nonce (or another)."""
        sealed = nonce_seal(self.referee.game.id, self.match_id, seat, nonce or self.nonces[seat])
        return self.play(seat, match_pb2.SealNonce(seal=sealed))

    def open(self, seat: int, nonce: bytes = b"") -> Answer:
        """This seat opens its nonce (or another)."""
        return self.play(seat, match_pb2.OpenNonce(nonce=nonce or self.nonces[seat]))

    def play(self, seat: int, message: Message, prompt_id: int | None = None) -> Answer:
        """A seat's command, sent by its own holder."""
        command = self.envelope(seat, self.referee.schema.code(message), message.SerializeToString(), prompt_id)
        return self.submit(command, self.running.occupants[seat].occupant_id)

    def answer(self, seat: int, message: Message) -> Answer:
        """A seat's command to its first open prompt that allows such a command."""
        code = self.referee.schema.code(message)
        state = self.running
        game = self.referee.rules(state.rules_version).game
        for opened in state.prompts:
            prompt = opened.prompt
            if prompt.seat == seat and any(e.type == code for e in game.legal(state.game, prompt.seat, prompt)):
                return self.play(seat, message, opened.prompt_id)
        raise RuntimeError(f"seat {seat} is not asked for {code}")

    def envelope(
        self, seat: int, type_: str, payload: bytes = b"", prompt_id: int | None = None, command_id: bytes = b""
    ) -> envelope_pb2.Command:
        """A command as a client would send it, under a new id unless one is given."""
        return envelope_pb2.Command(
            command_id=command_id or self.new_command_id(),
            match_id=self.match_id,
            seat=seat,
            prompt_id=prompt_id,
            type=type_,
            payload=payload,
        )

    def new_command_id(self) -> bytes:
        """16 bytes that follow from the match and how many commands there were."""
        self._commands += 1
        return hashlib.sha256(f"{self.match_id}\n{self._commands}\n".encode()).digest()[:16]

    def submit(self, command: envelope_pb2.Command, occupant_id: str) -> Answer:
        """Judges an envelope as the match's owner does: reading, match, seat, duplicate, then the referee.

        Args:
            command: as it came.
            occupant_id: who sent it.
        """
        parsed = self.referee.read(command, occupant_id, None if self.state is None else self.state.rules_version)
        if not isinstance(parsed, Parsed):
            return parsed
        if self.state is None or command.match_id != self.match_id:
            return reject("unknown_match")
        seat = command.seat if command.HasField("seat") else -1
        if not self.referee.holds_seat(self.state, seat, occupant_id):
            return reject("not_a_seat", version=self.state.version, seat=seat)
        return self._settle(Actor.of_seat(seat), parsed)

    def void(self, reason: str) -> Answer:
        """The host ends the match without a result."""
        return self._settle(HOST, self._parsed(match_pb2.Void(reason=reason)))

    def bind(self, message: match_pb2.BindSeat) -> Answer:
        """The host gives a seat to another occupant."""
        return self._settle(HOST, self._parsed(message))

    def mark_away(self, seat: int) -> Answer:
        """The host says that nobody looks at the match through any seat of this one's person."""
        return self._settle(HOST, self._parsed(match_pb2.MarkAway(seat=seat)))

    def expire(self, prompt_id: int) -> Answer:
        """The clock reports a deadline (0: the handshake's) at `now_ms`."""
        return self._settle(CLOCK, clock_command(prompt_id))

    def expire_next(self) -> Answer | None:
        """Time moves on to the earliest deadline, and the clock reports it; None if nothing is pending."""
        state = self.running
        deadline = state.next_deadline_ms
        if deadline is None or state.over:
            return None
        self.now_ms = max(self.now_ms, deadline)
        if state.phase is Phase.HANDSHAKE:
            return self.expire(0)
        return self.expire(min((p.deadline_ms, p.prompt_id) for p in state.prompts if p.limit_ms)[1])

    def _parsed(self, message: Message) -> Parsed:
        return Parsed(self.new_command_id(), self.referee.schema.code(message), message, message.SerializeToString())

    def _settle(self, actor: Actor, parsed: Parsed) -> Answer:
        """Answers a duplicate, or has it judged."""
        known = self._known.get(parsed.command_id)
        if known is not None:
            first_actor, first, version = known
            if (first_actor, first) == (actor, parsed):
                return envelope_pb2.Accepted(version=version, duplicate=True)
            return reject("command_id_reused", version=version)
        state = self.state
        if state is None:
            answer = self.referee.create(self.match_id, parsed, self.now_ms)
        else:
            answer = self.referee.judge(
                state, actor, parsed, self.now_ms, due_extensions(state, self.down, self.now_ms)
            )
        if isinstance(answer, Entry):
            self.state = answer.state
            self.entries.append(answer)
            self._known[parsed.command_id] = (actor, parsed, answer.version)
        return answer

    # ---- looking -------------------------------------------------------------------------------------------------

    def feed(self, viewer: Viewer, entry: Entry) -> list[Message]:
        """The events of an entry as this viewer sees them while the match runs."""
        parts = {a: body for a, body in entry.parts if a != "command" and viewer.may_see(a)}
        return self.referee.schema.merge(entry.public, parts)

    def log(self, viewer: Viewer) -> list[frame_pb2.ViewerEntry]:
        """All entries as this viewer receives them now: whole once the match is revealed."""
        revealed = self.running.revealed
        return [
            opened_entry(
                match_id=entry.match_id,
                version=entry.version,
                header=entry.header,
                public=entry.public,
                digests=entry.stored_digests(),
                hash_=entry.hash,
                parts=dict(entry.parts),
                viewer=viewer,
                revealed=revealed,
                seed=self.seed,
            )
            for entry in self.entries
        ]


def _person(seat: int) -> match_pb2.SeatOccupant:
    return match_pb2.SeatOccupant(seat=seat, occupant_id=f"seat-{seat}", kind=match_pb2.OCCUPANT_KIND_PERSON)
