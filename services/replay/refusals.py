"""How replay says no: one exception, turned into a gRPC status at the edge of the service."""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc

from grimoire.v1 import envelope_pb2

__all__ = ["REJECTION_KEY", "RefusalKind", "Refused", "answered"]

REJECTION_KEY = "grimoire-rejection-bin"
"""Trailing metadata of a refused call: a serialised `Rejection`."""

# Whatever is worth waiting for has been waited for here; a channel that repeats the call would only multiply that
# (gRPC A6, "pushback").
_NO_RETRY = ("grpc-retry-pushback-ms", "-1")


class RefusalKind(enum.Enum):
    """What kind of no, with the status that carries it."""

    MALFORMED = grpc.StatusCode.INVALID_ARGUMENT
    """A field has an impossible value."""
    FORBIDDEN = grpc.StatusCode.PERMISSION_DENIED
    """The caller may not look through these eyes."""
    UNKNOWN = grpc.StatusCode.NOT_FOUND
    """There is no such match, or no such version of it."""
    NOT_NOW = grpc.StatusCode.FAILED_PRECONDITION
    """What is asked cannot be done with this match or file; asking again does not help."""
    BUSY = grpc.StatusCode.RESOURCE_EXHAUSTED
    """Too much was asked for, or too much at once."""
    UNAVAILABLE = grpc.StatusCode.UNAVAILABLE
    """The service that would answer cannot be reached; the same request may be sent again."""


class Refused(Exception):  # noqa: N818 - a refusal is a normal answer to a caller's mistake, not an error of ours
    """A request that is not carried out.

    Args:
        kind: decides the status.
        code: stable code, e.g. `unknown_match`.
        message: a sentence a person understands.
        field: the field at fault, where there is one.
        retry_after_ms: when to try again, where that helps.
    """

    def __init__(self, kind: RefusalKind, code: str, message: str, field: str = "", *, retry_after_ms: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.rejection = envelope_pb2.Rejection(code=code, message=message, field=field, retry_after_ms=retry_after_ms)


@asynccontextmanager
async def answered(context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[None]:
    """Ends the call with a refusal that is raised within: its status and sentence, and the `Rejection` beside them."""
    try:
        yield
    except Refused as refused:
        rejection = refused.rejection
        await context.abort(
            refused.kind.value,
            rejection.message,
            trailing_metadata=((REJECTION_KEY, rejection.SerializeToString()), _NO_RETRY),
        )
