"""The store's tables as SQLAlchemy Core sees them. `migrations/` holds how each database creates them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, LargeBinary, MetaData, Table, Text

__all__ = [
    "VERSION_TABLE",
    "downtime",
    "dues",
    "entries",
    "hidden",
    "instances",
    "match_head",
    "metadata",
    "partition_owner",
]

VERSION_TABLE = "eventstore_version"
"""Where Alembic keeps the schema's revision; not its default name, so that other services may share the database."""

metadata = MetaData()

entries = Table(
    "entries",
    metadata,
    # The order in which rows were written; with PostgreSQL's `tx` the order of `tail`.
    Column("position", BigInteger, nullable=False, unique=True),
    Column("partition", Integer, primary_key=True),
    Column("match_id", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("command_id", LargeBinary, nullable=False),
    Column("server_time_ms", BigInteger, nullable=False),
    Column("header", LargeBinary, nullable=False),
    Column("public", LargeBinary, nullable=False),
    Column("digests", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)

hidden = Table(
    "hidden",
    metadata,
    Column("partition", Integer, primary_key=True),
    Column("match_id", Text, primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("parts", LargeBinary, nullable=False),
)

match_head = Table(
    "match_head",
    metadata,
    Column("partition", Integer, primary_key=True),
    Column("match_id", Text, primary_key=True),
    Column("game", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("status", Integer, nullable=False),
    Column("next_deadline_ms", BigInteger),
    Column("rules_version", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("updated_ms", BigInteger, nullable=False),
)

partition_owner = Table(
    "partition_owner",
    metadata,
    Column("game", Text, primary_key=True),
    Column("partition", Integer, primary_key=True),
    # NULL: released.
    Column("instance", Text),
    Column("address", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("heartbeat_ms", BigInteger, nullable=False),
)

instances = Table(
    "instances",
    metadata,
    Column("game", Text, primary_key=True),
    Column("instance", Text, primary_key=True),
    Column("heartbeat_ms", BigInteger, nullable=False),
)

downtime = Table(
    "downtime",
    metadata,
    Column("game", Text, primary_key=True),
    Column("partition", Integer, primary_key=True),
    Column("from_ms", BigInteger, primary_key=True),
    Column("to_ms", BigInteger, nullable=False),
)

dues = Table(
    "dues",
    metadata,
    Column("partition", Integer, primary_key=True),
    Column("match_id", Text, primary_key=True),
    Column("game", Text, nullable=False),
    Column("bits", Integer, nullable=False),
)
