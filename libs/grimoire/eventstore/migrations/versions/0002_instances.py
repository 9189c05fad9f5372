"""The instances of a game's service, so that one that holds nothing yet is seen."""

from alembic import op

revision = "0002"
down_revision = "0001"

_SQLITE = """
CREATE TABLE instances (
    game TEXT NOT NULL,
    instance TEXT NOT NULL,
    heartbeat_ms INTEGER NOT NULL,
    PRIMARY KEY (game, instance)
) STRICT, WITHOUT ROWID
"""

_POSTGRESQL = """
CREATE TABLE instances (
    game text NOT NULL COLLATE "C",
    instance text NOT NULL COLLATE "C",
    heartbeat_ms bigint NOT NULL,
    CONSTRAINT instances_pkey PRIMARY KEY (game, instance)
)
"""


def upgrade() -> None:
    """Creates the list."""
    op.execute(_SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL)


def downgrade() -> None:
    """Drops it."""
    op.execute("DROP TABLE instances")
