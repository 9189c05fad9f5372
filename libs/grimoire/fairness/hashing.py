"""The two ways bytes are framed before they are hashed, and the hash (fairness specification, head and section 5)."""

from __future__ import annotations

import hashlib
import struct

__all__ = ["lines", "lp", "sha256"]

_length = struct.Struct(">I").pack


def lines(*items: str | int) -> bytes:
    r"""Each item followed by one line feed, the last too, as ASCII.

    Raises:
        ValueError: if an item holds a line feed or a character beyond ASCII: two lists could give the same bytes.

    >>> lines("grimoire/chain/1", "m1", 7)
    b'grimoire/chain/1\nm1\n7\n'
    """
    text = "\n".join(map(str, items)) + "\n"
    if text.count("\n") != len(items) or not text.isascii():
        raise ValueError("a hashed line holds a line feed or a character beyond ASCII")
    return text.encode("ascii")


def lp(data: bytes) -> bytes:
    r"""The bytes with their length before them (4 bytes, big-endian).

    >>> lp(b"ruby")
    b'\x00\x00\x00\x04ruby'
    """
    return _length(len(data)) + data


def sha256(data: bytes) -> bytes:
    """SHA-256, 32 raw bytes."""
    return hashlib.sha256(data).digest()
