"""A group of entries before it is written, and what is wrong with one that the database refused. Pure."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from grimoire.eventstore.api import Conflict, ConflictKind, NewEntry
from grimoire.eventstore.partitions import partition_of

__all__ = ["Facts", "Run", "faults_of", "runs_of"]


class Run(msgspec.Struct, frozen=True):
    """The entries of one match within a group: versions without a gap, one game, one epoch."""

    match_id: str
    partition: int
    entries: list[NewEntry]

    @property
    def game(self) -> str:
        """The match's game."""
        return self.entries[0].game

    @property
    def first(self) -> int:
        """The version of the first entry."""
        return self.entries[0].version

    @property
    def last(self) -> NewEntry:
        """The entry that becomes the head."""
        return self.entries[-1]

    @property
    def dues(self) -> int:
        """What all its entries add to the match's dues."""
        return functools.reduce(operator.or_, (entry.dues for entry in self.entries))

    @property
    def epoch(self) -> int:
        """The epoch they are written under."""
        return self.entries[0].epoch


class Facts(msgspec.Struct, frozen=True):
    """What a store found when it refused a group.

    Attributes:
        owners: the epoch under which each (game, partition) is held now; those that nobody holds are missing.
        heads: version and epoch of each match's head; matches without an entry are missing.
        commands: the (match id, command id) pairs of the group that are stored already.
    """

    owners: Mapping[tuple[str, int], int]
    heads: Mapping[str, tuple[int, int]]
    commands: AbstractSet[tuple[str, bytes]]


def runs_of(entries: Sequence[NewEntry]) -> list[Run]:
    """Sorts a group by match, in the order of the tables' keys (so that racing writers lock in one order).

    Raises:
        Conflict: versions of a match have gaps, a command id comes twice, or game or epoch change within a match.
    """
    by_match: dict[str, list[NewEntry]] = {}
    for entry in entries:
        by_match.setdefault(entry.match_id, []).append(entry)
    runs = [Run(match_id, partition_of(match_id), own) for match_id, own in by_match.items()]
    runs.sort(key=lambda run: (run.partition, run.match_id))
    if len(runs) < len(entries):
        faults = {run.match_id: kind for run in runs if (kind := _fault_within(run.entries)) is not None}
        if faults:
            raise Conflict(faults)
    return runs


def _fault_within(entries: list[NewEntry]) -> ConflictKind | None:
    if len({entry.command_id for entry in entries}) < len(entries):
        return ConflictKind.DUPLICATE
    first = entries[0]
    for version, entry in enumerate(entries, first.version):
        if entry.version != version or entry.game != first.game or entry.epoch != first.epoch:
            return ConflictKind.VERSION
    return None


def faults_of(runs: Sequence[Run], facts: Facts) -> dict[str, ConflictKind]:
    """Which matches of a refused group are at fault, and why; all of them if the facts do not tell."""
    faults = {run.match_id: kind for run in runs if (kind := _fault(run, facts)) is not None}
    return faults or {run.match_id: ConflictKind.VERSION for run in runs}


def _fault(run: Run, facts: Facts) -> ConflictKind | None:
    if run.epoch and facts.owners.get((run.game, run.partition)) != run.epoch:
        return ConflictKind.STALE_EPOCH
    if any((run.match_id, entry.command_id) in facts.commands for entry in run.entries):
        return ConflictKind.DUPLICATE
    version, epoch = facts.heads.get(run.match_id, (0, 0))
    if epoch > run.epoch:
        return ConflictKind.STALE_EPOCH
    return ConflictKind.VERSION if version != run.first - 1 else None
