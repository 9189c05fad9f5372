"""Entries to fill a store with."""

from __future__ import annotations

import hashlib
from typing import Any

from grimoire.eventstore import NewEntry

GAME = "two_towers"


def new_entry(match_id: str, version: int, **changes: Any) -> NewEntry:
    """An entry whose every byte follows from match and version, so that a test can tell what it should read back."""
    fields: dict[str, Any] = {
        "match_id": match_id,
        "game": GAME,
        "version": version,
        "command_id": hashlib.md5(f"{match_id} {version}".encode(), usedforsecurity=False).digest(),
        "server_time_ms": 1_000 + version,
        "header": f"header {match_id} {version}".encode(),
        "public": f"public {match_id} {version} \0\xff".encode(),
        "digests": f"digests {match_id} {version}".encode(),
        "hash": hashlib.sha256(f"{match_id} {version}".encode()).digest(),
        "parts": f"parts {match_id} {version}".encode(),
        "status": 1,
        "next_deadline_ms": 60_000 + version,
        "rules_version": 3,
        "epoch": 0,
    }
    return NewEntry(**fields | changes)


def new_entries(match_id: str, first: int, last: int, **changes: Any) -> list[NewEntry]:
    """Entries from version `first` to `last`."""
    return [new_entry(match_id, version, **changes) for version in range(first, last + 1)]
