"""Alembic's entry: runs the revisions on the connection that `gateway.database` hands over."""

from alembic import context

from gateway.tables import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    # SQLite's DDL is transactional too once BEGIN is ours; Alembic assumes otherwise.
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
