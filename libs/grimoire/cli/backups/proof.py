"""Proves a copied database: SQLite's own check, every match's chain up to its head, keys that fit."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from google.protobuf.message import DecodeError

from grimoire.eventstore.tables import VERSION_TABLE
from grimoire.fairness import chain, commitments
from grimoire.fairness.secret import Secret
from grimoire.match.state import Phase
from grimoire.runtime.keys import KeyFileError, KeyRing
from grimoire.v1 import match_pb2

__all__ = ["Facts", "prove"]

_RUNNING: Final = (int(Phase.HANDSHAKE), int(Phase.RUNNING))
_LOBBY: Final = "matchmaking"
_ENTRIES: Final = (
    "SELECT e.version, e.header, e.public, e.digests, e.hash, h.parts FROM entries AS e LEFT JOIN hidden AS h"
    " ON h.partition = e.partition AND h.match_id = e.match_id AND h.version = e.version"
    " WHERE e.partition = ? AND e.match_id = ? ORDER BY e.version"
)


class Facts(msgspec.Struct, omit_defaults=True):
    """What a database holds, and what was proved of it.

    Attributes:
        schema: revision of its event store; empty: it has none.
        matches: logs in it (in the lobby's: challenges).
        running: those that are not over.
        entries: of all logs.
        proved: logs whose chain was followed up to its head.
        keyed: of these, matches whose server seed, made from the keys at hand, fits its commitment.
        host_keys: ids of the host keys that its matches need.
        faults: what does not hold; empty: nothing was found.
    """

    schema: str = ""
    matches: int = 0
    running: int = 0
    entries: int = 0
    proved: int = 0
    keyed: int = 0
    host_keys: list[str] = []
    faults: list[str] = []


def prove(
    path: Path, keys: KeyRing | None, sample: int | None = None, seen: Callable[[], None] = lambda: None
) -> Facts:
    """Reads a copy that nobody writes to.

    Args:
        path: the file.
        keys: of the installation; None: seeds are not tried.
        sample: so many logs, chosen at random; None: all.
        seen: called after each log.
    """
    facts = Facts()
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{path.resolve()}?mode=ro&immutable=1", uri=True, isolation_level=None)
        ) as connection:
            whole = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
            if whole != ["ok"]:
                facts.faults += whole
            elif connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (VERSION_TABLE,)).fetchone():
                _prove_logs(connection, facts, keys, sample, seen)
    except sqlite3.DatabaseError as error:
        facts.faults.append(f"it cannot be read ({type(error).__name__})")
    return facts


def _prove_logs(
    connection: sqlite3.Connection, facts: Facts, keys: KeyRing | None, sample: int | None, seen: Callable[[], None]
) -> None:
    (facts.schema,) = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()  # noqa: S608
    (facts.entries,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    heads = connection.execute("SELECT partition, match_id, game, version, hash, status FROM match_head").fetchall()
    facts.matches = len(heads)
    facts.running = sum(game != _LOBBY and status in _RUNNING for _, _, game, _, _, status in heads)
    chosen = heads if sample is None or sample >= len(heads) else random.sample(heads, sample)
    needed: set[str] = set()
    for partition, match_id, game, version, hash_, _ in chosen:
        log = connection.execute(_ENTRIES, (partition, match_id))
        fault = _follow(match_id, version, hash_, log)
        created = None if game == _LOBBY else _created(connection, partition, match_id)
        if created is not None:
            needed.add(created.host_key_id)
            if keys is not None and not fault:
                fault = _try_key(keys, game, match_id, created)
                facts.keyed += not fault
        if fault:
            facts.faults.append(f"{match_id}: {fault}")
        else:
            facts.proved += 1
        seen()
    facts.host_keys = sorted(needed)


def _follow(
    match_id: str, version: int, hash_: bytes, log: Iterator[tuple[int, bytes, bytes, bytes, bytes, bytes]]
) -> str:
    """Follows a chain; what is wrong with it, or nothing."""
    at, number = chain.genesis(match_id), 0
    for found, header, public, digests, link, parts in log:
        number += 1
        if found != number:
            return f"version {number} is missing"
        try:
            sealed = [(d.audience, d.digest) for d in match_pb2.PartDigests.FromString(digests).digests]
            there = [p.audience for p in match_pb2.Parts.FromString(parts or b"").parts]
        except DecodeError:
            return f"version {number} cannot be read"
        if sorted(there) != sorted(audience for audience, _ in sealed):
            return f"private parts of version {number} are missing"
        at = chain.link(at, header, public, sealed)
        if at != link:
            return f"the chain does not hold at version {number}"
    return "" if (number, at) == (version, hash_) else "the log does not end at its head"


def _created(connection: sqlite3.Connection, partition: int, match_id: str) -> match_pb2.MatchCreated | None:
    row = connection.execute(
        "SELECT public FROM entries WHERE partition = ? AND match_id = ? AND version = 1", (partition, match_id)
    ).fetchone()
    try:
        return match_pb2.MatchCreated.FromString(match_pb2.Events.FromString(row[0]).events[0].body)
    except (TypeError, IndexError, DecodeError):
        return None


def _try_key(keys: KeyRing, game: str, match_id: str, created: match_pb2.MatchCreated) -> str:
    """Whether the server seed that these keys give is the one the match was created with."""
    try:
        key: Secret = keys.find_host_key(created.host_key_id).key
    except KeyFileError:
        return f"its host key {created.host_key_id} is not among the keys"
    seed = commitments.server_seed(key, game, match_id)
    fits = commitments.server_commitment(game, match_id, seed) == created.server_commitment
    return "" if fits else "its host key gives another seed than it was created with"
