"""What may be told of an exception that came out of a game's code."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, cast

import grpc
import grpc.aio
import structlog

from grimoire.bus import BusError, correlation_id
from grimoire.eventstore import StoreError

__all__ = ["discreet", "trail"]

_log: Final = structlog.stdlib.get_logger(__name__)

_LONGEST: Final = 16
# Raised by the platform, with nothing of a match in their words.
_PLAIN: Final = (grpc.aio.AbortError, grpc.aio.InternalError, StoreError, BusError)

_Handler = TypeVar("_Handler", bound=Callable[..., Any])


def trail(error: BaseException) -> list[str]:
    """Where an exception came from, without what it says: a game's own may quote a hidden card.

    >>> try:
    ...     {}["ruby"]
    ... except KeyError as error:
    ...     len(trail(error)), "ruby" in str(trail(error))
    (1, False)
    """
    frames = list(traceback.walk_tb(error.__traceback__))[-_LONGEST:]
    return [f"{_short(frame.f_code.co_filename)}:{line} {frame.f_code.co_name}" for frame, line in frames]


def discreet(handler: _Handler) -> _Handler:
    """A gRPC handler that runs a game's code: what that fails with is logged here, without its words."""
    if inspect.isasyncgenfunction(handler):

        @functools.wraps(handler)
        async def stream(self: object, request: Any, context: Any) -> AsyncIterator[Any]:
            try:
                async with aclosing(handler(self, request, context)) as messages:
                    async for message in messages:
                        yield message
            except _PLAIN:
                raise
            except Exception as error:
                await _abort(error, handler.__name__, context)

        return cast(_Handler, stream)

    @functools.wraps(handler)
    async def answer(self: object, request: Any, context: Any) -> Any:
        try:
            return await handler(self, request, context)
        except _PLAIN:
            raise
        except Exception as error:
            await _abort(error, handler.__name__, context)

    return cast(_Handler, answer)


async def _abort(error: Exception, method: str, context: grpc.aio.ServicerContext[Any, Any]) -> NoReturn:
    _log.error("rules_failed", method=method, error=type(error).__name__, trail=trail(error))
    await context.abort(grpc.StatusCode.INTERNAL, f"internal error; it is logged as {correlation_id()}")


def _short(filename: str) -> str:
    return "/".join(Path(filename).parts[-2:])
