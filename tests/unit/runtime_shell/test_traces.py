"""Where spans go, and that none is made unless somebody asked for them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.trace import SpanKind

from grimoire import tracing
from grimoire.runtime.config import Config, ConfigError
from grimoire.runtime.traces import start_traces, tracing_as_configured


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.for_test(tmp_path)


@pytest.fixture
def traced(config: Config, tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "spans.jsonl"
    with tracing_as_configured(replace(config, trace_file=path)):
        yield path


def spans(path: Path) -> list[dict[str, Any]]:
    tracing_was_on = tracing.on()
    assert tracing_was_on
    provider = tracing._tracer
    assert provider is not None
    provider.span_processor.force_flush()  # type: ignore[attr-defined]
    return [json.loads(line) for line in path.read_text().splitlines()]


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """An OTLP collector that keeps what it gets."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.services: set[str] = set()

    def Export(self, request: Any, context: grpc.ServicerContext) -> Any:
        for resource in request.resource_spans:
            self.services |= {a.value.string_value for a in resource.resource.attributes if a.key == "service.name"}
            self.names += [span.name for scope in resource.scope_spans for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


def test_nothing_is_made_unless_configured(config: Config) -> None:
    assert start_traces(config) is None
    assert not tracing.on()
    with tracing.span("x", {"game": "toy"}) as made:
        assert made is None
    tracing.record("x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", 1)
    with pytest.raises(RuntimeError, match="traces are off"):
        tracing.begin("x")


def test_spans_nest_and_carry_on(traced: Path) -> None:
    with tracing.span("outer", {"game": "toy"}, kind=SpanKind.SERVER):
        parent = tracing.traceparent()
        with tracing.span("inner"):
            assert tracing.traceparent() != parent
        assert tracing.traceparent() == parent
    elsewhere = tracing.begin("elsewhere", {"seat": 1}, parent=tracing.carried({"traceparent": parent}))
    tracing.end(elsewhere, {"code": "accepted"})
    tracing.record("over", parent, 1_000, 2_000, {"version": 7})
    tracing.record("nowhere", "", 1_000)
    tracing.record("nowhere", "garbage", 1_000)
    by_name = {span["name"]: span for span in spans(traced)}
    assert set(by_name) == {"outer", "inner", "elsewhere", "over"}
    assert len({span["trace"] for span in by_name.values()}) == 1
    assert {by_name[name]["parent"] for name in ("inner", "elsewhere", "over")} == {by_name["outer"]["span"]}
    assert by_name["outer"]["kind"] == "server"
    assert (by_name["over"]["start_ns"], by_name["over"]["end_ns"]) == (1_000, 2_000)
    assert by_name["elsewhere"]["attributes"] == {"seat": 1, "code": "accepted"}


def test_what_is_no_known_name_or_number_is_left_out(traced: Path) -> None:
    with tracing.span("x", {"game": "toy", "payload": "ruby", "seed": "00" * 32, "code": "c" * 1000}):
        pass
    (span,) = spans(traced)
    assert span["attributes"] == {"game": "toy", "code": "c" * 128}


def test_of_a_failure_only_its_kind_is_told(traced: Path) -> None:
    with pytest.raises(ValueError, match="ruby"), tracing.span("x"):
        raise ValueError("the hidden card is ruby")
    (span,) = spans(traced)
    assert span["error"] == "ValueError"
    assert "ruby" not in traced.read_text()


def test_the_file_is_for_its_owner_and_is_added_to(config: Config, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "spans.jsonl"
    for name in ("one", "two"):
        with tracing_as_configured(replace(config, trace_file=path)), tracing.span(name):
            pass
    assert [json.loads(line)["name"] for line in path.read_text().splitlines()] == ["one", "two"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert not tracing.on()


def test_a_share_of_nothing_traces_nothing(config: Config, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    with tracing_as_configured(replace(config, trace_file=path, trace_ratio=0.0)):
        with tracing.span("x"):
            pass
        # Nor does a stranger who says that we should.
        stranger = tracing.carried({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
        tracing.end(tracing.begin("y", parent=stranger))
    assert path.read_text() == ""


def test_spans_reach_an_otlp_collector(config: Config) -> None:
    collector = Collector()
    server = grpc.server(futures.ThreadPoolExecutor(1))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(collector, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with tracing_as_configured(replace(config, otlp=f"http://127.0.0.1:{port}")), tracing.span("far away"):
            pass
    finally:
        server.stop(0).wait()
    assert collector.names == ["far away"]
    assert collector.services == {"grimoire"}


def test_what_cannot_be_done_is_said_at_the_start(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"GRIMOIRE_TRACE_FILE=.*cannot be written"):
        start_traces(replace(config, trace_file=tmp_path / "file" / "spans.jsonl"))
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.trace_exporter", None)
    with pytest.raises(ConfigError, match=r"GRIMOIRE_OTLP needs packages.*grimoire\[otlp\]"):
        start_traces(replace(config, otlp="http://127.0.0.1:4317"))
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ConfigError, match=r"traces need packages.*grimoire\[otlp\]"):
        start_traces(replace(config, trace_file=tmp_path / "spans.jsonl"))
    assert not tracing.on()


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("GRIMOIRE_OTLP", "collector:4317", "http://host:port"),
        ("GRIMOIRE_TRACE_RATIO", "2", "a share from 0 to 1"),
        ("GRIMOIRE_TRACE_RATIO", "much", "a share from 0 to 1"),
    ],
)
def test_settings_that_cannot_be_used(variable: str, value: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Config.from_env({variable: value})


def test_settings_travel_to_child_processes(tmp_path: Path) -> None:
    config = replace(Config.for_test(tmp_path), otlp="http://c:4317", trace_file=tmp_path / "t", trace_ratio=0.25)
    again = Config.from_env(config.to_env())
    assert (again.otlp, again.trace_file, again.trace_ratio) == ("http://c:4317", tmp_path / "t", 0.25)
