"""The platform's clock over a match: its expiries, and the down time it gives back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from grimoire.match.parsed import Parsed
from grimoire.match.state import MatchState, Phase
from grimoire.v1 import match_pb2

CLOCK_IDS: Final = bytes(12)
"""How the clock's command ids begin; senders' ids may not, or a seat could use up the id of its own expiry."""

_LONGEST_MS: Final = 2**32 - 1
"""What one `clock_extended` can say; the rest is due next time."""


def clock_command(prompt_id: int) -> Parsed:
    """The clock's `expire` for a prompt (0: the handshake), with an id that makes it idempotent."""
    message = match_pb2.Expire(prompt_id=prompt_id)
    return Parsed(CLOCK_IDS + prompt_id.to_bytes(4, "big"), "expire", message, message.SerializeToString())


def due_extensions(state: MatchState[Any], down: Sequence[tuple[int, int]], now_ms: int) -> tuple[tuple[int, int], ...]:
    """Down time not yet given back: (prompt id or 0 for the handshake, ms) for every running clock.

    Args:
        down: intervals (from, to) in UTC ms in which nobody could be served; they may overlap.
        now_ms: until when it counts.
    """
    if not down or state.over:
        return ()
    if state.phase is Phase.HANDSHAKE:
        clocks = [(0, state.created_ms, state.handshake_extended_ms)]
    else:
        clocks = [(p.prompt_id, p.opened_ms, p.extended_ms) for p in state.prompts if p.limit_ms]
    apart = merged(down)
    owed = ((prompt_id, overlap(apart, since, now_ms) - given) for prompt_id, since, given in clocks)
    return tuple((prompt_id, min(ms, _LONGEST_MS)) for prompt_id, ms in owed if ms > 0)


def merged(down: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same time as intervals in order that do not overlap: no moment is given back twice.

    >>> merged([(5, 9), (1, 2), (8, 12)])
    [(1, 2), (5, 12)]
    """
    apart: list[tuple[int, int]] = []
    for start, to in sorted(down):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(apart[-1][1], to))
        else:
            apart.append((start, to))
    return apart


def overlap(apart: Sequence[tuple[int, int]], first: int, last: int) -> int:
    """How much of the time from `first` to `last` lies in these intervals.

    >>> overlap([(1, 2), (5, 12)], 0, 7)
    3
    """
    return sum(max(0, min(to, last) - max(start, first)) for start, to in apart)


def first_expired(
    state: MatchState[Any], extensions: Sequence[tuple[int, int]], now_ms: int
) -> tuple[int | None, int | None]:
    """Which clock has run out, down time given back.

    Args:
        state: the match.
        extensions: see `due_extensions`.
        now_ms: the time, UTC ms.

    Returns:
        The prompt's number (0: the handshake) of the earliest deadline that has passed, or None; and the earliest
        deadline still to come if none has, or None.
    """
    owed = dict(extensions)
    if state.over:
        return None, None
    if state.phase is Phase.HANDSHAKE:
        clocks = [(state.handshake_deadline_ms + owed.get(0, 0), 0)]
    else:
        clocks = [(p.deadline_ms + owed.get(p.prompt_id, 0), p.prompt_id) for p in state.prompts if p.limit_ms]
    if not clocks:
        return None, None
    deadline, prompt_id = min(clocks)
    return (prompt_id, None) if deadline <= now_ms else (None, deadline)
