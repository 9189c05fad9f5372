"""Subjects: where each kind of message travels. Nothing a person typed becomes part of one unchecked."""

from __future__ import annotations

import hashlib
import re
from typing import Final

__all__ = [
    "PARTITIONS",
    "SubjectError",
    "bots_subject",
    "command_subject",
    "edge_subject",
    "event_subject",
    "free_subject",
    "inbox_prefix",
    "lobby_subject",
    "log_subject",
    "owner_subject",
    "partition_commands",
    "partition_of",
    "who_subject",
]

PARTITIONS: Final = 64

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


class SubjectError(ValueError):
    """A name that must not stand in a subject: empty, too long, or with dots, wildcards, spaces, other characters."""


def _token(text: str) -> str:
    if not _TOKEN.fullmatch(text):
        raise SubjectError(f"{text[:80]!r} cannot be part of a subject")
    return text


def _partition(number: int) -> int:
    if not 0 <= number < PARTITIONS:
        raise SubjectError(f"{number} is no partition (0 to {PARTITIONS - 1})")
    return number


def partition_of(match_id: str) -> int:
    """The partition a match lives on: the first 8 bytes of SHA-256 of its id, big-endian, modulo 64.

    >>> partition_of("tt-vector-1")
    32
    """
    return int.from_bytes(hashlib.sha256(match_id.encode()).digest()[:8], "big") % PARTITIONS


def command_subject(game: str, match_id: str) -> str:
    """Requests to the owner of a match: `cmd.<game>.<partition>.<match>`.

    Raises:
        SubjectError: if game or match id cannot be part of a subject.
    """
    return f"cmd.{_token(game)}.{partition_of(match_id)}.{_token(match_id)}"


def partition_commands(game: str, partition: int) -> str:
    """What the owner of a partition listens to: commands of all its matches.

    >>> partition_commands("two_towers", 5)
    'cmd.two_towers.5.*'
    """
    return f"cmd.{_token(game)}.{_partition(partition)}.*"


def event_subject(game: str, match_id: str = "*") -> str:
    """Committed entries of one match, or (`*`) of all matches of a game: `evt.<game>.<match>`.

    >>> event_subject("two_towers")
    'evt.two_towers.*'
    """
    return f"evt.{_token(game)}.{match_id if match_id == '*' else _token(match_id)}"


def owner_subject(game: str, partition: int | None = None) -> str:
    """Announcements of a new owner: `own.<game>.<partition>`; None: of all partitions."""
    return f"own.{_token(game)}.{'*' if partition is None else _partition(partition)}"


def free_subject(game: str) -> str:
    """News for a game's own instances that partitions have become free: `free.<game>`."""
    return f"free.{_token(game)}"


def who_subject(game: str, partition: int) -> str:
    """Requests for the owner's gRPC address: `who.<game>.<partition>`."""
    return f"who.{_token(game)}.{_partition(partition)}"


def bots_subject(game: str) -> str:
    """Calls for bots to come and play: `bots.<game>`."""
    return f"bots.{_token(game)}"


def lobby_subject(game: str) -> str:
    """News of challenges, between instances of matchmaking: `lobby.<game>`."""
    return f"lobby.{_token(game)}"


def edge_subject(kind: str = "*") -> str:
    """News between instances of the edge: `edge.<kind>`, or (`*`) of all kinds."""
    return f"edge.{kind if kind == '*' else _token(kind)}"


def log_subject(game: str = "*") -> str:
    """Leaves of one game's matches, or (`*`) of all, on their way to the transparency log: `log.<game>`."""
    return f"log.{game if game == '*' else _token(game)}"


def inbox_prefix(role: str) -> str:
    """Where the replies to one role arrive; the broker lets no other role listen there."""
    return f"_INBOX_{_token(role)}"
