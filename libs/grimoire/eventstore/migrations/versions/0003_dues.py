"""What has to be told elsewhere about a match, written with the entry that makes it so."""

from alembic import op

revision = "0003"
down_revision = "0002"

_SQLITE = """
CREATE TABLE dues (
    partition INTEGER NOT NULL,
    match_id TEXT NOT NULL,
    game TEXT NOT NULL,
    bits INTEGER NOT NULL,
    PRIMARY KEY (partition, match_id)
) STRICT, WITHOUT ROWID
"""

_POSTGRESQL = """
CREATE TABLE dues (
    partition integer NOT NULL,
    match_id text NOT NULL COLLATE "C",
    game text NOT NULL COLLATE "C",
    bits integer NOT NULL,
    CONSTRAINT dues_pkey PRIMARY KEY (partition, match_id)
)
"""

# Few appends have dues; the others keep their shorter call.
_APPEND = """
CREATE FUNCTION eventstore_append_dues(
    run_partition integer[], run_match text[], run_game text[], run_first bigint[], run_last bigint[], run_hash bytea[],
    run_epoch bigint[], run_status integer[], run_deadline bigint[], run_rules integer[], run_created bigint[],
    run_updated bigint[],
    entry_partition integer[], entry_match text[], entry_version bigint[], entry_command bytea[], entry_time bigint[],
    entry_header bytea[], entry_public bytea[], entry_digests bytea[], entry_hash bytea[],
    part_partition integer[], part_match text[], part_version bigint[], part_body bytea[],
    due_partition integer[], due_match text[], due_game text[], due_bits integer[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM eventstore_append(run_partition, run_match, run_game, run_first, run_last, run_hash, run_epoch, run_status,
        run_deadline, run_rules, run_created, run_updated, entry_partition, entry_match, entry_version, entry_command,
        entry_time, entry_header, entry_public, entry_digests, entry_hash, part_partition, part_match, part_version,
        part_body);
    INSERT INTO dues (partition, match_id, game, bits)
    SELECT * FROM unnest(due_partition, due_match, due_game, due_bits)
    ON CONFLICT (partition, match_id) DO UPDATE SET bits = dues.bits | excluded.bits;
END $$
"""


def upgrade() -> None:
    """Creates the table, and for PostgreSQL the append that fills it."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_SQLITE)
    else:
        op.execute(_POSTGRESQL)
        op.execute(_APPEND)


def downgrade() -> None:
    """Drops both."""
    op.execute("DROP TABLE dues")
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION eventstore_append_dues")
