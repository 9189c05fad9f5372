"""The installation's keys: made at first start, kept in files that only their owner can read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from grimoire.fairness.hashing import lines
from grimoire.fairness.secret import Secret

__all__ = ["HostKey", "KeyFileError", "KeyRing", "host_key_ids"]

_KEY_BYTES: Final = 32
_HOST_FILE: Final = re.compile(r"host-(\d{4})\.key")
_ROLE: Final = re.compile(r"[a-z][a-z0-9_]{0,47}")


class KeyFileError(RuntimeError):
    """A key file cannot be used; the message says what to do. Contents never show."""


@dataclass(frozen=True, slots=True)
class HostKey:
    """The key from which a game service derives the server seeds of its matches.

    Attributes:
        key_id: 16 hex digits, derived from the key itself; it stands in `match_created`.
        key: 32 bytes.
    """

    key_id: str
    key: Secret


class KeyRing:
    """All keys of one installation.

    Every value is a file of 64 hex digits in one folder (`host-0001.key`, `session.key`, `occupant.key`,
    `service.key`, `log.key`, `nats-<role>.key`): a deployment may mount only those a service needs. Two processes that
    start at once agree: a file is complete before it gets its name, and the first name wins.
    """

    def __init__(self, folder: Path, host_keys: Mapping[str, HostKey], newest: HostKey, shared: Mapping[str, Secret]):
        self._folder = folder
        self._host_keys = host_keys
        self._newest = newest
        self._shared = shared

    @classmethod
    def load_or_create(cls, folder: Path) -> KeyRing:
        """Reads the keys in a folder; makes those that are not there.

        Raises:
            KeyFileError: if the folder or a file in it is open to others, or a file is no key.
        """
        _prepare_folder(folder)
        if not _host_files(folder):
            _load_or_create(folder / "host-0001.key")
        host_keys, newest = _read_host_keys(folder)
        shared = {name: _load_or_create(folder / f"{name}.key") for name in ("session", "occupant", "service")}
        return cls(folder, host_keys, newest, shared)

    @property
    def host_key(self) -> HostKey:
        """The newest host key, for matches that are created now."""
        return self._newest

    @property
    def host_keys(self) -> Mapping[str, HostKey]:
        """All host keys by id: a match keeps the one it was created under."""
        return self._host_keys

    def find_host_key(self, key_id: str) -> HostKey:
        """The host key with this id, also if another process added it after this ring was read.

        Raises:
            KeyFileError: if there is none, or as `load_or_create`.
        """
        if key_id not in self._host_keys:
            self._host_keys, _ = _read_host_keys(self._folder)
        try:
            return self._host_keys[key_id]
        except KeyError:
            raise KeyFileError(f"no host key {key_id} in {self._folder}; restore its file from a backup") from None

    @property
    def session_key(self) -> Secret:
        """Signs the session tokens of the edge. A new one signs everybody out."""
        return self._shared["session"]

    @property
    def occupant_key(self) -> Secret:
        """Makes the pseudonyms under which accounts sit in matches. It must never change while matches run."""
        return self._shared["occupant"]

    @property
    def service_token(self) -> Secret:
        """What services of the platform show each other."""
        return self._shared["service"]

    @property
    def log_key(self) -> Secret:
        """Signs the checkpoints of the transparency log (Ed25519); made when first asked for.

        Only replay needs it. A log begun under one key cannot go on under another: keep a copy.

        Raises:
            KeyFileError: as `load_or_create`.
        """
        return _load_or_create(self._folder / "log.key")

    def nats_password(self, role: str) -> Secret:
        """The broker password of one role, made when first asked for.

        Raises:
            KeyFileError: as `load_or_create`.
            ValueError: if the role's name cannot name a file.
        """
        if not _ROLE.fullmatch(role):
            raise ValueError(f"{role!r} cannot name a role")
        return _load_or_create(self._folder / f"nats-{role}.key")

    def rotated(self) -> KeyRing:
        """Adds a new host key and reads the folder again; running matches keep theirs.

        Services create matches under the newest key they knew when they started.

        Raises:
            KeyFileError: as `load_or_create`.
        """
        files = _host_files(self._folder)
        _load_or_create(self._folder / f"host-{max(files, default=0) + 1:04d}.key")
        return KeyRing.load_or_create(self._folder)


def host_key_ids(folder: Path) -> tuple[str, ...]:
    """Ids of the host keys that lie in a folder, oldest first; nothing is made. Empty if there are none.

    Raises:
        KeyFileError: if one of them cannot be used.
    """
    if not folder.is_dir() or not _host_files(folder):
        return ()
    return tuple(_read_host_keys(folder)[0])


def _prepare_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not folder.is_dir():
        raise KeyFileError(f"{folder} must be a folder")
    _refuse_if_open_to_others(folder, "700")


def _refuse_if_open_to_others(path: Path, wanted: str) -> None:
    # Windows has no such bits; there the home folder's access list is what protects.
    if os.name != "posix":
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise KeyFileError(f"{path} can be read by others (mode {mode:03o}); run: chmod {wanted} {path}")


def _host_files(folder: Path) -> dict[int, Path]:
    found = ((_HOST_FILE.fullmatch(path.name), path) for path in folder.iterdir())
    return {int(match.group(1)): path for match, path in found if match}


def _read_host_keys(folder: Path) -> tuple[Mapping[str, HostKey], HostKey]:
    keys = [_host_key(_read(path)) for _, path in sorted(_host_files(folder).items())]
    return MappingProxyType({key.key_id: key for key in keys}), keys[-1]


def _host_key(key: Secret) -> HostKey:
    digest = hashlib.sha256(lines("grimoire/host-key-id/1", key.open().hex())).hexdigest()
    return HostKey(digest[:16], key)


def _load_or_create(path: Path) -> Secret:
    if not path.exists():
        _create(path)
    return _read(path)


def _create(path: Path) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_bytes(_KEY_BYTES).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        # A hard link gives the finished file its name only if nobody else has; then theirs is the key.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> Secret:
    try:
        _refuse_if_open_to_others(path, "600")
        text = path.read_text(encoding="ascii").strip()
        value = bytes.fromhex(text)
    except OSError as error:
        raise KeyFileError(f"{path} cannot be read ({error.strerror}); it must be a file of this user") from None
    except ValueError:
        raise KeyFileError(f"{path} is no key file (64 hex digits); restore it from a backup") from None
    if len(value) != _KEY_BYTES:
        raise KeyFileError(
            f"{path} must hold {_KEY_BYTES} bytes as hex, it holds {len(value)}; restore it from a backup"
        )
    return Secret(value)
