"""The append-only store of match logs, on SQLite or PostgreSQL behind one interface."""

from __future__ import annotations

from pathlib import Path

from grimoire.eventstore.api import (
    Claim,
    Conflict,
    ConflictKind,
    Deadline,
    EventStore,
    Head,
    Instance,
    Muster,
    NewEntry,
    Owner,
    StoredEntry,
    StoreError,
    TailPage,
    Unavailable,
)
from grimoire.eventstore.partitions import PARTITIONS, partition_of

__all__ = [
    "PARTITIONS",
    "Claim",
    "Conflict",
    "ConflictKind",
    "Deadline",
    "EventStore",
    "Head",
    "Instance",
    "Muster",
    "NewEntry",
    "Owner",
    "StoreError",
    "StoredEntry",
    "TailPage",
    "Unavailable",
    "open_store",
    "partition_of",
]


async def open_store(url: str, *, read_only: bool = False) -> EventStore:
    """Opens a store, and creates its tables or brings them up to date where needed.

    Args:
        url: `sqlite:///relative/file.db`, `sqlite:////absolute/file.db` or `postgresql://user@host/database`.
        read_only: for readers beside the owner (replay): never write, neither create nor migrate.

    Raises:
        ValueError: for another kind of URL.
        Unavailable: the database cannot be had just now; or it is to be read only and not up to date yet.
        StoreError: its schema is newer than this code.
    """
    scheme, _, rest = url.partition("://")
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        from grimoire.eventstore.sqlite import SqliteStore

        return await SqliteStore.open(Path(rest[1:]), read_only=read_only)
    if scheme in {"postgresql", "postgres"} and rest:
        from grimoire.eventstore.postgres import PostgresStore

        return await PostgresStore.open(url, read_only=read_only)
    raise ValueError("a store's URL begins with sqlite:/// (and a file) or postgresql://")
