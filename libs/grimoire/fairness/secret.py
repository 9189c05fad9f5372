"""Bytes that must not be seen: seeds and nonces before the reveal."""

from __future__ import annotations

import hmac
from typing import NoReturn, SupportsIndex, final

__all__ = ["Secret"]


@final
class Secret:
    """Holds bytes and shows them to nobody who does not ask for them by `open()`.

    `repr`, `str` and formatting show a placeholder, so logs and tracebacks with local variables stay clean; pickling,
    copying, hashing and every encoder refuse. Two secrets are compared in constant time.

    Args:
        value: at least one byte.

    Raises:
        TypeError: if the value is not bytes. No message ever shows the value.
        ValueError: if it is empty.

    >>> Secret(b"joint seed")
    Secret(hidden)
    >>> f"{Secret(b'joint seed')}"
    'Secret(hidden)'
    >>> Secret(b"a") == Secret(b"a")
    True
    """

    __slots__ = ("__value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: bytes) -> None:
        if type(value) is not bytes:
            raise TypeError(f"a secret holds bytes, not {type(value).__name__}")
        if not value:
            raise ValueError("a secret holds at least one byte")
        self.__value = value

    def open(self) -> bytes:
        """The bytes. Use them inside an expression; do not keep them in a variable."""
        return self.__value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Secret):
            return hmac.compare_digest(self.__value, other.__value)
        return NotImplemented

    def __repr__(self) -> str:
        return "Secret(hidden)"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __bytes__(self) -> NoReturn:
        raise TypeError("a secret is opened with open(), never by conversion")

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("a secret is neither pickled nor copied")

    def __getstate__(self) -> NoReturn:
        raise TypeError("a secret has no state to hand out")
