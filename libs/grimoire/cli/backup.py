"""`grimoire backup` and `grimoire restore`: an embedded set-up as it was at one moment."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from rich.progress import BarColumn, Progress, TextColumn

from grimoire.cli.backups.errors import BackupError
from grimoire.cli.backups.package import FORMAT, MANIFEST, FileFacts, Manifest, being_made, digest_of, opened
from grimoire.cli.backups.proof import Facts, prove
from grimoire.cli.backups.snapshot import copy_to, moment_of
from grimoire.cli.checkup.findings import size
from grimoire.cli.say import ERRORS, OUT, fail
from grimoire.runtime.config import Config, RunFile
from grimoire.runtime.keys import KeyFileError, KeyRing, host_key_ids
from grimoire.runtime.stack import only_one

__all__ = ["backup", "make_backup", "put_back", "restore"]

_WITH_KEYS = (
    "This backup holds the keys: whoever has it can open every hidden card of every running match, sign in as anybody "
    "and speak for the server. Keep it as you keep passwords."
)
_WITHOUT_KEYS = (
    "This backup holds no keys. Keep a copy of {folder} somewhere else: without them nothing in this backup can be "
    "played on, and no player recognised. (`--keys` puts them in.)"
)
_GONE = (
    "What was acknowledged after {time} is gone. Whoever played on since then, or has seen a later checkpoint of the "
    "transparency log, will notice. Never run the old installation again beside this one: both would go on with the "
    "same matches."
)
_HIDDEN = "It holds the hidden cards of matches that still run: it is as secret as the installation itself."


def backup(target: Path, *, keys: bool, sample: int | None, as_json: bool) -> int:
    """Makes a backup and says what is in it.

    Args:
        target: folder, or `.tar`, `.tar.gz` or `.tgz`.
        keys: puts the keys in.
        sample: logs whose chains are proved in each database; None: all.
        as_json: prints the manifest.

    Returns:
        0; 1 if the copy does not hold.
    """
    config = Config.from_env()
    with _said():
        manifest = make_backup(config, target.absolute(), keys=keys, sample=sample)
    faults = [f"{name}: {fault}" for name, file in manifest.files.items() if file.facts for fault in file.facts.faults]
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode())
    else:
        _show(manifest, f"{target}: the installation as it was at {_time(manifest.at_ms)}")
    ERRORS.print(_WITH_KEYS if keys else _WITHOUT_KEYS.format(folder=config.keys_dir), style="yellow", highlight=False)
    ERRORS.print(_HIDDEN, style="yellow", highlight=False)
    for fault in faults[:20]:
        ERRORS.print(f"[bold red]✗[/] {fault}", highlight=False)
    if faults:
        ERRORS.print("This copy was kept, but something in it does not hold; `grimoire doctor` may say more.")
    return 1 if faults else 0


def make_backup(config: Config, target: Path, *, keys: bool, sample: int | None = None) -> Manifest:
    """Copies one moment of all databases, and proves the copies.

    The services may run; writers wait for some milliseconds.

    Args:
        config: of the installation.
        target: folder, or `.tar`, `.tar.gz` or `.tgz`; it must not exist.
        keys: puts the keys in.
        sample: logs whose chains are proved in each database; None: all.

    Raises:
        BackupError: if it cannot be made.
    """
    if config.shared_database_url is not None or config.database_urls:
        raise BackupError(
            "This installation keeps data in PostgreSQL.",
            "Back that up with pg_dump or pg_basebackup: deploy/README.md says how.",
        )
    paths = sorted(config.data_dir.glob("*.db")) if config.data_dir.is_dir() else []
    if not paths:
        raise BackupError(f"There is nothing to back up in {config.data_dir}.", "Is GRIMOIRE_HOME right?")
    ring = _keys(config.keys_dir)
    if keys and ring is None:
        raise BackupError(f"There are no keys in {config.keys_dir}.")
    with being_made(target) as draft:
        (draft / "data").mkdir(mode=0o700)
        with moment_of(paths) as moment:
            for path, reader in moment.readers.items():
                copy_to(reader, draft / "data" / path.name)
        if keys:
            _copy_keys(config.keys_dir, draft / "keys")
        files = _prove_all(draft, ring, sample)
        manifest = Manifest(
            format=FORMAT,
            version=importlib.metadata.version("grimoire"),
            at_ms=moment.at_ms,
            held_ms=round(moment.held_ms, 1),
            has_keys=keys,
            host_keys=sorted({key for file in files.values() if file.facts for key in file.facts.host_keys}),
            files=files,
        )
        _write_manifest(draft / MANIFEST, manifest)
    return manifest


def restore(source: Path, *, as_json: bool) -> int:
    """Puts a backup into the home folder, which must be empty of data.

    Args:
        source: what `backup` made.
        as_json: prints the manifest.

    Returns:
        0.
    """
    config = Config.from_env()
    with _said():
        manifest = put_back(config, source.absolute())
    if as_json:
        OUT.out(msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode())
    else:
        _show(manifest, f"{config.home} is as the installation was at {_time(manifest.at_ms)}")
    ERRORS.print(_GONE.format(time=_time(manifest.at_ms)), style="yellow", highlight=False)
    ERRORS.print("Start it with `grimoire up`.", highlight=False)
    return 0


def put_back(config: Config, source: Path) -> Manifest:
    """Unpacks a backup, proves every file and every chain again, and puts it in place.

    Args:
        config: its home must hold no data, and no stack may run in it.
        source: what `make_backup` made.

    Raises:
        BackupError: if the home is in use, or the backup does not hold; then the home is as it was.
    """
    if not source.exists():
        raise BackupError(f"There is no {source}.")
    config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if RunFile.read(config.home) is not None:
        raise BackupError(f"A stack runs in {config.home}.", "Stop it, or restore into another home (GRIMOIRE_HOME).")
    with only_one(config.run_dir):
        if config.data_dir.exists() and any(config.data_dir.iterdir()):
            raise BackupError(
                f"{config.data_dir} is not empty.",
                "Data are never overwritten: move them away, or restore into another home (GRIMOIRE_HOME).",
            )
        with opened(source, config.home) as (manifest, draft):
            ring = _keys_for(config, manifest, draft)
            _refuse_faults(_prove_all(draft, ring, None))
            if manifest.has_keys:
                shutil.rmtree(config.keys_dir, ignore_errors=True)
                (draft / "keys").rename(config.keys_dir)
            if config.data_dir.exists():
                config.data_dir.rmdir()
            (draft / "data").rename(config.data_dir)
    return manifest


def _keys_for(config: Config, manifest: Manifest, draft: Path) -> KeyRing:
    """The keys that the restored data will be used with: those in the backup, or those that lie in the home."""
    there = sorted(config.keys_dir.glob("*.key")) if config.keys_dir.is_dir() else []
    if manifest.has_keys:
        brought = {path.name: path.read_bytes() for path in (draft / "keys").glob("*.key")}
        other = [path.name for path in there if brought.get(path.name) != path.read_bytes()]
        if other:
            raise BackupError(
                f"{config.keys_dir} holds other keys than this backup ({other[0]}).",
                "Move them away first; keys are never overwritten.",
            )
        return KeyRing.load_or_create(draft / "keys")
    missing = set(manifest.host_keys) - {*host_key_ids(config.keys_dir)} if there else set(manifest.host_keys)
    if not there or missing:
        raise BackupError(
            "This backup holds no keys, and its matches need them.",
            f"Copy the keys of the old installation into {config.keys_dir} first"
            + (f" (host keys {', '.join(sorted(missing))})." if missing else "."),
        )
    return KeyRing.load_or_create(config.keys_dir)


def _refuse_faults(files: dict[str, FileFacts]) -> None:
    for name, file in files.items():
        if file.facts is not None and file.facts.faults:
            raise BackupError(f"{name} in this backup does not hold: {file.facts.faults[0]}.", "Take another backup.")


def _prove_all(draft: Path, ring: KeyRing | None, sample: int | None) -> dict[str, FileFacts]:
    """Every file with its digest, databases with what was found in them."""
    files: dict[str, FileFacts] = {}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed} logs"))
    with Progress(*columns, console=ERRORS, transient=True) as progress:
        for path in sorted(draft.rglob("*")):
            name = path.relative_to(draft).as_posix()
            if not path.is_file() or name == MANIFEST:
                continue
            facts: Facts | None = None
            if name.startswith("data/"):
                bar = progress.add_task(f"Proving {path.name}", total=None)
                facts = prove(path, ring, sample, lambda bar=bar: progress.advance(bar))  # type: ignore[misc]
            files[name] = FileFacts(path.stat().st_size, digest_of(path), facts)
    return files


def _keys(folder: Path) -> KeyRing | None:
    """The installation's keys; None if it has none. None is made."""
    try:
        return KeyRing.load_or_create(folder) if host_key_ids(folder) else None
    except KeyFileError as error:
        raise BackupError(f"{error}.") from None


def _copy_keys(source: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for path in sorted(source.glob("*.key")):
        descriptor = os.open(target / path.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(path.read_bytes())
            file.flush()
            os.fsync(file.fileno())


def _write_manifest(path: Path, manifest: Manifest) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=2))
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _said() -> Iterator[None]:
    try:
        yield
    except BackupError as error:
        fail(str(error), hint=error.hint)


def _show(manifest: Manifest, title: str) -> None:
    OUT.print(f"[bold]{title}[/]", highlight=False)
    for line in _lines(manifest):
        OUT.print(f"  {line}", highlight=False)


def _lines(manifest: Manifest) -> Iterable[str]:
    for name, file in manifest.files.items():
        if file.facts is None:
            continue
        told = f"{Path(name).stem}: {size(file.bytes)}"
        facts = file.facts
        if facts.schema:
            told += f", {facts.matches} logs ({facts.running} running) with {facts.entries} entries"
            told += f"; {facts.proved} chains proved"
            told += f", {facts.keyed} of them with their keys" if facts.keyed else ""
        else:
            told += "; whole"
        yield told
    keys = sum(name.startswith("keys/") for name in manifest.files)
    yield f"keys: {keys}" if keys else "no keys"
    yield f"writers waited {manifest.held_ms:g} ms"


def _time(ms: int) -> str:
    return f"{datetime.datetime.fromtimestamp(ms / 1000, datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"
