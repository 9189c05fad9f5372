"""The head of a match, read off its log without its game."""

from __future__ import annotations

from collections.abc import Sequence

from grimoire.v1 import frame_pb2, match_pb2

__all__ = ["headline"]


def headline(match_id: str, entries: Sequence[frame_pb2.ViewerEntry]) -> frame_pb2.MatchHead:
    """What everybody may know of a match.

    Args:
        match_id: under which it is known here.
        entries: at least one; they have been verified, so that they parse.
    """
    first = match_pb2.EntryHeader.FromString(entries[0].header)
    last = match_pb2.EntryHeader.FromString(entries[-1].header)
    head = frame_pb2.MatchHead(
        match_id=match_id,
        version=len(entries),
        hash=entries[-1].hash,
        status=frame_pb2.MATCH_STATUS_HANDSHAKE,
        created_ms=first.server_time_ms,
        updated_ms=last.server_time_ms,
    )
    for entry in entries:
        for event in match_pb2.Events.FromString(entry.public).events:
            if event.type == "match_created":
                head.created.MergeFromString(event.body)
                head.game = head.created.game
            elif event.type == "seat_bound":
                _bind(head, match_pb2.SeatBound.FromString(event.body))
            elif event.type == "match_started":
                head.status = frame_pb2.MATCH_STATUS_RUNNING
            elif event.type == "match_closed":
                head.status = frame_pb2.MATCH_STATUS_CLOSED
                head.closed.MergeFromString(event.body)
            elif event.type == "match_voided":
                head.status = frame_pb2.MATCH_STATUS_VOID
            elif event.type == "fairness_revealed":
                head.revealed = True
    return head


def _bind(head: frame_pb2.MatchHead, bound: match_pb2.SeatBound) -> None:
    if not head.seats:
        head.seats.extend(head.created.seats)
    for seat in head.seats:
        if seat.seat == bound.seat:
            seat.occupant_id, seat.kind, seat.level = bound.occupant_id, bound.kind, bound.level
