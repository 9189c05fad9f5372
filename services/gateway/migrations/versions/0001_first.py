"""The first schema: accounts, sessions, settings, chat."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Creates the tables."""
    op.create_table(
        "edge_accounts",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, unique=True),
        sa.Column("password", sa.Text),
        sa.Column("role", sa.Integer, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("used_ms", sa.BigInteger, nullable=False),
        sa.Column("silenced_until_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "edge_sessions",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("scope", sa.Integer, nullable=False),
        sa.Column("label", sa.Text, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("used_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("edge_sessions_of_account", "edge_sessions", ["account_id"])
    op.create_index("edge_sessions_by_use", "edge_sessions", ["used_ms"])
    op.create_table(
        "edge_settings",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("json", sa.Text, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "edge_sign_in_failures",
        sa.Column("name_hash", sa.LargeBinary, primary_key=True),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("locked_until_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "edge_erasures",
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "edge_chat_messages",
        sa.Column("message_id", sa.Text, primary_key=True),
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("account_id", sa.Text, nullable=False),
        sa.Column("seat", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("sent_ms", sa.BigInteger, nullable=False),
        sa.Column("removed", sa.Boolean, nullable=False),
        sa.Column("request_id", sa.LargeBinary),
    )
    op.create_index("edge_chat_of_match", "edge_chat_messages", ["match_id", "number"], unique=True)
    op.create_index("edge_chat_of_account", "edge_chat_messages", ["account_id", "sent_ms"])
    op.create_index("edge_chat_by_age", "edge_chat_messages", ["sent_ms"])
    op.create_table(
        "edge_chat_mutes",
        sa.Column("match_id", sa.Text, primary_key=True),
        sa.Column("account_id", sa.Text, primary_key=True),
        sa.Column("seat", sa.Integer, primary_key=True),
        sa.Column("since_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("edge_mutes_of_account", "edge_chat_mutes", ["account_id"])
    op.create_table(
        "edge_chat_reports",
        sa.Column("report_id", sa.Text, primary_key=True),
        sa.Column("message_id", sa.Text, nullable=False),
        sa.Column("match_id", sa.Text, nullable=False),
        sa.Column("author_id", sa.Text, nullable=False),
        sa.Column("reporter_id", sa.Text),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("reported_ms", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Integer, nullable=False),
        sa.Column("decided_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("edge_reports_by_state", "edge_chat_reports", ["state", "reported_ms"])
    op.create_index("edge_reports_of_author", "edge_chat_reports", ["author_id"])
    op.create_index("edge_reports_of_message", "edge_chat_reports", ["message_id"])


def downgrade() -> None:
    """Takes them away again."""
    for table in (
        "edge_chat_reports",
        "edge_chat_mutes",
        "edge_chat_messages",
        "edge_erasures",
        "edge_sign_in_failures",
        "edge_settings",
        "edge_sessions",
        "edge_accounts",
    ):
        op.drop_table(table)
