"""How replay says no: one exception, turned into a gRPC status at the edge of the service."""

from __future__ import annotations

import enum

import grpc

from grimoire.v1 import envelope_pb2

__all__ = ["RefusalKind", "Refused"]


class RefusalKind(enum.Enum):
    """What kind of no, with the status that carries it."""

    MALFORMED = grpc.StatusCode.INVALID_ARGUMENT
    """A field has an impossible value."""
    FORBIDDEN = grpc.StatusCode.PERMISSION_DENIED
    """The caller may not look through these eyes."""
    UNKNOWN = grpc.StatusCode.NOT_FOUND
    """There is no such match, or no such version of it."""
    NOT_NOW = grpc.StatusCode.FAILED_PRECONDITION
    """What was sent cannot be used here, whoever sends it."""
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
    """

    def __init__(self, kind: RefusalKind, code: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.rejection = envelope_pb2.Rejection(code=code, message=message, field=field)
