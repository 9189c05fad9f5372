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
) STRICT;
CREATE TABLE hidden (
    partition INTEGER NOT NULL,
    match_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    parts BLOB NOT NULL,
    PRIMARY KEY (partition, match_id, version)
) STRICT, WITHOUT ROWID;
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
) STRICT, WITHOUT ROWID;
CREATE TABLE partition_owner (
    game TEXT NOT NULL,
    partition INTEGER NOT NULL,
    instance TEXT,
    address TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    heartbeat_ms INTEGER NOT NULL,
    PRIMARY KEY (game, partition)
) STRICT, WITHOUT ROWID;
CREATE TABLE downtime (
    game TEXT NOT NULL,
    partition INTEGER NOT NULL,
    from_ms INTEGER NOT NULL,
    to_ms INTEGER NOT NULL,
    PRIMARY KEY (game, partition, from_ms)
) STRICT, WITHOUT ROWID;
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

# The append is a function, so that it is one statement for the client: a client that stops half-way, or loses its line,
# cannot keep others waiting inside an open transaction. Each statement in it sees what was committed before it began.
_APPEND = """
CREATE FUNCTION eventstore_append(
    run_partition integer[], run_match text[], run_game text[], run_first bigint[], run_last bigint[], run_hash bytea[],
    run_epoch bigint[], run_status integer[], run_deadline bigint[], run_rules integer[], run_created bigint[],
    run_updated bigint[],
    entry_partition integer[], entry_match text[], entry_version bigint[], entry_command bytea[], entry_time bigint[],
    entry_header bytea[], entry_public bytea[], entry_digests bytea[], entry_hash bytea[],
    part_partition integer[], part_match text[], part_version bigint[], part_body bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    moved bigint;
    born bigint;
BEGIN
    -- One append a partition at a time, and none while its owner changes. Taken before the transaction gets its number,
    -- so that along a partition, and so along a match, numbers and commits have one order: tail relies on it.
    PERFORM eventstore_lock(run_game, run_partition);

    IF EXISTS (
        SELECT FROM unnest(run_game, run_partition, run_epoch) AS run (game, partition, epoch)
        WHERE run.epoch > 0 AND NOT EXISTS (
            SELECT FROM partition_owner AS owner
            WHERE owner.game = run.game AND owner.partition = run.partition AND owner.epoch = run.epoch
            AND owner.instance IS NOT NULL
        )
    ) THEN
        RAISE EXCEPTION 'fenced' USING ERRCODE = 'GR001';
    END IF;

    UPDATE match_head AS head
    SET version = run.last, hash = run.hash, epoch = run.epoch, status = run.status, next_deadline_ms = run.deadline,
        updated_ms = run.updated
    FROM unnest(run_partition, run_match, run_game, run_first, run_last, run_hash, run_epoch, run_status, run_deadline,
        run_updated) AS run (partition, match, game, first, last, hash, epoch, status, deadline, updated)
    WHERE run.first > 1 AND head.partition = run.partition AND head.match_id = run.match AND head.game = run.game
    AND head.version = run.first - 1 AND head.epoch <= run.epoch;
    GET DIAGNOSTICS moved = ROW_COUNT;

    INSERT INTO match_head (partition, match_id, game, version, hash, epoch, status, next_deadline_ms, rules_version,
        created_ms, updated_ms)
    SELECT run.partition, run.match, run.game, run.last, run.hash, run.epoch, run.status, run.deadline, run.rules,
        run.created, run.updated
    FROM unnest(run_partition, run_match, run_game, run_first, run_last, run_hash, run_epoch, run_status, run_deadline,
        run_rules, run_created, run_updated)
        AS run (partition, match, game, first, last, hash, epoch, status, deadline, rules, created, updated)
    WHERE run.first = 1
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS born = ROW_COUNT;

    IF moved + born <> cardinality(run_match) THEN
        RAISE EXCEPTION 'fenced' USING ERRCODE = 'GR001';
    END IF;

    INSERT INTO entries (partition, match_id, version, command_id, server_time_ms, header, public, digests, hash)
    SELECT * FROM unnest(entry_partition, entry_match, entry_version, entry_command, entry_time, entry_header,
        entry_public, entry_digests, entry_hash);

    INSERT INTO hidden (partition, match_id, version, parts)
    SELECT * FROM unnest(part_partition, part_match, part_version, part_body);
END $$
"""

# Advisory locks: they leave no trace in the tables and give the transaction no number. Two integers: which game (two
# games with one hash would only wait for each other) and which partition. Sorted, so that nobody waits in a circle.
_LOCK = """
CREATE FUNCTION eventstore_lock(games text[], partitions integer[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    FOR place IN
        SELECT DISTINCT hashtext(game) AS game, partition FROM unnest(games, partitions) AS one (game, partition)
        ORDER BY 1, 2
    LOOP
        PERFORM pg_advisory_xact_lock(place.game, place.partition);
    END LOOP;
END $$
"""

# A logical dump carries transaction numbers of the server it was made on; on a younger one they lie in the future.
_RESTORED = """
CREATE FUNCTION eventstore_restored() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE entries DISABLE TRIGGER entries_append_only;
    UPDATE entries SET tx = pg_current_xact_id();
    ALTER TABLE entries ENABLE TRIGGER entries_append_only;
END $$
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
    for guard in _SQLITE_GUARDS if sqlite else [*_POSTGRESQL_GUARDS, _LOCK, _APPEND, _RESTORED]:
        op.execute(guard)


def downgrade() -> None:
    """Drops everything, the logs too."""
    for table in ("downtime", "partition_owner", "match_head", "hidden", "entries"):
        op.execute(f"DROP TABLE {table}")
    if op.get_bind().dialect.name != "sqlite":
        for function in ("eventstore_append_only", "eventstore_lock", "eventstore_append", "eventstore_restored"):
            op.execute(f"DROP FUNCTION {function}")
