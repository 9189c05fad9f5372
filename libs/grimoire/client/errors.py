"""What can go wrong for a program that plays: every failure has one type."""

from __future__ import annotations

from grimoire.v1 import envelope_pb2

__all__ = ["Alarm", "ClientError", "NotSignedInError", "Rejected", "UnavailableError"]


class ClientError(Exception):
    """Anything this library raises on purpose."""


class UnavailableError(ClientError):
    """The server cannot be reached, or did not answer for as long as was waited.

    Of a command nobody knows then whether it took effect.

    Attributes:
        command_id: of that command; sending it again under this id is safe. Empty for anything else.
    """

    def __init__(self, message: str, command_id: bytes = b"") -> None:
        super().__init__(message)
        self.command_id = command_id


class NotSignedInError(ClientError):
    """There is no session token, or the server does not accept it: call `Client.guest` or connect with a token."""


class Rejected(ClientError):  # noqa: N818 - the field's word for it
    """The server understood, and said no. Nothing happened.

    Attributes:
        code: stable code, e.g. `cannot_afford`, `stale_prompt`, `unknown_match`.
        rule: the numbered rule it breaks, e.g. `TT-4.3`; empty for the platform's own codes.
        message: a sentence for people.
        version: of the match when it was judged; 0: unknown.
        retry_after_ms: for `rate_limited` and `overloaded`: when to try again.
        field: the field at fault, where there is one.
        arguments: named values for a wording of one's own.
    """

    def __init__(self, rejection: envelope_pb2.Rejection) -> None:
        rule = f" ({rejection.rule})" if rejection.rule else ""
        super().__init__(f"{rejection.code}{rule}: {rejection.message}")
        self.code = rejection.code
        self.rule = rejection.rule
        self.message = rejection.message
        self.version = rejection.version
        self.retry_after_ms = rejection.retry_after_ms
        self.field = rejection.field
        self.arguments = {a.name: a.value for a in rejection.arguments}


class Alarm(ClientError):  # noqa: N818 - the specification's word for it
    """What the server shows cannot be true: its history differs from what was seen, or the handshake was not kept.

    The session does not play on by itself; the evidence is in its keepsake.

    Attributes:
        match_id: of the match.
        version: of the entry that lies; 0: not about one entry.
        reason: a sentence.
    """

    def __init__(self, match_id: str, version: int, reason: str) -> None:
        super().__init__(f"match {match_id}, version {version}: {reason}")
        self.match_id = match_id
        self.version = version
        self.reason = reason
