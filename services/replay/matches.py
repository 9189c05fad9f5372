"""Matches as replay sees them: those played here, and those that people brought along in files."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from typing import Protocol

from grimoire.engine import Viewer
from grimoire.fairness.export import Export, read_export
from grimoire.v1 import frame_pb2, rules_pb2
from replay.bench import Bench
from replay.limits import ReplayLimits
from replay.refusals import RefusalKind, Refused
from replay.rules import Rules
from replay.shelf import Shelf, ShelfUnavailableError, is_import_id

__all__ = ["ImportedLog", "Match", "Matches", "StoredMatch"]

_LONGEST_ID = 64


class Match(Protocol):
    """One match, wherever its log lies. Whether a viewer may look is judged before anything is asked of it."""

    head: frame_pb2.MatchHead
    """How far it goes. A match that is being played goes on meanwhile; nothing here goes beyond this version."""
    imported: bool
    """Whether it was brought along in a file."""

    def frames(self, viewer: Viewer, first: int, last: int) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """What a viewer saw at each version from `first` to `last`, without gaps."""
        ...

    def entries(self, viewer: Viewer) -> AsyncGenerator[frame_pb2.ViewerEntry, None]:
        """All entries up to the head, as far as the viewer may see them."""
        ...


class StoredMatch:
    """A match that was played, or is being played, on this platform."""

    imported = False

    def __init__(self, head: frame_pb2.MatchHead, rules: Rules) -> None:
        self.head = head
        self._rules = rules

    def frames(self, viewer: Viewer, first: int, last: int) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """As `Match.frames`, from the match's owner."""
        return self._rules.frames(self.head.game, self.head.match_id, viewer, first, last)

    def entries(self, viewer: Viewer) -> AsyncGenerator[frame_pb2.ViewerEntry, None]:
        """As `Match.entries`, from the match's owner."""
        return self._rules.entries(self.head.game, self.head.match_id, viewer, self.head.version)


class ImportedLog:
    """A revealed log from a file, known here under an id of its own.

    Attributes:
        export: what the file holds.
    """

    imported = True

    def __init__(self, head: frame_pb2.MatchHead, export: Export, rules: Rules) -> None:
        self.head = head
        self.export = export
        self._rules = rules

    def frames(self, viewer: Viewer, first: int, last: int) -> AsyncGenerator[rules_pb2.ReplayFrame, None]:
        """As `Match.frames`, folded by any instance of the game."""
        return self._rules.project(self.head.game, self.export.entries, viewer, first, last)

    async def entries(self, viewer: Viewer) -> AsyncGenerator[frame_pb2.ViewerEntry, None]:  # noqa: ARG002
        """As `Match.entries`; only revealed logs are kept, so every viewer may see all of them."""
        for entry in self.export.entries:
            yield entry


class Matches:
    """Finds matches by their ids.

    Args:
        rules: for matches played here.
        shelf: for imported ones.
        bench: where their files are read.
        limits: how much of imported logs stays open in memory.
    """

    def __init__(self, rules: Rules, shelf: Shelf, bench: Bench, limits: ReplayLimits) -> None:
        self._rules = rules
        self._shelf = shelf
        self._bench = bench
        self._most_bytes = limits.open_log_bytes
        self._open: OrderedDict[str, tuple[int, Export]] = OrderedDict()
        self._open_bytes = 0

    async def head(self, match_id: str) -> frame_pb2.MatchHead:
        """A match's head.

        Raises:
            Refused: `unknown_match`, or unavailable.
        """
        head = None
        # A longer id is nobody's; no service needs to be asked.
        if 0 < len(match_id) <= _LONGEST_ID:
            head = await (self._shelved_head(match_id) if is_import_id(match_id) else self._rules.head(match_id))
        if head is None:
            raise _unknown()
        return head

    async def find(self, head: frame_pb2.MatchHead) -> Match:
        """A match with its log within reach, as far as this head.

        Raises:
            Refused: `unknown_match`, or unavailable.
        """
        if not is_import_id(head.match_id):
            return StoredMatch(head, self._rules)
        return ImportedLog(head, await self._export(head.match_id), self._rules)

    async def _shelved_head(self, match_id: str) -> frame_pb2.MatchHead | None:
        try:
            return await self._shelf.head(match_id)
        except ShelfUnavailableError:
            raise _no_shelf() from None

    async def _export(self, match_id: str) -> Export:
        kept = self._open.get(match_id)
        if kept is not None:
            self._open.move_to_end(match_id)
            return kept[1]
        file = await self.file(match_id)
        export = await self._bench.run(read_export, (file,))
        if match_id not in self._open:  # nobody else has opened it meanwhile
            self._open[match_id] = (len(file), export)
            self._open_bytes += len(file)
        while self._open_bytes > self._most_bytes and len(self._open) > 1:
            _, (size, _) = self._open.popitem(last=False)
            self._open_bytes -= size
        return export

    async def file(self, match_id: str) -> bytes:
        """The file of an imported log, as it was brought.

        Raises:
            Refused: `unknown_match`, or unavailable.
        """
        try:
            file = await self._shelf.file(match_id)
        except ShelfUnavailableError:
            raise _no_shelf() from None
        if file is None:
            raise _unknown()
        return file


def _unknown() -> Refused:
    return Refused(RefusalKind.UNKNOWN, "unknown_match", "There is no match with this id.", "match_id")


def _no_shelf() -> Refused:
    return Refused(RefusalKind.UNAVAILABLE, "unavailable", "The imported logs cannot be reached now; try again.")
