"""A match as one self-contained file: JSON lines, a pure function of the log.

Every line is the only way to write what it says, so a changed byte anywhere is found: by this reader, or, where the
bytes are still a well-formed file, by the audit. The form is written down in this folder's README.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Final, Literal, NoReturn, TypeVar

import msgspec

from grimoire.engine import Viewer, ViewerKind
from grimoire.fairness.chain import genesis
from grimoire.fairness.names import check_game, check_match_id
from grimoire.fairness.transparency.evidence import Evidence, LoggedLeaf
from grimoire.v1 import frame_pb2, match_pb2

__all__ = [
    "FORMAT",
    "MAX_ENTRIES",
    "MAX_ENTRY_BYTES",
    "MAX_FILE_BYTES",
    "MAX_LINE_BYTES",
    "Export",
    "ExportError",
    "ExportReader",
    "ExportWriter",
    "line_of",
    "read_export",
    "write_export",
]

FORMAT: Final = 1
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_ENTRIES = 50_000
MAX_ENTRY_BYTES = 256 * 1024
"""Header, public bytes and the bodies of all parts of one entry together."""
MAX_LINE_BYTES = 384 * 1024
"""An entry of the largest size in base64, with room for digests and salts."""

S = TypeVar("S", bound=msgspec.Struct)


class ExportError(ValueError):
    """A file that is not an export, or no longer.

    Attributes:
        line: from 1.
        reason: a sentence.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class _Head(msgspec.Struct, frozen=True, tag_field="kind", tag="grimoire-export", forbid_unknown_fields=True):
    format: Literal[1]
    game: Annotated[str, msgspec.Meta(pattern="^[a-z0-9_/.-]{1,64}\\Z")]
    match_id: Annotated[str, msgspec.Meta(pattern="^[a-zA-Z0-9_/.-]{1,64}\\Z")]


_Audience = Annotated[str, msgspec.Meta(pattern="^[a-z0-9/]{1,64}\\Z")]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    audience: _Audience
    salt: bytes
    body: bytes


class _Digest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    audience: _Audience
    digest: bytes


class _Entry(msgspec.Struct, frozen=True, tag_field="kind", tag="entry", forbid_unknown_fields=True):
    header: bytes
    public: bytes
    parts: list[_Part]
    digests: list[_Digest]
    hash: bytes


class _Log(msgspec.Struct, frozen=True, tag_field="kind", tag="log", forbid_unknown_fields=True):
    key: str
    checkpoint: bytes
    leaves: Annotated[list[LoggedLeaf], msgspec.Meta(min_length=1, max_length=4)]


class _End(msgspec.Struct, frozen=True, tag_field="kind", tag="end", forbid_unknown_fields=True):
    entries: Annotated[int, msgspec.Meta(ge=0, le=MAX_ENTRIES)]
    head: bytes


_encode = msgspec.json.Encoder().encode
_heads = msgspec.json.Decoder(_Head)
_entries = msgspec.json.Decoder(_Entry)
_logs = msgspec.json.Decoder(_Log)
_ends = msgspec.json.Decoder(_End)
_LOG_BEGINS = b'{"kind":"log",'
_END_BEGINS = b'{"kind":"end",'


class Export(msgspec.Struct, frozen=True):
    """What a file holds.

    Attributes:
        game: code name, as the file says.
        match_id: as the file says.
        entries: in the file's order; nothing about them is proved yet.
        head: hash of the last entry, as the end line says.
        evidence: proofs from the transparency log, where the file carries some.
    """

    game: str
    match_id: str
    entries: tuple[frame_pb2.ViewerEntry, ...]
    head: bytes
    evidence: Evidence | None = None


def line_of(version: int) -> int:
    """The line, from 1, on which the entry of this version stands."""
    return version + 1


class ExportWriter:
    """Writes a file line by line, for callers that receive entries one at a time.

    Args:
        game: code name.
        match_id: of the match.
        viewer: whose eyes the file is for. A part this viewer may not see is left out, its digest stays; `ALL` writes
            every part, and is for revealed matches only.

    Raises:
        ExportError: from every method, if the match is beyond the limits of a file.
    """

    def __init__(self, game: str, match_id: str, viewer: Viewer) -> None:
        self._head = _Head(FORMAT, check_game(game), check_match_id(match_id))
        self._viewer = viewer
        self._count = 0
        self._bytes = 0
        self._last = genesis(match_id)
        self._revealed = False
        self._logged = False

    def begin(self) -> bytes:
        """The first line."""
        return self._line(self._head)

    def entry(self, entry: frame_pb2.ViewerEntry) -> bytes:
        """The line of the next entry."""
        if self._logged:
            raise ValueError("entries come before the proofs of the log")
        self._count += 1
        if self._count > MAX_ENTRIES:
            self._fail(f"a file holds at most {MAX_ENTRIES} entries")
        shown = [_Part(p.audience, p.salt, p.body) for p in entry.parts if self._viewer.may_see(p.audience)]
        if _size(entry.header, entry.public, shown) > MAX_ENTRY_BYTES:
            self._fail(f"an entry has at most {MAX_ENTRY_BYTES} bytes")
        self._last = entry.hash
        self._revealed = self._viewer.kind is ViewerKind.ALL and _reveals(entry.public)
        digests = [_Digest(d.audience, d.digest) for d in entry.digests]
        return self._line(_Entry(entry.header, entry.public, shown, digests, entry.hash))

    def log(self, evidence: Evidence) -> bytes:
        """The line with the proofs from the transparency log, after all entries; empty where there is nothing to prove.

        Args:
            evidence: the leaves of this match that are in the log.
        """
        if not evidence.leaves:
            return b""
        self._logged = True
        return self._line(_Log(evidence.key, evidence.checkpoint, list(evidence.leaves)))

    def end(self) -> bytes:
        """The last line.

        Raises:
            PermissionError: if the file is for all eyes, but the match has not been revealed.
        """
        if self._viewer.kind is ViewerKind.ALL and not self._revealed:
            raise PermissionError("everything is exported only after the reveal")
        return self._line(_End(self._count, self._last))

    def _line(self, record: msgspec.Struct) -> bytes:
        line = _encode(record) + b"\n"
        self._bytes += len(line)
        if self._bytes > MAX_FILE_BYTES:
            self._fail(f"a file has at most {MAX_FILE_BYTES} bytes")
        return line

    def _fail(self, reason: str) -> NoReturn:
        raise ExportError(line_of(self._count), reason)


def write_export(
    game: str,
    match_id: str,
    entries: Iterable[frame_pb2.ViewerEntry],
    viewer: Viewer,
    evidence: Evidence | None = None,
) -> Iterator[bytes]:
    """The file of a match, one line at a time; same log, viewer and evidence, same bytes.

    Args:
        game: code name.
        match_id: of the match.
        entries: all from version 1; with every part, or with those the viewer may see.
        viewer: as for `ExportWriter`.
        evidence: proofs from the transparency log; without them check 7 of a revealed match fails, but for analysis.

    Raises:
        ExportError: if the match is beyond the limits of a file.
        PermissionError: if `viewer` is `ALL` and the match has not been revealed.
    """
    writer = ExportWriter(game, match_id, viewer)
    yield writer.begin()
    for entry in entries:
        yield writer.entry(entry)
    if evidence is not None and evidence.leaves:
        yield writer.log(evidence)
    yield writer.end()


class ExportReader:
    """Reads a file of any origin as it arrives, strictly and within limits.

    Attributes:
        game: as the first line says; empty before it was read.
        match_id: as the first line says; empty before it was read.
        head: hash of the last entry, as the end line says; empty before it was read. The audit compares.
        evidence: proofs from the transparency log; None: the file carries none, or they have not been read yet.
    """

    def __init__(self) -> None:
        self.game = ""
        self.match_id = ""
        self.head = b""
        self.evidence: Evidence | None = None
        self._rest = bytearray()
        self._bytes = 0
        self._line = 0
        self._count = 0
        self._ended = False

    def feed(self, chunk: bytes) -> list[frame_pb2.ViewerEntry]:
        """Takes the next bytes and gives the entries they complete.

        Raises:
            ExportError: naming the line and what is wrong with it. The reader is of no more use then.
        """
        self._bytes += len(chunk)
        if self._bytes > MAX_FILE_BYTES:
            self._fail(f"the file is longer than {MAX_FILE_BYTES} bytes")
        *lines, rest = chunk.split(b"\n")
        if not lines:
            self._keep(rest)
            return []
        lines[0] = bytes(self._rest) + lines[0]
        self._rest.clear()
        entries = [entry for line in lines if (entry := self._read(line)) is not None]
        self._keep(rest)
        return entries

    def close(self) -> None:
        """Says that the file ends here.

        Raises:
            ExportError: if it is not whole.
        """
        if self._rest:
            self._fail("the file is cut off within this line")
        if not self._ended:
            self._fail("the file is cut off: its end line is missing")

    def _keep(self, rest: bytes) -> None:
        if len(self._rest) + len(rest) > MAX_LINE_BYTES:
            self._fail(f"the line is longer than {MAX_LINE_BYTES} bytes")
        self._rest += rest

    def _read(self, line: bytes) -> frame_pb2.ViewerEntry | None:
        if len(line) > MAX_LINE_BYTES:
            self._fail(f"the line is longer than {MAX_LINE_BYTES} bytes")
        if self._ended:
            self._fail("something follows the end line")
        entry = None
        if self._line == 0:
            head = self._decode(_heads, line, "the first line of an export")
            self.game, self.match_id = head.game, head.match_id
        elif line.startswith(_END_BEGINS):
            self._end(self._decode(_ends, line, "an end line"))
        elif self.evidence is not None:
            self._fail("only the end line follows the proofs of the log")
        elif line.startswith(_LOG_BEGINS):
            log = self._decode(_logs, line, "a line of proofs")
            self.evidence = Evidence(log.key, log.checkpoint, tuple(log.leaves))
        else:
            entry = self._entry(self._decode(_entries, line, "an entry"))
        self._line += 1
        return entry

    def _decode(self, decoder: msgspec.json.Decoder[S], line: bytes, what: str) -> S:
        try:
            record = decoder.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            self._fail(f"this is not {what} ({_plain(error)})")
        if _encode(record) != line:
            self._fail(f"this is {what}, but not written in the one way it may be")
        return record

    def _entry(self, read: _Entry) -> frame_pb2.ViewerEntry:
        self._count += 1
        if self._count > MAX_ENTRIES:
            self._fail(f"there are more than {MAX_ENTRIES} entries")
        if _size(read.header, read.public, read.parts) > MAX_ENTRY_BYTES:
            self._fail(f"the entry has more than {MAX_ENTRY_BYTES} bytes")
        return frame_pb2.ViewerEntry(
            header=read.header,
            public=read.public,
            parts=[frame_pb2.OpenedPart(audience=p.audience, salt=p.salt, body=p.body) for p in read.parts],
            digests=[match_pb2.PartDigest(audience=d.audience, digest=d.digest) for d in read.digests],
            hash=read.hash,
        )

    def _end(self, end: _End) -> None:
        if end.entries != self._count:
            self._fail(f"the end line counts {end.entries} entries, but there are {self._count}")
        self.head = end.head
        self._ended = True

    def _fail(self, reason: str) -> NoReturn:
        raise ExportError(self._line + 1, reason)


def read_export(chunks: Iterable[bytes]) -> Export:
    """Reads a whole file.

    Args:
        chunks: its bytes, cut anywhere, e.g. `iter(lambda: file.read(65_536), b"")`. (Iterating over an open file
            would read a line of any length at once.)

    Raises:
        ExportError: naming the first line that cannot be read.
    """
    reader = ExportReader()
    entries: list[frame_pb2.ViewerEntry] = []
    for chunk in chunks:
        entries += reader.feed(chunk)
    reader.close()
    return Export(reader.game, reader.match_id, tuple(entries), reader.head, reader.evidence)


def _size(header: bytes, public: bytes, parts: list[_Part]) -> int:
    return len(header) + len(public) + sum(len(part.body) for part in parts)


def _plain(error: Exception) -> str:
    """The start of a message, without what a stranger may have put in to upset a screen."""
    return "".join(c if c.isprintable() else "?" for c in str(error)[:160])


def _reveals(public: bytes) -> bool:
    return any(event.type == "fairness_revealed" for event in match_pb2.Events.FromString(public).events)
