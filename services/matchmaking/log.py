"""A challenge's log: entries as bytes, hash-chained like a match's (fairness specification, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from google.protobuf.message import Message

from grimoire.engine import Schema, SchemaError
from grimoire.eventstore import NewEntry, StoredEntry
from grimoire.fairness import chain
from grimoire.fairness.hashing import lines, sha256
from grimoire.v1 import match_pb2, matchmaking_pb2
from matchmaking.challenge import Cancel, Challenge, Command, Expire, Fill, Join, Leave, Open, fold
from matchmaking.vacancies import Return, Settle, Vote

__all__ = ["GAME", "SCHEMA", "BrokenLogError", "Record", "command_id", "derived_id", "next_entry", "read_log"]

GAME: Final = "matchmaking"
"""Name under which challenges lie in the event store, where matches have their game's."""

SCHEMA: Final = Schema([matchmaking_pb2.DESCRIPTOR])
_ID_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH: Final = 26


class BrokenLogError(ValueError):
    """A stored log that does not fold, or whose chain does not hold."""


class Record(msgspec.Struct, frozen=True):
    """A challenge and where its log stands.

    Attributes:
        version: of the last entry, from 1.
        hash: hash_v of the chain.
        time_ms: server time of the last entry, UTC ms.
    """

    challenge: Challenge
    version: int
    hash: bytes
    time_ms: int


def derived_id(*items: str | int) -> str:
    """A challenge id that follows from what it is for, so that asking twice cannot open two.

    Returns:
        26 characters `[0-9a-z]`, from 130 bits of SHA-256.
    """
    number = int.from_bytes(sha256(lines("grimoire/challenge/1", *items))[:17], "big")
    return "".join(_ID_ALPHABET[number >> (5 * place) & 31] for place in range(_ID_LENGTH))


def command_id(challenge_id: str, command: Command, version: int, writer: str) -> bytes:
    """The id under which a writer puts down a command at this version.

    Two writers that say the same at the same time write different bytes, so that each knows its own.
    """
    account_id = ""
    if isinstance(command, Join):
        account_id = command.sitter.account_id
    elif isinstance(command, Cancel | Leave | Fill | Vote | Return):
        account_id = command.account_id
    what = type(command).__name__.lower()
    return sha256(lines("grimoire/challenge-command/3", challenge_id, version, what, account_id, writer))[:16]


def next_entry(
    record: Record | None, command: Command, events: Sequence[Message], now_ms: int, writer: str
) -> tuple[NewEntry, Record]:
    """Writes down what a command did.

    Args:
        record: before it; None for the first entry.
        command: what was asked.
        events: what `decide` says it leads to, at least one.
        now_ms: UTC ms; the entry's time is never before the last entry's.
        writer: who writes, different for each instance.

    Returns:
        The entry to append, and the record once it is stored.
    """
    time_ms = max(now_ms, record.time_ms) if record else now_ms
    challenge = fold(record.challenge if record else None, events, time_ms)
    version = record.version + 1 if record else 1
    id_ = command_id(challenge.challenge_id, command, version, writer)
    actor, seat = _actor(challenge, command)
    header = match_pb2.EntryHeader(
        match_id=challenge.challenge_id,
        version=version,
        server_time_ms=time_ms,
        command_id=id_,
        actor=actor,
        seat=seat,
    ).SerializeToString()
    public = SCHEMA.split(events, len(challenge.seats)).public
    previous = record.hash if record else chain.genesis(challenge.challenge_id)
    hash_ = chain.link(previous, header, public, ())
    entry = NewEntry(
        match_id=challenge.challenge_id,
        game=GAME,
        version=version,
        command_id=id_,
        server_time_ms=time_ms,
        header=header,
        public=public,
        digests=b"",
        hash=hash_,
        parts=b"",
        status=int(challenge.stage),
        next_deadline_ms=challenge.deadline_ms,
        rules_version=1,
        epoch=0,
    )
    return entry, Record(challenge, version, hash_, time_ms)


def _actor(challenge: Challenge, command: Command) -> tuple[match_pb2.ActorKind.ValueType, int]:
    """Who acted, and from which seat (0 where nobody sits)."""
    if isinstance(command, Expire | Settle):
        return match_pb2.ACTOR_KIND_CLOCK, 0
    if isinstance(command, Open):
        return match_pb2.ACTOR_KIND_SEAT, command.sitters[0][0]
    if isinstance(command, Join):
        return match_pb2.ACTOR_KIND_SEAT, challenge.seat_of(command.sitter.account_id) or 0
    if isinstance(command, Cancel | Leave | Fill | Vote | Return):
        return match_pb2.ACTOR_KIND_SEAT, challenge.seat_of(command.account_id) or 0
    return match_pb2.ACTOR_KIND_HOST, 0


def read_log(entries: Sequence[StoredEntry]) -> Record | None:
    """Folds a stored log and checks its chain; None if there are no entries.

    Raises:
        BrokenLogError: if it does not hold; the text says at which version.
    """
    record: Record | None = None
    for version, entry in enumerate(entries, 1):
        previous = record.hash if record else chain.genesis(entry.match_id)
        if entry.version != version or chain.link(previous, entry.header, entry.public, ()) != entry.hash:
            raise BrokenLogError(f"the chain does not hold at version {version}")
        try:
            events = SCHEMA.merge(entry.public, {})
            challenge = fold(record.challenge if record else None, events, entry.server_time_ms)
        except (SchemaError, ValueError) as error:
            raise BrokenLogError(f"version {version} does not fold: {error}") from error
        record = Record(challenge, version, entry.hash, entry.server_time_ms)
    return record
