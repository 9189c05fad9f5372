"""Audits of matches: checks 1 to 7 here, the rules walk by the game's own service."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

import structlog

from grimoire.engine import Viewer
from grimoire.fairness.export import Export, line_of
from grimoire.fairness.verify import first_lie, verify, verify_export, with_check
from grimoire.runtime.metrics import METRICS
from grimoire.v1 import audit_pb2, frame_pb2
from replay.bench import Bench
from replay.limits import ReplayLimits
from replay.matches import ImportedLog, Match
from replay.refusals import RefusalKind, Refused
from replay.rules import Rules, UnjudgedError
from replay.transparency.proofs import Proofs

__all__ = ["Auditor", "has_failed", "with_walk_of_file"]

_log = structlog.stdlib.get_logger(__name__)


def has_failed(report: audit_pb2.AuditReport) -> bool:
    """Whether something in the log lies."""
    return first_lie(report) is not None


def with_walk_of_file(report: audit_pb2.AuditReport, walk: audit_pb2.AuditCheck) -> audit_pb2.AuditReport:
    """The report on a file with check 8 put in, which then names its line too."""
    if walk.version:
        walk.line = line_of(walk.version)
    return with_check(report, walk)


class Auditor:
    """Audits stored matches and imported logs.

    Args:
        rules: for entries and for check 8.
        bench: where logs are verified.
        proofs: from the transparency log, of stored matches.
        limits: how large a log may be.
    """

    def __init__(self, rules: Rules, bench: Bench, proofs: Proofs, limits: ReplayLimits) -> None:
        self._rules = rules
        self._proofs = proofs
        self._bench = bench
        self._limits = limits

    async def audit(self, match: Match, viewer: Viewer) -> audit_pb2.AuditReport:
        """A report on a match.

        Args:
            match: stored or imported.
            viewer: all eyes after the reveal; before it whoever asks, and then only what is open can be checked.

        Raises:
            Refused: the log cannot be had, or is too large.
        """
        if isinstance(match, ImportedLog):
            report = await self.audit_file(match.export)
            if not has_failed(report):
                report = with_walk_of_file(report, await self._walk(match.head, match.export.entries))
            return report
        head = match.head
        entries = await self._entries(match, viewer)
        report = await self._bench.run(
            verify,
            entries,
            game=head.game,
            match_id=head.match_id,
            evidence=await self._proofs.of(head),
            log_key=self._proofs.key,
        )
        if not has_failed(report):
            report = with_check(report, await self._walk(head, entries))
        _note(head, report)
        return report

    async def audit_file(self, export: Export) -> audit_pb2.AuditReport:
        """Checks 1 to 7 of a file of any origin; check 8 is left open."""
        return await self._bench.run(verify_export, export)

    async def _walk(self, head: frame_pb2.MatchHead, entries: Sequence[frame_pb2.ViewerEntry]) -> audit_pb2.AuditCheck:
        if not head.revealed:
            return _not_walked("the match is not yet revealed")
        if head.game not in self._rules.games:
            return _not_walked(f"the game {head.game} is not played here")
        try:
            return await self._rules.redecide(head.game, entries)
        except Refused as refused:
            return _not_walked(refused.rejection.message)
        except UnjudgedError as error:
            return _not_walked(f"the rules walk {error}")

    async def _entries(self, match: Match, viewer: Viewer) -> list[frame_pb2.ViewerEntry]:
        entries: list[frame_pb2.ViewerEntry] = []
        size = 0
        async with aclosing(match.entries(viewer)) as stream:
            async for entry in stream:
                size += entry.ByteSize()
                if size > self._limits.log_bytes:
                    raise Refused(
                        RefusalKind.BUSY,
                        "too_large",
                        f"The log of this match has more than {self._limits.log_bytes} bytes; audit its file instead.",
                    )
                entries.append(entry)
        return entries


def _not_walked(reason: str) -> audit_pb2.AuditCheck:
    return audit_pb2.AuditCheck(
        number=8, name="Rules walk", status=audit_pb2.CHECK_STATUS_NOT_CHECKED, detail=f"not checked: {reason}"
    )


def _note(head: frame_pb2.MatchHead, report: audit_pb2.AuditReport) -> None:
    """A stored log that lies is our own trouble: it is counted and logged."""
    lie = first_lie(report)
    if lie is not None:
        METRICS.verifier_failures.labels(str(lie.number)).inc()
        _log.error("log_does_not_hold", match_id=head.match_id, check=lie.number, version=lie.version)
