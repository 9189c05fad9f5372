"""A backup as it is kept: a folder or a tar file with a manifest that names every file and its digest."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from grimoire.cli.backups.errors import BackupError
from grimoire.cli.backups.proof import Facts

__all__ = ["FORMAT", "MANIFEST", "FileFacts", "Manifest", "being_made", "digest_of", "is_tar", "opened"]

FORMAT: Final = "grimoire-backup/1"
MANIFEST: Final = "manifest.json"
_NAMES: Final = re.compile(r"manifest\.json|data/[a-z][a-z0-9_]{0,31}\.db|keys/[a-z0-9_-]{1,64}\.key")
_PIECE: Final = 1024 * 1024
_MOST_MANIFEST: Final = 16 * 1024 * 1024


class FileFacts(msgspec.Struct):
    """A file of a backup.

    Attributes:
        bytes: its length.
        sha256: hex.
        facts: what was found in it, if it is a database.
    """

    bytes: int
    sha256: str
    facts: Facts | None = None


class Manifest(msgspec.Struct, kw_only=True):
    """What a backup is.

    Attributes:
        format: `grimoire-backup/1`.
        version: of the program that made it.
        at_ms: the moment it shows, UTC ms.
        held_ms: for how long writers waited.
        has_keys: the installation's keys are in it.
        host_keys: ids of the host keys that its matches need.
        files: by name within the backup.
    """

    format: str
    version: str
    at_ms: int
    held_ms: float
    has_keys: bool
    host_keys: list[str]
    files: dict[str, FileFacts]

    def problem(self) -> str:
        """Why this program cannot use it; empty: it can."""
        if self.format != FORMAT:
            return f"it has the form {self.format[:40]!r}; this program knows {FORMAT}"
        strange = [name for name in self.files if not _NAMES.fullmatch(name) or name == MANIFEST]
        if strange:
            return f"it names a file that no backup has: {strange[0][:80]!r}"
        if not any(name.startswith("data/") for name in self.files):
            return "it holds no databases"
        return ""


def is_tar(path: Path) -> bool:
    """Whether a target's name asks for one file rather than a folder."""
    return path.name.endswith((".tar", ".tar.gz", ".tgz"))


def digest_of(path: Path) -> str:
    """SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def being_made(target: Path) -> Iterator[Path]:
    """A folder that becomes the backup when the block ends well; else nothing is left.

    Args:
        target: a folder or a `.tar`, `.tar.gz` or `.tgz`; it must not exist yet.

    Raises:
        BackupError: if it exists, or cannot be made.
    """
    if target.exists():
        raise BackupError(f"{target} exists already.", "Name another, or remove it: a backup is never overwritten.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise BackupError(f"{target} cannot be made: {error.strerror}.") from None
    try:
        yield draft
        if is_tar(target):
            _pack(draft, target)
        else:
            draft.rename(target)
        _sync(target.parent)
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror}.", "Is the disk full?") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _pack(folder: Path, target: Path) -> None:
    draft = target.with_name(f".{folder.name}.tar")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w" if target.suffix == ".tar" else "w:gz") as tar:
                # The manifest first: whoever reads the file as a stream knows what comes.
                tar.add(folder / MANIFEST, MANIFEST, filter=_anonymous)
                for path in sorted(folder.rglob("*")):
                    if path.is_file() and path.name != MANIFEST:
                        tar.add(path, path.relative_to(folder).as_posix(), filter=_anonymous)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(target)
    finally:
        draft.unlink(missing_ok=True)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whose files they were is nobody's business."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _sync(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def opened(source: Path, beside: Path) -> Iterator[tuple[Manifest, Path]]:
    """A backup's manifest, and a folder with its files, each proved by its digest.

    Args:
        source: folder or tar file.
        beside: folder for what has to be unpacked, on the disk where it shall end up.

    Raises:
        BackupError: if it is no backup, was changed, or lacks something.
    """
    draft = Path(tempfile.mkdtemp(prefix=".restore-", dir=beside))
    try:
        try:
            _unpack(source, draft)
            manifest = _manifest(draft)
            _compare(manifest, draft)
        except (tarfile.TarError, EOFError) as error:
            raise BackupError(f"{source} is no backup, or a broken one ({type(error).__name__}).") from None
        except OSError as error:
            raise BackupError(f"{source} cannot be read: {error.strerror}.") from None
        yield manifest, draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _unpack(source: Path, draft: Path) -> None:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source).as_posix()
            if path.is_file() and not path.is_symlink() and _NAMES.fullmatch(name):
                with path.open("rb") as file:
                    _write(draft / name, file)
        return
    with tarfile.open(source, "r:*") as tar:
        for member in tar:
            # Nothing but plain files with the names that backups have: a stranger's archive reaches nowhere else.
            held = tar.extractfile(member) if member.isreg() and _NAMES.fullmatch(member.name) else None
            if held is None:
                raise BackupError(f"{source} is no backup: it holds {member.name[:80]!r}.")
            _write(draft / member.name, held)


def _write(path: Path, source: IO[bytes]) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        shutil.copyfileobj(source, file, _PIECE)
        file.flush()
        os.fsync(file.fileno())


def _manifest(draft: Path) -> Manifest:
    path = draft / MANIFEST
    if not path.is_file() or path.stat().st_size > _MOST_MANIFEST:
        raise BackupError("This is no backup: it has no manifest.")
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except msgspec.MsgspecError:
        raise BackupError("This is no backup: its manifest cannot be read.") from None
    problem = manifest.problem()
    if problem:
        raise BackupError(f"This backup cannot be used: {problem}.")
    return manifest


def _compare(manifest: Manifest, draft: Path) -> None:
    for name, told in manifest.files.items():
        path = draft / name
        if not path.is_file():
            raise BackupError(f"This backup lacks {name}.")
        if path.stat().st_size != told.bytes or digest_of(path) != told.sha256:
            raise BackupError(f"{name} in this backup is not what it was when it was made.", "Take another backup.")
    there = {path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file()}
    strange = there - {*manifest.files, MANIFEST}
    if strange:
        raise BackupError(f"This backup holds {min(strange)}, which its manifest does not name.")
