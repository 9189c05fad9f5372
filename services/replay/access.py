"""Whose eyes a caller may look through: the one place where a replay's viewer is judged.

Before the reveal a person sees a match through the seats it holds, or as anybody; afterwards every log is open to all.
The caller is who the edge says it is; which viewer it asks for is never taken on trust.
"""

from __future__ import annotations

from collections.abc import Sequence

from grimoire.engine import ALL, PUBLIC, Seat, Viewer, ViewerKind
from grimoire.match.seats import occupants_of
from grimoire.v1 import frame_pb2
from replay.refusals import RefusalKind, Refused

__all__ = ["best_viewer", "check_viewer", "held_seats", "unmoved", "viewers"]

_OVER = (frame_pb2.MATCH_STATUS_CLOSED, frame_pb2.MATCH_STATUS_VOID)


def held_seats(head: frame_pb2.MatchHead, occupant_id: str) -> tuple[Seat, ...]:
    """The seats this pseudonym holds now, or held when the match ended.

    Args:
        head: the match.
        occupant_id: the caller's pseudonym in this match; empty: a caller without one, who holds nothing.
    """
    if not occupant_id:
        return ()
    return tuple(Seat(seat) for seat, sits in occupants_of(head).items() if sits.occupant_id == occupant_id)


def viewers(head: frame_pb2.MatchHead, held: Sequence[Seat]) -> tuple[Viewer, ...]:
    """Everything the holder of these seats may ask for now, its own seats first.

    >>> closed = frame_pb2.MatchHead(revealed=False)
    >>> [str(v) for v in viewers(closed, [Seat(1)])]
    ['seat:1', 'public']
    """
    if not head.revealed:
        if not held and head.created.spectator_delay_s and head.status not in _OVER:
            # Live it is shown so much later; here it would not be.
            return ()
        return (*(Viewer.of_seat(seat) for seat in held), PUBLIC)
    others = sorted({s.seat for s in head.created.seats} - set(held))
    return (*(Viewer.of_seat(seat) for seat in (*held, *others)), PUBLIC, ALL)


def best_viewer(head: frame_pb2.MatchHead, held: Sequence[Seat]) -> Viewer:
    """The viewer that sees most of what this caller may see: all, else its first seat, else what anybody sees.

    Raises:
        Refused: `shown_later`, where it may see nothing yet.
    """
    if head.revealed:
        return ALL
    allowed = viewers(head, held)
    if not allowed:
        raise _later()
    return allowed[0]


def check_viewer(head: frame_pb2.MatchHead, held: Sequence[Seat], viewer: Viewer) -> None:
    """Lets the asked viewer pass, or says why not.

    Raises:
        Refused: if this caller may not look through these eyes now.
    """
    allowed = viewers(head, held)
    if viewer in allowed:
        return
    if not allowed:
        raise _later()
    if viewer.kind is ViewerKind.ALL:
        sentence = "The whole match can be seen once its secrets have been opened at the end."
    elif not any(s.seat == viewer.seat for s in head.created.seats):
        sentence = f"This match has no seat {viewer.seat}."
    else:
        offer = _offer(viewers(head, held))
        sentence = f"Seat {viewer.seat} is not yours. Until the secrets of this match are opened, see it {offer}."
    raise Refused(RefusalKind.FORBIDDEN, "not_a_seat", sentence, field="viewer")


def unmoved(head: frame_pb2.MatchHead) -> frame_pb2.MatchHead:
    """The head for who may see nothing of the match yet: without how far it is by now."""
    told = frame_pb2.MatchHead()
    told.CopyFrom(head)
    for field in ("version", "hash", "updated_ms"):
        told.ClearField(field)
    return told


def _later() -> Refused:
    sentence = "While this match runs it is shown with a delay, and only live; it can be replayed after its end."
    return Refused(RefusalKind.NOT_NOW, "shown_later", sentence)


def _offer(allowed: Sequence[Viewer]) -> str:
    seats = [f"through seat {v.seat}" for v in allowed if v.kind is ViewerKind.SEAT]
    return " or ".join([*seats, "as the public does"])
