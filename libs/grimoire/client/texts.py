"""Text that is none: half of a character can stand in a Python string, but in no message."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Final, TypeVar

from grimoire.client.errors import Rejected
from grimoire.v1 import envelope_pb2

__all__ = ["sends_text"]

_SENTENCE: Final = "This text cannot be sent: it holds half of a character, or bytes that are not UTF-8."

C = TypeVar("C")
T = TypeVar("T")


def sends_text(cls: type[C]) -> type[C]:
    """Has all public asynchronous methods of a class refuse such text as the server would: `malformed`.

    What a program was given by others (a file name, a page, another program) may hold a lone surrogate; it is refused
    before anything is sent, like everything else that is said no to.

    >>> import asyncio
    >>> @sends_text
    ... class Herald:
    ...     async def cry(self, text: str) -> bytes:
    ...         return text.encode()
    >>> asyncio.run(Herald().cry("hear ye"))
    b'hear ye'
    >>> asyncio.run(Herald().cry(chr(0xD800)))
    Traceback (most recent call last):
        ...
    grimoire.client.errors.Rejected: malformed: This text cannot be sent: it holds half of a character, or bytes that \
are not UTF-8.
    """
    for name, method in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if inspect.iscoroutinefunction(method):
            setattr(cls, name, _asking(method))
        elif inspect.isasyncgenfunction(method):
            setattr(cls, name, _following(method))
    return cls


def _asking(method: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    @functools.wraps(method)
    async def asking(*args: Any, **named: Any) -> T:
        try:
            return await method(*args, **named)
        except UnicodeEncodeError:
            raise _refused() from None

    return asking


def _following(method: Callable[..., AsyncGenerator[T, None]]) -> Callable[..., AsyncGenerator[T, None]]:
    @functools.wraps(method)
    async def following(*args: Any, **named: Any) -> AsyncGenerator[T, None]:
        async with aclosing(method(*args, **named)) as replies:
            try:
                async for reply in replies:
                    yield reply
            except UnicodeEncodeError:
                raise _refused() from None

    return following


def _refused() -> Rejected:
    return Rejected(envelope_pb2.Rejection(code="malformed", message=_SENTENCE))
