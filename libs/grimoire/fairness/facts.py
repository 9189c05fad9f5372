"""What a log says of itself, gathered in one walk; what is wrong with its form is found on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec
from google.protobuf.message import DecodeError, Message

from grimoire.engine import Schema
from grimoire.fairness.audiences import COMMAND, AudienceRule
from grimoire.fairness.chain import HASH_SIZE
from grimoire.fairness.findings import Check, Finding
from grimoire.fairness.livechain import ChainBroken, LiveChain
from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["MAX_SEATS", "Facts", "Issuer", "Said", "gather"]

M = TypeVar("M", bound=Message)

MAX_SEATS = 64

_PLATFORM = Schema([match_pb2.DESCRIPTOR])
_COMMAND_ID_SIZE = 16


class Said(msgspec.Struct, Generic[M], frozen=True):
    """An event with the version of the entry that holds it."""

    version: int
    event: M


class Issuer(msgspec.Struct, frozen=True):
    """Who sent the command of an entry.

    Attributes:
        version: of the entry.
        seat: -1 for clock and host.
    """

    version: int
    seat: int


class Facts:
    """A log's own statements.

    Attributes:
        match_id: that all headers name, or should.
        entries: how many.
        head: hash of the last entry.
        seats: number of seats; 0 if the log does not say it properly.
        created, revealed_nonces, started, closed, voided, revealed: the platform's events that occur once.
        handshake: seals, openings and the revealed nonces, in order.
        handed_over: by seat: version of the first `seat_bound`.
        arranged: version of the first `position_arranged`; 0: none.
        commands: by command id.
        findings: what is wrong with the log's form, in the order found.
    """

    def __init__(self, match_id: str) -> None:
        self.match_id = match_id
        self.entries = 0
        self.head = b""
        self.seats = 0
        self.created: Said[match_pb2.MatchCreated] | None = None
        self.handshake: list[Said[Message]] = []
        self.revealed_nonces: Said[match_pb2.NoncesRevealed] | None = None
        self.started: Said[match_pb2.MatchStarted] | None = None
        self.closed: Said[match_pb2.MatchClosed] | None = None
        self.voided: Said[match_pb2.MatchVoided] | None = None
        self.revealed: Said[match_pb2.FairnessRevealed] | None = None
        self.handed_over: dict[int, int] = {}
        self.arranged = 0
        self.commands: dict[bytes, Issuer] = {}
        self.findings: list[Finding] = []

    @property
    def game(self) -> str:
        """Code name, as `match_created` says."""
        return self.created.event.game if self.created else ""

    @property
    def analysis(self) -> bool:
        """Whether positions and draws may have been set by hand."""
        return self.created is not None and self.created.event.mode == match_pb2.MATCH_MODE_ANALYSIS

    @property
    def ended(self) -> int:
        """Version of the entry that closes or voids the match; 0: it runs."""
        end = self.closed or self.voided
        return end.version if end else 0


def gather(entries: Sequence[frame_pb2.ViewerEntry], match_id: str = "", schema: Schema | None = None) -> Facts:
    """Walks a log of any origin once.

    Args:
        entries: from version 1.
        match_id: the match it should be of; empty: the one its first header names.
        schema: the game's events, to check its private parts too; without it only the platform's are known.
    """
    walk = _Walk(match_id or _named(entries), _with_platform(schema))
    for entry in entries:
        walk.take(entry)
    walk.finish()
    return walk.facts


def _named(entries: Sequence[frame_pb2.ViewerEntry]) -> str:
    try:
        return match_pb2.EntryHeader.FromString(entries[0].header).match_id
    except (IndexError, DecodeError):
        return ""


def _with_platform(schema: Schema | None) -> Schema:
    if schema is None:
        return _PLATFORM
    return schema if "match_created" in schema.events else schema.union(_PLATFORM)


def _nothing(_: Message) -> None:
    """An event that must be readable, and says nothing to an audit."""


class _Walk:
    """The walk's memory from one entry to the next."""

    def __init__(self, match_id: str, schema: Schema) -> None:
        self.facts = Facts(match_id)
        self._schema = schema
        self._rule: AudienceRule | None = None
        self._header = match_pb2.EntryHeader()
        self._moved = 0
        self._meanings = {
            "match_created": self._created,
            "nonce_sealed": self._handshake,
            "nonce_opened": self._handshake,
            "nonces_revealed": self._nonces,
            "match_started": self._started,
            "seat_bound": self._bound,
            "match_closed": self._closed,
            "match_voided": self._voided,
            "fairness_revealed": self._revealed,
        }
        try:
            self._chain = LiveChain(match_id)
        except ValueError:
            self._chain = LiveChain("-")
            self._lie("the log names no proper match id" if match_id else "the log names no match")

    @property
    def _version(self) -> int:
        return max(self.facts.entries, 1)

    def _lie(self, detail: str) -> None:
        """Keeps the first lie; a hostile log could hold millions."""
        if not self.facts.findings:
            self.facts.findings.append(Finding(Check.CHAIN, self._version, detail))

    def take(self, entry: frame_pb2.ViewerEntry) -> None:
        """Reads the next entry."""
        facts = self.facts
        facts.entries += 1
        facts.head = entry.hash
        if facts.revealed is not None:
            self._lie("it follows the reveal")
        elif facts.ended and facts.created is not None and not _at_event_end(facts.created.event):
            self._lie("it follows the end of the match")
        self._header = self._link(entry)
        self._command(self._header)
        try:
            events = match_pb2.Events.FromString(entry.public).events
        except DecodeError:
            self._lie("the public events cannot be read")
            return
        pieces = self._pieces(entry, len(events))
        for index, event in enumerate(events):
            self._order(event.type, index)
            if event.type == "position_arranged" and not facts.arranged:
                facts.arranged = facts.entries
            kind = self._schema.events.get(event.type)
            if kind is not None:
                body = event.body + b"".join(part for _, part in sorted(pieces.get(index, {}).items()))
                try:
                    self._meanings.get(event.type, _nothing)(kind.FromString(body))
                except DecodeError:
                    self._lie(f"event {index} ({event.type}) cannot be read")
        self._audiences(entry, events, pieces)

    def finish(self) -> None:
        """Judges what only the end of the log shows."""
        facts = self.facts
        if not facts.entries:
            self._lie("the log is empty")
        elif facts.created is None:
            facts.findings.append(Finding(Check.CHAIN, 1, "the log has no match_created"))
        elif facts.ended and facts.revealed is None and not _at_event_end(facts.created.event):
            facts.findings.append(Finding(Check.CHAIN, facts.ended, "the match ends, but its secrets are not revealed"))

    # ---- the entry -----------------------------------------------------------------------------------------------

    def _link(self, entry: frame_pb2.ViewerEntry) -> match_pb2.EntryHeader:
        try:
            return self._chain.feed(entry)
        except ChainBroken as broken:
            self._lie(broken.reason)
            # Later entries are judged by what this one claims to be, so that they are not blamed for it.
            head = entry.hash if len(entry.hash) == HASH_SIZE else bytes(HASH_SIZE)
            self._chain = LiveChain(self._chain.match_id, self._version, head, self._chain.time_ms)
        try:
            return match_pb2.EntryHeader.FromString(entry.header)
        except DecodeError:
            return match_pb2.EntryHeader()

    def _command(self, header: match_pb2.EntryHeader) -> None:
        commands = self.facts.commands
        if len(header.command_id) != _COMMAND_ID_SIZE:
            self._lie(f"its command id is not {_COMMAND_ID_SIZE} bytes long")
        elif header.command_id in commands:
            self._lie(f"its command id is that of entry {commands[header.command_id].version}")
        by_seat = header.actor == match_pb2.ACTOR_KIND_SEAT
        commands.setdefault(header.command_id, Issuer(self._version, header.seat if by_seat else -1))
        if header.actor not in (match_pb2.ACTOR_KIND_SEAT, match_pb2.ACTOR_KIND_CLOCK, match_pb2.ACTOR_KIND_HOST):
            self._lie("it does not say who acted")
        elif header.seat and (not by_seat or (self.facts.seats and header.seat >= self.facts.seats)):
            self._lie(f"it names seat {header.seat}, which cannot have acted")

    def _pieces(self, entry: frame_pb2.ViewerEntry, events: int) -> dict[int, dict[str, bytes]]:
        """By event index: the opened private bytes of each audience."""
        pieces: dict[int, dict[str, bytes]] = {}
        for part in entry.parts:
            if part.audience == COMMAND:
                continue
            try:
                listed = match_pb2.PartEvents.FromString(part.body).events
            except DecodeError:
                self._lie(f"part {part.audience[:80]!r} cannot be read")
                continue
            last = -1
            for piece in listed:
                if not last < piece.index < events:
                    self._lie(f"part {part.audience[:80]!r} does not follow the public events")
                    break
                last = piece.index
                pieces.setdefault(last, {})[part.audience] = piece.body
        return pieces

    def _audiences(
        self,
        entry: frame_pb2.ViewerEntry,
        events: Sequence[match_pb2.Event],
        pieces: dict[int, dict[str, bytes]],
    ) -> None:
        # After the first lie nothing is gained; a hostile log could make the rest dear.
        if self._rule is not None and not self.facts.findings:
            fault = self._rule.fault(
                events, pieces, {d.audience for d in entry.digests}, {p.audience for p in entry.parts}
            )
            if fault:
                self._lie(fault)

    # ---- the events ----------------------------------------------------------------------------------------------

    def _order(self, code: str, index: int) -> None:
        """Which event may stand where."""
        facts = self.facts
        if (code == "match_created") is not (facts.entries == 1 and index == 0):
            self._lie("a log begins with match_created, and has it nowhere else")
        if facts.revealed is not None:
            self._lie(f"{code[:80]!r} follows the reveal")
        elif facts.ended and code != "fairness_revealed":
            self._lie(f"{code[:80]!r} follows the end of the match")
        elif facts.started is None and code not in _BEFORE_THE_START:
            self._lie(f"{code[:80]!r} comes before match_started, which fixes the deal")

    def _created(self, event: Message) -> None:
        if not isinstance(event, match_pb2.MatchCreated) or self.facts.created is not None:
            return
        self.facts.created = Said(self._version, event)
        seats = [taken.seat for taken in event.seats[: MAX_SEATS + 1]]
        if not 1 <= len(seats) <= MAX_SEATS or seats != list(range(len(seats))):
            self._lie(f"its seats are not numbered from 0, 1 to {MAX_SEATS} of them")
            return
        self.facts.seats = len(seats)
        self._rule = AudienceRule(self._schema, len(seats))

    def _handshake(self, event: Message) -> None:
        """A seat seals and opens by itself, one step an entry."""
        if not isinstance(event, match_pb2.NonceSealed | match_pb2.NonceOpened):
            return
        by_seat = self._header.actor == match_pb2.ACTOR_KIND_SEAT
        if not by_seat or event.seat != self._header.seat or self._moved == self._version:
            self._lie(f"seat {event.seat} neither seals nor opens by a command of its own")
            return
        self._moved = self._version
        self.facts.handshake.append(Said(self._version, event))

    def _nonces(self, event: Message) -> None:
        if self.facts.revealed_nonces is not None:
            self._lie("nonces are revealed a second time")
        elif isinstance(event, match_pb2.NoncesRevealed):
            self.facts.revealed_nonces = Said(self._version, event)
            self.facts.handshake.append(Said(self._version, event))

    def _started(self, event: Message) -> None:
        if self.facts.started is not None:
            self._lie("the match starts a second time")
        elif self.facts.revealed_nonces is None:
            self._lie("the match starts before its nonces are revealed")
        elif isinstance(event, match_pb2.MatchStarted):
            self.facts.started = Said(self._version, event)

    def _bound(self, event: Message) -> None:
        if isinstance(event, match_pb2.SeatBound) and event.seat < self.facts.seats:
            self.facts.handed_over.setdefault(event.seat, self._version)

    def _closed(self, event: Message) -> None:
        if isinstance(event, match_pb2.MatchClosed) and not self.facts.ended:
            self.facts.closed = Said(self._version, event)

    def _voided(self, event: Message) -> None:
        if isinstance(event, match_pb2.MatchVoided) and not self.facts.ended:
            self.facts.voided = Said(self._version, event)

    def _revealed(self, event: Message) -> None:
        facts = self.facts
        if not isinstance(event, match_pb2.FairnessRevealed) or facts.revealed is not None:
            return
        facts.revealed = Said(self._version, event)
        if not facts.ended:
            self._lie("the secrets are revealed before the match ends")
        elif facts.created and not _at_event_end(facts.created.event) and facts.ended != self._version:
            self._lie("the secrets are revealed in a later entry than the match's end")


_BEFORE_THE_START = frozenset(
    {
        "match_created",
        "nonce_sealed",
        "nonce_opened",
        "nonces_revealed",
        "match_started",
        "clock_extended",
        "seat_bound",
        "match_voided",
        "fairness_revealed",
    }
)


def _at_event_end(created: match_pb2.MatchCreated) -> bool:
    return created.reveal.WhichOneof("at") == "event_end"
