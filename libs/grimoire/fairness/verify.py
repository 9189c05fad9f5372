"""The audit: checks 1 to 7 of a log of any origin, the place of 8, and what no audit can prove."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grimoire.engine import Schema
from grimoire.fairness import checks
from grimoire.fairness.checks import NotYet
from grimoire.fairness.export import Export, ExportError, line_of
from grimoire.fairness.facts import Facts, gather
from grimoire.fairness.findings import Check, Finding, Lie
from grimoire.fairness.keepsake import Keepsake, compare_evidence, compare_facts
from grimoire.fairness.logged import prove_log, said_of
from grimoire.fairness.names import check_game, check_match_id
from grimoire.fairness.secret import Secret
from grimoire.fairness.transparency.evidence import Evidence, Proved
from grimoire.fairness.transparency.note import VerifierKey
from grimoire.v1 import audit_pb2, frame_pb2

__all__ = ["LIMITS", "exit_status", "first_lie", "unreadable", "verify", "verify_export", "with_check"]

LIMITS = (
    "This shows that the deal was fixed beforehand and by everyone together, and that nothing was changed after; "
    "it does not show that the operator did not look.",
    "The operator may have told a seat what it knew; an operator and a seat acting together know all coming draws once "
    "the handshake is over.",
    "A command in the log is not signed by its person: only a seat's own keepsake tells which commands were its own.",
    "Lateness is judged by the operator's clock.",
)
"""What an audit cannot prove, in sentences for everybody."""

_UNKNOWN_KEY = (
    "The key of the transparency log was taken from what was brought along: whoever made that could have made the key. "
    "Name the key you know (--log-key)."
)

_UNWITNESSED = (
    "Without every seat's keepsake, a log that the operator made up alone, nonces and all, would look the same."
)

_NAMES = {
    Check.COMMITMENT: "Server commitment",
    Check.NONCES: "Seals and nonces",
    Check.JOINT_SEED: "Joint seed",
    Check.DRAWS: "Draws",
    Check.DEAL_DIGEST: "Deal digest",
    Check.CHAIN: "Parts and chain",
    Check.TRANSPARENCY_LOG: "Transparency log",
    Check.RULES_WALK: "Rules walk",
}

_PASSED = audit_pb2.CHECK_STATUS_PASSED
_FAILED = audit_pb2.CHECK_STATUS_FAILED
_NOT_CHECKED = audit_pb2.CHECK_STATUS_NOT_CHECKED

Entries = Sequence[frame_pb2.ViewerEntry]
Outcomes = dict[Check, tuple["audit_pb2.CheckStatus.ValueType", str, int]]


def verify(
    entries: Entries,
    *,
    game: str = "",
    match_id: str = "",
    schema: Schema | None = None,
    keepsakes: Sequence[Keepsake] = (),
    evidence: Evidence | None = None,
    log_key: VerifierKey | None = None,
    rules_walk: audit_pb2.AuditCheck | None = None,
) -> audit_pb2.AuditReport:
    """Audits a log.

    Args:
        entries: from version 1, whole or as one viewer sees them. They are not trusted in any way.
        game: the game it should be; empty: as it says.
        match_id: the match it should be; empty: as it says.
        schema: the game's, where it is installed: then the private parts of game events are checked for their audiences
            too, and not only those of the platform's events.
        keepsakes: what seats kept, to be compared with the log.
        evidence: proofs from the transparency log; without them check 7 stays open.
        log_key: of that log, as known from elsewhere.
        rules_walk: check 8, made by whoever has the game's rules.

    Returns:
        A report of all eight checks. `exit_status` and `first_lie` read it.
    """
    audit = _Audit(gather(entries, match_id, schema), entries, evidence, log_key)
    audit.expect_game(game)
    audit.run(keepsakes, from_file=False)
    return audit.report(rules_walk)


def verify_export(
    export: Export,
    *,
    schema: Schema | None = None,
    keepsakes: Sequence[Keepsake] = (),
    log_key: VerifierKey | None = None,
    in_log: bool = True,
    rules_walk: audit_pb2.AuditCheck | None = None,
) -> audit_pb2.AuditReport:
    """Audits a file that could be read; failed checks name its lines too.

    Args:
        export: from `read_export`.
        schema, keepsakes, log_key, rules_walk: as for `verify`. The proofs are the file's own.
        in_log: a file of a revealed match without proofs fails; False: it was never in a transparency log, e.g. a match
            that was recorded without any service.
    """
    audit = _Audit(gather(export.entries, export.match_id, schema), export.entries, export.evidence, log_key)
    audit.expect_game(export.game)
    audit.run(keepsakes, from_file=in_log)
    report = audit.report(rules_walk)
    for check in report.checks:
        if check.version:
            check.line = line_of(check.version)
    logged = report.checks[Check.TRANSPARENCY_LOG - 1]
    if logged.status == _FAILED and not logged.line and export.evidence is not None:
        logged.line = line_of(len(export.entries) + 1)
    chain = report.checks[Check.CHAIN - 1]
    if chain.status == _PASSED and export.head != report.head:
        chain.status = _FAILED
        chain.detail = "the end line names another head than the last entry"
        chain.line = line_of(len(export.entries) + 1 + (export.evidence is not None))
        report.passed = False
    return report


def unreadable(error: ExportError) -> audit_pb2.AuditReport:
    """The report on a file that could not be read: check 6 fails at its line."""
    found: Outcomes = {Check.CHAIN: (_FAILED, f"the file cannot be read: {error.reason}", 0)}
    report = _report(found, "not checked: the file cannot be read")
    report.checks[Check.CHAIN - 1].line = error.line
    return report


def with_check(
    report: audit_pb2.AuditReport, check: audit_pb2.AuditCheck, *, from_file: bool = False
) -> audit_pb2.AuditReport:
    """The same report with one check put in its place, e.g. the rules walk made after the others.

    Args:
        report: of `verify` or `verify_export`.
        check: replaces the one of its number.
        from_file: name the line of the file too.
    """
    new = audit_pb2.AuditReport()
    new.CopyFrom(report)
    new.checks[check.number - 1].CopyFrom(check)
    if check.version and from_file:
        new.checks[check.number - 1].line = line_of(check.version)
    new.passed = exit_status(new) == 0
    return new


def exit_status(report: audit_pb2.AuditReport) -> int:
    """What a program that audits should exit with.

    Returns:
        0: all checks hold (the transparency log may be unchecked: analysis matches are not in it). 1: a check failed.
        3: nothing failed, but something could not be checked: the match's rules version is not installed, or the match
        is not yet revealed.
    """
    if any(check.status == _FAILED for check in report.checks):
        return 1
    open_checks = [c.number for c in report.checks if c.status != _PASSED and c.number != Check.TRANSPARENCY_LOG]
    return 3 if open_checks or not report.checks else 0


def first_lie(report: audit_pb2.AuditReport) -> audit_pb2.AuditCheck | None:
    """The failed check that lies earliest in the log; None: none failed."""
    failed = [check for check in report.checks if check.status == _FAILED]
    return min(failed, key=lambda check: (check.version or 2**64, check.number), default=None)


class _Audit:
    """One audit under way."""

    def __init__(self, facts: Facts, entries: Entries, evidence: Evidence | None, log_key: VerifierKey | None) -> None:
        self._facts = facts
        self._entries = entries
        self._evidence = evidence
        self._log_key = log_key
        self._proved: Proved | None = None
        self._findings: list[Finding] = list(facts.findings)
        self._witnesses: set[int] = set()
        self._outcomes: Outcomes = {}

    def expect_game(self, game: str) -> None:
        """The game in a file's first line must be the log's own."""
        if game and self._facts.created is not None and self._facts.game != game:
            self._findings.append(Finding(Check.CHAIN, 1, f"the log is said to be of {game!r}, but names another game"))

    def run(self, keepsakes: Sequence[Keepsake], *, from_file: bool) -> None:
        """Makes the checks 1 to 7."""
        facts = self._facts
        self._witnesses = {kept.seat for kept in keepsakes if kept.match_id == facts.match_id}
        self._try(Check.COMMITMENT, lambda: checks.check_commitment(facts))
        self._try(Check.NONCES, self._nonces)
        self._try(Check.JOINT_SEED, lambda: checks.check_joint_seed(facts))
        if self._failed(Check.COMMITMENT, Check.NONCES):
            for check in (Check.DRAWS, Check.DEAL_DIGEST):
                self._outcomes[check] = (_NOT_CHECKED, "not checked: there is no joint seed that can be trusted", 0)
        else:
            self._try(Check.DRAWS, lambda: checks.check_draws(facts, self._entries, checks.recomputed_joint(facts)))
            self._try(Check.DEAL_DIGEST, lambda: checks.check_deal(facts, checks.recomputed_joint(facts)))
        self._try(Check.CHAIN, self._chain)
        self._try(Check.TRANSPARENCY_LOG, lambda: self._logged(from_file))
        for kept in keepsakes:
            own = {c for other in keepsakes if other.seat == kept.seat for c in other.commands}
            self._findings += compare_facts(kept, facts, self._entries, own)
            if self._proved is not None:
                self._findings += compare_evidence(kept, self._proved)
        for finding in self._findings:
            self._add(finding)

    def _nonces(self) -> str:
        witnessed = _witnessed(sorted(self._witnesses), self._facts.seats)
        try:
            return f"{checks.check_nonces(self._facts)}; {witnessed}"
        except NotYet as reason:
            raise NotYet(f"{reason}; {witnessed}") from None

    def _chain(self) -> str:
        facts = self._facts
        if facts.findings:
            return ""
        if facts.revealed is None:
            return f"all {facts.entries} entries follow from each other; parts still closed are bound by their digests"
        seed: Secret | None = None
        if not self._failed(Check.COMMITMENT):
            seed = checks.revealed_seed(facts)
        checks.check_parts(facts, self._entries, seed)
        return f"all {facts.entries} entries follow from each other, and every part fits its digest and salt"

    def _logged(self, from_file: bool) -> str:
        self._proved = prove_log(self._facts, self._entries, self._evidence, self._log_key, from_file=from_file)
        return said_of(self._proved, self._log_key)

    def _try(self, check: Check, work: Callable[[], str]) -> None:
        try:
            self._outcomes[check] = (_PASSED, work(), 0)
        except Lie as lie:
            self._outcomes[check] = (_FAILED, lie.detail, lie.version)
        except NotYet as reason:
            self._outcomes[check] = (_NOT_CHECKED, str(reason), 0)

    def _failed(self, *numbers: Check) -> bool:
        return any(self._outcomes[check][0] == _FAILED for check in numbers)

    def _add(self, finding: Finding) -> None:
        """A finding fails its check; the earliest one is named."""
        status, _, version = self._outcomes[finding.check]
        if status != _FAILED or (finding.version or 2**64) < (version or 2**64):
            self._outcomes[finding.check] = (_FAILED, finding.detail, finding.version)

    def report(self, rules_walk: audit_pb2.AuditCheck | None) -> audit_pb2.AuditReport:
        """Everything found."""
        facts = self._facts
        report = _report(self._outcomes, "not checked")
        report.match_id = _proper(check_match_id, facts.match_id)
        report.game = _proper(check_game, facts.game)
        report.head = facts.head
        report.entries = facts.entries
        if len(self._witnesses) < max(facts.seats, 1):
            report.limits.append(_UNWITNESSED)
        if self._proved is not None and self._log_key is None:
            report.limits.append(_UNKNOWN_KEY)
        if rules_walk is not None:
            return with_check(report, rules_walk)
        report.passed = exit_status(report) == 0
        return report


def _report(outcomes: Outcomes, otherwise: str) -> audit_pb2.AuditReport:
    outcomes = {
        Check.TRANSPARENCY_LOG: (
            _NOT_CHECKED,
            "not checked: there are no proofs from the transparency log here",
            0,
        ),
        Check.RULES_WALK: (_NOT_CHECKED, "not checked: nobody walked the log by the rules of its game", 0),
        **outcomes,
    }
    report = audit_pb2.AuditReport(limits=LIMITS)
    for check in Check:
        status, detail, version = outcomes.get(check, (_NOT_CHECKED, otherwise, 0))
        report.checks.add(number=check, name=_NAMES[check], status=status, detail=detail, version=version)
    return report


def _witnessed(witnesses: Sequence[int], seats: int) -> str:
    """Whose nonces were compared with what the seats kept."""
    if not witnesses:
        return "seats' own nonces: not checked here"
    listed = ", ".join(map(str, witnesses))
    others = "" if len(witnesses) == seats else "; other seats' own nonces: not checked here"
    return f"seats' own nonces: compared with the keepsake of seat {listed}{others}"


def _proper(check: Callable[[str], str], name: str) -> str:
    """The name if it is one: a hostile log may claim anything."""
    try:
        return check(name)
    except ValueError:
        return ""
