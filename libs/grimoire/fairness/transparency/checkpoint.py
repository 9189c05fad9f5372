"""What the log says of itself at one size: a signed note as C2SP `tlog-checkpoint` writes it."""

from __future__ import annotations

import base64
import re
from typing import Final

import msgspec

from grimoire.fairness.transparency.merkle import HASH_SIZE
from grimoire.fairness.transparency.note import NoteError, SigningKey, VerifierKey, open_note, sign_note

__all__ = ["MAX_SIZE", "Checkpoint", "open_checkpoint", "sign_checkpoint"]

MAX_SIZE: Final = 2**63 - 1
_TEXT: Final = re.compile(r"([^\n]+)\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n", re.ASCII).fullmatch


class Checkpoint(msgspec.Struct, frozen=True):
    """A tree head.

    Attributes:
        origin: the log's name, which is its key's name too.
        size: number of leaves.
        root: of the tree, 32 bytes.
    """

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        r"""What is signed: origin, size and root in base64, each with a line feed.

        >>> Checkpoint("example.com/log", 0, bytes(32)).text
        'example.com/log\n0\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'
        """
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode('ascii')}\n"


def sign_checkpoint(size: int, root: bytes, key: SigningKey) -> bytes:
    """The signed checkpoint of a log that is called as its key is."""
    if not 0 <= size <= MAX_SIZE or len(root) != HASH_SIZE:
        raise NoteError("a checkpoint has a size that fits 63 bits and a root of 32 bytes")
    return sign_note(Checkpoint(key.verifier.name, size, root).text, key)


def open_checkpoint(note: bytes, key: VerifierKey, *, alone: bool = False) -> Checkpoint:
    """The checkpoint in a note.

    Args:
        note: as received.
        key: trusted.
        alone: as for `open_note`.

    Raises:
        NoteError: if the note is not signed by this key, or is no checkpoint of its log.
    """
    read = _TEXT(open_note(note, key, alone=alone))
    if read is None:
        raise NoteError("the note is no checkpoint: origin, size and root, and nothing else")
    checkpoint = Checkpoint(read[1], int(read[2]), base64.b64decode(read[3]))
    if checkpoint.origin != key.name:
        raise NoteError("the checkpoint is of another log than its key")
    if checkpoint.size > MAX_SIZE or checkpoint.text != read[0]:
        raise NoteError("the checkpoint is not written in the one way it may be")
    return checkpoint
