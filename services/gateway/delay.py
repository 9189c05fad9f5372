"""Matches that are shown later to who holds no seat: what may be seen by now, and what is held back until it may."""

from __future__ import annotations

from collections import deque

from gateway.refusals import RefusalKind, Refused, rejection
from grimoire.engine import PUBLIC, MatchId
from grimoire.v1 import frame_pb2, match_pb2, rules_pb2, rules_pb2_grpc

__all__ = ["Held", "due_ms", "newest_before", "shown_later"]

_FIRST_LOOK = 64
"""Entries looked at first; a search goes back by twice as many each time."""
_MOST_HELD = 512


def shown_later(delay_s: int) -> Refused:
    """Nothing of this may be seen yet."""
    sentence = f"This match is shown {delay_s} s after it was played; try again a little later."
    return Refused(RefusalKind.NOT_NOW, rejection("shown_later", sentence, retry_after_ms=delay_s * 1000))


async def newest_before(stub: rules_pb2_grpc.RulesServiceAsyncStub, match_id: MatchId, at_ms: int) -> int:
    """The newest version of a match that was there at a time (UTC ms); 0: none was.

    Raises:
        AioRpcError: as its service answers.
    """
    reply = await stub.GetHead(rules_pb2.GetHeadRequest(match_id=match_id))
    last = reply.head.version
    look = _FIRST_LOOK
    while last > 0:
        first = max(1, last - look + 1)
        request = rules_pb2.GetEntriesRequest(
            match_id=match_id, viewer=frame_pb2.Viewer(kind=frame_pb2.ViewerKind.ValueType(PUBLIC.kind.value)), to=last
        )
        # The field is called as a keyword of this language is.
        setattr(request, "from", first)
        found = 0
        async for part in stub.GetEntries(request):
            for entry in part.entries:
                header = match_pb2.EntryHeader.FromString(entry.header)
                if header.server_time_ms <= at_ms:
                    found = header.version
        if found:
            return found
        last, look = first - 1, 2 * look
    return 0


def due_ms(frame: frame_pb2.Frame, delay_ms: int) -> int:
    """When a frame may be seen (UTC ms): its newest entry's time, and the delay; 0: at once."""
    if frame.HasField("delta") and frame.delta.entries:
        header = match_pb2.EntryHeader.FromString(frame.delta.entries[-1].header)
        return header.server_time_ms + delay_ms
    if frame.HasField("snapshot"):
        return frame.snapshot.head.updated_ms + delay_ms
    return 0


class Held:
    """Frames that wait for their time, in their order."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, frame_pb2.Frame]] = deque()

    def hold(self, frame: frame_pb2.Frame, until_ms: int) -> None:
        """Keeps a frame back."""
        self._frames.append((until_ms, frame))

    @property
    def is_full(self) -> bool:
        """No more is read until some of it may be seen."""
        return len(self._frames) >= _MOST_HELD

    def next(self, now_ms: int) -> frame_pb2.Frame | None:
        """The first frame, if its time has come."""
        if self._frames and self._frames[0][0] <= now_ms:
            return self._frames.popleft()[1]
        return None

    def wait_s(self, now_ms: int) -> float | None:
        """Seconds until the first one's time comes; None: none waits."""
        return max(self._frames[0][0] - now_ms, 0) / 1000 if self._frames else None
