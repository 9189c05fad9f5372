"""The session of a browser: a cookie that no script can read and no other site can send."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final

from gateway.sessions import LIFETIME_MS

__all__ = ["SessionCookie", "cookie_of_call"]

_TOKEN: Final = re.compile(r"[A-Za-z0-9_.-]{1,1100}")


class SessionCookie:
    """The cookie of one request's scheme and port.

    Over https it has the prefix that lets browsers refuse any weaker one of the same name (RFC 6265bis, section 4.1.3).
    Cookies know no ports: over plain http its name has one in it, so that two installations on a machine do not
    take each other's.

    >>> SessionCookie(secure=True, port=443).name, SessionCookie(secure=False, port=7400).name
    ('__Host-grimoire', 'grimoire-7400')
    """

    def __init__(self, *, secure: bool, port: int) -> None:
        self._secure = secure
        self.name = "__Host-grimoire" if secure else f"grimoire-{port}"

    def find(self, headers: Sequence[str]) -> str | None:
        """The token in a request's cookies; None: there is none, or there are several.

        >>> SessionCookie(secure=False, port=1).find(["a=b; grimoire-1=tok.en"])
        'tok.en'
        """
        found = [
            value.strip()
            for header in headers
            for name, _, value in (pair.partition("=") for pair in header.split(";"))
            if name.strip() == self.name
        ]
        return found[0] if len(found) == 1 and _TOKEN.fullmatch(found[0]) else None

    def carry(self, token: str) -> str:
        """A `Set-Cookie` that opens a session."""
        return f"{self.name}={token}; Max-Age={LIFETIME_MS // 1000}; {self._rules}"

    @property
    def drop(self) -> str:
        """A `Set-Cookie` that ends it."""
        return f"{self.name}=; Max-Age=0; {self._rules}"

    @property
    def _rules(self) -> str:
        rules = "Path=/; HttpOnly; SameSite=Strict"
        return f"{rules}; Secure" if self._secure else rules


cookie_of_call: Final[ContextVar[SessionCookie | None]] = ContextVar("cookie of the call", default=None)
"""What a session's cookie is for the request being answered; None: it comes from no browser."""
