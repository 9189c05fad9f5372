"""What a service must know before it starts: from the environment, with defaults that need no set-up.

| Variable | What it sets | Default |
|---|---|---|
| `GRIMOIRE_HOME` | folder of data, keys, logs | the user's data folder |
| `GRIMOIRE_NATS_URL` | broker, `nats://host:port` or `tls://…`; several with commas | an embedded one |
| `GRIMOIRE_DATABASE_URL` | PostgreSQL for all services | one SQLite file each |
| `GRIMOIRE_DATABASE_URL_<SERVICE>` | PostgreSQL of one service | as above |
| `GRIMOIRE_ADDRESS_<SERVICE>` | where a service listens and is found, `host:port` | loopback, 7420 (gateway) and up |
| `GRIMOIRE_ADDRESS_WEB` | where the edge listens for browsers, `host:port` | `127.0.0.1:7400` |
| `GRIMOIRE_METRICS` | where metrics are shown, `host:port` | `127.0.0.1:7480` |
| `GRIMOIRE_LOG_LEVEL` | `debug`, `info`, `warning`, `error` | `info` |
| `GRIMOIRE_LOG_FORMAT` | `console`, `json` | `console` |
| `GRIMOIRE_STOP_TIMEOUT` | seconds a graceful stop may take | 10 |
| `GRIMOIRE_TLS_CERTIFICATE`, `…_KEY`, `…_AUTHORITY` | PEM files for internal calls between machines | none |
| `GRIMOIRE_PRIVATE_NETWORK` | `yes`: internal calls may be plain beyond this machine | `no` |
| `GRIMOIRE_OTLP`, `GRIMOIRE_TRACE_FILE`, `…_RATIO` | where traces go: see `grimoire.runtime.traces` | nowhere |

Port 0 stands for any free one.
"""

from __future__ import annotations

import contextlib
import enum
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

import msgspec
import platformdirs
import psutil

from grimoire.bus.connection import BusSettings
from grimoire.plugins import game_names
from grimoire.runtime.keys import KeyRing

__all__ = [
    "Address",
    "AlreadyRunningError",
    "Bound",
    "Config",
    "ConfigError",
    "LogFormat",
    "LogLevel",
    "RunFile",
    "TlsFiles",
]

_SERVICE_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PLATFORM_PORTS: Final = {"web": 7400, "gateway": 7420, "matchmaking": 7421, "replay": 7422, "bots": 7423}
_FIRST_GAME_PORT: Final = 7431
_METRICS_PORT: Final = 7480
_LOOPBACK: Final = "127.0.0.1"
_TLS_VARIABLES: Final = ("GRIMOIRE_TLS_CERTIFICATE", "GRIMOIRE_TLS_KEY", "GRIMOIRE_TLS_AUTHORITY")
_Choice = TypeVar("_Choice", bound=enum.StrEnum)


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the variable and says what is allowed."""


class AlreadyRunningError(RuntimeError):
    """Another stack runs in this home."""


class LogLevel(enum.StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(enum.StrEnum):
    """How a log line is written: for a person, or for a machine."""

    CONSOLE = "console"
    JSON = "json"


class _YesNo(enum.StrEnum):
    YES = "yes"
    NO = "no"


class Address(NamedTuple):
    """Host and port of a listener; port 0 means: any free one, announced once it is bound.

    >>> str(Address.parse("127.0.0.1:7420"))
    '127.0.0.1:7420'
    >>> Address.parse("[::1]:0")
    Address(host='::1', port=0)
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Only this machine can reach it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @classmethod
    def parse(cls, text: str) -> Address:
        """Reads `host:port` or `[ipv6]:port`.

        Raises:
            ValueError: if it is neither.
        """
        host, colon, port = text.strip().rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        bare = host[1:-1] if bracketed else host
        if not colon or not bare or (":" in bare) != bracketed or re.search(r"[\s/@]", bare):
            raise ValueError(f"{text!r} is not host:port")
        if not (port.isascii() and port.isdigit() and int(port) <= 65535):
            raise ValueError(f"{port!r} is not a port (0 to 65535)")
        return cls(bare, int(port))


class Bound(str):
    """What a service says once it listens: its address, and the others it has, by name.

    >>> bound = Bound("127.0.0.1:7420", web="127.0.0.1:7400")
    >>> bound, bound.others["web"]
    ('127.0.0.1:7420', '127.0.0.1:7400')
    """

    others: Mapping[str, str]

    def __new__(cls, address: str, **others: str) -> Bound:
        """An address, `host:port`, and others by name."""
        bound = super().__new__(cls, address)
        bound.others = MappingProxyType(others)
        return bound

    @classmethod
    def of(cls, address: str) -> Bound:
        """The same, whatever a service said."""
        return address if isinstance(address, Bound) else cls(address)


class TlsFiles(NamedTuple):
    """PEM files for internal calls between machines: each side shows its certificate and checks the other's.

    Attributes:
        certificate: this service's certificate chain.
        key: its private key.
        authority: certificates of those who may sign the others'.
    """

    certificate: Path
    key: Path
    authority: Path


def _default_addresses() -> dict[str, Address]:
    ports = _PLATFORM_PORTS | {game: _FIRST_GAME_PORT + index for index, game in enumerate(game_names())}
    return {service: Address(_LOOPBACK, port) for service, port in ports.items()}


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of one installation; the same for every service of it.

    Addresses with a password in them never show in `repr`.

    Attributes:
        home: folder for data, keys, logs and run files.
        nats_url: broker to use, e.g. `nats://broker:4222` (several: comma-separated); None: an embedded one is started.
        shared_database_url: PostgreSQL for all services; None: one SQLite file per service.
        database_urls: PostgreSQL of single services; wins over the shared one.
        addresses: where each service listens. The edge is `gateway`, and `web` for browsers (HTTP, the same service);
            all others are internal gRPC.
        tls: for internal calls; None: they are plain, and refused beyond this machine.
        private_network: internal calls may be plain beyond this machine too: nobody else can reach that network.
        metrics: where metrics are shown.
        otlp: OTLP endpoint to which traces go; None: none.
        trace_file: file to which spans are added; None: none.
        trace_ratio: share of commands that are traced, 0 to 1.
        log_level: the least important level that is logged.
        log_format: console or JSON lines.
        stop_timeout_s: bound of a graceful stop, in seconds.
    """

    home: Path
    nats_url: str | None = field(default=None, repr=False)
    shared_database_url: str | None = field(default=None, repr=False)
    database_urls: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    addresses: Mapping[str, Address] = field(default_factory=lambda: MappingProxyType(_default_addresses()))
    tls: TlsFiles | None = None
    private_network: bool = False
    metrics: Address = field(default_factory=lambda: Address(_LOOPBACK, _METRICS_PORT))
    otlp: str | None = None
    trace_file: Path | None = None
    trace_ratio: float = 1.0
    log_level: LogLevel = LogLevel.INFO
    log_format: LogFormat = LogFormat.CONSOLE
    stop_timeout_s: float = 10.0

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Config:
        """Reads the variables in this module's table.

        Args:
            env: the variables; None: those of this process.

        Raises:
            ConfigError: if a variable cannot be used.
        """
        return _Reader(os.environ if env is None else env).config()

    @classmethod
    def for_test(cls, home: Path) -> Config:
        """Everything on free ports of the loopback, all data below `home`."""
        return cls(
            home=home,
            addresses=MappingProxyType({service: Address(_LOOPBACK, 0) for service in _default_addresses()}),
            metrics=Address(_LOOPBACK, 0),
            log_format=LogFormat.JSON,
        )

    @property
    def gateway(self) -> Address:
        """Where players' programs connect."""
        return self.addresses["gateway"]

    @property
    def keys_dir(self) -> Path:
        """Folder of the key files."""
        return self.home / "keys"

    @property
    def data_dir(self) -> Path:
        """Folder of the SQLite files."""
        return self.home / "data"

    @property
    def run_dir(self) -> Path:
        """Folder of what only a running stack needs."""
        return self.home / "run"

    @property
    def log_dir(self) -> Path:
        """Folder of log files."""
        return self.home / "logs"

    def address(self, service: str) -> Address:
        """Where a service listens, or where others find it.

        Raises:
            ConfigError: if nothing is known of such a service.
        """
        try:
            return self.addresses[service]
        except KeyError:
            known = ", ".join(sorted(self.addresses))
            raise ConfigError(f"no address for {service!r}; set {_address_variable(service)}; known: {known}") from None

    def database_url(self, service: str) -> str:
        """URL of the database a service keeps its own data in.

        >>> Config(Path("/srv/grimoire")).database_url("two_towers")
        'sqlite:////srv/grimoire/data/two_towers.db'
        """
        shared = self.database_urls.get(service, self.shared_database_url)
        if shared is not None:
            return shared
        if not _SERVICE_NAME.fullmatch(service):
            raise ConfigError(f"{service!r} cannot name a service")
        return f"sqlite:///{(self.data_dir / service).absolute().as_posix()}.db"

    def bus_settings(self, keys: KeyRing, role: str) -> BusSettings:
        """How a service connects to the broker.

        Args:
            keys: hold the role's password.
            role: see `grimoire.bus.roles`.

        Raises:
            ConfigError: if no broker is known: none is configured, and no stack with an embedded one runs here.
        """
        url = self.nats_url
        if url is None:
            running = RunFile.read(self.home)
            url = f"nats://{running.addresses['nats']}" if running and "nats" in running.addresses else None
        if url is None:
            raise ConfigError("no broker: set GRIMOIRE_NATS_URL, or start the services together with `grimoire up`")
        servers = tuple(one.strip() for one in url.split(","))
        return BusSettings(servers, role, keys.nats_password(role))

    def with_address(self, service: str, address: Address) -> Config:
        """The same, with one service's address known or changed."""
        return replace(self, addresses=MappingProxyType({**self.addresses, service: address}))

    def to_env(self) -> dict[str, str]:
        """Variables from which `from_env` reads the same configuration; for child processes."""
        env = {
            "GRIMOIRE_HOME": str(self.home.absolute()),
            "GRIMOIRE_METRICS": str(self.metrics),
            "GRIMOIRE_LOG_LEVEL": self.log_level.value,
            "GRIMOIRE_LOG_FORMAT": self.log_format.value,
            "GRIMOIRE_STOP_TIMEOUT": str(self.stop_timeout_s),
        }
        env |= {_address_variable(service): str(address) for service, address in self.addresses.items()}
        env |= {f"GRIMOIRE_DATABASE_URL_{name.upper()}": url for name, url in self.database_urls.items()}
        if self.tls is not None:
            env |= dict(zip(_TLS_VARIABLES, map(str, self.tls), strict=True))
        if self.private_network:
            env["GRIMOIRE_PRIVATE_NETWORK"] = "yes"
        if self.otlp is not None:
            env["GRIMOIRE_OTLP"] = self.otlp
        if self.trace_file is not None:
            env["GRIMOIRE_TRACE_FILE"] = str(self.trace_file.absolute())
        env["GRIMOIRE_TRACE_RATIO"] = str(self.trace_ratio)
        if self.nats_url is not None:
            env["GRIMOIRE_NATS_URL"] = self.nats_url
        if self.shared_database_url is not None:
            env["GRIMOIRE_DATABASE_URL"] = self.shared_database_url
        return env


def _address_variable(service: str) -> str:
    return f"GRIMOIRE_ADDRESS_{service.upper()}"


class _Reader:
    """Turns environment variables into a Config; an empty variable counts as not set."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = {name: value.strip() for name, value in env.items() if value.strip()}

    def config(self) -> Config:
        return Config(
            home=self._home(),
            nats_url=self._nats_url(),
            shared_database_url=self._database_url("GRIMOIRE_DATABASE_URL"),
            database_urls=MappingProxyType(self._database_urls()),
            addresses=MappingProxyType(self._addresses()),
            tls=self._tls(),
            private_network=self._choice("GRIMOIRE_PRIVATE_NETWORK", _YesNo, _YesNo.NO) is _YesNo.YES,
            metrics=self._address("GRIMOIRE_METRICS") or Address(_LOOPBACK, _METRICS_PORT),
            otlp=self._otlp(),
            trace_file=self._trace_file(),
            trace_ratio=self._ratio("GRIMOIRE_TRACE_RATIO", 1.0),
            log_level=self._choice("GRIMOIRE_LOG_LEVEL", LogLevel, LogLevel.INFO),
            log_format=self._choice("GRIMOIRE_LOG_FORMAT", LogFormat, LogFormat.CONSOLE),
            stop_timeout_s=self._seconds("GRIMOIRE_STOP_TIMEOUT", 10.0),
        )

    def _home(self) -> Path:
        given = self._env.get("GRIMOIRE_HOME")
        home = Path(given).expanduser() if given else platformdirs.user_data_path("grimoire", appauthor=False)
        if home.exists() and not home.is_dir():
            raise ConfigError(f"GRIMOIRE_HOME must be a folder; {str(home)!r} is not one")
        return home.absolute()

    def _nats_url(self) -> str | None:
        url = self._env.get("GRIMOIRE_NATS_URL")
        for one in (url or "nats://none").split(","):
            parts = urlsplit(one.strip())
            if parts.scheme not in ("nats", "tls") or not parts.hostname:
                raise ConfigError("GRIMOIRE_NATS_URL must be nats://host:port or tls://host:port; several with commas")
        return url

    def _database_url(self, variable: str) -> str | None:
        url = self._env.get(variable)
        if url is not None and (urlsplit(url).scheme not in ("postgresql", "postgres") or not urlsplit(url).path[1:]):
            raise ConfigError(
                f"{variable} must be postgresql://user:password@host:port/database; leave it away for SQLite files"
            )
        return url

    def _database_urls(self) -> dict[str, str]:
        found = {name: self._database_url(variable) for variable, name in self._per_service("GRIMOIRE_DATABASE_URL_")}
        return {name: url for name, url in found.items() if url is not None}

    def _addresses(self) -> dict[str, Address]:
        addresses = _default_addresses()
        for variable, service in self._per_service("GRIMOIRE_ADDRESS_"):
            address = self._address(variable)
            if address is not None:
                addresses[service] = address
        return addresses

    def _per_service(self, prefix: str) -> Iterator[tuple[str, str]]:
        for variable in sorted(self._env):
            if variable.startswith(prefix):
                service = variable[len(prefix) :].lower()
                if not _SERVICE_NAME.fullmatch(service):
                    raise ConfigError(f"{variable}: {service!r} cannot name a service")
                yield variable, service

    def _address(self, variable: str) -> Address | None:
        text = self._env.get(variable)
        if text is None:
            return None
        try:
            return Address.parse(text)
        except ValueError as error:
            raise ConfigError(f"{variable} must be host:port, port 0 for any free one: {error}") from None

    def _tls(self) -> TlsFiles | None:
        given = [self._env.get(variable) for variable in _TLS_VARIABLES]
        if not any(given):
            return None
        for variable, path in zip(_TLS_VARIABLES, given, strict=True):
            if path is None or not Path(path).is_file():
                raise ConfigError(f"{variable} must name a PEM file; set all of {', '.join(_TLS_VARIABLES)}, or none")
        return TlsFiles(*(Path(path).absolute() for path in given if path is not None))

    def _otlp(self) -> str | None:
        url = self._env.get("GRIMOIRE_OTLP")
        if url is not None and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ConfigError("GRIMOIRE_OTLP must be http://host:port or https://host:port")
        return url

    def _trace_file(self) -> Path | None:
        path = self._env.get("GRIMOIRE_TRACE_FILE")
        return None if path is None else Path(path).expanduser().absolute()

    def _ratio(self, variable: str, default: float) -> float:
        text = self._env.get(variable)
        try:
            ratio = default if text is None else float(text)
        except ValueError:
            ratio = -1.0
        if not 0 <= ratio <= 1:
            raise ConfigError(f"{variable} must be a share from 0 to 1; it is {text!r}")
        return ratio

    def _choice(self, variable: str, kind: type[_Choice], default: _Choice) -> _Choice:
        text = self._env.get(variable, default.value).lower()
        try:
            return kind(text)
        except ValueError:
            raise ConfigError(f"{variable} must be one of {', '.join(kind)}; it is {text!r}") from None

    def _seconds(self, variable: str, default: float) -> float:
        text = self._env.get(variable)
        try:
            seconds = default if text is None else float(text)
        except ValueError:
            seconds = -1.0
        if not 0 < seconds <= 3600:
            raise ConfigError(f"{variable} must be seconds, above 0 and at most 3600; it is {text!r}")
        return seconds


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a running stack writes down (`run/stack.json`), so that commands in other terminals find it.

    Attributes:
        version: of the installed program.
        pid: process of the stack.
        started: creation time of that process (seconds since the epoch): tells it from a later one with the same pid.
        addresses: service -> `host:port`, as bound; `nats` and `metrics` are among them.
        processes: service -> pid, where services are processes of their own.
    """

    version: str
    pid: int
    started: float
    addresses: dict[str, str]
    processes: dict[str, int] = {}

    @staticmethod
    def path(home: Path) -> Path:
        """Where a home's run file lies."""
        return home / "run" / "stack.json"

    @classmethod
    def of_this_process(
        cls, version: str, addresses: Mapping[str, str], processes: Mapping[str, int] | None = None
    ) -> RunFile:
        """A run file for the stack that this process is."""
        pid = os.getpid()
        started = psutil.Process(pid).create_time()
        return cls(
            version=version, pid=pid, started=started, addresses=dict(addresses), processes=dict(processes or {})
        )

    @classmethod
    def read(cls, home: Path) -> RunFile | None:
        """The stack that runs in this home; None if none does, or if what is written there is stale."""
        try:
            found = msgspec.json.decode(cls.path(home).read_bytes(), type=cls)
        except (OSError, msgspec.MsgspecError):
            return None
        return found if found.is_alive() else None

    def is_alive(self) -> bool:
        """The process that wrote this still runs."""
        try:
            # Boot-time arithmetic makes the same process's time differ by a little between readers.
            return abs(psutil.Process(self.pid).create_time() - self.started) < 1.0
        except psutil.Error:
            return False

    def write(self, home: Path) -> None:
        """Puts it in place at once, readable by the owner alone.

        Raises:
            AlreadyRunningError: if the stack of another live process is written there.
        """
        other = RunFile.read(home)
        if other is not None and other.pid != self.pid:
            raise AlreadyRunningError(f"a stack runs in {str(home)!r} already (process {other.pid})")
        path = self.path(home)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(self)))
        draft.replace(path)

    def remove(self, home: Path) -> None:
        """Takes it away, if it is still this stack's."""
        current = RunFile.read(home)
        if current is not None and (current.pid, current.started) == (self.pid, self.started):
            with contextlib.suppress(FileNotFoundError):
                self.path(home).unlink()
