"""The 64 partitions over which matches are spread."""

from __future__ import annotations

import hashlib

__all__ = ["PARTITIONS", "partition_of"]

PARTITIONS = 64
"""How many there are; fixed for ever, because the number is part of every key."""


def partition_of(match_id: str) -> int:
    """The partition a match lives on, 0 to 63: first 8 bytes of SHA-256(match_id), big-endian, mod 64.

    Python's own `hash` is salted per process and would send every process elsewhere.

    >>> partition_of("tt-vector-1")
    32
    """
    return int.from_bytes(hashlib.sha256(match_id.encode()).digest()[:8], "big") % PARTITIONS
