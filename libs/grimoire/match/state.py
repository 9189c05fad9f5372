"""A match as the platform sees it, beside the game's own state."""

from __future__ import annotations

import enum
from typing import Generic, TypeVar

import msgspec

from grimoire.engine import Outcome, Prompt, Setup
from grimoire.fairness.secret import Secret

S = TypeVar("S")


class Phase(enum.IntEnum):
    """Numbers are those of `grimoire.v1.MatchStatus`."""

    HANDSHAKE = 1
    RUNNING = 2
    CLOSED = 3
    VOID = 4


class Occupant(msgspec.Struct, frozen=True):
    """Who holds a seat.

    Attributes:
        occupant_id: pseudonym of this match.
        kind: number of `grimoire.v1.OccupantKind`.
        level: a bot's level.
    """

    occupant_id: str
    kind: int
    level: str = ""


class OpenPrompt(msgspec.Struct, frozen=True):
    """A numbered prompt with its clock, in UTC ms.

    Attributes:
        prompt_id: 1, 2, 3, ... over the match.
        prompt: what the game asks.
        opened_ms: server time of the entry that opened it.
        limit_ms: 0: no deadline.
        extended_ms: down time given back so far.
    """

    prompt_id: int
    prompt: Prompt
    opened_ms: int
    limit_ms: int
    extended_ms: int = 0

    @property
    def deadline_ms(self) -> int:
        """UTC ms; 0: none."""
        return self.opened_ms + self.limit_ms + self.extended_ms if self.limit_ms else 0


class MatchState(msgspec.Struct, Generic[S], frozen=True):
    """Everything `Referee.judge` needs; the fold of all entries.

    Attributes:
        version, hash, time_ms: of the last entry.
        created: the serialised `MatchCreated` event.
        rules_version: the rules it began with, and ends with.
        setup: what the game began from.
        seals, nonces: one per seat, empty while missing. Nonces are secret until all are in.
        joint: J, once all nonces are in.
        game: the game's state, once the match has started.
        prompts: open, by number.
        closed: the serialised `MatchClosed` event, once over.
        leaving: number of `grimoire.engine.Leaving`; 0: seats never change hands.
        missed: where they may, by seat: prompts that its holder has let run out, one after the other.
        away: seats whose holder has left, until another is bound or the holder acts again.
        asides: by seat, what it has done unasked and the match has not made good since; empty: nothing.
    """

    match_id: str
    version: int
    hash: bytes
    time_ms: int
    created_ms: int
    phase: Phase
    created: bytes
    rules_version: int
    setup: Setup
    mode: int
    host_key_id: str
    occupants: tuple[Occupant, ...]
    seconds: dict[str, int]
    handshake_ms: int
    handshake_extended_ms: int
    seals: tuple[bytes, ...]
    nonces: tuple[bytes, ...]
    joint: Secret | None
    game: S | None
    prompts: tuple[OpenPrompt, ...]
    next_prompt_id: int
    outcome: Outcome | None
    closed: bytes
    revealed: bool
    leaving: int = 0
    missed: tuple[int, ...] = ()
    away: frozenset[int] = frozenset()
    asides: tuple[int, ...] = ()

    def __repr__(self) -> str:
        """Names no hidden fact, so that it may stand in a log line."""
        return f"<MatchState {self.match_id} version {self.version} {self.phase.name.lower()}>"

    __str__ = __repr__

    @property
    def over(self) -> bool:
        """Closed or void."""
        return self.phase >= Phase.CLOSED

    @property
    def handshake_deadline_ms(self) -> int:
        """UTC ms at which a handshake that is not complete voids the match."""
        return self.created_ms + self.handshake_ms + self.handshake_extended_ms

    @property
    def next_deadline_ms(self) -> int | None:
        """The earliest deadline, UTC ms; None when nothing is pending."""
        if self.phase is Phase.HANDSHAKE:
            return self.handshake_deadline_ms
        return min((p.deadline_ms for p in self.prompts if p.limit_ms), default=None)

    def open_prompt(self, prompt_id: int) -> OpenPrompt | None:
        """The open prompt with this number."""
        return next((p for p in self.prompts if p.prompt_id == prompt_id), None)
