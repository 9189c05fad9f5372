"""Where a player's keepsakes lie: one file for each seat, which only its owner can read."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import Final

import platformdirs

from grimoire.fairness.keepsake import Keepsake, KeepsakeError

__all__ = ["Keepsakes", "default_folder"]

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


def default_folder() -> Path:
    """Where keepsakes lie unless told otherwise: in this user's data folder."""
    return platformdirs.user_data_path("grimoire", appauthor=False) / "keepsakes"


class Keepsakes:
    """A folder of keepsakes.

    For each seat there are `<match>.seat<n>.keepsake`, which `grimoire audit --keepsake` reads, and
    `<match>.seat<n>.sent`, the ids of all commands before they were sent, so that a command whose reply was lost is
    known as one's own when it turns up in the log; after an alarm also `<match>.seat<n>.evidence`. Files have mode
    0600: until the reveal a nonce is a secret.

    Args:
        folder: made when first needed, for its owner alone (0700).
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, match_id: str, seat: int) -> Path:
        """Where a seat's keepsake lies.

        Raises:
            ValueError: if the match id cannot name a file.
        """
        if not _SAFE.fullmatch(match_id):
            raise ValueError(f"{match_id[:80]!r} cannot name a file")
        return self.folder / f"{match_id}.seat{seat}.keepsake"

    def load(self, match_id: str, seat: int) -> Keepsake | None:
        """What is kept of a seat; None: nothing.

        Raises:
            KeepsakeError: if there is a file and it is no keepsake of this match and seat.
        """
        path = self.path(match_id, seat)
        try:
            keepsake = Keepsake.from_json(path.read_bytes())
        except FileNotFoundError:
            return None
        if (keepsake.match_id, keepsake.seat) != (match_id, seat):
            raise KeepsakeError(f"{path.name} is the keepsake of another match or seat")
        return keepsake

    def save(self, keepsake: Keepsake, *, to_disk: bool = False) -> None:
        """Puts a keepsake in its place at once, whole or not at all.

        Args:
            keepsake: what to keep.
            to_disk: returns only when it would survive a power cut; for the nonce, before it is sealed.
        """
        path = self.path(keepsake.match_id, keepsake.seat)
        self._make_folder()
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(keepsake.to_json())
                if to_disk:
                    file.flush()
                    os.fsync(file.fileno())
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    def note_sent(self, match_id: str, seat: int, command_id: bytes) -> None:
        """Keeps the id of a command that is about to be sent."""
        self._make_folder()
        descriptor = os.open(self._sent_path(match_id, seat), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(command_id.hex() + "\n")

    def sent(self, match_id: str, seat: int) -> set[bytes]:
        """Ids of all commands that were, or may have been, sent; a half-written last line is passed over."""
        try:
            text = self._sent_path(match_id, seat).read_text(encoding="ascii")
        except FileNotFoundError:
            return set()
        found = set()
        for line in text.splitlines():
            with contextlib.suppress(ValueError):
                found.add(bytes.fromhex(line))
        return {command_id for command_id in found if len(command_id) == 16}

    def keep_evidence(self, match_id: str, seat: int, frame: bytes) -> Path:
        """Keeps what the server sent when it cannot be true: a serialised `Frame`, the first one that lies."""
        self._make_folder()
        path = self.path(match_id, seat).with_suffix(".evidence")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(frame)
        return path

    def remove(self, match_id: str, seat: int) -> None:
        """Throws a seat's files away."""
        self.path(match_id, seat).unlink(missing_ok=True)
        self._sent_path(match_id, seat).unlink(missing_ok=True)

    def _sent_path(self, match_id: str, seat: int) -> Path:
        return self.path(match_id, seat).with_suffix(".sent")

    def _make_folder(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
