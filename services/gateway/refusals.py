"""How the edge says no: one exception, whatever the transport.

A judged command is answered with a `Rejection` inside a normal reply; everything else that a caller may not do, or may
not do now, is a `Refused`, which each transport turns into its own kind of status.
"""

from __future__ import annotations

import enum

from grimoire.v1 import envelope_pb2

__all__ = ["RefusalKind", "Refused", "rejection", "unavailable"]


class RefusalKind(enum.Enum):
    """What kind of no; each transport has a status for it."""

    MALFORMED = "malformed"
    """The bytes are not the message asked for, or a field has an impossible value."""
    UNAUTHENTICATED = "unauthenticated"
    """No session token, or one that this installation did not issue or that has expired."""
    FORBIDDEN = "forbidden"
    """The caller is known and may not do this."""
    UNKNOWN = "unknown"
    """There is no such match or game."""
    NOT_NOW = "not_now"
    """What was asked cannot be done in the present state, whoever asks."""
    BUSY = "busy"
    """Too much was asked for at once; try again later."""
    UNAVAILABLE = "unavailable"
    """The service that would answer cannot be reached; the same request may be sent again."""


class Refused(Exception):  # noqa: N818 - a refusal is a normal answer to a caller's mistake, not an error of ours
    """A caller's request that the edge does not carry out.

    Args:
        kind: decides the transport's status.
        rejection: code and sentence for the caller.
    """

    def __init__(self, kind: RefusalKind, rejection: envelope_pb2.Rejection) -> None:
        super().__init__(rejection.message)
        self.kind = kind
        self.rejection = rejection


def rejection(code: str, message: str, *, field: str = "", retry_after_ms: int = 0) -> envelope_pb2.Rejection:
    """A platform rejection: stable code, a sentence for people, and the field at fault where there is one.

    >>> rejection("too_large", "A command has at most 8192 bytes.").code
    'too_large'
    """
    return envelope_pb2.Rejection(code=code, message=message, field=field, retry_after_ms=retry_after_ms)


def unavailable(sentence: str) -> Refused:
    """A service behind the edge does not answer now."""
    return Refused(RefusalKind.UNAVAILABLE, rejection("unavailable", sentence))
