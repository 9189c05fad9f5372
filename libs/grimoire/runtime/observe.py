"""What a process tells about itself: structured log lines that hold no secrets, and its metrics."""

from __future__ import annotations

import enum
import logging
import re
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TextIO

import structlog
from opentelemetry import trace
from structlog.contextvars import bound_contextvars
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, Processor, WrappedLogger

from grimoire.bus.correlation import correlation_id
from grimoire.runtime.config import Config, LogFormat, LogLevel
from grimoire.runtime.metrics import METRICS, Metrics, MetricsServer
from grimoire.runtime.traces import start_traces

__all__ = [
    "METRICS",
    "OPEN_FILES",
    "Metrics",
    "MetricsServer",
    "allow_open_files",
    "bound_contextvars",
    "configure_logging",
    "forbid_core_dumps",
    "redact",
    "set_up_process",
]

OPEN_FILES: Final = 65_536
"""Files and connections that a process may have open, where the system lets it."""

_LEVELS: Final = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}
# Bytes that may be shown: they are public in every match.
_SHOWN_BYTES: Final = frozenset({"command_id", "hash"})
_LONGEST_UNKNOWN_BYTES: Final = 8
_LONGEST_TEXT: Final = 2000
_DEEPEST: Final = 8
# What a seed, nonce or key would look like inside a text: 32 bytes as hex or base64, or any printed bytes.
_SECRET_TEXT: Final = re.compile(
    r"""(?<![0-9A-Za-z])[0-9A-Fa-f]{64,}(?![0-9A-Za-z])"""
    r"""|(?<![0-9A-Za-z+/_-])(?=[A-Za-z+/_-]*[0-9])(?=[0-9a-z+/_-]*[A-Z])[0-9A-Za-z+/_-]{43}(?![0-9A-Za-z+/_-])"""
    r"""|\bb(?:'(?:[^'\\\n]|\\.){9,}'|"(?:[^"\\\n]|\\.){9,}")"""
)
_HIDDEN: Final = "<hidden>"
# Chatty at INFO, or echoing what they were given.
_QUIET_LOGGERS: Final = ("asyncio", "grpc", "nats", "alembic", "sqlalchemy")


def set_up_process(config: Config) -> None:
    """What every process does first.

    No core dumps, as many open files as it may have, logs and traces as configured, nothing that ends it goes unlogged.

    Raises:
        ConfigError: if traces are configured that cannot be made.
    """
    forbid_core_dumps()
    allow_open_files()
    configure_logging(config)
    start_traces(config)
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


def forbid_core_dumps() -> None:
    """A core file would hold keys, seeds and every open hand."""
    with suppress(ImportError):  # Windows has no such limit, and no core files
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def allow_open_files() -> None:
    """Takes as many as the system allows, up to `OPEN_FILES`.

    Every connection is one, and many systems begin with 1,024: so many idle connections to the edge would keep out
    everybody else, and the databases and the broker of the same process with them.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def configure_logging(config: Config, stream: TextIO | None = None) -> None:
    """Sends all logging of this process, the standard library's too, through one redacting pipeline.

    Args:
        config: level and format.
        stream: where lines go; None: standard error.
    """
    level = _LEVELS[config.log_level]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_correlation,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    out = stream if stream is not None else sys.stderr
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _exceptions(config.log_format),
                redact,
                _renderer(config.log_format, out),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def redact(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A structlog processor that lets only plain values through.

    Texts lose whatever looks like a seed, key or printed bytes. Bytes longer than 8 show only under keys known to be
    public. Of anything else (a `Secret`, a state, a message) only the type's name is left.

    >>> redact(None, "", {"event": "x", "seat": 1, "nonce": bytes(32), "command_id": b"ab"})
    {'event': 'x', 'seat': 1, 'nonce': '<32 bytes>', 'command_id': '6162'}
    """
    return {str(key): _plain(str(key), value, 0) for key, value in event.items()}


def _plain(key: str, value: object, depth: int) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value.name.lower() if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return _plain(key, value.value, depth)
    if isinstance(value, str):
        return _scrub(value) if key != "exception" else _SECRET_TEXT.sub(_HIDDEN, value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        shown = key in _SHOWN_BYTES or len(value) <= _LONGEST_UNKNOWN_BYTES
        return bytes(value).hex() if shown else f"<{len(value)} bytes>"
    if isinstance(value, BaseException):
        return _scrub(f"{type(value).__name__}: {value}")
    if isinstance(value, Path):
        return str(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {str(name): _plain(str(name), inner, depth + 1) for name, inner in value.items()}
        # Only the plain containers: a named tuple or record may be a state.
        if type(value) in (list, tuple, set, frozenset):
            return [_plain(key, inner, depth + 1) for inner in value]  # type: ignore[attr-defined]
    return f"<{type(value).__name__}>"


def _scrub(text: str) -> str:
    clean = _SECRET_TEXT.sub(_HIDDEN, text)
    return clean if len(clean) <= _LONGEST_TEXT else f"{clean[:_LONGEST_TEXT]}… ({len(clean)} characters)"


def _add_correlation(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    current = correlation_id()
    if current:
        event.setdefault("correlation_id", current)
    span = trace.get_current_span().get_span_context()
    if span.is_valid:
        event.setdefault("trace_id", f"{span.trace_id:032x}")
    return event


def _exceptions(log_format: LogFormat) -> Processor:
    if log_format is LogFormat.JSON:
        return ExceptionRenderer(ExceptionDictTransformer(show_locals=False, use_rich=False))
    return structlog.processors.format_exc_info


def _renderer(log_format: LogFormat, out: TextIO) -> Processor:
    if log_format is LogFormat.JSON:
        return structlog.processors.JSONRenderer(ensure_ascii=False)
    return ConsoleRenderer(colors=out.isatty(), exception_formatter=plain_traceback)


def _log_uncaught(kind: type[BaseException], error: BaseException, trace_back: TracebackType | None) -> Any:
    if issubclass(kind, KeyboardInterrupt):
        return
    structlog.stdlib.get_logger("grimoire").critical("uncaught", exc_info=(kind, error, trace_back))


def _log_uncaught_in_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)
