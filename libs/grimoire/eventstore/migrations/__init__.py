"""The schema's history, run by Alembic at open when the database is behind `HEAD`."""

HEAD = "0003"
"""The revision this code works with."""
