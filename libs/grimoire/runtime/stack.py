"""A whole installation on one machine: the broker and all services, in this process or in one each, watched over."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import structlog

from grimoire.bus.embedded import EmbeddedServer
from grimoire.bus.errors import BusError
from grimoire.bus.roles import game_role, platform_roles
from grimoire.plugins import game_names
from grimoire.runtime.config import Address, AlreadyRunningError, Bound, Config, ConfigError, RunFile
from grimoire.runtime.keys import KeyFileError, KeyRing
from grimoire.runtime.lifecycle import (
    PARENT_VARIABLE,
    Exit,
    Service,
    default_services,
    handle_signals,
    run_loop,
    run_service,
)
from grimoire.runtime.metrics import METRICS, MetricsServer
from grimoire.runtime.observe import set_up_process
from grimoire.runtime.rpc import is_serving, open_channel

__all__ = ["Stack", "StackError", "only_one", "run_stack"]

_log: Final = structlog.stdlib.get_logger(__name__)

_READY_S: Final = 20.0
_POLL_S: Final = 0.02
_FIRST_PAUSE_S: Final = 0.2
_LAST_PAUSE_S: Final = 5.0
_KILL_AFTER_S: Final = 5.0
_FAILURES: Final = 5
_FAILURES_WITHIN_S: Final = 60.0
_CHILD: Final = "import sys; from grimoire.runtime.lifecycle import main; main(*sys.argv[1:])"


class StackError(RuntimeError):
    """A stack cannot be started, or one of its services cannot be kept running; the message says which and why."""


class Stack:
    """Broker and services together.

    Every address is known before anything that calls it starts. A service that ends unasked is started again, at once
    and then with growing pauses; after five failures within a minute it is given up, and `gave_up` tells. What was
    started ends with this process, however that ends.

    Args:
        config: its addresses may have port 0, and it may name no broker.
        services: in the order they start; they stop in the reverse order.
        processes: one process for each service; else all run in this one.

    Example:
        >>> async def play_there(config: Config) -> None:
        ...     async with Stack(config) as stack:
        ...         print(stack.config.gateway)
    """

    def __init__(self, config: Config, services: Sequence[Service] | None = None, *, processes: bool = False) -> None:
        self.config = config
        """With every address as bound."""
        self.gave_up = asyncio.Event()
        """Set when a service cannot be kept running."""
        self._metrics_wanted = config.metrics
        self._services = default_services() if services is None else tuple(services)
        self._processes = processes
        self._wards: list[_Ward] = []
        self._broker: EmbeddedServer | None = None
        self._metrics: MetricsServer | None = None
        self._run_file: RunFile | None = None
        self._held = contextlib.ExitStack()

    async def __aenter__(self) -> Stack:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> RunFile:
        """Starts everything and waits until every service says it is healthy; on failure nothing is left running.

        Returns:
            What was written down for other processes to find.

        Raises:
            AlreadyRunningError: if a stack runs in this home.
            StackError: if a service does not come up.
            ConfigError, KeyFileError, BusError: if settings, keys or broker are the reason.
        """
        try:
            self._held.enter_context(only_one(self.config.run_dir))
            keys = KeyRing.load_or_create(self.config.keys_dir)
            self.config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._metrics = MetricsServer.start(self.config.metrics)
            self.config = replace(self.config, metrics=self._metrics.address)
            if self.config.nats_url is None:
                await self._start_broker(keys)
            await (self._start_processes() if self._processes else self._start_here())
            return self._write_run_file()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stops the services, last started first, then the broker. Stopping twice does no harm."""
        if self._run_file is not None:
            self._run_file.remove(self.config.home)
            self._run_file = None
        metrics, self._metrics = self._metrics, None
        closing = asyncio.gather(*([metrics.close()] if metrics is not None else []))
        for ward in reversed(self._wards):
            await ward.stop()
        self._wards.clear()
        if self._broker is not None:
            await self._broker.stop()
            self._broker = None
        await closing
        self._held.close()

    async def _start_broker(self, keys: KeyRing) -> None:
        roles = (*platform_roles(), *map(game_role, game_names()))
        self._broker = await EmbeddedServer.start(
            {role: keys.nats_password(role) for role in roles},
            run_dir=self.config.run_dir,
            log_dir=self.config.log_dir,
        )
        self.config = replace(self.config, nats_url=self._broker.url)

    async def _start_here(self) -> None:
        for service in self._services:
            ward = self._ward(service, _Here())
            await ward.start(self.config)
            self.config = _with_bound(self.config, service, ward)

    async def _start_processes(self) -> None:
        # Children start at the same time, so that each must be told the others' ports before anyone has bound them.
        for service in self._services:
            wanted = self.config.addresses.get(service.name)
            if wanted is not None and wanted.port == 0:
                self.config = self.config.with_address(service.name, _free_port(wanted))
        wards = [self._ward(service, _Child(self._metrics_of(n))) for n, service in enumerate(self._services)]
        starting = [asyncio.create_task(ward.start(self.config)) for ward in wards]
        try:
            await asyncio.wait(starting, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in starting:
                task.cancel()
            outcomes = await asyncio.gather(*starting, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        for ward in wards:
            self.config = _with_bound(self.config, ward.service, ward)

    def _ward(self, service: Service, runner: _Runner) -> _Ward:
        ward = _Ward(service, runner, self._restarted, self.gave_up)
        self._wards.append(ward)
        return ward

    def _metrics_of(self, number: int) -> Address:
        host, port = self._metrics_wanted
        # Ports after this process's own; any free ones where that was left open.
        return Address(host, port + 1 + number if port else 0)

    def _restarted(self) -> None:
        if self._run_file is not None:
            self._write_run_file()

    def _write_run_file(self) -> RunFile:
        addresses = {ward.service.name: str(ward.address) for ward in self._wards if ward.address}
        addresses |= {name: address for ward in self._wards for name, address in ward.address.others.items()}
        addresses |= {f"metrics/{ward.service.name}": ward.metrics for ward in self._wards if ward.metrics}
        addresses["metrics"] = str(self.config.metrics)
        if self._broker is not None:
            addresses["nats"] = self._broker.address
        self._run_file = RunFile.of_this_process(
            importlib.metadata.version("grimoire"),
            addresses,
            {ward.service.name: ward.pid for ward in self._wards if ward.pid},
        )
        self._run_file.write(self.config.home)
        return self._run_file


def run_stack(
    config: Config,
    services: Sequence[Service] | None = None,
    *,
    processes: bool = False,
    ready: Callable[[RunFile], None] = lambda _: None,
) -> Exit:
    """Runs a stack in this process until SIGTERM or SIGINT, or until one of its services is given up.

    Args:
        config: as for `Stack`.
        services: as for `Stack`.
        processes: as for `Stack`.
        ready: called once everything is up.

    Raises:
        AlreadyRunningError, StackError, ConfigError, KeyFileError, BusError: as `Stack.start`.
    """
    set_up_process(config)

    async def run() -> Exit:
        stop = asyncio.Event()
        handle_signals(stop)
        stack = Stack(config, services, processes=processes)
        asked = asyncio.create_task(stop.wait())
        starting = asyncio.create_task(stack.start())
        gave_up = asyncio.create_task(stack.gave_up.wait())
        try:
            await asyncio.wait({asked, starting}, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return Exit.STOPPED
            ready(starting.result())
            await asyncio.wait({asked, gave_up}, return_when=asyncio.FIRST_COMPLETED)
            return Exit.STOPPED if asked.done() else Exit.FAILED
        finally:
            for task in (asked, gave_up, starting):
                task.cancel()
            await asyncio.gather(asked, gave_up, starting, return_exceptions=True)
            await stack.stop()

    return run_loop(run())


class _Runner(Protocol):
    """One way to run a service once."""

    pid: int | None

    async def run(
        self, service: Service, config: Config, stop: asyncio.Event, started: Callable[[str, str], None]
    ) -> None:
        """Runs it until `stop` is set; `started` gets its address and that of its own metrics, if it has them.

        Raises:
            Exception: if it fails, or ends unasked.
        """


class _Here:
    """Runs a service in this process."""

    pid: int | None = None

    async def run(
        self, service: Service, config: Config, stop: asyncio.Event, started: Callable[[str, str], None]
    ) -> None:
        code = await run_service(service, config, stop=stop, started=lambda address: started(address, ""))
        if code is Exit.FAILED:
            raise StackError("it ended although nobody asked")


class _Announcement(msgspec.Struct):
    address: str
    metrics: str
    others: dict[str, str] = {}


class _Child:
    """Runs a service in a process of its own, which tells its addresses on its standard output."""

    def __init__(self, metrics: Address) -> None:
        self.pid: int | None = None
        self._metrics = metrics

    async def run(
        self, service: Service, config: Config, stop: asyncio.Event, started: Callable[[str, str], None]
    ) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _CHILD, service.name, service.target, service.argument),
            stdin=PIPE,
            stdout=PIPE,
            env={
                **os.environ,
                **replace(config, metrics=self._metrics).to_env(),
                PARENT_VARIABLE: str(os.getpid()),
            },
            # Ctrl-C in a terminal must reach the stack alone, which stops its services in order.
            start_new_session=True,
        )
        self.pid = process.pid
        listening = asyncio.create_task(_listen(process, started))
        asked = asyncio.create_task(stop.wait())
        ending = asyncio.create_task(process.wait())
        try:
            await asyncio.wait({asked, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done():
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
                # It bounds its own stop; this is for one that cannot even do that.
                await asyncio.wait({ending}, timeout=config.stop_timeout_s + _KILL_AFTER_S)
        finally:
            self.pid = None
            if not ending.done():
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            asked.cancel()
            await asyncio.gather(asked, ending, listening, return_exceptions=True)
            if process.stdin is not None:
                process.stdin.close()
        if not stop.is_set():
            raise StackError(f"its process ended with status {_status(process.returncode)}")


async def _listen(process: Process, started: Callable[[str, str], None]) -> None:
    if process.stdout is None:
        return
    while True:
        try:
            line = await process.stdout.readline()
        except ValueError:  # an overlong line: not ours
            continue
        if not line:
            return
        with contextlib.suppress(msgspec.MsgspecError):
            told = msgspec.json.decode(line, type=_Announcement)
            started(Bound(told.address, **told.others), told.metrics)


def _status(code: int | None) -> str:
    with contextlib.suppress(ValueError):
        return f"{code} ({Exit(code or 0).name.lower()})"
    return str(code)


class _Ward:
    """One service being kept running."""

    def __init__(
        self, service: Service, runner: _Runner, restarted: Callable[[], None], gave_up: asyncio.Event
    ) -> None:
        self.service = service
        self.address = Bound("")
        self.metrics = ""
        self._runner = runner
        self._restarted = restarted
        self._gave_up = gave_up
        self._stop = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._failures: deque[float] = deque(maxlen=_FAILURES)

    @property
    def pid(self) -> int | None:
        """Of its own process, if it has one now."""
        return self._runner.pid

    async def start(self, config: Config) -> None:
        """Starts it and waits until it is healthy.

        Raises:
            StackError: if it does not come up.
            ConfigError, KeyFileError, BusError: if that is why.
        """
        up: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeping = asyncio.create_task(self._keep(config, up), name=f"keep {self.service.name}")
        try:
            await up
        except (ConfigError, KeyFileError, BusError, AlreadyRunningError):
            raise
        except StackError as error:
            raise StackError(f"{self.service.name} does not start: {error}") from None
        except Exception as error:
            # Its text may quote what it worked on; the log shows what may be shown.
            _log.exception("service_failed", service=self.service.name)
            raise StackError(
                f"{self.service.name} does not start ({type(error).__name__}); the log says more"
            ) from error

    async def stop(self) -> None:
        """Stops it, within the configuration's bound."""
        self._stop.set()
        if self._keeping is not None:
            await asyncio.gather(self._keeping, return_exceptions=True)

    async def _keep(self, config: Config, up: asyncio.Future[None]) -> None:
        name = self.service.name
        while True:
            try:
                await self._run_once(config, up)
            except Exception as error:
                if not up.done():
                    up.set_exception(error)
                    return
                if not self._stop.is_set():
                    _log.exception("service_failed", service=name)
            if self._stop.is_set():
                return
            # Others know it under the address it had.
            config = _with_bound(config, self.service, self)
            if self._is_hopeless():
                _log.critical("service_given_up", service=name, failures=_FAILURES, within_s=_FAILURES_WITHIN_S)
                self._gave_up.set()
                return
            METRICS.restarts.labels(name).inc()
            pause = min(_FIRST_PAUSE_S * 2 ** (len(self._failures) - 1), _LAST_PAUSE_S)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stop.wait()

    def _is_hopeless(self) -> bool:
        now = asyncio.get_running_loop().time()
        while self._failures and now - self._failures[0] > _FAILURES_WITHIN_S:
            self._failures.popleft()
        self._failures.append(now)
        return len(self._failures) >= _FAILURES

    async def _run_once(self, config: Config, up: asyncio.Future[None]) -> None:
        told: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()

        def started(address: str, metrics: str) -> None:
            if not told.done():
                told.set_result((address, metrics))

        running = asyncio.create_task(self._runner.run(self.service, config, self._stop, started))
        try:
            either: set[asyncio.Future[Any]] = {running, told}
            await asyncio.wait(either, timeout=_READY_S, return_when=asyncio.FIRST_COMPLETED)
            if told.done():
                address, self.metrics = told.result()
                self.address = Bound.of(address)
                await self._until_healthy(config, running)
                self._note_up(up)
            elif not running.done():
                raise StackError(f"it does not say that it has started within {_READY_S:.0f} s")
            await running
        finally:
            if not running.done():
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    def _note_up(self, up: asyncio.Future[None]) -> None:
        if up.cancelled():
            return
        if up.done():
            _log.info("service_restarted", service=self.service.name, address=self.address)
            self._restarted()
        else:
            _log.info("service_up", service=self.service.name, address=self.address)
            up.set_result(None)

    async def _until_healthy(self, config: Config, running: asyncio.Task[None]) -> None:
        if not self.address:
            return
        loop = asyncio.get_running_loop()
        give_up = loop.time() + _READY_S
        channel = open_channel(self.address, tls=None if self.service.edge else config.tls)
        try:
            while not await is_serving(channel):
                if running.done():
                    return
                if loop.time() > give_up:
                    raise StackError(f"it is not healthy within {_READY_S:.0f} s")
                await asyncio.sleep(_POLL_S)
        finally:
            await channel.close()


def _with_bound(config: Config, service: Service, ward: _Ward) -> Config:
    """The same, with the addresses at which a service listens now."""
    if ward.address:
        config = config.with_address(service.name, Address.parse(ward.address))
    for name, address in ward.address.others.items():
        config = config.with_address(name, Address.parse(address))
    return config


@contextlib.contextmanager
def only_one(run_dir: Path) -> Iterator[None]:
    """Holds a lock that the system lets go of when this process ends, however that happens.

    Raises:
        AlreadyRunningError: if another process holds it: a stack runs in this home.
    """
    run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(run_dir / "stack.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise AlreadyRunningError(f"a stack runs in {str(run_dir.parent)!r} already") from None
        yield
    finally:
        os.close(descriptor)


def _free_port(address: Address) -> Address:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((address.host, 0))
        return Address(address.host, probe.getsockname()[1])
