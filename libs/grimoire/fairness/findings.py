"""What a check says of a log."""

from __future__ import annotations

import enum

import msgspec

__all__ = ["Check", "Finding", "Lie"]


class Check(enum.IntEnum):
    """The checks of an audit by number (fairness specification, section 6)."""

    COMMITMENT = 1
    NONCES = 2
    JOINT_SEED = 3
    DRAWS = 4
    DEAL_DIGEST = 5
    CHAIN = 6
    TRANSPARENCY_LOG = 7
    RULES_WALK = 8


class Finding(msgspec.Struct, frozen=True):
    """One thing that does not hold.

    Attributes:
        check: which check fails by it.
        version: of the first entry that lies; 0: it is not about an entry.
        detail: a sentence.
    """

    check: Check
    version: int
    detail: str


class Lie(Exception):  # noqa: N818 - it ends one check, at its first lie
    """The first entry that lies, found within one check.

    Attributes:
        version: of that entry.
        detail: a sentence.
    """

    def __init__(self, version: int, detail: str) -> None:
        super().__init__(f"entry {version}: {detail}")
        self.version = version
        self.detail = detail
