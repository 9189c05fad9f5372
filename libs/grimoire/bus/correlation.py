"""What ties the log lines of one request together: a correlation id, and the W3C trace context where one is open."""

from __future__ import annotations

import contextvars
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

__all__ = [
    "CORRELATION_HEADER",
    "adopt",
    "correlated",
    "correlation_id",
    "incoming",
    "new_correlation_id",
    "outgoing",
]

CORRELATION_HEADER: Final = "grimoire-correlation-id"
"""Key in NATS headers and gRPC metadata."""

_TRACE_HEADERS: Final = ("traceparent", "tracestate")
_VALID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_current: Final = contextvars.ContextVar("grimoire_correlation_id", default="")
_propagator: Final = TraceContextTextMapPropagator()


def new_correlation_id() -> str:
    """A fresh id: 16 hex digits."""
    return secrets.token_hex(8)


def correlation_id() -> str:
    """The id of what is being done here; empty outside of any request."""
    return _current.get()


@contextmanager
def correlated(given: str = "") -> Iterator[str]:
    """Runs a block under a correlation id: the one given, or a fresh one if it is missing or malformed.

    >>> with correlated("abc"):
    ...     correlation_id()
    'abc'
    """
    value = given if _VALID.fullmatch(given) else new_correlation_id()
    token = _current.set(value)
    try:
        yield value
    finally:
        _current.reset(token)


def outgoing() -> dict[str, str] | None:
    """Headers for what is sent from here; None where nothing is to be said."""
    headers = {}
    current = _current.get()
    if current:
        headers[CORRELATION_HEADER] = current
    if trace.get_current_span().get_span_context().is_valid:
        _propagator.inject(headers)
    return headers or None


def adopt(headers: Mapping[str, str]) -> None:
    """Takes over the correlation id and trace context of a received call for the rest of this task.

    For tasks that serve one call and then end; elsewhere use `incoming`.
    """
    given = headers.get(CORRELATION_HEADER, "")
    _current.set(given if _VALID.fullmatch(given) else new_correlation_id())
    if "traceparent" in headers:
        otel_context.attach(_propagator.extract({name: headers[name] for name in _TRACE_HEADERS if name in headers}))


@contextmanager
def incoming(headers: Mapping[str, str] | None) -> Iterator[str]:
    """Runs a block under the correlation id and trace context of a received message or call."""
    found = headers or {}
    if "traceparent" not in found:
        with correlated(found.get(CORRELATION_HEADER, "")) as value:
            yield value
        return
    carrier = {name: found[name] for name in _TRACE_HEADERS if name in found}
    token = otel_context.attach(_propagator.extract(carrier))
    try:
        with correlated(found.get(CORRELATION_HEADER, "")) as value:
            yield value
    finally:
        otel_context.detach(token)
