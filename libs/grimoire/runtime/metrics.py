"""Every number this installation counts, in one place, and the pages that show them and how the process is."""

from __future__ import annotations

import asyncio
import json
import socket
import socketserver
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from grimoire.runtime.config import Address, ConfigError
from grimoire.runtime.health import HEALTH, Health

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

__all__ = ["METRICS", "Metrics", "MetricsServer"]

_PREFIX: Final = "grimoire"
_LATENCY_S: Final = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
_LAG_S: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
_GROUP: Final = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """One set of metrics with a registry of its own.

    On a hot path, keep what `labels(...)` returns: the look-up costs more than the counting.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.commands = self._counter("commands", "Commands answered, by game and result code", ("game", "code"))
        self.duplicates = self._counter("duplicates", "Commands answered from the log, having come before", ("game",))
        self.command_seconds = self._histogram(
            "command_seconds", "From arrival of a command to its reply", ("game",), _LATENCY_S
        )
        self.commit_group = self._histogram(
            "commit_group_commands", "Commands written in one transaction", ("game",), _GROUP
        )
        self.commit_seconds = self._histogram("commit_seconds", "One transaction", ("game",), _LATENCY_S)
        self.conflicts = self._counter("conflicts", "Transactions refused by a fence", ("game", "kind"))
        self.publication_lag = self._histogram(
            "publication_lag_seconds", "From commit to publication", ("game",), _LATENCY_S
        )
        self.folded_entries = self._counter("folded_entries", "Entries folded into states", ("game",))
        self.fold_seconds = self._counter("fold_seconds", "Time spent folding entries into states", ("game",))
        self.open_matches = self._gauge("open_matches", "Matches that are not over", ("game",))
        self.broken_matches = self._counter("broken_matches", "Matches set aside: their log no longer folds", ("game",))
        self.unruled_matches = self._counter(
            "unruled_matches", "Folds refused: the match's rules version is not installed", ("game", "rules_version")
        )
        self.queued_commands = self._gauge("queued_commands", "Commands on their way to disk", ("game",))
        self.cached_matches = self._gauge("cached_matches", "Matches in memory", ("game",))
        self.store_stalls = self._counter("store_stalls", "Times the store took too long for a group", ("game",))
        self.heartbeat_failures = self._counter(
            "heartbeat_failures", "Signs of life that could not be written", ("game",)
        )
        self.partition_moves = self._counter(
            "partition_moves", "Partitions taken, released and lost by this process", ("game", "what")
        )
        self.owned_partitions = self._gauge("owned_partitions", "Partitions this process owns", ("game",))
        self.clock_lag = self._histogram(
            "clock_lag_seconds", "From a deadline to the entry that judged it", ("game",), _LAG_S
        )
        self.verifier_failures = self._counter("verifier_failures", "Logs found not to hold", ("check",))
        self.log_size = self._gauge("log_size", "Leaves of the transparency log", ())
        self.log_writer = self._gauge("log_writer", "1: this process writes the transparency log", ())
        self.log_batch_seconds = self._histogram(
            "log_batch_seconds", "One batch of leaves with its checkpoint", (), _LATENCY_S
        )
        self.log_refused = self._counter("log_refused_leaves", "Leaves the log refused", ("game", "why"))
        self.log_alarms = self._counter(
            "log_alarms", "Second commit or start leaves that say something else", ("game", "kind")
        )
        self.unlogged = self._gauge("unlogged_leaves", "Matches whose leaves are not in the log yet", ("game",))
        self.log_away = self._gauge("log_away", "1: the log takes no leaves; new matches wait", ("game",))
        self.rpc_calls = self._counter("rpc_calls", "gRPC calls served, by method and status", ("method", "code"))
        self.rpc_seconds = self._histogram(
            "rpc_seconds", "gRPC calls served; streams until they end", ("method",), _LATENCY_S
        )
        self.edge_commands = self._counter("edge_commands", "Commands answered at the edge, by result code", ("code",))
        self.watchers = self._gauge("watchers", "Open streams of players' programs", ())
        self.feeds = self._gauge("feeds", "Streams from games that these share", ())
        self.slow_watchers = self._counter("slow_watchers", "Streams dropped because nobody read them", ())
        self.ready = self._gauge("ready", "1: the service can do its work", ("service",))
        self.loop_lag = self._histogram("loop_lag_seconds", "How late the event loop wakes who sleeps", (), _LATENCY_S)
        self.restarts = self._counter("service_restarts", "Services started again after they failed", ("service",))

    def _counter(self, name: str, meaning: str, labels: tuple[str, ...]) -> Counter:
        return Counter(name, meaning, labels, namespace=_PREFIX, registry=self.registry)

    def _gauge(self, name: str, meaning: str, labels: tuple[str, ...]) -> Gauge:
        return Gauge(name, meaning, labels, namespace=_PREFIX, registry=self.registry)

    def _histogram(self, name: str, meaning: str, labels: tuple[str, ...], buckets: tuple[float, ...]) -> Histogram:
        return Histogram(name, meaning, labels, namespace=_PREFIX, registry=self.registry, buckets=buckets)


METRICS: Final = Metrics()
"""What this process counts."""

ProcessCollector(registry=METRICS.registry)
PlatformCollector(registry=METRICS.registry)
GCCollector(registry=METRICS.registry)


class MetricsServer:
    """Shows metrics and health over HTTP (`/metrics`, `/healthz`, `/readyz`), from a thread of its own."""

    def __init__(self, server: WSGIServer, host: str) -> None:
        self._server = server
        self._thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
        self._thread.start()
        self.address = Address(host, server.server_port)
        """Where it listens, the port as bound."""

    @classmethod
    def start(cls, address: Address, metrics: Metrics = METRICS, health: Health = HEALTH) -> MetricsServer:
        """Begins to listen; port 0 takes any free one.

        Raises:
            ConfigError: if the address cannot be listened on.
        """
        kind = _Server6 if ":" in address.host else _Server
        try:
            server = make_server(address.host, address.port, _Pages(metrics, health), kind, _Quiet)
        except OSError as error:
            raise ConfigError(
                f"GRIMOIRE_METRICS={address} cannot be listened on ({error.strerror}); choose another port, or 0"
            ) from None
        return cls(server, address.host)

    async def close(self) -> None:
        """Listens no more. It takes up to half a second, which does not hold up the loop."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        """Whoever scrapes is not news."""


class _Pages:
    """The WSGI application (PEP 3333) behind these pages."""

    def __init__(self, metrics: Metrics, health: Health) -> None:
        self._metrics = make_wsgi_app(metrics.registry)
        self._health = health

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", "/")).rstrip("/")
        if path == "/healthz":
            return _json(start_response, self._health.alive, {"alive": self._health.alive})
        if path == "/readyz" or path.startswith("/readyz/"):
            service = path.removeprefix("/readyz").removeprefix("/")
            faults = self._health.faults(service)
            if faults is None:
                return _json(start_response, None, {"error": f"no service is called {service[:64]!r} here"})
            ready = bool(faults) and not any(faults.values())
            return _json(start_response, ready, {"ready": ready, "services": faults})
        if path in ("/metrics", ""):
            page: Iterable[bytes] = self._metrics(environ, start_response)
            return page
        return _json(start_response, None, {"error": "see /metrics, /healthz or /readyz"})


def _json(start_response: StartResponse, well: bool | None, body: dict[str, object]) -> Iterable[bytes]:
    status = "404 Not Found" if well is None else "200 OK" if well else "503 Service Unavailable"
    start_response(status, [("Content-Type", "application/json"), ("Cache-Control", "no-store")])
    return [json.dumps(body, indent=2).encode() + b"\n"]
