"""What is written into the log about a match: four leaves, each a few lines of text."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable
from typing import Final, Protocol, TypeAlias

import msgspec

from grimoire.fairness.hashing import lines
from grimoire.fairness.names import check_game, check_match_id
from grimoire.v1 import match_pb2

__all__ = [
    "CloseLeaf",
    "CommitLeaf",
    "Leaf",
    "LeafError",
    "LeafKind",
    "LoggableEntry",
    "RevealLeaf",
    "StartLeaf",
    "leaves_of",
    "leaves_of_entry",
    "outcome_code",
    "parse_leaf",
]

_HASH: Final = re.compile(r"[0-9a-f]{64}", re.ASCII).fullmatch
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch
_OUTCOME: Final = re.compile(r"[a-z][a-z_]{0,31}", re.ASCII).fullmatch
_HANDSHAKE_REASONS: Final = ("not_sealed", "not_opened")
_OUTCOMES: Final = {
    number: name.removeprefix("OUTCOME_KIND_").lower() for name, number in match_pb2.OutcomeKind.items()
}
_VOIDS: Final = {
    number: f"void_{name.removeprefix('VOIDED_BY_').lower()}" for name, number in match_pb2.VoidedBy.items()
}


class LeafError(ValueError):
    """Bytes that are no leaf of this log."""


class LeafKind(enum.StrEnum):
    """The leaves a match may have, in the order in which they are written; each at most once."""

    COMMIT = "commit"
    START = "start"
    CLOSE = "close"
    REVEAL = "reveal"


class CommitLeaf(msgspec.Struct, frozen=True):
    """Before anybody sends anything: what the server has committed to.

    Attributes:
        match_id: of the match.
        game: code name.
        rules_digest: as in `match_created`, 32 bytes.
        server_commitment: as in `match_created`, 32 bytes.
        unix_ms: server time of the first entry.
    """

    match_id: str
    game: str
    rules_digest: bytes
    server_commitment: bytes
    unix_ms: int

    @property
    def kind(self) -> LeafKind:
        """Which of the four."""
        return LeafKind.COMMIT

    def encode(self) -> bytes:
        """The bytes that are hashed."""
        digest, commitment = self.rules_digest.hex(), self.server_commitment.hex()
        return lines(_head(LeafKind.COMMIT), self.match_id, self.game, digest, commitment, self.unix_ms)


class StartLeaf(msgspec.Struct, frozen=True):
    """Before the first prompt is answered: the deal is fixed.

    Attributes:
        match_id: of the match.
        head: hash of the entry with `match_started`.
        unix_ms: its server time.
    """

    match_id: str
    head: bytes
    unix_ms: int

    @property
    def kind(self) -> LeafKind:
        """Which of the four."""
        return LeafKind.START

    def encode(self) -> bytes:
        """The bytes that are hashed."""
        return lines(_head(LeafKind.START), self.match_id, self.head.hex(), self.unix_ms)


class CloseLeaf(msgspec.Struct, frozen=True):
    """The match is over.

    Attributes:
        match_id: of the match.
        outcome: see `outcome_code`.
        entries: how many there are.
        head: hash of the last one.
        unix_ms: its server time.
    """

    match_id: str
    outcome: str
    entries: int
    head: bytes
    unix_ms: int

    @property
    def kind(self) -> LeafKind:
        """Which of the four."""
        return LeafKind.CLOSE

    @property
    def void(self) -> bool:
        """Whether it ended without a result."""
        return self.outcome == "void" or self.outcome.startswith("void_")

    def encode(self) -> bytes:
        """The bytes that are hashed."""
        return lines(_head(LeafKind.CLOSE), self.match_id, self.outcome, self.entries, self.head.hex(), self.unix_ms)


class RevealLeaf(msgspec.Struct, frozen=True):
    """The secrets are open: the final head.

    Attributes:
        match_id: of the match.
        head: hash of the entry with `fairness_revealed`.
        unix_ms: its server time.
    """

    match_id: str
    head: bytes
    unix_ms: int

    @property
    def kind(self) -> LeafKind:
        """Which of the four."""
        return LeafKind.REVEAL

    def encode(self) -> bytes:
        """The bytes that are hashed."""
        return lines(_head(LeafKind.REVEAL), self.match_id, self.head.hex(), self.unix_ms)


Leaf: TypeAlias = CommitLeaf | StartLeaf | CloseLeaf | RevealLeaf


def parse_leaf(data: bytes) -> Leaf:
    """Reads a leaf of any origin.

    Raises:
        LeafError: if it is not one, written in the one way it may be.
    """
    try:
        items = data.decode("ascii").split("\n")
        leaf = _parsed(items[0], items[1:-1])
        if leaf.encode() == data:
            return leaf
    except (ValueError, IndexError):
        pass
    raise LeafError("this is no leaf of a log of matches")


def _parsed(head: str, items: list[str]) -> Leaf:
    match_id = check_match_id(items[0])
    if head == _head(LeafKind.COMMIT):
        _, game, digest, commitment, unix_ms = items
        return CommitLeaf(match_id, check_game(game), _hash(digest), _hash(commitment), _number(unix_ms))
    if head == _head(LeafKind.START):
        _, last, unix_ms = items
        return StartLeaf(match_id, _hash(last), _number(unix_ms))
    if head == _head(LeafKind.CLOSE):
        _, outcome, entries, last, unix_ms = items
        if _OUTCOME(outcome) is None:
            raise ValueError(outcome)
        return CloseLeaf(match_id, outcome, _number(entries), _hash(last), _number(unix_ms))
    if head == _head(LeafKind.REVEAL):
        _, last, unix_ms = items
        return RevealLeaf(match_id, _hash(last), _number(unix_ms))
    raise ValueError(head)


def _head(kind: LeafKind) -> str:
    return f"grimoire/log/{kind.value}/1"


def _hash(text: str) -> bytes:
    if _HASH(text) is None:
        raise ValueError(text)
    return bytes.fromhex(text)


def _number(text: str) -> int:
    if _NUMBER(text) is None:
        raise ValueError(text)
    return int(text)


# ---- which leaves a match has ---------------------------------------------------------------------------------------


class LoggableEntry(Protocol):
    """An entry as it is stored or sent: what is public of it is enough."""

    @property
    def header(self) -> bytes:
        """Serialised `EntryHeader`."""
        ...

    @property
    def public(self) -> bytes:
        """Serialised `Events`."""
        ...

    @property
    def hash(self) -> bytes:
        """hash_v."""
        ...


def leaves_of(entries: Iterable[LoggableEntry]) -> tuple[Leaf, ...]:
    """The leaves that a match's log asks for, in order; none for analysis matches, which are not in the log.

    Args:
        entries: from version 1, as far as there are any.

    Raises:
        DecodeError: if header or public events cannot be read.
    """
    found: list[Leaf] = []
    for number, entry in enumerate(entries):
        if number == 0 and _is_analysis(entry):
            break
        found += leaves_of_entry(entry.header, entry.public, entry.hash)
    return tuple(found)


def leaves_of_entry(header: bytes, public: bytes, hash_: bytes) -> list[Leaf]:
    """The leaves that one entry of a match asks for, whatever the match's mode.

    Args:
        header: serialised `EntryHeader`.
        public: serialised `Events`.
        hash_: of the entry.
    """
    head = match_pb2.EntryHeader.FromString(header)
    match_id, time_ms = head.match_id, head.server_time_ms
    found: list[Leaf] = []
    for event in match_pb2.Events.FromString(public).events:
        if event.type == "match_created":
            created = match_pb2.MatchCreated.FromString(event.body)
            found.append(CommitLeaf(match_id, created.game, created.rules_digest, created.server_commitment, time_ms))
        elif event.type == "match_started":
            found.append(StartLeaf(match_id, hash_, time_ms))
        elif event.type in ("match_closed", "match_voided"):
            found.append(CloseLeaf(match_id, outcome_code(event), head.version, hash_, time_ms))
        elif event.type == "fairness_revealed":
            found.append(RevealLeaf(match_id, hash_, time_ms))
    return found


def _is_analysis(entry: LoggableEntry) -> bool:
    events = match_pb2.Events.FromString(entry.public).events
    if not events or events[0].type != "match_created":
        return False
    return match_pb2.MatchCreated.FromString(events[0].body).mode == match_pb2.MATCH_MODE_ANALYSIS


def outcome_code(event: match_pb2.Event) -> str:
    """How a match ended, in one word for its close leaf.

    `win`, `draw`, `shared`, `coop_won`, `coop_lost`, `void` for `match_closed`; for `match_voided` `void_not_sealed`
    and `void_not_opened` (by the handshake), `void_host`, `void_consent`: the log alone shows who broke off what.
    """
    if event.type == "match_closed":
        return _OUTCOMES.get(match_pb2.MatchClosed.FromString(event.body).kind, "unspecified")
    voided = match_pb2.MatchVoided.FromString(event.body)
    if voided.by == match_pb2.VOIDED_BY_HANDSHAKE and voided.reason in _HANDSHAKE_REASONS:
        return f"void_{voided.reason}"
    return _VOIDS.get(voided.by, "void_unspecified")
