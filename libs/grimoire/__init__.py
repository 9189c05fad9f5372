"""Grimoire: games of magic whose every match is a log that anyone can replay and audit."""
