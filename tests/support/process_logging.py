"""The logging of a whole process, configured for one test and put back after it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import structlog

from grimoire.runtime.config import Config, LogFormat, LogLevel
from grimoire.runtime.observe import configure_logging


@contextmanager
def captured_logging(config: Config, log_format: LogFormat, level: LogLevel = LogLevel.DEBUG) -> Iterator[io.StringIO]:
    """Sends all logging to the stream it gives."""
    root = logging.getLogger()
    handlers, root_level = root.handlers[:], root.level
    levels = {name: logger.level for name, logger in _loggers().items()}
    stream = io.StringIO()
    configure_logging(replace(config, log_format=log_format, log_level=level), stream)
    try:
        yield stream
    finally:
        structlog.reset_defaults()
        root.handlers[:] = handlers
        root.setLevel(root_level)
        for name, logger in _loggers().items():
            logger.setLevel(levels.get(name, logging.NOTSET))


def _loggers() -> dict[str, logging.Logger]:
    known = logging.Logger.manager.loggerDict
    return {name: logger for name, logger in known.items() if isinstance(logger, logging.Logger)}
