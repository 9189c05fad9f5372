"""A stored entry that has been folded, with what it takes to show it without folding it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from grimoire.engine import Opened, Schema
from grimoire.match.state import MatchState

__all__ = ["Step"]

S = TypeVar("S")


class Step(NamedTuple, Generic[S]):
    """One entry of a match, folded. It may be shown to several viewers, so nothing in it is ever changed.

    Attributes:
        header, hash: as stored.
        parts: the private parts of its events by audience; the command's own is not among them.
        public: as stored.
        opened: its events; None once it was put by: they are read again then, since to keep them costs more.
        schema: the one they were read by.
        state: after it.
    """

    header: bytes
    hash: bytes
    parts: Mapping[str, bytes]
    public: bytes
    opened: Opened | None
    schema: Schema
    state: MatchState[S]

    def put_by(self) -> Step[S]:
        """The same, to be kept."""
        return self._replace(opened=None)

    def __repr__(self) -> str:
        """Names no hidden fact."""
        return f"<Step of {self.state!r}>"
