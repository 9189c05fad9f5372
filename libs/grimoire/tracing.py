"""Traces: the way of one command from a player's program through broker, owner and disk to everybody's screens.

Off until `start`; then nothing here makes a span, and asking whether it is on costs as much as a function call. What
travels between programs is the W3C trace context, in gRPC metadata and NATS headers.

A span says where, when and about what (ids, versions, codes, counts), never what: attributes outside of `ATTRIBUTES`
are left out, and of a failure only its kind is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from structlog.contextvars import get_contextvars

__all__ = [
    "ATTRIBUTES",
    "Attributes",
    "Span",
    "SpanKind",
    "begin",
    "carried",
    "end",
    "on",
    "record",
    "span",
    "start",
    "stop",
    "traceparent",
]

Attributes = Mapping[str, str | int]

ATTRIBUTES: Final = frozenset(
    {
        "attempts",
        "code",
        "command_id",
        "duplicate",
        "entries",
        "error",
        "game",
        "group",
        "match_id",
        "method",
        "partition",
        "seat",
        "subject",
        "type",
        "version",
        "viewer",
        "waiting",
        "watchers",
    }
)
"""Everything a span may say: names of things that everybody may know."""

_LONGEST: Final = 128
_PARENT: Final = "traceparent"
_propagator: Final = TraceContextTextMapPropagator()
_tracer: Tracer | None = None
_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


def start(provider: TracerProvider) -> None:
    """Traces from now on, with spans of this provider."""
    global _tracer
    _tracer = provider.get_tracer("grimoire")


def stop() -> None:
    """Traces no longer."""
    global _tracer
    _tracer = None


def on() -> bool:
    """Whether ways are traced. Where speed counts, ask before gathering attributes."""
    return _tracer is not None


def span(
    name: str, attributes: Attributes | None = None, *, kind: SpanKind = SpanKind.INTERNAL
) -> AbstractContextManager[Span | None]:
    """A block as a span within the present one; what is sent from inside carries it along. None while off.

    >>> with span("nothing happens") as made:
    ...     print(made)
    None
    """
    return _NOTHING if _tracer is None else _block(_tracer, name, attributes, kind)


@contextmanager
def _block(tracer: Tracer, name: str, attributes: Attributes | None, kind: SpanKind) -> Iterator[Span]:
    made = tracer.start_span(name, kind=kind, attributes=_allowed(attributes))
    token = otel_context.attach(trace.set_span_in_context(made))
    try:
        yield made
    except BaseException as error:
        _fail(made, error)
        raise
    finally:
        otel_context.detach(token)
        made.end()


def begin(
    name: str,
    attributes: Attributes | None = None,
    *,
    parent: Context | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    start_ns: int | None = None,
) -> Span:
    """A span that somebody else ends (`end`); it is not the present one.

    Args:
        name: what happens.
        attributes: about what.
        parent: within which; None: the present one.
        kind: OpenTelemetry's.
        start_ns: nanoseconds since the epoch; None: now.

    Raises:
        RuntimeError: while off.
    """
    if _tracer is None:
        raise RuntimeError("traces are off; ask `on` first")
    return _tracer.start_span(name, parent, kind, _allowed(attributes), start_time=start_ns)


def end(made: Span, attributes: Attributes | None = None, *, error: str = "", end_ns: int | None = None) -> None:
    """Ends a span.

    Args:
        made: by `begin`.
        attributes: learned meanwhile.
        error: kind of a failure; empty: none.
        end_ns: nanoseconds since the epoch; None: now.
    """
    for key, value in _allowed(attributes).items():
        made.set_attribute(key, value)
    if error:
        made.set_status(Status(StatusCode.ERROR, error[:_LONGEST]))
    made.end(end_ns)


def record(
    name: str, parent: Context | str, start_ns: int, end_ns: int | None = None, attributes: Attributes | None = None
) -> None:
    """Something that is over, as a span of its own. Nothing while off, or where the parent is no trace context.

    Args:
        name: what happened.
        parent: within which: a context, or a `traceparent`.
        start_ns: nanoseconds since the epoch.
        end_ns: the same; None: now.
        attributes: about what.
    """
    if _tracer is None or not parent:
        return
    context = carried({_PARENT: parent}) if isinstance(parent, str) else parent
    if trace.get_current_span(context).get_span_context().is_valid:
        _tracer.start_span(name, context, SpanKind.INTERNAL, _allowed(attributes), start_time=start_ns).end(end_ns)


def carried(headers: Mapping[str, str] | None) -> Context:
    """The trace context in the headers of a message, as a parent."""
    return _propagator.extract(headers or {}, Context())


def traceparent(context: Context | None = None) -> str:
    """A context (None: the present one) as it travels; empty if there is none in it."""
    headers: dict[str, str] = {}
    _propagator.inject(headers, context)
    return headers.get(_PARENT, "")


def _allowed(attributes: Attributes | None) -> dict[str, str | int]:
    allowed = {
        key: value[:_LONGEST] if isinstance(value, str) else value
        for key, value in (attributes or {}).items()
        if key in ATTRIBUTES
    }
    service = get_contextvars().get("service")
    return allowed if service is None else {"service": service, **allowed}


def _fail(made: Span, error: BaseException) -> None:
    # Not the exception itself: its words may quote what it worked on.
    made.set_status(Status(StatusCode.ERROR, type(error).__name__))
