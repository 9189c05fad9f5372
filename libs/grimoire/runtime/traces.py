"""Where traces go: an OTLP collector, or a file. Needs the optional packages `grimoire[otlp]`.

| Variable | What it sets | Default |
|---|---|---|
| `GRIMOIRE_OTLP` | OTLP endpoint over gRPC, `http://host:4317` (or `https://…`) | none |
| `GRIMOIRE_TRACE_FILE` | file to which spans are added, one JSON object a line | none |
| `GRIMOIRE_TRACE_RATIO` | share of commands that are traced, 0 to 1 | 1 |

With neither of the first two set no span is ever made.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.metadata
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grimoire import tracing
from grimoire.runtime.config import Config, ConfigError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

__all__ = ["Traces", "start_traces", "tracing_as_configured"]

_FLUSH_MS: Final = 5_000
_HINT: Final = "install them with `pip install grimoire[otlp]`"


class Traces:
    """What exports this process's spans; made by `start_traces`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider

    def flush(self) -> None:
        """Sends what waits."""
        self._provider.force_flush(_FLUSH_MS)

    def stop(self) -> None:
        """Sends what waits, and traces no longer. Stopping twice does no harm."""
        tracing.stop()
        self._provider.shutdown()


def start_traces(config: Config) -> Traces | None:
    """Begins to trace as configured; None: nothing is configured. What waits is sent before the process ends.

    Raises:
        ConfigError: if the packages for it are missing, or the file cannot be written.
    """
    if config.otlp is None and config.trace_file is None:
        return None
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    except ImportError:
        raise ConfigError(f"traces need packages that are not installed; {_HINT}") from None
    # Decided by the trace's id, so that all services agree, and no stranger decides it for us.
    share = TraceIdRatioBased(config.trace_ratio)
    provider = TracerProvider(
        sampler=ParentBased(share, remote_parent_sampled=share, remote_parent_not_sampled=share),
        resource=Resource.create(
            {
                "service.name": "grimoire",
                "service.version": importlib.metadata.version("grimoire"),
                "process.pid": os.getpid(),
            }
        ),
        shutdown_on_exit=False,
    )
    for exporter in _exporters(config):
        provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=500))
    traces = Traces(provider)
    tracing.start(provider)
    atexit.register(traces.stop)
    return traces


@contextlib.contextmanager
def tracing_as_configured(config: Config) -> Iterator[Traces | None]:
    """Traces within a block, for programs that go on after it."""
    traces = start_traces(config)
    try:
        yield traces
    finally:
        if traces is not None:
            atexit.unregister(traces.stop)
            traces.stop()


def _exporters(config: Config) -> Iterator[SpanExporter]:
    if config.trace_file is not None:
        yield _file_exporter(config.trace_file)
    if config.otlp is not None:
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        except ImportError:
            raise ConfigError(f"GRIMOIRE_OTLP needs packages that are not installed; {_HINT}") from None
        yield OTLPSpanExporter(endpoint=config.otlp)


def _file_exporter(path: Path) -> SpanExporter:
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class FileExporter(SpanExporter):
        """Adds spans to a file that several processes may share: each batch is one write."""

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            text = "".join(json.dumps(_told(span), separators=(",", ":")) + "\n" for span in spans)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
            return SpanExportResult.SUCCESS

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        path.chmod(0o600)
    except OSError as error:
        raise ConfigError(f"GRIMOIRE_TRACE_FILE={path} cannot be written: {error.strerror}") from None
    return FileExporter()


def _told(span: ReadableSpan) -> dict[str, object]:
    context = span.get_span_context()
    if context is None:
        raise AssertionError("a span that ended has a context")
    return {
        "name": span.name,
        "trace": f"{context.trace_id:032x}",
        "span": f"{context.span_id:016x}",
        "parent": f"{span.parent.span_id:016x}" if span.parent is not None else "",
        "kind": span.kind.name.lower(),
        "start_ns": span.start_time,
        "end_ns": span.end_time,
        "pid": os.getpid(),
        "error": (span.status.description or "error") if not span.status.is_ok else "",
        "attributes": dict(span.attributes or {}),
    }
