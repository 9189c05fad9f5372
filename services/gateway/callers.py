"""Who calls, and what a caller may do."""

from __future__ import annotations

import contextlib
import enum
import ipaddress
from collections.abc import Iterator
from contextvars import ContextVar

from gateway.refusals import RefusalKind, Refused, rejection
from grimoire.runtime.identity import Identity

__all__ = ["Caller", "Role", "Scope", "address_of_call", "calling_from", "forbidden", "unauthenticated"]

_UNKNOWN = "unknown"
_address: ContextVar[str] = ContextVar("address of the call", default=_UNKNOWN)


class Scope(enum.IntEnum):
    """What a session is for; each holds those before it. Numbers are those of `grimoire.v1.Scope`."""

    READ = 1
    PLAY = 2
    ACCOUNT = 3


class Role(enum.IntEnum):
    """What a person is here. Numbers are those of `grimoire.v1.Role`."""

    PLAYER = 1
    MODERATOR = 2


class Caller(Identity, frozen=True):
    """An identity with its session.

    Attributes:
        scope: what the session is for.
        role: of the account.
        guest: the account has no password.
        created_ms: when the account was made (UTC ms).
        silenced_until_ms: until then it may not talk (UTC ms); 0: it may.
    """

    scope: Scope = Scope.PLAY
    role: Role = Role.PLAYER
    guest: bool = False
    created_ms: int = 0
    silenced_until_ms: int = 0

    def require(self, scope: Scope) -> None:
        """Lets pass who has this scope.

        Raises:
            Refused: `scope_missing`.
        """
        if self.scope < scope:
            sentence = f"This token may not do that: it lacks the scope {scope.name}."
            raise Refused(RefusalKind.FORBIDDEN, rejection("scope_missing", sentence))

    def require_moderator(self) -> None:
        """Lets moderators pass.

        Raises:
            Refused: `forbidden`.
        """
        if self.role is not Role.MODERATOR:
            raise forbidden("Only moderators may do that.")


def forbidden(sentence: str) -> Refused:
    """The caller is known and may not do this."""
    return Refused(RefusalKind.FORBIDDEN, rejection("forbidden", sentence))


def unauthenticated(sentence: str = "") -> Refused:
    """Nobody is signed in, or no longer."""
    sentence = sentence or "Sign in first: call SessionService.CreateGuest, and show its token with every call."
    return Refused(RefusalKind.UNAUTHENTICATED, rejection("unauthenticated", sentence))


def address_of_call() -> str:
    """Where the call that is being answered comes from: an address by which one may count, or `unknown`."""
    return _address.get()


@contextlib.contextmanager
def calling_from(address: str) -> Iterator[None]:
    """Calls within the block come from this address.

    Who has an IPv6 address has 2^64 of them: such a network counts as one.

    >>> with calling_from("2001:db8::1:2"):
    ...     address_of_call()
    '2001:db8::/64'
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        counted = _UNKNOWN
    else:
        mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
        if mapped is not None:
            counted = str(mapped)
        elif isinstance(parsed, ipaddress.IPv6Address) and not parsed.is_loopback:
            counted = str(ipaddress.ip_network((parsed, 64), strict=False))
        else:
            counted = str(parsed)
    token = _address.set(counted)
    try:
        yield
    finally:
        _address.reset(token)
