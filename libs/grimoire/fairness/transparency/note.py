"""Signed notes as C2SP `signed-note` writes them, with Ed25519 keys (signature type 0x01)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from grimoire.fairness.secret import Secret

__all__ = ["MAX_NOTE_BYTES", "NoteError", "SigningKey", "VerifierKey", "open_note", "sign_note"]

MAX_NOTE_BYTES: Final = 64 * 1024
"""More than sixteen signatures of any kind in use take; a longer note is not looked at."""

_ED25519: Final = b"\x01"
_KEY_SIZE: Final = 32
_ID_SIZE: Final = 4
_DASH: Final = "— "
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")


class NoteError(ValueError):
    """A note, or a key, that must not be trusted; the text says why."""


class VerifierKey(msgspec.Struct, frozen=True):
    """Who signs, and how one checks it.

    Attributes:
        name: of the key; no spaces, no plus.
        public: the Ed25519 public key, 32 bytes.

    >>> str(VerifierKey("example.com/log", bytes(32)))[:24]
    'example.com/log+a3ad76db'
    """

    name: str
    public: bytes

    def __post_init__(self) -> None:
        if not self.name or "+" in self.name or any(c.isspace() for c in self.name) or _CONTROL.search(self.name):
            raise NoteError("a key's name is not empty and has neither spaces nor a plus")
        if len(self.public) != _KEY_SIZE:
            raise NoteError(f"an Ed25519 public key has {_KEY_SIZE} bytes")

    @property
    def key_id(self) -> bytes:
        """The first four bytes of SHA-256(name ‖ 0x0A ‖ 0x01 ‖ public key)."""
        return hashlib.sha256(self.name.encode() + b"\n" + _ED25519 + self.public).digest()[:_ID_SIZE]

    def __str__(self) -> str:
        """The key in one line (a *vkey*): name, key id in hex, and base64 of 0x01 ‖ public key, joined by plus."""
        return f"{self.name}+{self.key_id.hex()}+{_encoded(_ED25519 + self.public)}"

    @classmethod
    def parse(cls, vkey: str) -> VerifierKey:
        """Reads what `str` gives, and nothing else.

        Raises:
            NoteError: if it is not a key of this kind, written in the one way it may be.
        """
        # Split from the left: base64 may hold a plus, a name may not.
        name, _, rest = vkey.partition("+")
        key_id, _, encoded = rest.partition("+")
        data = _decoded(encoded)
        if data[:1] != _ED25519:
            raise NoteError("this is not an Ed25519 verifier key (name+id+key)")
        key = cls(name, data[1:])
        if key.key_id.hex() != key_id:
            raise NoteError("the key's id does not fit its name and public key")
        return key

    def verify(self, text: bytes, signature: bytes) -> bool:
        """Whether this key signed this text (RFC 8032)."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (InvalidSignature, ValueError):
            return False
        return True


class SigningKey:
    """The other half of a `VerifierKey`.

    Args:
        name: of the key.
        seed: the Ed25519 private key (RFC 8032), 32 bytes.
    """

    def __init__(self, name: str, seed: Secret) -> None:
        if len(seed.open()) != _KEY_SIZE:
            raise NoteError(f"an Ed25519 private key has {_KEY_SIZE} bytes")
        self._key = Ed25519PrivateKey.from_private_bytes(seed.open())
        self.verifier = VerifierKey(name, self._key.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        return f"SigningKey({self.verifier.name!r})"

    def sign(self, text: bytes) -> bytes:
        """The signature, 64 bytes; the same text gives the same."""
        return self._key.sign(text)


def sign_note(text: str, key: SigningKey) -> bytes:
    """The note with one signature.

    Args:
        text: ends with a line feed.
        key: who signs.

    Raises:
        NoteError: if the text cannot be that of a note.
    """
    if not text.endswith("\n") or _CONTROL.search(text):
        raise NoteError("a note's text ends with a line feed and has no other control characters")
    signed = text.encode()
    line = _encoded(key.verifier.key_id + key.sign(signed))
    return signed + f"\n{_DASH}{key.verifier.name} {line}\n".encode()


def open_note(note: bytes, key: VerifierKey, *, alone: bool = False) -> str:
    """The text of a note that this key has signed.

    Args:
        note: as received; nothing in it is trusted before its signature holds.
        key: trusted. Signatures of other keys are passed over.
        alone: the key's signature must be the only one: then every byte of the note is accounted for.

    Raises:
        NoteError: if it is not a note, or not signed by this key.
    """
    if len(note) > MAX_NOTE_BYTES:
        raise NoteError(f"the note is longer than {MAX_NOTE_BYTES} bytes")
    try:
        whole = note.decode()
    except UnicodeDecodeError:
        raise NoteError("the note is not UTF-8") from None
    body, blank, signatures = whole.rpartition("\n\n")
    if not blank or not signatures.endswith("\n") or _CONTROL.search(whole):
        raise NoteError("the note has no text followed by a blank line and signatures")
    text = body + "\n"
    lines = signatures[:-1].split("\n")
    if alone and len(lines) != 1:
        raise NoteError("the note has other signatures beside the log's")
    found = [_signature(line, key) for line in lines]
    own = [signature for signature in found if signature is not None]
    if not own:
        raise NoteError(f"the note is not signed by {key.name}")
    if not all(key.verify(text.encode(), signature) for signature in own):
        raise NoteError(f"the signature of {key.name} does not hold")
    return text


def _signature(line: str, key: VerifierKey) -> bytes | None:
    """The signature in a line; None: it is of another key."""
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space or not name:
        raise NoteError("a line below the note's text is no signature")
    data = _decoded(encoded)
    if len(data) <= _ID_SIZE:
        raise NoteError("a signature is too short")
    return data[_ID_SIZE:] if (name, data[:_ID_SIZE]) == (key.name, key.key_id) else None


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decoded(text: str) -> bytes:
    """The bytes of base64 (RFC 4648, section 4) in the one way it may be written."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise NoteError("this is not base64") from None
    if _encoded(data) != text:
        raise NoteError("this base64 is not written in the one way it may be")
    return data
