"""Entries: everything one accepted command did, as bytes that are hashed, stored and published unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from google.protobuf.message import Message

from grimoire.engine import Viewer
from grimoire.fairness import chain
from grimoire.fairness.secret import Secret
from grimoire.match.state import MatchState
from grimoire.v1 import frame_pb2, match_pb2


class Entry(msgspec.Struct, frozen=True):
    """One entry with the state it leads to.

    Attributes:
        header, public: serialised `EntryHeader` and `Events`.
        parts: audience and bytes of each private part, in byte order of the audience.
        digests: audience and digest of each part, in the same order.
        hash: hash_v of the chain.
        events: the events whole.
        draws: what was drawn, in order.
        state: after this entry.
    """

    match_id: str
    version: int
    command_id: bytes
    server_time_ms: int
    header: bytes
    public: bytes
    parts: tuple[tuple[str, bytes], ...]
    digests: tuple[tuple[str, bytes], ...]
    hash: bytes
    events: tuple[Message, ...]
    draws: tuple[match_pb2.Draw, ...]
    state: MatchState[Any]

    def __repr__(self) -> str:
        """Names no hidden fact."""
        return f"<Entry {self.match_id} version {self.version}>"

    def stored_parts(self) -> bytes:
        """Serialised `Parts`, for the table of hidden parts."""
        return match_pb2.Parts(parts=[match_pb2.Part(audience=a, body=b) for a, b in self.parts]).SerializeToString()

    def stored_digests(self) -> bytes:
        """Serialised `PartDigests`."""
        return match_pb2.PartDigests(
            digests=[match_pb2.PartDigest(audience=a, digest=d) for a, d in self.digests]
        ).SerializeToString()


def seal_parts(
    seed: Secret, match_id: str, version: int, parts: Sequence[tuple[str, bytes]]
) -> tuple[tuple[str, bytes], ...]:
    """Audience and salted digest of each part."""
    return tuple(
        (audience, chain.part_digest(audience, chain.part_salt(seed, match_id, version, audience), body))
        for audience, body in parts
    )


def opened_entry(
    *,
    match_id: str,
    version: int,
    header: bytes,
    public: bytes,
    digests: bytes,
    hash_: bytes,
    parts: Mapping[str, bytes],
    viewer: Viewer,
    revealed: bool,
    seed: Secret,
) -> frame_pb2.ViewerEntry:
    """A stored entry as one viewer receives it: its own parts with their salts, the others as digests.

    Args:
        digests: serialised `PartDigests`.
        parts: all private parts by audience.
        revealed: after the reveal every part is open to everybody.
        seed: S, for the salts.
    """
    entry = frame_pb2.ViewerEntry(
        header=header,
        public=public,
        digests=match_pb2.PartDigests.FromString(digests).digests,
        hash=hash_,
    )
    for audience, body in parts.items():
        if revealed or viewer.may_see(audience):
            entry.parts.add(audience=audience, salt=chain.part_salt(seed, match_id, version, audience), body=body)
    return entry
