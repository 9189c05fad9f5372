"""Spellbound: one to four mages search five spell books, and beat the witch Baba Yaga together or lose together."""
