"""What matchmaking keeps beside the challenges' logs, in the same database. No log depends on any of it."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects import postgresql, sqlite

__all__ = [
    "METADATA",
    "bot_seats",
    "difficulties",
    "difficulty_changes",
    "ended_matches",
    "ended_seats",
    "ended_substitutes",
    "names",
    "parties",
    "party_members",
    "queue_leases",
    "rated_matches",
    "rating_changes",
    "ratings",
    "ready_checks",
    "ready_seats",
    "seekers",
    "ticket_seats",
    "tickets",
    "upsert_into",
]

METADATA: Final = MetaData()

# ---- people, and matches that are over ------------------------------------------------------------------------------

names = Table(
    "player_names",
    METADATA,
    Column("account_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
)

ended_matches = Table(
    "ended_matches",
    METADATA,
    Column("match_id", Text, primary_key=True),
    Column("challenge_id", Text, nullable=False),
    Column("game", Text, nullable=False),
    Column("mode", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Column("closed", LargeBinary, nullable=False),
    Index("ended_matches_newest", "ended_ms", "match_id"),
)

ended_seats = Table(
    "ended_seats",
    METADATA,
    Column("match_id", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("bot", Boolean, nullable=False),
    Column("level", Text, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Index("ended_seats_newest", "account_id", "ended_ms"),
)

ended_substitutes = Table(
    "ended_substitutes",
    METADATA,
    # Seats that somebody else played at the end than at the beginning.
    Column("match_id", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
)

# ---- bots ------------------------------------------------------------------------------------------------------------

bot_seats = Table(
    "bot_seats",
    METADATA,
    # Its key is what keeps two instances of bots from one seat.
    Column("match_id", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("game", Text, nullable=False),
    Column("account_id", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("instance", Text, nullable=False),
    Column("until_ms", BigInteger, nullable=False),
    Index("bot_seats_of_instance", "instance"),
)

# ---- quick play ------------------------------------------------------------------------------------------------------

tickets = Table(
    "tickets",
    METADATA,
    Column("ticket_id", Text, primary_key=True),
    Column("queue_id", Text, nullable=False),
    Column("game", Text, nullable=False),
    Column("preset", Text, nullable=False),
    # JSON: pairs of name and value.
    Column("options", LargeBinary, nullable=False),
    Column("seats", Integer, nullable=False),
    Column("mode", Integer, nullable=False),
    Column("party_id", Text, nullable=False),
    # In points.
    Column("rating", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("stage", Integer, nullable=False),
    # Counts every change: whoever takes a ticket must know its latest.
    Column("generation", BigInteger, nullable=False),
    Column("since_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Column("check_id", Text, nullable=False),
    Column("challenge_id", Text, nullable=False),
    # 0 while it lives.
    Column("ended_ms", BigInteger, nullable=False),
    Index("tickets_of_queue", "queue_id", "stage"),
    Index("tickets_ended", "ended_ms"),
)

ticket_seats = Table(
    "ticket_seats",
    METADATA,
    Column("ticket_id", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("account_id", Text, nullable=False),
)

seekers = Table(
    "seekers",
    METADATA,
    # Its key is what keeps an account from waiting twice.
    Column("account_id", Text, primary_key=True),
    Column("ticket_id", Text, nullable=False),
    Index("seekers_of_ticket", "ticket_id"),
)

ready_checks = Table(
    "ready_checks",
    METADATA,
    Column("check_id", Text, primary_key=True),
    Column("queue_id", Text, nullable=False),
    Column("stage", Integer, nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    # 0 while it runs.
    Column("ended_ms", BigInteger, nullable=False),
    Index("ready_checks_of_queue", "queue_id", "stage"),
    Index("ready_checks_by_stage", "stage", "ended_ms"),
)

ready_seats = Table(
    "ready_seats",
    METADATA,
    Column("check_id", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("account_id", Text, nullable=False),
    Column("ticket_id", Text, nullable=False),
    Column("ready", Boolean, nullable=False),
)

queue_leases = Table(
    "queue_leases",
    METADATA,
    Column("queue_id", Text, primary_key=True),
    Column("instance", Text, nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)

parties = Table(
    "parties",
    METADATA,
    Column("party_id", Text, primary_key=True),
    Column("game", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("expires_ms", BigInteger, nullable=False),
    Index("parties_of_owner", "owner"),
    Index("parties_by_end", "expires_ms"),
)

party_members = Table(
    "party_members",
    METADATA,
    # One party an account.
    Column("account_id", Text, primary_key=True),
    Column("party_id", Text, nullable=False),
    Column("place", Integer, nullable=False),
    Index("members_of_party", "party_id", "place"),
)

# ---- ratings ---------------------------------------------------------------------------------------------------------

ratings = Table(
    "ratings",
    METADATA,
    Column("game", Text, primary_key=True),
    Column("account_id", Text, primary_key=True),
    Column("mu", Double, nullable=False),
    Column("sigma", Double, nullable=False),
    Column("matches", Integer, nullable=False),
    Index("ratings_best", "game", "mu"),
    Index("ratings_of_account", "account_id"),
)

rated_matches = Table(
    "rated_matches",
    METADATA,
    # Its key is what makes a match count once.
    Column("match_id", Text, primary_key=True),
)

rating_changes = Table(
    "rating_changes",
    METADATA,
    Column("match_id", Text, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("game", Text, nullable=False),
    Column("account_id", Text, nullable=False),
    Column("ended_ms", BigInteger, nullable=False),
    Column("rank", Integer, nullable=False),
    Column("mu_before", Double, nullable=False),
    Column("sigma_before", Double, nullable=False),
    Column("mu_after", Double, nullable=False),
    Column("sigma_after", Double, nullable=False),
    # Rated matches of this account and game, this one counted.
    Column("number", Integer, nullable=False),
    Index("rating_changes_newest", "account_id", "game", "number"),
)


difficulties = Table(
    "difficulties",
    METADATA,
    Column("game", Text, primary_key=True),
    # JSON: pairs of name and value.
    Column("options", Text, primary_key=True),
    Column("seats", Integer, primary_key=True),
    Column("mu", Double, nullable=False),
    Column("sigma", Double, nullable=False),
    Column("matches", Integer, nullable=False),
    # Of these, how many people won.
    Column("won", Integer, nullable=False),
)

difficulty_changes = Table(
    "difficulty_changes",
    METADATA,
    Column("match_id", Text, primary_key=True),
    Column("mu_before", Double, nullable=False),
    Column("sigma_before", Double, nullable=False),
    # The same as before where not everybody played the match to its end.
    Column("mu_after", Double, nullable=False),
    Column("sigma_after", Double, nullable=False),
    # Matches that it comes from, before and after.
    Column("matches_before", Integer, nullable=False),
    Column("matches_after", Integer, nullable=False),
)


def upsert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that can say what happens when the row is there already."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
