"""Copies of an embedded set-up: one moment of all its databases, packed, proved, and put back."""
