"""The referee: judges every command of a match, game or platform, and writes the entry it makes. Pure.

The shell around it (runtime, scenario runner, simulator, audit) brings commands, the time, the down time and the host's
seed; it stores and publishes what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from google.protobuf.message import DecodeError, Message
from msgspec.structs import replace

from grimoire.engine import (
    CLOCK,
    HOST,
    Actor,
    ActorKind,
    Game,
    Illegal,
    Leaving,
    Outcome,
    Prompt,
    Retiring,
    SchemaError,
)
from grimoire.fairness import chain, commitments
from grimoire.fairness.draws import DrawRecorder, ForcedDraws, RecordedDraws
from grimoire.fairness.export import MAX_ENTRY_BYTES
from grimoire.fairness.names import check_match_id
from grimoire.fairness.secret import Secret
from grimoire.match import asides, seats
from grimoire.match.clock import CLOCK_IDS
from grimoire.match.codes import reject, reject_illegal
from grimoire.match.entry import Entry, seal_parts
from grimoire.match.folds import extend, first_state, fold_platform, put
from grimoire.match.parsed import Parsed
from grimoire.match.rules import PLATFORM as PLATFORM
from grimoire.match.rules import Rulebook, Rules
from grimoire.match.state import MatchState, OpenPrompt, Phase
from grimoire.match.step import Step
from grimoire.v1 import envelope_pb2, match_pb2

S = TypeVar("S")

MAX_COMMAND_BYTES = 8 * 1024
MAX_ENTRIES = 50_000
NONCE_BYTES = 32
HANDSHAKE_S = 60
LONG_HANDSHAKE_S = 24 * 3600
LONG_TURN_S = 3600

_SENDERS = {
    "create_match": ActorKind.HOST,
    "bind_seat": ActorKind.HOST,
    "mark_away": ActorKind.HOST,
    "void": ActorKind.HOST,
    "expire": ActorKind.CLOCK,
}
"""Who sends what is not a seat's."""
_HANDSHAKE = frozenset({"seal_nonce", "open_nonce"})
_BEFORE_THE_START = _HANDSHAKE | {"create_match", "void", "expire"}
_MODES = (match_pb2.MATCH_MODE_RATED, match_pb2.MATCH_MODE_CASUAL, match_pb2.MATCH_MODE_ANALYSIS)

Rejection = envelope_pb2.Rejection
SeedSource = Callable[[str, str, str], Secret]
"""(game, match id, host key id) to S."""
Forcing = Mapping[str, Sequence[int]] | Callable[[RecordedDraws], DrawRecorder]
"""Results set by hand: by draw label, or as draws that stand in front of the real ones."""


class Referee(Generic[S]):
    """Judges matches of one game, each by the rules it began with.

    Args:
        game: its newest rules, for new matches.
        seeds: gives S for a match.
        host_key_id: the key that new matches use.
        forced: analysis only: results set by hand.
        older: earlier versions of the rules.
        most_asides: how much a seat may do unasked, see `grimoire.match.asides`. It is the host's patience, and no rule
            of the game: an audit does not ask for it.

    Attributes:
        game, schema: of the newest rules.
    """

    def __init__(
        self,
        game: Game[S],
        seeds: SeedSource,
        *,
        host_key_id: str = "",
        forced: Forcing | None = None,
        older: Iterable[Game[S]] = (),
        most_asides: int = asides.MAX_ASIDES,
    ) -> None:
        self.game = game
        self._older = tuple(older)
        self._rulebook = Rulebook(game, self._older)
        self.schema = self._rulebook.newest.schema
        self._seeds = seeds
        self._host_key_id = host_key_id
        self._forced = forced
        self._most_asides = most_asides

    def is_standing(self, code: str) -> bool:
        """Whether a command answers no prompt, by the newest rules."""
        return code in self._rulebook.newest.standing

    def with_forced(self, forced: Forcing) -> Referee[S]:
        """The same referee with these forced draws (analysis matches only)."""
        return Referee(
            self.game,
            self._seeds,
            host_key_id=self._host_key_id,
            forced=forced,
            older=self._older,
            most_asides=self._most_asides,
        )

    @property
    def has_older(self) -> bool:
        """Earlier versions of the rules are installed beside the newest."""
        return bool(self._older)

    def rules(self, rules_version: int | None = None) -> Rules[S]:
        """The rules of a match that began under this version; None: those of new matches.

        Raises:
            RulesNotInstalledError: if that version is not installed.
        """
        return self._rulebook.newest if rules_version is None else self._rulebook.of(rules_version)

    # ---- reading -------------------------------------------------------------------------------------------------

    def read(
        self, command: envelope_pb2.Command, occupant_id: str = "", rules_version: int | None = None
    ) -> Parsed | Rejection:
        """Reads an envelope: `malformed` and `too_large` are found here, before anything else is looked at.

        Args:
            command: the envelope.
            occupant_id: who sent it.
            rules_version: of the match it is for; None: of new matches.
        """
        rules = self.rules(rules_version)
        if len(command.payload) > MAX_COMMAND_BYTES:
            return reject("too_large", size=len(command.payload), limit=MAX_COMMAND_BYTES)
        if len(command.command_id) != 16:
            return reject("malformed", detail="command_id must be 16 bytes", field="command_id")
        if command.command_id.startswith(CLOCK_IDS):
            return reject("malformed", detail="command_id must be random", field="command_id")
        cls = rules.schema.commands.get(command.type)
        if cls is None:
            return reject("malformed", detail="its type is unknown", field="type")
        try:
            message = cls.FromString(command.payload)
        except DecodeError:
            return reject("malformed", detail="its payload does not parse", field="payload")
        standing = command.type in rules.standing
        if standing is command.HasField("prompt_id"):
            wanted = "it answers no prompt, so prompt_id must be absent" if standing else "prompt_id is missing"
            return reject("malformed", detail=wanted, field="prompt_id")
        prompt_id = None if standing else command.prompt_id
        return Parsed(command.command_id, command.type, message, command.payload, prompt_id, occupant_id)

    def holds_seat(self, state: MatchState[S], seat: int, occupant_id: str) -> bool:
        """Whether this sender is bound to that seat."""
        return 0 <= seat < len(state.occupants) and state.occupants[seat].occupant_id == occupant_id != ""

    # ---- creation ------------------------------------------------------------------------------------------------

    def create(self, match_id: str, parsed: Parsed, now_ms: int) -> Entry | Rejection:
        """The first entry: everything that is fixed before the handshake.

        `bad_option` names the field; `malformed` means the host itself asked for nonsense.
        """
        spec = parsed.message
        if not isinstance(spec, match_pb2.CreateMatch) or spec.game != self.game.id:
            return reject("malformed", detail="this service creates matches of its own game only", field="game")
        if not _is_match_id(match_id):
            return reject("malformed", detail="a match id is 1 to 64 of a-z A-Z 0-9 _ / . -", field="match_id")
        if spec.mode not in _MODES:
            return reject("malformed", detail="a match is rated, casual or analysis", field="mode")
        names = [o.name for o in spec.options]
        if len(names) != len(set(names)):
            return reject("bad_option", detail="An option is named twice.", field="options")
        facts = self.game.configure({o.name: o.value for o in spec.options}, len(spec.seats))
        if isinstance(facts, Illegal):
            return reject_illegal(facts, 0)
        if [s.seat for s in spec.seats] != list(range(len(spec.seats))) or not all(s.occupant_id for s in spec.seats):
            return reject("malformed", detail="seats must be numbered from 0 and taken", field="seats")
        if spec.mode == match_pb2.MATCH_MODE_RATED and len({s.occupant_id for s in spec.seats}) < len(spec.seats):
            return reject("malformed", detail="in a rated match each seat has a player of its own", field="seats")
        if spec.position and spec.mode != match_pb2.MATCH_MODE_ANALYSIS:
            return reject("malformed", detail="positions are for analysis matches only", field="position")
        if spec.grace_s > seats.MAX_GRACE_S:
            return reject("malformed", detail=f"a seat waits {seats.MAX_GRACE_S} seconds at most", field="grace_s")
        seed = self._seeds(self.game.id, match_id, self._host_key_id)
        seconds = dict(facts.seconds)
        # Who studies a position keeps its seats, whatever the game says of matches.
        leaving = Leaving.GAME if spec.mode == match_pb2.MATCH_MODE_ANALYSIS else facts.leaving
        long_turn = max(seconds.values(), default=0) >= LONG_TURN_S
        created = match_pb2.MatchCreated(
            game=self.game.id,
            rules_version=self.game.rules_version,
            rules_digest=self.game.rules_digest,
            catalog_version=self.game.catalog_version,
            mode=spec.mode,
            options=[match_pb2.OptionValue(name=k, value=v) for k, v in facts.options],
            seats=spec.seats,
            server_commitment=commitments.server_commitment(self.game.id, match_id, seed),
            time_control=match_pb2.TimeControl(
                per_prompt=[match_pb2.ClassLimit(deadline_class=k, seconds=v) for k, v in facts.seconds],
                timeout_limit=facts.timeout_limit,
            ),
            reveal=match_pb2.Reveal(match_end=True),
            handshake_s=spec.handshake_s or (LONG_HANDSHAKE_S if long_turn else HANDSHAKE_S),
            host_key_id=self._host_key_id,
            spectator_delay_s=spec.spectator_delay_s,
            leaving=leaving.value,  # type: ignore[arg-type]
            grace_s=(spec.grace_s or seats.GRACE_S) if leaving else 0,
        )
        if spec.HasField("series"):
            created.series.CopyFrom(spec.series)
        state = first_state(match_id, created, now_ms, spec.position)
        if spec.position:
            refused = self._try_position(state)
            if refused is not None:
                return refused
        return self._write(state, HOST, parsed, (created,), [], replace(state, version=1, time_ms=now_ms), seed)

    def _try_position(self, state: MatchState[S]) -> Rejection | None:
        """A position is judged before anybody sits down to it, with draws that are thrown away."""
        start = self.game.start(state.setup, self._draws(state.mode, Secret(bytes(NONCE_BYTES))))
        return reject_illegal(start, 0) if isinstance(start, Illegal) else None

    # ---- judging -------------------------------------------------------------------------------------------------

    def judge(
        self,
        state: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        now_ms: int,
        extensions: Sequence[tuple[int, int]] = (),
    ) -> Entry | Rejection:
        """Judges one command of a seat, the clock or the host.

        The caller has checked that the seat is the sender's and that the command is no duplicate.

        Args:
            state: before it.
            now_ms: UTC ms; the entry's time is never before the last entry's.
            extensions: down time to give back first: (prompt id or 0 for the handshake, ms), see `due_extensions`.
        """
        refusal = self._refusal(state, actor, parsed)
        if refusal is not None:
            return refusal
        if extensions:
            state = extend(state, extensions)
        first = tuple(match_pb2.ClockExtended(prompt_id=p, by_ms=ms) for p, ms in extensions)
        now_ms = max(now_ms, state.time_ms)
        message = parsed.message
        if isinstance(message, match_pb2.SealNonce):
            return self._seal(state, actor, parsed, message, now_ms, first)
        if isinstance(message, match_pb2.OpenNonce):
            return self._open(state, actor, parsed, message, now_ms, first)
        if isinstance(message, match_pb2.Void):
            void = match_pb2.MatchVoided(by=match_pb2.VOIDED_BY_HOST, reason=message.reason)
            return self._void(state, actor, parsed, void, now_ms, first)
        if isinstance(message, match_pb2.Expire) and state.phase is Phase.HANDSHAKE:
            return self._expire_handshake(state, parsed, message, now_ms, first)
        if isinstance(message, match_pb2.BindSeat):
            return self._bind(state, actor, parsed, message, now_ms, first)
        if isinstance(message, match_pb2.MarkAway):
            refused = seats.away_refusal(state, message.seat)
            return refused or self._leave(state, actor, parsed, message.seat, "away", now_ms, first)
        if isinstance(message, match_pb2.LeaveSeat):
            return self._leave(state, actor, parsed, actor.seat, "left", now_ms, first)
        if isinstance(message, match_pb2.Resign) and seats.leaves_by_resigning(state, actor.seat):
            return self._leave(state, actor, parsed, actor.seat, "resigned", now_ms, first)
        return self._play(state, actor, parsed, now_ms, first)

    def _refusal(self, state: MatchState[S], actor: Actor, parsed: Parsed) -> Rejection | None:
        """The platform's checks in their order, as far as they need no store."""
        kind, version = parsed.type, state.version
        if actor.kind is ActorKind.SEAT and not 0 <= actor.seat < len(state.occupants):
            return reject("not_a_seat", version=version, seat=actor.seat)
        if state.over:
            return reject("match_over", version=version)
        if state.phase is Phase.HANDSHAKE and kind not in _BEFORE_THE_START:
            return reject("match_not_started", version=version)
        if state.phase is Phase.RUNNING and kind in _HANDSHAKE:
            return reject("handshake_over", version=version)
        if actor.kind is not _SENDERS.get(kind, ActorKind.SEAT):
            return reject("not_authorised", version=version, type=kind)
        if kind == "create_match":
            return reject("match_exists", version=version)
        if actor.kind is ActorKind.SEAT and parsed.prompt_id is not None:
            opened = state.open_prompt(parsed.prompt_id)
            if opened is None:
                return reject("stale_prompt", version=version)
            if opened.prompt.seat != actor.seat:
                return reject("not_your_prompt", version=version)
        if actor.kind is ActorKind.SEAT:
            too_many = asides.refusal(state, actor.seat, parsed, self._most_asides)
            if too_many is not None:
                return too_many
        if version >= MAX_ENTRIES - (kind != "void"):  # the last entry is the host's, to end and reveal a full match
            return reject("match_broken", version=version)
        return None

    # ---- handshake -----------------------------------------------------------------------------------------------

    def _seal(
        self,
        state: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        message: match_pb2.SealNonce,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry | Rejection:
        if len(message.seal) != NONCE_BYTES:
            return reject("malformed", version=state.version, detail="a seal has 32 bytes", field="seal")
        if all(state.seals):  # the last seal is in: from here on only openings
            return reject("nonce_already_set", version=state.version)
        after = replace(state, seals=put(state.seals, actor.seat, message.seal))
        event = match_pb2.NonceSealed(seat=actor.seat, seal=message.seal)
        return self._write(state, actor, parsed, (*first, event), [], _next(after, now_ms))

    def _open(
        self,
        state: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        message: match_pb2.OpenNonce,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry | Rejection:
        seat, nonce = actor.seat, message.nonce
        if len(nonce) != NONCE_BYTES:
            return reject("malformed", version=state.version, detail="a nonce has 32 bytes", field="nonce")
        if not all(state.seals):
            return reject("seals_missing", version=state.version)
        if state.nonces[seat]:
            return reject("nonce_already_set", version=state.version)
        if commitments.nonce_seal(self.game.id, state.match_id, seat, nonce) != state.seals[seat]:
            return reject("bad_nonce", version=state.version)
        after = replace(state, nonces=put(state.nonces, seat, nonce))
        opened = match_pb2.NonceOpened(seat=seat, nonce=nonce)
        if not all(after.nonces):
            return self._write(state, actor, parsed, (*first, opened), [], _next(after, now_ms))
        return self._start(state, after, actor, parsed, now_ms, (*first, opened))

    def _start(
        self,
        state: MatchState[S],
        after: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry | Rejection:
        """The last nonce is in: the joint seed is fixed, the game deals, play begins, all in one entry."""
        seed = self._seed(state)
        joint = commitments.joint_seed(self.game.id, state.match_id, seed, after.nonces)
        draws = self._draws(state.mode, joint)
        start = self.rules(state.rules_version).game.start(after.setup, draws)
        if isinstance(start, Illegal):
            return reject_illegal(start, state.version)
        salt = commitments.deal_salt(self.game.id, joint)
        events: list[Message] = [
            *first,
            match_pb2.NoncesRevealed(nonces=_seat_nonces(after.nonces)),
            match_pb2.MatchStarted(
                deal_digest=commitments.deal_digest(self.game.id, state.match_id, salt, start.deal_lines),
                deal_lines=start.deal_lines,
            ),
            *start.events,
        ]
        after = replace(after, phase=Phase.RUNNING, joint=joint, game=start.state)
        after = self._settle(_next(after, now_ms), events, None, match_pb2.PROMPT_CAUSE_SUPERSEDED, seed)
        return self._write(state, actor, parsed, tuple(events), draws.taken, after, seed)

    def _expire_handshake(
        self,
        state: MatchState[S],
        parsed: Parsed,
        message: match_pb2.Expire,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry | Rejection:
        if message.prompt_id != 0:
            return reject("stale_prompt", version=state.version)
        if now_ms < state.handshake_deadline_ms:
            return reject("not_due", version=state.version)
        sealed = all(state.seals)
        missing = [n for n, given in enumerate(state.nonces if sealed else state.seals) if not given]
        void = match_pb2.MatchVoided(
            by=match_pb2.VOIDED_BY_HANDSHAKE, reason="not_opened" if sealed else "not_sealed", seats=missing
        )
        return self._void(state, CLOCK, parsed, void, now_ms, first)

    def _void(
        self,
        state: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        void: match_pb2.MatchVoided,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry:
        seed = self._seed(state)
        events: list[Message] = [
            *first,
            *(
                match_pb2.PromptClosed(prompt_id=p.prompt_id, cause=match_pb2.PROMPT_CAUSE_MATCH_OVER)
                for p in state.prompts
            ),
            void,
            self._revealed(state, seed),
        ]
        after = replace(_next(state, now_ms), phase=Phase.VOID, prompts=(), revealed=True)
        return self._write(state, actor, parsed, tuple(events), [], after, seed)

    # ---- seats that change hands ---------------------------------------------------------------------------------

    def _bind(
        self,
        state: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        message: match_pb2.BindSeat,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry | Rejection:
        refusal = seats.bind_refusal(state, message, self.out(state))
        if refusal is not None:
            return refusal
        event = match_pb2.SeatBound(
            seat=message.seat,
            occupant_id=message.occupant_id,
            kind=message.kind,
            reason=message.reason,
            level=message.level,
        )
        after = seats.bound(_next(state, now_ms), event)
        return self._write(state, actor, parsed, (*first, event), [], after)

    def _leave(
        self,
        state: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        seat: int,
        reason: str,
        now_ms: int,
        first: tuple[Message, ...],
    ) -> Entry | Rejection:
        if not state.leaving:
            return reject("seats_are_kept", version=state.version)
        gone = seats.seats_left_by(state, seat, reason, self.out(state))
        if not gone:
            return reject("already_left", version=state.version)
        after = _next(state, now_ms)
        if actor.kind is ActorKind.SEAT:
            after = seats.acted(after, seat)
        after = seats.apply(after, gone)
        return self._write(state, actor, parsed, (*first, *gone), [], after)

    def out(self, state: MatchState[S]) -> frozenset[int]:
        """Seats that are out for good, as the game says; see `grimoire.engine.Retiring`."""
        game = self.rules(state.rules_version).game
        return game.out(state.game) if state.game is not None and isinstance(game, Retiring) else frozenset()

    # ---- play ----------------------------------------------------------------------------------------------------

    def _play(
        self, state: MatchState[S], actor: Actor, parsed: Parsed, now_ms: int, first: tuple[Message, ...]
    ) -> Entry | Rejection:
        message = parsed.message
        prompt_id = message.prompt_id if isinstance(message, match_pb2.Expire) else parsed.prompt_id
        opened = None if prompt_id is None else state.open_prompt(prompt_id)
        if prompt_id is not None and opened is None:
            return reject("stale_prompt", version=state.version)
        if actor is CLOCK and opened is not None and (not opened.limit_ms or now_ms < opened.deadline_ms):
            return reject("not_due", version=state.version)
        if state.game is None or state.joint is None:
            raise AssertionError("a running match has a game state and a joint seed")
        draws = self._draws(state.mode, state.joint)
        game = self.rules(state.rules_version).game
        decision = game.decide(state.game, actor, message, opened.prompt if opened else None, draws)
        if isinstance(decision, Illegal):
            return reject_illegal(decision, state.version)
        seed = self._seed(state)
        after = replace(_next(state, now_ms), game=decision.state)
        events: list[Message] = [*first, *decision.events]
        if state.leaving and actor.kind is ActorKind.SEAT:
            there = seats.back(state, actor.seat)
            events[len(first) : len(first)] = there
            after = seats.apply(seats.acted(after, actor.seat), there)
        cause = match_pb2.PROMPT_CAUSE_EXPIRED if actor is CLOCK else match_pb2.PROMPT_CAUSE_ANSWERED
        after = self._settle(after, events, opened, cause, seed)
        if state.leaving and actor is CLOCK and opened is not None and opened not in after.prompts:
            after = seats.expired(after, opened.prompt.seat)
            if not after.over:
                gone = seats.timed_out(after, opened.prompt.seat, self.out(after))
                events += gone
                after = seats.apply(after, gone)
        return self._write(state, actor, parsed, tuple(events), draws.taken, after, seed)

    def _settle(
        self,
        state: MatchState[S],
        events: list[Message],
        answered: OpenPrompt | None,
        cause: match_pb2.PromptCause.ValueType,
        seed: Secret,
    ) -> MatchState[S]:
        """Closes and opens prompts as the game's state asks, and closes the match when the game is over.

        Appends the platform's events to `events` and returns the state after them.
        """
        if state.game is None:
            raise AssertionError("prompts follow from the game's state")
        game = self.rules(state.rules_version).game
        outcome = game.outcome(state.game)
        asked = {} if outcome else {(p.seat, p.kind, p.key): p for p in game.prompts(state.game)}
        kept: list[OpenPrompt] = []
        for opened in state.prompts:
            prompt = opened.prompt
            if asked.pop((prompt.seat, prompt.kind, prompt.key), None) is not None:
                kept.append(opened)
                continue
            why = cause if opened is answered else match_pb2.PROMPT_CAUSE_SUPERSEDED
            if outcome and opened is not answered:
                why = match_pb2.PROMPT_CAUSE_MATCH_OVER
            events.append(match_pb2.PromptClosed(prompt_id=opened.prompt_id, cause=why))
        prompt_id = state.next_prompt_id
        for prompt in asked.values():
            limit_ms = state.seconds.get(prompt.deadline_class, 0) * 1000
            events.append(_prompt_opened(prompt_id, prompt, limit_ms))
            kept.append(OpenPrompt(prompt_id, prompt, state.time_ms, limit_ms))
            prompt_id += 1
        state = replace(state, prompts=tuple(kept), next_prompt_id=prompt_id)
        if outcome is None:
            return state
        closed = _match_closed(outcome)
        events += (closed, self._revealed(state, seed))
        return replace(state, phase=Phase.CLOSED, outcome=outcome, closed=closed.SerializeToString(), revealed=True)

    # ---- writing -------------------------------------------------------------------------------------------------

    def _write(
        self,
        before: MatchState[S],
        actor: Actor,
        parsed: Parsed,
        events: tuple[Message, ...],
        draws: list[match_pb2.Draw],
        after: MatchState[S],
        seed: Secret | None = None,
    ) -> Entry:
        """Serialises once: the same bytes are hashed, stored and published.

        Raises:
            ValueError: if that is more than an entry may hold; then the game says too much at once.
        """
        match_id, version = after.match_id, after.version
        seat = actor.seat if actor.kind is ActorKind.SEAT else 0
        after = asides.counted(after, seat if actor.kind is ActorKind.SEAT else None, events)
        header = match_pb2.EntryHeader(
            match_id=match_id,
            version=version,
            server_time_ms=after.time_ms,
            command_id=parsed.command_id,
            actor=actor.kind.value,  # type: ignore[arg-type]
            seat=seat,
        ).SerializeToString()
        record = match_pb2.CommandRecord(
            actor=actor.kind.value,  # type: ignore[arg-type]
            seat=seat,
            prompt_id=parsed.prompt_id,
            type=parsed.type,
            payload=parsed.payload,
            draws=draws,
            occupant_id=parsed.occupant_id,
        ).SerializeToString()
        split = self.rules(after.rules_version).schema.split(events, len(after.occupants))
        # "command" comes before "sealed" and "seat/n" in byte order.
        parts = (("command", record), *split.parts.items())
        size = len(header) + len(split.public) + sum(len(body) for _, body in parts)
        if size > MAX_ENTRY_BYTES:
            raise ValueError(f"an entry has at most {MAX_ENTRY_BYTES} bytes, not {size}")
        digests = seal_parts(seed or self._seed(after), match_id, version, parts)
        hash_ = chain.link(before.hash, header, split.public, digests)
        return Entry(
            match_id,
            version,
            parsed.command_id,
            after.time_ms,
            header,
            split.public,
            parts,
            digests,
            hash_,
            events,
            tuple(draws),
            replace(after, hash=hash_),
        )

    def seed(self, state: MatchState[Any]) -> Secret:
        """S of a match, for part salts."""
        return self._seed(state)

    def seed_of(self, match_id: str, host_key_id: str) -> Secret:
        """The same of a match whose log cannot be folded here."""
        return self._seeds(self.game.id, match_id, host_key_id)

    def _seed(self, state: MatchState[Any]) -> Secret:
        return self._seeds(self.game.id, state.match_id, state.host_key_id)

    def _draws(self, mode: int, joint: Secret) -> DrawRecorder:
        draws = RecordedDraws(self.game.id, joint)
        if not self._forced or mode != match_pb2.MATCH_MODE_ANALYSIS:
            return draws
        return self._forced(draws) if callable(self._forced) else ForcedDraws(self._forced, draws)

    def _revealed(self, state: MatchState[S], seed: Secret) -> match_pb2.FairnessRevealed:
        event = match_pb2.FairnessRevealed(server_seed=seed.open(), nonces=_seat_nonces(state.nonces))
        if state.joint is not None:
            event.joint_seed = state.joint.open()
            event.salt = commitments.deal_salt(self.game.id, state.joint)
        return event

    # ---- folding -------------------------------------------------------------------------------------------------

    def fold(
        self, state: MatchState[S] | None, header: bytes, public: bytes, parts: Mapping[str, bytes], hash_: bytes
    ) -> MatchState[S]:
        """The state after a stored entry. No rules, no randomness.

        Args:
            state: before it; None for the first entry.
            header, public, hash_: as stored.
            parts: all its private parts by audience.

        Raises:
            ValueError: if the entries do not follow each other.
            SchemaError: if its bytes do not fit the schema.
            RulesNotInstalledError: if the match began under rules that are not installed.
        """
        return self.step(state, header, public, parts, hash_).state

    def step(
        self, state: MatchState[S] | None, header: bytes, public: bytes, parts: Mapping[str, bytes], hash_: bytes
    ) -> Step[S]:
        """As `fold`, with what it takes to show the entry afterwards."""
        # The first entry is the platform's under all rules.
        schema = self.rules(None if state is None else state.rules_version).schema
        hidden = {a: b for a, b in parts.items() if a != "command"}
        opened = schema.opened(public, hidden)
        position = _position(parts.get("command")) if state is None else b""
        after = self.fold_events(state, header, opened.events, hash_, position)
        return Step(header, hash_, hidden, public, opened, schema, after)

    def fold_events(
        self,
        state: MatchState[S] | None,
        header: bytes,
        events: Sequence[Message],
        hash_: bytes,
        position: bytes = b"",
    ) -> MatchState[S]:
        """As `fold`, with the whole events already merged.

        Args:
            position: analysis matches: from the first entry's `CreateMatch`.
        """
        head = match_pb2.EntryHeader.FromString(header)
        if state is None:
            if not events or not isinstance(events[0], match_pb2.MatchCreated):
                raise ValueError("a match begins with match_created")
            state = first_state(head.match_id, events[0], head.server_time_ms, position)
        rules = self.rules(state.rules_version)
        if head.version != state.version + 1 or head.match_id != state.match_id:
            raise ValueError(f"version {head.version} does not follow version {state.version}")
        state = replace(state, version=head.version, time_ms=head.server_time_ms, hash=hash_)
        if state.leaving and head.actor == match_pb2.ACTOR_KIND_SEAT:
            state = seats.acted(state, head.seat)
        own: list[Message] = []
        for event in events:
            folded = fold_platform(state, event, self._seed)
            if folded is not None:
                state = folded
            else:
                own.append(event)
        if own:
            # Neither side's events ask for the other's state, so the game's may wait until they are all known.
            game = rules.game.initial(state.setup) if state.game is None else state.game
            state = replace(state, game=rules.fold(game, own))
        if state.phase is Phase.CLOSED and state.outcome is None and state.game is not None:
            state = replace(state, outcome=rules.game.outcome(state.game))
        return asides.counted(state, head.seat if head.actor == match_pb2.ACTOR_KIND_SEAT else None, events)


def _position(command: bytes | None) -> bytes:
    """The arranged position an analysis match was created with, from its first entry's `command` part."""
    if command is None:
        return b""
    try:
        record = match_pb2.CommandRecord.FromString(command)
        if record.type != "create_match":
            return b""
        return match_pb2.CreateMatch.FromString(record.payload).position
    except DecodeError as error:
        raise SchemaError("the first entry's command does not fit the schema") from error


def _is_match_id(text: str) -> bool:
    """Whether this text may name a match."""
    try:
        check_match_id(text)
    except ValueError:
        return False
    return True


def _next(state: MatchState[S], now_ms: int) -> MatchState[S]:
    return replace(state, version=state.version + 1, time_ms=now_ms)


def _seat_nonces(nonces: Sequence[bytes]) -> list[match_pb2.SeatNonce]:
    return [match_pb2.SeatNonce(seat=seat, nonce=nonce) for seat, nonce in enumerate(nonces) if nonce]


def _prompt_opened(prompt_id: int, prompt: Prompt, limit_ms: int) -> match_pb2.PromptOpened:
    return match_pb2.PromptOpened(
        prompt_id=prompt_id,
        seat=prompt.seat,
        kind=prompt.kind,
        deadline_class=prompt.deadline_class,
        limit_ms=limit_ms,
        required=prompt.required,
        key=prompt.key,
    )


def _match_closed(outcome: Outcome) -> match_pb2.MatchClosed:
    return match_pb2.MatchClosed(
        kind=outcome.kind.value,  # type: ignore[arg-type]
        ranks=outcome.ranks,
        reasons=outcome.reasons,
    )
