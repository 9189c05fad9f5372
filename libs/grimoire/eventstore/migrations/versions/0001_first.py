"""The first schema: entries, hidden parts, heads, owners, down time."""

from alembic import op

revision = "0001"
down_revision = None

_SQLITE = """
CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    partition INTEGER NOT NULL,
    match_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    command_id BLOB NOT NULL,
    server_time_ms INTEGER NOT NULL,
    header BLOB NOT NULL,
    public BLOB NOT NULL,
    digests BLOB NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (partition, match_id, version),
    UNIQUE (partition, match_id, command_id)
);
CREATE TABLE hidden (
    partition INTEGER NOT NULL,
    match_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    parts BLOB NOT NULL,
    PRIMARY KEY (partition, match_id, version)
) WITHOUT ROWID;
CREATE TABLE match_head (
    partition INTEGER NOT NULL,
    match_id TEXT NOT NULL,
    game TEXT NOT NULL,
    version INTEGER NOT NULL,
    hash BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    status INTEGER NOT NULL,
    next_deadline_ms INTEGER,
    rules_version INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (partition, match_id)
) WITHOUT ROWID;
CREATE TABLE partition_owner (
    game TEXT NOT NULL,
    partition INTEGER NOT NULL,
    instance TEXT,
    address TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    heartbeat_ms INTEGER NOT NULL,
    PRIMARY KEY (game, partition)
) WITHOUT ROWID;
CREATE TABLE downtime (
    game TEXT NOT NULL,
    partition INTEGER NOT NULL,
    from_ms INTEGER NOT NULL,
    to_ms INTEGER NOT NULL,
    PRIMARY KEY (game, partition, from_ms)
) WITHOUT ROWID;
"""

_POSTGRESQL = """
CREATE TABLE entries (
    position bigint GENERATED ALWAYS AS IDENTITY,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
    partition integer NOT NULL,
    match_id text NOT NULL COLLATE "C",
    version bigint NOT NULL,
    command_id bytea NOT NULL,
    server_time_ms bigint NOT NULL,
    header bytea NOT NULL,
    public bytea NOT NULL,
    digests bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT entries_pkey PRIMARY KEY (partition, match_id, version),
    CONSTRAINT entries_command UNIQUE (partition, match_id, command_id)
);
CREATE INDEX entries_tail ON entries (tx, position);
CREATE TABLE hidden (
    partition integer NOT NULL,
    match_id text NOT NULL COLLATE "C",
    version bigint NOT NULL,
    parts bytea NOT NULL,
    CONSTRAINT hidden_pkey PRIMARY KEY (partition, match_id, version)
);
CREATE TABLE match_head (
    partition integer NOT NULL,
    match_id text NOT NULL COLLATE "C",
    game text NOT NULL COLLATE "C",
    version bigint NOT NULL,
    hash bytea NOT NULL,
    epoch bigint NOT NULL,
    status integer NOT NULL,
    next_deadline_ms bigint,
    rules_version integer NOT NULL,
    created_ms bigint NOT NULL,
    updated_ms bigint NOT NULL,
    CONSTRAINT match_head_pkey PRIMARY KEY (partition, match_id)
);
CREATE TABLE partition_owner (
    game text NOT NULL COLLATE "C",
    partition integer NOT NULL,
    instance text,
    address text NOT NULL,
    epoch bigint NOT NULL,
    heartbeat_ms bigint NOT NULL,
    CONSTRAINT partition_owner_pkey PRIMARY KEY (game, partition)
);
CREATE TABLE downtime (
    game text NOT NULL COLLATE "C",
    partition integer NOT NULL,
    from_ms bigint NOT NULL,
    to_ms bigint NOT NULL,
    CONSTRAINT downtime_pkey PRIMARY KEY (game, partition, from_ms)
);
"""

_INDEXES = """
CREATE INDEX match_head_status ON match_head (game, status, partition, match_id);
CREATE INDEX match_head_deadline ON match_head (game, partition, next_deadline_ms) WHERE next_deadline_ms IS NOT NULL;
"""

# Entries are never changed and never go away; a slip in an operator's shell shall not be the first exception.
_SQLITE_GUARDS = [
    f"CREATE TRIGGER {table}_no_{verb} BEFORE {verb.upper()} ON {table} "
    f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    for table in ("entries", "hidden")
    for verb in ("update", "delete")
]
_POSTGRESQL_GUARDS = [
    "CREATE FUNCTION eventstore_append_only() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$",
    *(
        f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION eventstore_append_only()"
        for table in ("entries", "hidden")
    ),
]


def upgrade() -> None:
    """Creates everything."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in ((_SQLITE if sqlite else _POSTGRESQL) + _INDEXES).split(";\n"):
        if statement.strip():
            op.execute(statement)
    for guard in _SQLITE_GUARDS if sqlite else _POSTGRESQL_GUARDS:
        op.execute(guard)


def downgrade() -> None:
    """Drops everything, the logs too."""
    for table in ("downtime", "partition_owner", "match_head", "hidden", "entries"):
        op.execute(f"DROP TABLE {table}")
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION eventstore_append_only()")
