"""The platform's clock over a match: its expiries, and the down time it gives back."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from grimoire.match.parsed import Parsed
from grimoire.match.state import MatchState, Phase
from grimoire.v1 import match_pb2


def clock_command(state: MatchState[Any], prompt_id: int) -> Parsed:
    """The clock's `expire` for a prompt (0: the handshake), with an id that makes it idempotent."""
    message = match_pb2.Expire(prompt_id=prompt_id)
    seed = f"grimoire/expire/1\n{state.match_id}\n{prompt_id}\n".encode()
    return Parsed(hashlib.sha256(seed).digest()[:16], "expire", message, message.SerializeToString())


def due_extensions(state: MatchState[Any], down: Sequence[tuple[int, int]], now_ms: int) -> tuple[tuple[int, int], ...]:
    """Down time not yet given back: (prompt id or 0 for the handshake, ms) for every running clock.

    Args:
        down: intervals (from, to) in UTC ms in which nobody could be served.
        now_ms: until when it counts.
    """
    if not down or state.over:
        return ()
    if state.phase is Phase.HANDSHAKE:
        owed = _overlap(down, state.created_ms, now_ms) - state.handshake_extended_ms
        return ((0, owed),) if owed > 0 else ()
    due = []
    for opened in state.prompts:
        owed = _overlap(down, opened.opened_ms, now_ms) - opened.extended_ms
        if opened.limit_ms and owed > 0:
            due.append((opened.prompt_id, owed))
    return tuple(due)


def _overlap(down: Sequence[tuple[int, int]], first: int, last: int) -> int:
    return sum(max(0, min(to, last) - max(start, first)) for start, to in down)


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
