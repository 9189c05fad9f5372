"""What all calls to the lobby have in common: who calls, in which language, and how a refusal travels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

import grpc
import grpc.aio
import structlog

from grimoire.engine import Illegal
from grimoire.eventstore import Unavailable
from grimoire.runtime.identity import Identity
from grimoire.runtime.rpc import account_of
from grimoire.v1 import match_pb2
from matchmaking.meters import REFUSALS
from matchmaking.texts import DEFAULT_LANGUAGE, illegal, rejection

__all__ = [
    "REJECTION_KEY",
    "Context",
    "Streams",
    "abort",
    "caller_of",
    "judged",
    "language_of",
    "limit_of",
    "no_caller",
    "option_pairs",
    "unavailable",
]

_log: Final = structlog.stdlib.get_logger(__name__)

_T = TypeVar("_T")
_RETRY_MS: Final = 1_000

REJECTION_KEY: Final = "grimoire-rejection-bin"
"""Trailing metadata of a refused call: a serialised `Rejection`."""

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"


class Streams:
    """Counts the streams of each account.

    Args:
        most: of one account.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    @contextmanager
    def enter(self, caller: Identity) -> Iterator[Illegal | None]:
        """Counts one while it lasts, or says why there may be no other."""
        if self._open[caller.account_id] >= self._most:
            yield illegal("too_many_streams", limit=self._most)
            return
        self._open[caller.account_id] += 1
        try:
            yield None
        finally:
            self._open[caller.account_id] -= 1
            if not self._open[caller.account_id]:
                del self._open[caller.account_id]


async def judged(asked: Callable[[], Awaitable[_T | Illegal]]) -> _T | Illegal:
    """The answer, or the refusal; a part that does not answer is a refusal too. Refusals are counted."""
    try:
        answer = await asked()
    except Unavailable as error:
        _log.warning("lobby_unavailable", reason=str(error))
        answer = unavailable()
    if isinstance(answer, Illegal):
        REFUSALS.labels(answer.code).inc()
    return answer


async def abort(
    context: Context, status: grpc.StatusCode, refusal: Illegal, language: str = DEFAULT_LANGUAGE
) -> NoReturn:
    """Ends a call that has no room for a rejection in its answer: the rejection travels in trailing metadata."""
    worded = rejection(refusal, language)
    await context.abort(status, worded.message, ((REJECTION_KEY, worded.SerializeToString()),))


def unavailable() -> Illegal:
    """A part of the server does not answer."""
    return illegal("unavailable", retry_after_ms=_RETRY_MS)


async def caller_of(context: Context) -> Identity:
    """The account this call speaks for; a call that speaks for none ends here."""
    caller = account_of(context)
    if caller is None:
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "this call must speak for an account")
    return caller


async def no_caller(context: Context) -> None:
    """Ends a call that speaks for an account."""
    if account_of(context) is not None:
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, "only services of the platform may ask this")


def option_pairs(options: Iterable[match_pb2.OptionValue]) -> tuple[tuple[str, str], ...]:
    """Options as name and value; an empty value is none: the option takes its default."""
    return tuple((option.name, option.value) for option in options if option.value)


def language_of(asked: str) -> str:
    """The language proper of a tag: `fi` of `fi-FI` (RFC 5646); empty: English."""
    return asked[:16].partition("-")[0].lower() or DEFAULT_LANGUAGE


def limit_of(asked: int, bounds: tuple[int, int]) -> int:
    """How many are listed: the default where nothing was asked, never more than the most."""
    default, most = bounds
    return min(asked, most) if asked else default
