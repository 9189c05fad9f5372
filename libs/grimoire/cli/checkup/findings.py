"""What a look found: well, worth knowing, or to be mended; always in words, with what to do."""

from __future__ import annotations

import enum

import msgspec

__all__ = ["Finding", "Level", "fail", "fine", "size", "warn"]


class Level(enum.StrEnum):
    """How grave a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at.

    Attributes:
        check: what, in a word or two; stable, for programs.
        level: how it is.
        told: what was found. Never a password, key or card.
        mend: what to do; empty where nothing is to be done.
    """

    check: str
    level: Level
    told: str
    mend: str = ""


def fine(check: str, told: str) -> Finding:
    """It is as it should be."""
    return Finding(check, Level.OK, told)


def warn(check: str, told: str, mend: str) -> Finding:
    """It works, but somebody should know."""
    return Finding(check, Level.WARN, told, mend)


def fail(check: str, told: str, mend: str) -> Finding:
    """It does not work, or will hurt."""
    return Finding(check, Level.FAIL, told, mend)


def size(count: float) -> str:
    """A number of bytes for people.

    >>> size(1_500_000_000)
    '1.5 GB'
    >>> size(999)
    '999 B'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
