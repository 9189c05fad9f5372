"""What can go wrong on the way through the broker."""

from __future__ import annotations

__all__ = [
    "BusError",
    "NoOwnerError",
    "NotPermittedError",
    "OldServerError",
    "RequestTimeoutError",
    "ServerStartError",
    "TooLargeError",
    "UnreachableError",
]


class BusError(Exception):
    """Something went wrong between this service and the broker, or beyond it."""


class UnreachableError(BusError):
    """No broker answers, or it does not let this role in."""


class OldServerError(BusError):
    """The broker is too old."""


class ServerStartError(BusError):
    """The embedded broker cannot be started; the message says why, as far as it told."""


class NotPermittedError(BusError):
    """The broker refuses the subject to this role."""


class NoOwnerError(BusError):
    """Nobody listened for as long as was waited: no instance owns the subject. The same bytes may be sent again."""


class RequestTimeoutError(BusError):
    """Somebody listens but gave no reply in time. It may have taken effect; the same bytes may be sent again."""


class TooLargeError(BusError):
    """More bytes than the broker takes."""
