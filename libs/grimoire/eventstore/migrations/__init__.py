"""The schema's history, run by Alembic at open when the database is behind `HEAD`."""

HEAD = "0001"
"""The revision this code works with."""
