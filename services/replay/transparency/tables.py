"""The log's tables, beside replay's others. What is written there stays as it is: triggers refuse everything else."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

__all__ = ["heads", "identity", "lease", "leaves", "metadata", "nodes"]

metadata = sa.MetaData()

_BIG: Final = sa.BigInteger().with_variant(sa.Integer, "sqlite")

leaves = sa.Table(
    "log_leaves",
    metadata,
    # From 0, without a gap.
    sa.Column("number", _BIG, primary_key=True, autoincrement=False),
    sa.Column("match_id", sa.String(64), nullable=False),
    # Its place among `LeafKind`.
    sa.Column("kind", sa.SmallInteger, nullable=False),
    sa.Column("game", sa.String(64), nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    sa.Column("leaf", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("match_id", "kind", name="log_leaves_once"),
    sa.Index("log_leaves_by_hash", "hash", unique=True),
)

# Perfect subtrees of level 1 and above; those of level 0 are the leaves' own hashes.
nodes = sa.Table(
    "log_nodes",
    metadata,
    sa.Column("level", sa.SmallInteger, primary_key=True, autoincrement=False),
    sa.Column("number", _BIG, primary_key=True, autoincrement=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)

# One signed checkpoint for each batch, with the compact range from which the next goes on.
heads = sa.Table(
    "log_heads",
    metadata,
    sa.Column("size", _BIG, primary_key=True, autoincrement=False),
    sa.Column("checkpoint", sa.LargeBinary, nullable=False),
    sa.Column("compact_range", sa.LargeBinary, nullable=False),
    sa.Column("time_ms", sa.BigInteger, nullable=False),
)

# The key this log was begun under, as one line.
identity = sa.Table(
    "log_identity",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, nullable=False),
)

# Who may write: one row.
lease = sa.Table(
    "log_lease",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("holder", sa.String(64)),
    sa.Column("epoch", sa.BigInteger, nullable=False),
    sa.Column("beat_ms", sa.BigInteger, nullable=False),
)

_FUNCTION: Final = (
    "CREATE OR REPLACE FUNCTION log_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION '%% is append-only', TG_TABLE_NAME; END $$"
)


def _guard(table: sa.Table) -> None:
    for verb in ("update", "delete"):
        trigger = (
            f"CREATE TRIGGER {table.name}_no_{verb} BEFORE {verb.upper()} ON {table.name} "
            f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END"
        )
        _after_create(table, trigger, "sqlite")
    trigger = (
        f"CREATE TRIGGER {table.name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table.name} "
        "FOR EACH STATEMENT EXECUTE FUNCTION log_append_only()"
    )
    for statement in (_FUNCTION, trigger):
        _after_create(table, statement, "postgresql")


def _after_create(table: sa.Table, statement: str, dialect: str) -> None:
    made = sa.DDL(statement)  # type: ignore[no-untyped-call]
    sa.event.listen(table, "after_create", made.execute_if(dialect=dialect))


for _table in (leaves, nodes, heads, identity):
    _guard(_table)
