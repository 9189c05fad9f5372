"""A secret shows itself to nobody: every way a value usually leaks is tried."""

from __future__ import annotations

import copy
import io
import json
import logging
import pickle
import traceback

import msgspec
import pytest
import structlog
from rich.console import Console
from rich.pretty import pretty_repr
from rich.traceback import Traceback

from grimoire.fairness import RecordedDraws, Stream, joint_seed, server_seed
from grimoire.fairness.keepsake import Keepsake
from grimoire.fairness.secret import Secret

VALUE = b"only-for-the-eyes-of-the-referee"
SIGNS = (VALUE.decode(), VALUE.hex(), VALUE.hex().upper(), "b25seS1mb3I")


class Holder(msgspec.Struct, frozen=True):
    seed: Secret


def assert_clean(text: str) -> None:
    assert text
    assert not any(sign in text for sign in SIGNS)


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        "{}".format,
        "{:>80}".format,
        "{!r:s}".format,
        lambda secret: f"{secret}{secret!r}{secret!s}{secret!a}",
        lambda secret: "%s %r" % (secret, secret),  # noqa: UP031 - this way leaks too
        lambda secret: repr([secret, {"seed": secret}, (secret,)]),
        lambda secret: repr(Holder(secret)),
        lambda secret: pretty_repr({"seed": secret}, expand_all=True),
        lambda secret: repr(Keepsake("toy", "m", 0, bytes(32), secret, bytes(32))),
        lambda secret: json.dumps({"seed": secret}, default=str),
        lambda secret: repr(Stream("toy", secret, "x")) + repr(RecordedDraws("toy", secret)),
    ],
)
def test_shown_as_a_placeholder(show) -> None:
    assert_clean(show(Secret(VALUE)))


@pytest.mark.parametrize(
    "encode",
    [
        bytes,
        bytearray,
        memoryview,
        vars,
        list,
        hash,
        pickle.dumps,
        copy.copy,
        copy.deepcopy,
        json.dumps,
        msgspec.json.encode,
        msgspec.msgpack.encode,
        msgspec.to_builtins,
        lambda secret: pickle.dumps(Holder(secret), protocol=0),
        lambda secret: msgspec.json.encode(Holder(secret)),
        lambda secret: secret.__getstate__(),
        lambda secret: b"" + secret,
    ],
)
def test_refuses_to_become_anything_else(encode) -> None:
    with pytest.raises(TypeError) as refused:
        encode(Secret(VALUE))
    assert_clean(str(refused.value))


def test_logs_stay_clean() -> None:
    out = io.StringIO()
    for renderer in (structlog.processors.JSONRenderer(), structlog.dev.ConsoleRenderer(colors=False)):
        log = structlog.wrap_logger(structlog.PrintLogger(out), processors=[renderer])
        log.info("match_started", seed=Secret(VALUE), holder=Holder(Secret(VALUE)))
    handler = logging.StreamHandler(out)
    record = logging.LogRecord("x", logging.INFO, __file__, 1, "%s %r", (Secret(VALUE), Secret(VALUE)), None)
    handler.emit(record)
    assert_clean(out.getvalue())
    assert out.getvalue().count("hidden") >= 4


def _fails_with_secrets_at_hand() -> None:
    seed = Secret(VALUE)
    joint = joint_seed("toy", "m", seed, [bytes(32)])
    draws = RecordedDraws("toy", joint)
    draws.below("x", 7)
    draws.below("x", 0)


@pytest.mark.parametrize("failing", [_fails_with_secrets_at_hand, lambda: server_seed(Secret(VALUE[:9]), "toy", "m")])
def test_tracebacks_with_local_variables_stay_clean(failing) -> None:
    out = io.StringIO()
    try:
        failing()
    except ValueError as error:
        Console(file=out, width=200).print(
            Traceback.from_exception(type(error), error, error.__traceback__, show_locals=True)
        )
        transform = structlog.tracebacks.ExceptionDictTransformer(show_locals=True)
        out.write(json.dumps(transform((type(error), error, error.__traceback__)), default=repr))
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        out.write("".join(shown.format()))
    joint = joint_seed("toy", "m", Secret(VALUE), [bytes(32)]).open()
    assert "hidden" in out.getvalue()
    assert_clean(out.getvalue())
    assert joint.hex() not in out.getvalue()
    assert repr(joint)[2:-1] not in out.getvalue()


def test_opens_only_when_asked() -> None:
    assert Secret(VALUE).open() == VALUE


def test_equality() -> None:
    assert Secret(VALUE) == Secret(bytes(VALUE))
    assert Secret(VALUE) != Secret(VALUE[::-1])
    assert Secret(VALUE) != VALUE
    assert (Secret(VALUE) == VALUE) is False


@pytest.mark.parametrize("value", ["text", bytearray(VALUE), None, 7])
def test_holds_bytes_only(value: object) -> None:
    with pytest.raises(TypeError) as refused:
        Secret(value)
    assert_clean(str(refused.value))


def test_holds_something() -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        Secret(b"")
