"""The marks of a match for a timeline: start, turns, key events, end."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import aclosing

from grimoire.engine import PUBLIC
from grimoire.v1 import rules_pb2
from replay.matches import Match

__all__ = ["Timelines"]


class Timelines:
    """Collects marks, and keeps them: a log only grows, so what was found once stays true.

    Marks are those of the public view, so that everybody sees the same timeline at any time.

    Args:
        most_marks: kept in memory, of all matches together; what was used least lately goes first.
    """

    def __init__(self, most_marks: int) -> None:
        self._most = most_marks
        self._kept: OrderedDict[str, tuple[int, tuple[rules_pb2.Mark, ...]]] = OrderedDict()
        self._weight = 0

    @property
    def weight(self) -> int:
        """Marks kept now, counting one more for each match."""
        return self._weight

    async def marks(self, match: Match) -> tuple[rules_pb2.Mark, ...]:
        """All marks up to the head, in order.

        Raises:
            Refused: as `Match.frames`.
        """
        match_id, head = match.head.match_id, match.head.version
        version, marks = self._kept.get(match_id, (0, ()))
        if version >= head:
            self._kept.move_to_end(match_id)
            return tuple(mark for mark in marks if mark.version <= head)
        fresh: list[rules_pb2.Mark] = []
        whole = True
        async with aclosing(match.frames(PUBLIC, version + 1, head)) as frames:
            async for frame in frames:
                whole = whole and not frame.HasField("fault")
                fresh.extend(frame.marks)
        marks = (*marks, *fresh)
        if whole:
            self._keep(match_id, head, marks)
        return marks

    def _keep(self, match_id: str, version: int, marks: tuple[rules_pb2.Mark, ...]) -> None:
        _, before = self._kept.pop(match_id, (0, None))
        self._weight -= 0 if before is None else 1 + len(before)
        self._kept[match_id] = (version, marks)
        self._weight += 1 + len(marks)
        while self._weight > self._most and self._kept:
            _, (_, dropped) = self._kept.popitem(last=False)
            self._weight -= 1 + len(dropped)
