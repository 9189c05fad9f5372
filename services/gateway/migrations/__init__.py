"""The schema's history, run by Alembic when the edge starts and the database is behind `HEAD`."""

HEAD = "0001"
"""The revision this code works with."""
