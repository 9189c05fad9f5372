"""What the edge keeps: people and what they say. No match's log depends on any of it.

Times are UTC ms. `migrations/` holds how each database creates the tables.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Integer, LargeBinary, MetaData, Table, Text

__all__ = [
    "METADATA",
    "VERSION_TABLE",
    "accounts",
    "chat_messages",
    "chat_mutes",
    "chat_reports",
    "erasures",
    "sessions",
    "settings",
    "sign_in_failures",
]

VERSION_TABLE: Final = "edge_version"
"""Where Alembic keeps the schema's revision; not its default name, so that other services may share the database."""

METADATA: Final = MetaData()

accounts: Final = Table(
    "edge_accounts",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    # The name in the form that must be unique; NULL: a guest's, which need not be.
    Column("name_key", Text, unique=True),
    # Argon2id in PHC string format; NULL: a guest.
    Column("password", Text),
    Column("role", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("used_ms", BigInteger, nullable=False),
    Column("silenced_until_ms", BigInteger, nullable=False),
)

sessions: Final = Table(
    "edge_sessions",
    METADATA,
    Column("session_id", Text, primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("scope", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("used_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
)

settings: Final = Table(
    "edge_settings",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("json", Text, nullable=False),
    Column("revision", BigInteger, nullable=False),
)

sign_in_failures: Final = Table(
    "edge_sign_in_failures",
    METADATA,
    # SHA-256 of the name as typed, in its unique form: names that nobody has are counted as well.
    Column("name_hash", LargeBinary, primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("locked_until_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
)

erasures: Final = Table(
    "edge_erasures",
    METADATA,
    # Accounts that are gone here, and whose names matchmaking has yet to forget.
    Column("account_id", Text, primary_key=True),
    Column("since_ms", BigInteger, nullable=False),
)

chat_messages: Final = Table(
    "edge_chat_messages",
    METADATA,
    Column("message_id", Text, primary_key=True),
    Column("match_id", Text, nullable=False),
    # Counts the messages of a match.
    Column("number", Integer, nullable=False),
    Column("account_id", Text, nullable=False),
    # NULL: a watcher.
    Column("seat", Integer),
    Column("text", Text, nullable=False),
    Column("sent_ms", BigInteger, nullable=False),
    Column("removed", Boolean, nullable=False),
    Column("request_id", LargeBinary),
)

chat_mutes: Final = Table(
    "edge_chat_mutes",
    METADATA,
    Column("match_id", Text, primary_key=True),
    Column("account_id", Text, primary_key=True),
    # -1: all watchers.
    Column("seat", Integer, primary_key=True),
    Column("since_ms", BigInteger, nullable=False),
)

chat_reports: Final = Table(
    "edge_chat_reports",
    METADATA,
    Column("report_id", Text, primary_key=True),
    Column("message_id", Text, nullable=False),
    Column("match_id", Text, nullable=False),
    # Of whom it is about.
    Column("author_id", Text, nullable=False),
    # NULL: erased since.
    Column("reporter_id", Text),
    Column("reason", Text, nullable=False),
    Column("reported_ms", BigInteger, nullable=False),
    # Number of `grimoire.v1.ReportState`.
    Column("state", Integer, nullable=False),
    Column("decided_ms", BigInteger, nullable=False),
)
