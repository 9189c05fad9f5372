"""Who someone is, to the edge and within a match: session tokens, pseudonyms, fresh ids."""

from __future__ import annotations

import base64
import hmac
import re
import secrets
import time
from typing import Final

import msgspec

from grimoire.engine.seats import MatchId
from grimoire.fairness.hashing import lines
from grimoire.runtime.keys import KeyRing

__all__ = ["SESSION_LIFETIME_S", "Identity", "mint", "new_account_id", "new_match_id", "occupant_id", "verify"]

SESSION_LIFETIME_S: Final = 90 * 24 * 3600
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{1,1000}\.[A-Za-z0-9_-]{43}")
# Crockford's base 32 without the letters that look like digits.
_ID_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_LENGTH: Final = 26


class Identity(msgspec.Struct, frozen=True):
    """Whom a session token speaks for.

    Attributes:
        account_id: opaque and stable.
        name: as others see it.
        bot: a program plays.
        session_id: of the session this was shown by; empty: the platform's own token for one of its bots.
    """

    account_id: str
    name: str
    bot: bool = False
    session_id: str = ""


class _Claims(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    account_id: str
    name: str
    bot: bool
    expires_s: int
    session_id: str = ""


_DECODER: Final = msgspec.json.Decoder(_Claims)


def mint(
    keys: KeyRing,
    account_id: str,
    name: str,
    bot: bool,
    *,
    lifetime_s: int = SESSION_LIFETIME_S,
    session_id: str = "",
) -> str:
    """A session token: readable by its holder, forgeable by nobody without the session key.

    Args:
        keys: whose session key signs (HMAC-SHA256, RFC 2104).
        account_id: of the account.
        name: shown name.
        bot: whether a program plays.
        lifetime_s: seconds from now until it is refused.
        session_id: of the session at the edge, which can end it before; empty: of a bot of the platform's own.

    Returns:
        URL-safe ASCII text, two parts with a dot between.
    """
    claims = _Claims(account_id, name, bot, int(time.time()) + lifetime_s, session_id)
    body = _encode(msgspec.json.encode(claims))
    return f"{body}.{_encode(_signature(keys, body))}"


def verify(keys: KeyRing, token: str) -> Identity | None:
    """Whom a token speaks for; None if it is forged, damaged or expired."""
    if not _TOKEN.fullmatch(token):
        return None
    body, _, signature = token.partition(".")
    if not hmac.compare_digest(_encode(_signature(keys, body)), signature):
        return None
    try:
        claims = _DECODER.decode(_decode(body))
    except (ValueError, msgspec.MsgspecError):
        return None
    if claims.expires_s <= time.time():
        return None
    return Identity(claims.account_id, claims.name, claims.bot, claims.session_id)


def occupant_id(keys: KeyRing, match_id: MatchId, account_id: str) -> str:
    """The pseudonym of an account in one match: 32 hex digits that link neither to the account nor to other matches."""
    text = lines("grimoire/occupant/1", match_id, account_id)
    return hmac.digest(keys.occupant_key.open(), text, "sha256")[:16].hex()


def new_match_id() -> MatchId:
    """A fresh match id: 26 characters, 130 bits from the system's secure source."""
    return MatchId(_fresh_id())


def new_account_id() -> str:
    """A fresh account id: 26 characters, 130 bits from the system's secure source."""
    return _fresh_id()


def _fresh_id() -> str:
    return "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))


def _signature(keys: KeyRing, body: str) -> bytes:
    return hmac.digest(keys.session_key.open(), lines("grimoire/session/1", body), "sha256")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
