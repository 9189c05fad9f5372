"""Brings a database's schema to the revision this code works with."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from grimoire.eventstore.api import StoreError, Unavailable
from grimoire.eventstore.migrations import HEAD
from grimoire.eventstore.tables import VERSION_TABLE

__all__ = ["migrate", "require_head", "revision_of"]


def revision_of(connection: Connection) -> str | None:
    """The schema's revision; None for a database without the store's tables."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    revision: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one_or_none()  # noqa: S608
    return revision


def migrate(connection: Connection, revision: str = HEAD) -> None:
    """Goes forward or back to a revision (`base`: to nothing) within the connection's open transaction.

    The caller holds a lock that keeps every other migration out.

    Raises:
        StoreError: the database has a revision that this code does not know: it was opened by newer code.
    """
    current = revision_of(connection)
    if current == revision:
        return
    # Alembic is slow to import and seldom needed.
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    known = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    if current is not None and current not in known:
        raise StoreError(f"the database has schema revision {current}, newer than this code's {HEAD}")
    forward = revision != "base" and (current is None or known.index(revision) < known.index(current))
    (command.upgrade if forward else command.downgrade)(config, revision)


def require_head(revision: str | None) -> None:
    """Checks what a reader finds, which may not migrate.

    Raises:
        Unavailable: the database's owner has not brought it to this code's revision yet.
    """
    if revision != HEAD:
        raise Unavailable(f"the database has schema revision {revision}, this reader wants {HEAD}")
