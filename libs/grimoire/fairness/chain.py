"""The hash chain over a match's entries, checkable while cards are hidden (fairness specification, section 5)."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Sequence

from grimoire.fairness.hashing import lines, lp, sha256
from grimoire.fairness.names import check_match_id
from grimoire.fairness.secret import Secret

__all__ = ["HASH_SIZE", "SALT_SIZE", "genesis", "link", "part_digest", "part_salt"]

HASH_SIZE = 32
"""Bytes of a link and of a part's digest."""

SALT_SIZE = 16
"""Bytes of a part's salt."""

_length = struct.Struct(">I").pack
_sha256 = hashlib.sha256


def genesis(match_id: str) -> bytes:
    """hash_0, before the first entry.

    >>> genesis("tt-vector-1").hex()[:16]
    '522216945be1987c'
    """
    return sha256(lines("grimoire/chain/1", check_match_id(match_id)))


def part_salt(seed: Secret, match_id: str, version: int, audience: str) -> bytes:
    """The salt of one private part, 16 bytes: an opened part tells nothing of another's.

    Args:
        seed: S.
        match_id: as checked when the match was created; not checked again here.
        version: of the entry, from 1.
        audience: `command`, `sealed`, `seat/0`, ...
    """
    text = f"grimoire/part-salt/1\n{match_id}\n{version}\n{audience}\n".encode("ascii")
    return hmac.digest(seed.open(), text, "sha256")[:SALT_SIZE]


def part_digest(audience: str, salt: bytes, body: bytes) -> bytes:
    """What everybody sees of a private part; 32 bytes."""
    name = audience.encode("ascii")
    return _sha256(
        b"".join((b"grimoire/part/1\n", _length(len(name)), name, _length(len(salt)), salt, _length(len(body)), body))
    ).digest()


def link(previous: bytes, header: bytes, public: bytes, digests: Sequence[tuple[str, bytes]]) -> bytes:
    """hash_v of an entry.

    Args:
        previous: hash of the entry before it, or `genesis`.
        header: the stored bytes of the `EntryHeader`.
        public: the stored bytes of the `Events`.
        digests: audience and digest of every private part, in any order; hashed in byte order of the audience.
    """
    pieces = [b"grimoire/event/1\n", previous, lp(header), _sha256(public).digest()]
    for audience, digest in sorted(digests):
        name = audience.encode("ascii")
        pieces += (_length(len(name)), name, digest)
    return _sha256(b"".join(pieces)).digest()
