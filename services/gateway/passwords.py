"""Passwords as they are kept: Argon2id (RFC 9106), so that a stolen table is of little use."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import msgspec
from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from gateway.refusals import RefusalKind, Refused, rejection

__all__ = ["MAX_PASSWORD", "MIN_PASSWORD", "HashCost", "Passwords"]

_T = TypeVar("_T")

MIN_PASSWORD: Final = 10
"""Characters. Length is all that is asked: rules about kinds of characters make people choose worse ones
(NIST SP 800-63B)."""
MAX_PASSWORD: Final = 128


class HashCost(msgspec.Struct, frozen=True):
    """What one hash takes. The default is the second choice of RFC 9106, for servers with little memory.

    Attributes:
        passes: over the memory.
        memory_kib: in KiB.
        lanes: at once.
    """

    passes: int = 3
    memory_kib: int = 64 * 1024
    lanes: int = 4


class Passwords:
    """Makes and checks hashes, in threads of its own; two at once, so that many sign-ins cannot take all memory.

    Args:
        cost: of one hash.
    """

    def __init__(self, cost: HashCost | None = None) -> None:
        cost = cost or HashCost()
        self._hasher = PasswordHasher(
            time_cost=cost.passes, memory_cost=cost.memory_kib, parallelism=cost.lanes, type=Type.ID
        )
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="edge-passwords")
        self._nobodys = ""

    def close(self) -> None:
        """Ends the threads."""
        self._threads.shutdown(cancel_futures=True)

    async def hash(self, password: str) -> str:
        """The hash of a new password, as a PHC string.

        Raises:
            Refused: `bad_password`: too short, too long.
        """
        if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
            sentence = f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters; nothing else is asked of it."
            raise Refused(RefusalKind.MALFORMED, rejection("bad_password", sentence, field="password"))
        return await self._in_thread(self._hasher.hash, _one_form(password))

    async def fits(self, password: str, kept: str | None) -> bool:
        """Whether this is the password; with nothing kept it is not, and finding that out takes as long."""
        if not self._nobodys:
            self._nobodys = await self._in_thread(self._hasher.hash, secrets.token_hex(16))
        text = _one_form(password[: MAX_PASSWORD + 1])
        return await self._in_thread(self._check, kept or self._nobodys, text) and kept is not None

    def is_outdated(self, kept: str) -> bool:
        """It was made at another cost than new ones are."""
        return self._hasher.check_needs_rehash(kept)

    def _check(self, kept: str, password: str) -> bool:
        try:
            return self._hasher.verify(kept, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _in_thread(self, work: Callable[..., _T], *arguments: str) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)


def _one_form(password: str) -> str:
    """The same however a keyboard composes its letters (RFC 8265 asks for NFC)."""
    return unicodedata.normalize("NFC", password)
