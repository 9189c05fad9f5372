"""How a service lives: started by name, told to stop by a signal, gone within a bound."""

from __future__ import annotations

import asyncio
import enum
import gc
import importlib.metadata
import json
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any, Final, NoReturn, Protocol, TypeVar

import msgspec
import structlog

from grimoire.bus.tether import tie_to_parent
from grimoire.plugins import GROUP
from grimoire.runtime.config import Bound, Config, ConfigError
from grimoire.runtime.keys import KeyFileError
from grimoire.runtime.metrics import MetricsServer
from grimoire.runtime.observe import bound_contextvars, set_up_process

__all__ = ["Exit", "Serve", "Service", "default_services", "handle_signals", "main", "run_loop", "run_service"]

_log: Final = structlog.stdlib.get_logger(__name__)
_Result = TypeVar("_Result")

_ANY_GAME: Final = "grimoire.runtime.game_service:GameService"

PARENT_VARIABLE: Final = "GRIMOIRE_PARENT"
"""Set for a child process: the pid it must not outlive. It then tells its addresses on standard output."""

_CANCEL_S: Final = 2.0
_YOUNG: Final = 10_000
"""New objects after which the collector looks for circles among them."""


class Exit(enum.IntEnum):
    """Why a process ended."""

    STOPPED = 0
    """It was asked to."""
    FAILED = 1
    """It broke, or ended although nobody asked."""
    MISCONFIGURED = 2
    """A setting or key cannot be used; the message says which."""
    FORCED = 3
    """It did not stop within the bound."""


class Serve(Protocol):
    """A service: runs until `stop` is set, then ends what it has begun and returns.

    It calls `started` once, with the address as bound (`host:port`; empty if it listens nowhere), when it answers. One
    that listens at several places says so with a `grimoire.runtime.config.Bound`.
    """

    def __call__(
        self, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]
    ) -> Coroutine[Any, Any, None]:
        """Serves."""


class Service(msgspec.Struct, frozen=True):
    """A service by name, not yet imported.

    Attributes:
        name: as in the configuration's addresses.
        target: dotted path `module:function` of its `Serve`.
        argument: if not empty, what stands at `target` is called with it and gives the `Serve` (one for all games).
        edge: it is the edge: open to all, without the platform's TLS.
    """

    name: str
    target: str
    argument: str = ""
    edge: bool = False

    def load(self) -> Serve:
        """Imports it.

        Raises:
            ConfigError: if there is no such function.
        """
        try:
            found = pkgutil.resolve_name(self.target)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(f"the service {self.name} cannot be imported from {self.target!r}: {error}") from error
        serve: Serve = found(self.argument) if self.argument else found
        return serve


def default_services() -> tuple[Service, ...]:
    """All services of an installation, in the order they start: who is called comes before who calls."""
    games = sorted(entry.name for entry in importlib.metadata.entry_points(group=GROUP))
    return (
        *(Service(game, _ANY_GAME, argument=game) for game in games),
        Service("replay", "replay.service:serve"),
        Service("matchmaking", "matchmaking.service:serve"),
        Service("gateway", "gateway.service:serve", edge=True),
        Service("bots", "bots.service:serve"),
    )


def main(name: str, target: str, argument: str = "") -> NoReturn:
    """`python -m <service>`: serves until SIGTERM or SIGINT, and ends the process with an `Exit`.

    Args:
        name: of the service.
        target: as in `Service`.
        argument: as in `Service`.

    Example:
        >>> def serve_two_towers() -> NoReturn:
        ...     main("two_towers", "grimoire.runtime.game_service:GameService", "two_towers")
    """
    sys.exit(_main(Service(name, target, argument)))


def run_loop(work: Coroutine[Any, Any, _Result]) -> _Result:
    """Runs a coroutine to its end, on uvloop where there is one."""
    # Read by gRPC's C core when it first starts; it would write past our logging.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    try:
        import uvloop
    except ImportError:
        return asyncio.run(work)
    result: _Result = uvloop.run(work)
    return result


def settle() -> None:
    """Tells the collector of garbage that what is there now stays, and to look less often.

    Whatever a service has loaded until it serves lives as long as it does; looking through it again and again costs
    pauses, and a command makes hundreds of short-lived objects, none of them in a circle.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])


def handle_signals(stop: asyncio.Event) -> None:
    """SIGTERM and SIGINT set `stop`; a second one ends the process at once."""
    loop = asyncio.get_running_loop()

    def ask() -> None:
        if stop.is_set():
            os._exit(Exit.FORCED)
        stop.set()

    def ask_from_handler(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(ask)

    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            # Its event loops take no signal handlers.
            signal.signal(number, ask_from_handler)
        else:
            loop.add_signal_handler(number, ask)


async def run_service(service: Service, config: Config, *, stop: asyncio.Event, started: Callable[[str], None]) -> Exit:
    """Serves until `stop` is set, then for at most `config.stop_timeout_s` more.

    Raises:
        Exception: whatever the service fails with.
    """
    with bound_contextvars(service=service.name):
        serving = asyncio.create_task(service.load()(config, stop=stop, started=started), name=service.name)
    asked = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({serving, asked}, return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            await asyncio.wait({serving}, timeout=config.stop_timeout_s)
    finally:
        asked.cancel()
        late = not serving.done()
        if late:
            serving.cancel()
            await asyncio.wait({serving}, timeout=_CANCEL_S)
    if late:
        _log.error("service_stop_forced", service=service.name, after_s=config.stop_timeout_s)
        return Exit.FORCED
    serving.result()
    return Exit.STOPPED if stop.is_set() else Exit.FAILED


def _main(service: Service) -> Exit:
    try:
        config = Config.from_env()
        set_up_process(config)
        parent = os.environ.pop(PARENT_VARIABLE, "")
        if parent:
            tie_to_parent(int(parent))
        return run_loop(_serve_alone(service, config, tell=bool(parent)))
    except (ConfigError, KeyFileError) as error:
        sys.stderr.write(f"{service.name}: {error}\n")
        return Exit.MISCONFIGURED


async def _serve_alone(service: Service, config: Config, *, tell: bool) -> Exit:
    stop = asyncio.Event()
    handle_signals(stop)
    metrics = MetricsServer.start(config.metrics)

    def started(address: str) -> None:
        settle()
        _log.info("service_started", service=service.name, address=address, metrics=str(metrics.address))
        if tell:
            told = {"address": address, "metrics": str(metrics.address), "others": dict(Bound.of(address).others)}
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()

    try:
        code = await run_service(service, config, stop=stop, started=started)
    except (ConfigError, KeyFileError):
        raise
    except Exception:
        _log.exception("service_failed", service=service.name)
        return Exit.FAILED
    _log.info("service_stopped", service=service.name, exit=code.name.lower())
    return code
