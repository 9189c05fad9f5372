from __future__ import annotations

import enum
import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import context as otel_context
from opentelemetry import trace

from grimoire.bus import correlated
from grimoire.fairness.secret import Secret
from grimoire.runtime.config import Config, LogFormat, LogLevel
from grimoire.runtime.observe import bound_contextvars, redact
from grimoire.v1 import match_pb2
from tests.support.process_logging import captured_logging


class State(msgspec.Struct, frozen=True):
    hand: tuple[str, ...]


class Suit(enum.Enum):
    TOWER = "tower"


class TestRedaction:
    @pytest.mark.parametrize(
        ("key", "value", "shown"),
        [
            ("version", 7, 7),
            ("ratio", 0.5, 0.5),
            ("open", True, True),
            ("nothing", None, None),
            ("rule", "TT-4.6", "TT-4.6"),
            ("suit", Suit.TOWER, "tower"),
            ("level", LogLevel.INFO, "info"),
            ("home", Path("a"), "a"),
            ("command_id", bytes(16), "00" * 16),
            ("hash", bytes(32), "00" * 32),
            ("tag", b"12345678", "3132333435363738"),
            ("nonce", bytes(32), "<32 bytes>"),
            ("nonce", bytearray(9), "<9 bytes>"),
            ("nonce", memoryview(bytes(9)), "<9 bytes>"),
            ("seed", Secret(b"x"), "<Secret>"),
            ("state", State(("ruby",)), "<State>"),
            ("message", match_pb2.OpenNonce(nonce=bytes(32)), "<OpenNonce>"),
            ("faults", {"m1": Suit.TOWER, "m2": bytes(9)}, {"m1": "tower", "m2": "<9 bytes>"}),
            ("list", [1, "a", Secret(b"x"), (bytes(32),)], [1, "a", "<Secret>", ["<32 bytes>"]]),
            ("error", ValueError("bad"), "ValueError: bad"),
            ("error", ValueError(bytes(32)), "ValueError: <hidden>"),
        ],
    )
    def test_only_plain_values_pass(self, key: str, value: object, shown: object) -> None:
        assert redact(None, "", {key: value}) == {key: shown}

    @given(st.binary(min_size=32, max_size=64))
    def test_printed_seeds_do_not_pass_inside_a_text(self, seed: bytes) -> None:
        for text in (repr(seed), seed.hex(), seed.hex().upper(), f"seed={seed.hex()};", f"[{seed!r}]"):
            shown = redact(None, "", {"reason": text, "list": [text]})
            assert repr(seed) not in str(shown)
            assert seed.hex() not in str(shown).lower()

    def test_ids_and_sentences_stay_readable(self) -> None:
        for text in ("0123456789abcdefghjkmnpqrs", "a" * 32, "cannot listen on 127.0.0.1:7420", "b'short'", "f" * 63):
            assert redact(None, "", {"reason": text}) == {"reason": text}

    def test_a_text_without_end_is_cut(self) -> None:
        shown = redact(None, "", {"reason": "ab " * 10_000})["reason"]
        assert len(shown) < 2100
        assert "30000 characters" in shown

    def test_a_structure_that_holds_itself_ends(self) -> None:
        endless: list[object] = []
        endless.append(endless)
        assert "<list>" in str(redact(None, "", {"x": endless}))


class TestLines:
    def test_json_lines_carry_context_and_keys(self, config: Config) -> None:
        span = trace.SpanContext(0xABC, 0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1))
        with captured_logging(config, LogFormat.JSON) as stream:
            token = otel_context.attach(trace.set_span_in_context(trace.NonRecordingSpan(span)))
            try:
                with correlated("abc"), bound_contextvars(match_id="m1", seat=1):
                    structlog.stdlib.get_logger("grimoire.x").info("match_started", version=3, command_id=bytes(16))
            finally:
                otel_context.detach(token)
        line = json.loads(stream.getvalue())
        assert line.pop("timestamp").endswith("Z")
        assert line == {
            "event": "match_started",
            "level": "info",
            "logger": "grimoire.x",
            "correlation_id": "abc",
            "trace_id": f"{0xABC:032x}",
            "match_id": "m1",
            "seat": 1,
            "version": 3,
            "command_id": "00" * 16,
        }

    def test_the_standard_librarys_logging_goes_the_same_way(self, config: Config) -> None:
        with captured_logging(config, LogFormat.JSON) as stream, correlated("abc"):
            logging.getLogger("grpc").warning("peer %s sent %r", "p", bytes(32))
        line = json.loads(stream.getvalue())
        assert line["event"] == "peer p sent <hidden>"
        assert (line["logger"], line["level"], line["correlation_id"]) == ("grpc", "warning", "abc")

    def test_less_than_the_level_is_not_said(self, config: Config) -> None:
        with captured_logging(config, LogFormat.JSON, LogLevel.WARNING) as stream:
            structlog.stdlib.get_logger("grimoire.x").info("quiet")
            logging.getLogger("elsewhere").info("quiet")
            logging.getLogger("sqlalchemy.engine").warning("loud")
        assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["loud"]

    def test_chatty_libraries_are_held_to_warnings(self, log: io.StringIO) -> None:
        for name in ("nats", "grpc._cython", "alembic.runtime", "sqlalchemy.engine", "asyncio"):
            logging.getLogger(name).info("chatter")
        assert log.getvalue() == ""

    def test_no_local_variable_of_a_failure_is_shown(self, log: io.StringIO) -> None:
        def fail() -> None:
            hand = "the crystal ball"
            raise RuntimeError(f"broken at {len(hand)}")

        try:
            fail()
        except RuntimeError:
            structlog.stdlib.get_logger("x").exception("failed")
            logging.getLogger("y").exception("failed")
        lines = log.getvalue()
        assert lines.count("broken at 16") == 2
        assert lines.count("test_observe.py") >= 2
        assert "crystal ball" not in lines.replace('hand = "the crystal ball"', "")


CRASH = """
import resource, sys, threading
from pathlib import Path
from grimoire.runtime.config import Config, LogFormat
from grimoire.runtime.observe import set_up_process
set_up_process(Config(Path(sys.argv[1]), log_format=LogFormat.JSON))
print(resource.getrlimit(resource.RLIMIT_CORE))
def fail(seed):
    raise RuntimeError(f"failed with {seed!r}")
thread = threading.Thread(target=fail, args=(bytes(range(32)),))
thread.start()
thread.join()
fail(bytes(range(32)))
"""


def test_a_process_leaves_no_core_and_logs_what_ends_it_without_secrets(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path)], capture_output=True, text=True)
    assert done.stdout == "(0, 0)\n"
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in lines] == ["uncaught", "uncaught"]
    assert [line["exception"][0]["exc_value"] for line in lines] == ["failed with <hidden>"] * 2


FEW_FILES = """
import resource, sys
from pathlib import Path
from grimoire.runtime.config import Config
from grimoire.runtime.observe import set_up_process
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
most = min(int(sys.argv[2]), hard) if hard != resource.RLIM_INFINITY else int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
set_up_process(Config(Path(sys.argv[1])))
print(resource.getrlimit(resource.RLIMIT_NOFILE) == (min(most, 65_536), most))
"""


@pytest.mark.parametrize("most", [2_000, 1_000_000])
def test_a_process_takes_as_many_open_files_as_it_may_have(tmp_path: Path, most: int) -> None:
    command = [sys.executable, "-c", FEW_FILES, str(tmp_path), str(most)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n", done.stderr
