"""What a seat does unasked, and how much of it a match bears. Pure.

A standing command (a policy, an offer, a new seal, leaving) answers no prompt, so nothing in the game ends it, and
rates alone would let one seat fill a log in an hour and break the match for everybody. So each seat has a stock of
asides. An entry of a seat that answers nothing takes one; an entry in which somebody's prompt is answered or runs out
gives everybody one back: a seat writes at most `MAX_ASIDES` of them, and one for every entry that moves the match on.
The handshake has a stock of its own, which is forgotten when the match starts. The count follows from headers and
public events alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeVar

from google.protobuf.message import Message
from msgspec.structs import replace

from grimoire.match import seats
from grimoire.match.codes import reject
from grimoire.match.parsed import Parsed
from grimoire.match.state import MatchState
from grimoire.v1 import envelope_pb2, match_pb2

__all__ = ["MAX_ASIDES", "counted", "refusal"]

S = TypeVar("S")

MAX_ASIDES: Final = 64
"""Many times what a person changes between two moves; five seats that use all of it leave most of a log to the game."""

_MOVES_ON: Final = frozenset({match_pb2.PROMPT_CAUSE_ANSWERED, match_pb2.PROMPT_CAUSE_EXPIRED})
# An opening is accepted once, and who has sealed too often must still be able to open.
_NEVER_REFUSED: Final = frozenset({"open_nonce"})


def counted(state: MatchState[S], seat: int | None, events: Iterable[Message]) -> MatchState[S]:
    """After an entry.

    Args:
        state: after its events.
        seat: whose command it was; None: the clock's or the host's.
        events: all it holds.
    """
    for event in events:
        if type(event) is match_pb2.MatchStarted:
            return replace(state, asides=()) if state.asides else state
        if type(event) is match_pb2.PromptClosed and event.cause in _MOVES_ON:
            return replace(state, asides=_given_back(state.asides)) if state.asides else state
    if seat is None:
        return state
    asides = state.asides or (0,) * len(state.occupants)
    return replace(state, asides=tuple(count + (n == seat) for n, count in enumerate(asides)))


def refusal(state: MatchState[Any], seat: int, parsed: Parsed, most: int) -> envelope_pb2.Rejection | None:
    """Why a seat may not do this now: it has done a lot unasked, and the match has not moved on since.

    Args:
        state: before it.
        seat: whose command it is.
        parsed: the command.
        most: how many asides a seat has.
    """
    if not state.asides or state.asides[seat] < most or parsed.prompt_id is not None:
        return None
    if parsed.type in _NEVER_REFUSED:
        return None
    # Giving up for good is done once; leaving a seat to others can be undone, and done again.
    if parsed.type == "resign" and not seats.leaves_by_resigning(state, seat):
        return None
    return reject("too_many_asides", version=state.version, limit=most)


def _given_back(asides: tuple[int, ...]) -> tuple[int, ...]:
    """Empty as long as nothing is used up, so that an ordinary move costs nothing."""
    return tuple(max(0, count - 1) for count in asides) if any(count > 1 for count in asides) else ()
