"""A prompt's time as a person sees it."""

from __future__ import annotations

from typing import Final

import msgspec

from grimoire.v1 import prompt_pb2

__all__ = ["Countdown", "countdown", "duration"]

_LOW_MS: Final = 15_000
_LOW_SHARE: Final = 0.2
_HOUR_S: Final = 3600
_DAY_S: Final = 24 * _HOUR_S


class Countdown(msgspec.Struct, frozen=True):
    """Time that is left.

    Attributes:
        left_ms: never below 0.
        share: of the whole limit, 0 to 1.
        low: at most 15 s, or at most a fifth of the limit where that is less.
        text: as digits.
    """

    left_ms: int
    share: float
    low: bool
    text: str


def countdown(prompt: prompt_pb2.Prompt, now_ms: int) -> Countdown | None:
    """What a prompt's clock shows; None: it has none.

    Args:
        prompt: with its deadline.
        now_ms: the server's time.

    >>> prompt = prompt_pb2.Prompt(deadline_ms=60_000, limit_ms=60_000)
    >>> countdown(prompt, 8_000).text, countdown(prompt, 51_000).low
    ('0:52', True)
    """
    if not prompt.deadline_ms:
        return None
    left = max(0, prompt.deadline_ms - now_ms)
    limit = max(prompt.limit_ms, 1)
    return Countdown(left, min(1.0, left / limit), left <= min(_LOW_MS, limit * _LOW_SHARE), duration(left))


def duration(ms: int) -> str:
    """Minutes and seconds; tenths below ten seconds, hours and days where there are any.

    >>> duration(52_000), duration(9_420), duration(3_723_000), duration(90_000_000)
    ('0:52', '0:09.4', '1:02:03', '1 d 1:00')
    """
    if ms < 10_000:
        return f"0:{ms // 1000:02}.{ms % 1000 // 100}"
    seconds = ms // 1000
    if seconds >= _DAY_S:
        return f"{seconds // _DAY_S} d {seconds % _DAY_S // _HOUR_S}:{seconds % _HOUR_S // 60:02}"
    if seconds >= _HOUR_S:
        return f"{seconds // _HOUR_S}:{seconds % _HOUR_S // 60:02}:{seconds % 60:02}"
    return f"{seconds // 60}:{seconds % 60:02}"
