"""Checks a match's chain entry by entry, as it is played, with hidden parts still hidden."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from grimoire.fairness.chain import HASH_SIZE, SALT_SIZE, genesis, link, part_digest
from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["ChainBroken", "LiveChain"]


class ChainBroken(Exception):  # noqa: N818 - it says what happened
    """An entry does not follow from those before it.

    Attributes:
        version: the version that was due.
        reason: a sentence.
    """

    def __init__(self, version: int, reason: str) -> None:
        super().__init__(f"entry {version}: {reason}")
        self.version = version
        self.reason = reason


class LiveChain:
    """The chain as far as one viewer has seen it.

    Args:
        match_id: of the match.
        version: of the entry already trusted; 0: from the beginning.
        head: hash of that entry; not needed at the beginning.
        time_ms: server time of that entry.

    >>> chain = LiveChain("m1")
    >>> chain.version, chain.head == genesis("m1")
    (0, True)
    """

    def __init__(self, match_id: str, version: int = 0, head: bytes = b"", time_ms: int = 0) -> None:
        if version and len(head) != HASH_SIZE:
            raise ValueError("to go on from an entry takes its hash")
        self.match_id = match_id
        self.version = version
        self.head = head if version else genesis(match_id)
        self.time_ms = time_ms

    def feed(self, entry: frame_pb2.ViewerEntry) -> match_pb2.EntryHeader:
        """Takes the next entry.

        Args:
            entry: as received; its opened parts are compared with their digests.

        Returns:
            The entry's header.

        Raises:
            ChainBroken: if it does not follow; nothing is taken then.
        """
        due = self.version + 1
        try:
            header = match_pb2.EntryHeader.FromString(entry.header)
        except DecodeError:
            raise ChainBroken(due, "the header cannot be read") from None
        reason = self._fault(due, header, entry)
        if reason:
            raise ChainBroken(due, reason)
        self.version, self.head, self.time_ms = due, entry.hash, header.server_time_ms
        return header

    def _fault(self, due: int, header: match_pb2.EntryHeader, entry: frame_pb2.ViewerEntry) -> str:
        if header.match_id != self.match_id:
            return f"the header names match {header.match_id[:80]!r}, not {self.match_id!r}"
        if header.version != due:
            return f"the header says version {header.version} where {due} is due"
        if header.server_time_ms < self.time_ms:
            return "the server time goes back"
        reason = _parts_fault(entry)
        if reason:
            return reason
        digests = [(d.audience, d.digest) for d in entry.digests]
        if link(self.head, entry.header, entry.public, digests) != entry.hash:
            return "the hash does not follow from the entry and the one before it"
        return ""


def _parts_fault(entry: frame_pb2.ViewerEntry) -> str:
    """What is wrong with the digests, or with an opened part."""
    digests: dict[str, bytes] = {}
    last = ""
    for listed in entry.digests:
        if not listed.audience.isascii() or listed.audience <= last:
            return "the digests are not in byte order of their audiences"
        if len(listed.digest) != HASH_SIZE:
            return f"the digest of part {listed.audience[:80]!r} is not {HASH_SIZE} bytes long"
        last = listed.audience
        digests[last] = listed.digest
    last = ""
    for part in entry.parts:
        name = part.audience[:80]
        if part.audience not in digests:
            return f"there is a part {name!r} without a digest"
        if part.audience <= last:
            return "the parts are not in byte order of their audiences"
        if len(part.salt) != SALT_SIZE:
            return f"the salt of part {name!r} is not {SALT_SIZE} bytes long"
        if part_digest(part.audience, part.salt, part.body) != digests[part.audience]:
            return f"part {name!r} does not fit its digest"
        last = part.audience
    return ""
