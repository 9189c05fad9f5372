"""What must hold after every accepted step, whatever the scenario expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from grimoire.engine import PUBLIC, Viewer
from grimoire.fairness import chain
from grimoire.match.entry import Entry
from grimoire.match.scenario.matching import Difference
from grimoire.match.state import MatchState, Phase
from grimoire.match.table import Table
from grimoire.v1 import match_pb2

__all__ = ["Invariants"]

_MESSAGE: Final = FieldDescriptor.CPPTYPE_MESSAGE
_TEXT: Final = FieldDescriptor.TYPE_STRING


class Invariants:
    """Follows a match entry by entry.

    Args:
        table: where it is played.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._folded: MatchState[Any] | None = None
        self._hash = chain.genesis(table.match_id)
        self._words: set[str] = set()
        self._seen: dict[Viewer, set[str]] = {}

    def after(self, entry: Entry) -> list[Difference]:
        """What does not hold; empty: all does."""
        return [*self._fold(entry), *self._chain(entry), *self._prompts(entry), *self._secrecy(entry)]

    def seen(self, viewer: Viewer) -> set[str]:
        """Every text this viewer has been shown in events so far."""
        return self._seen.setdefault(viewer, set())

    def _fold(self, entry: Entry) -> Iterator[Difference]:
        """The state is the fold of the entries; public bytes and parts merge back to the events."""
        parts = dict(entry.parts)
        private = {a: b for a, b in parts.items() if a != "command"}
        if tuple(self._table.referee.schema.merge(entry.public, private)) != entry.events:
            yield Difference("(always) the stored bytes", "merge back to the events", "other events")
        self._folded = self._table.referee.fold(self._folded, entry.header, entry.public, parts, entry.hash)
        if self._folded != entry.state:
            yield Difference("(always) the state", "the fold of all entries", "another state")

    def _chain(self, entry: Entry) -> Iterator[Difference]:
        self._hash = chain.link(self._hash, entry.header, entry.public, entry.digests)
        if self._hash != entry.hash:
            yield Difference("(always) the chain", self._hash.hex(), entry.hash.hex())

    def _prompts(self, entry: Entry) -> Iterator[Difference]:
        state = entry.state
        if (state.phase is Phase.RUNNING) != any(p.prompt.required for p in state.prompts):
            yield Difference("(always) prompts", "open exactly while the match runs", f"{len(state.prompts)} open")
        for opened in state.prompts:
            if not self._table.referee.game.legal(state.game, opened.prompt.seat, opened.prompt):
                yield Difference("(always) prompts", "something to answer", f"nothing for prompt {opened.prompt_id}")

    def _secrecy(self, entry: Entry) -> Iterator[Difference]:
        """No view shows a word that stood in a hidden field and in nothing its viewer was shown."""
        table, state = self._table, entry.state
        for event in entry.events:
            if not isinstance(event, match_pb2.MatchStarted):
                self._words |= words(event)
        for viewer in (PUBLIC, *(Viewer.of_seat(seat) for seat in range(len(state.occupants)))):
            seen = self.seen(viewer)
            for event in table.feed(viewer, entry):
                seen |= words(event)
            if state.game is not None and not state.revealed:
                view = table.referee.game.view(state.game, viewer)
                for word in sorted(words(view) & self._words - seen):
                    yield Difference(f"(always) the view of {viewer}", "nothing hidden", word)


def words(message: Message) -> set[str]:
    """Every text in a message, at any depth."""
    found: set[str] = set()
    _gather(message, found)
    return found


def _gather(message: Message, found: set[str]) -> None:
    for field, value in message.ListFields():
        if field.cpp_type == _MESSAGE:
            for inner in value if field.is_repeated else (value,):
                _gather(inner, found)
        elif field.type == _TEXT:
            found.update(value if field.is_repeated else (value,))
