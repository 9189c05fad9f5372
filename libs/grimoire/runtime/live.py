"""A match in its owner's memory: what is committed, what is decided ahead of the disk, and who waits."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from grimoire.engine import Actor
from grimoire.match import Entry, MatchState, Parsed, Step
from grimoire.v1 import envelope_pb2

__all__ = ["Absent", "LiveMatch", "Pending", "Refusal", "Reply", "Watch"]

Reply = Callable[[envelope_pb2.CommandReply | None], None]
"""Answers a sender, at most once. None: the match is not ours any more; whoever it belongs to now is to be asked."""


class Absent(enum.Enum):
    """Why a match cannot be had."""

    MOVED = "moved"
    """Another instance owns it, or nobody does."""
    BROKEN = "broken"
    """Its log no longer folds: it is set aside."""
    UNRULED = "unruled"
    """The rules it began under are not installed here."""
    BUSY = "busy"
    """Not now: the store does not answer, or too many wait already."""


class Refusal(msgspec.Struct, frozen=True):
    """A rejection judged against a state that is not on disk yet, with what it takes to judge anew.

    Attributes:
        tries: how often it was judged.
    """

    actor: Actor
    parsed: Parsed
    received_ms: int
    replies: list[Reply]
    rejection: envelope_pb2.Rejection
    tries: int = 1


class Pending:
    """A command on its way to disk.

    Attributes:
        live: its match.
        actor, parsed, received_ms: to judge it anew if the group it went with is refused.
        entry: what it did.
        replies: who waits for it (several, where a command was sent again meanwhile).
        after: rejections that rest on this entry; they are true only once it is on disk.
        tries: how often it was judged.
        dues: what the transparency log is owed because of it, as bits.
        due_ms: the match's next deadline after it; worked out once.
    """

    __slots__ = ("actor", "after", "due_ms", "dues", "entry", "live", "parsed", "received_ms", "replies", "tries")

    def __init__(
        self,
        live: LiveMatch,
        actor: Actor,
        parsed: Parsed,
        received_ms: int,
        entry: Entry,
        replies: list[Reply],
        tries: int = 1,
        dues: int = 0,
    ) -> None:
        self.live = live
        self.actor = actor
        self.parsed = parsed
        self.received_ms = received_ms
        self.entry = entry
        self.replies = replies
        self.after: list[Refusal] = []
        self.tries = tries
        self.dues = dues
        self.due_ms = entry.state.next_deadline_ms

    @property
    def waiters(self) -> list[Pending | Refusal]:
        """This command and what rests on it."""
        return [self, *self.after]


class Watch:
    """One stream's queue of committed entries. A reader that falls too far behind is dropped and resumes by version."""

    __slots__ = ("_wake", "dropped", "entries", "limit", "traceparent")

    def __init__(self, limit: int = 256) -> None:
        self.entries: list[Entry] = []
        self.dropped = False
        self.limit = limit
        self.traceparent = ""
        """Trace context of the last traced command whose entry was put here and not taken yet."""
        self._wake = asyncio.Event()

    def put(self, entry: Entry) -> None:
        """Adds a committed entry."""
        if len(self.entries) >= self.limit:
            self.dropped = True
        else:
            self.entries.append(entry)
        self._wake.set()

    def drop(self) -> None:
        """Ends the stream: its match has moved or left memory."""
        self.dropped = True
        self._wake.set()

    async def take(self, wait_s: float) -> list[Entry]:
        """All that has come; empty after `wait_s` without news."""
        if not self.entries and not self.dropped:
            try:
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            except TimeoutError:
                return []
        self._wake.clear()
        taken, self.entries = self.entries, []
        return taken


class LiveMatch:
    """One match in memory.

    Attributes:
        match_id: its id.
        partition: where it lives.
        committed: the state that is on disk; views come from it. None: the match does not exist yet.
        ahead: the state after all pending commands; commands are judged against it.
        pending: commands on their way to disk, by command id.
        command_ids: ids of all stored commands, to know a duplicate without asking the store.
        watches: streams that follow it.
        epoch: of the partition under which it is written.
        due_ms: the next deadline of what is committed.
        touched_s: when it was last used, on the event loop's clock.
        game, rules_version: what it is a match of.
        steps: for a while after it was folded: its entries up to then, to be shown.
    """

    __slots__ = (
        "ahead",
        "command_ids",
        "committed",
        "due_ms",
        "epoch",
        "game",
        "match_id",
        "partition",
        "pending",
        "rules_version",
        "steps",
        "touched_s",
        "watches",
    )

    def __init__(
        self,
        match_id: str,
        game: str,
        rules_version: int,
        partition: int,
        epoch: int,
        committed: MatchState[Any] | None,
    ) -> None:
        self.match_id = match_id
        self.game = game
        self.rules_version = rules_version
        self.partition = partition
        self.epoch = epoch
        self.committed = committed
        self.ahead = committed
        self.due_ms: int | None = None
        self.pending: dict[bytes, Pending] = {}
        self.command_ids: set[bytes] = set()
        self.watches: set[Watch] = set()
        self.touched_s = 0.0
        self.steps: Sequence[Step[Any]] = ()

    @property
    def idle(self) -> bool:
        """Nothing would be lost by forgetting it."""
        return not self.pending and not self.watches
