"""The audit of a finished match, made on this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from textual import work
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import LoadingIndicator, Static

from grimoire.cli.screens.dialogs import Box
from grimoire.cli.screens.words import Words
from grimoire.client import ClientError
from grimoire.v1 import audit_pb2

__all__ = ["AuditDialog", "report_lines"]

_SIGNS: Final = {
    audit_pb2.CHECK_STATUS_PASSED: ("✓", "$success", "audit.passed"),
    audit_pb2.CHECK_STATUS_FAILED: ("✗", "bold $error", "audit.failed"),
    audit_pb2.CHECK_STATUS_NOT_CHECKED: ("○", "$warning", "audit.not_checked"),
}


class AuditDialog(Box[None]):
    """Checks, and shows what was found.

    Args:
        words: of the interface.
        audit: does it.
    """

    def __init__(self, words: Words, audit: Callable[[], Awaitable[audit_pb2.AuditReport]]) -> None:
        super().__init__(words, words("audit.title"))
        self._audit = audit

    def body(self) -> Iterable[Widget]:
        """What is being done, then the report."""
        yield LoadingIndicator()
        yield VerticalScroll(Static(Content(self.words("audit.running")), id="report"), classes="text")
        yield Static(Content(self.words("close.hint")), classes="muted")

    def on_mount(self) -> None:
        """Begins."""
        self.query_one(VerticalScroll).focus()
        self._run()

    @work(exclusive=True, group="audit")
    async def _run(self) -> None:
        try:
            lines = report_lines(await self._audit(), self.words)
        except ClientError as error:
            lines = [Content.styled(self.words("audit.unavailable", reason=error), "$error")]
        self.query_one(LoadingIndicator).display = False
        self.query_one("#report", Static).update(Content("\n").join(lines))


def report_lines(report: audit_pb2.AuditReport, words: Words) -> list[Content]:
    """Every check with sign, word and finding, then what no audit can prove."""
    verdict = ("✓ ", "audit.holds", "bold $success") if report.passed else ("✗ ", "audit.lies", "bold $error")
    lines = [Content.styled(verdict[0] + words(verdict[1], entries=report.entries), verdict[2]), Content("")]
    for check in report.checks:
        sign, style, key = _SIGNS.get(check.status, _SIGNS[audit_pb2.CHECK_STATUS_NOT_CHECKED])
        where = f" ({words('audit.version', version=check.version)})" if check.version else ""
        lines.append(
            Content.assemble((f"{check.number} {sign} {words(key)} ", style), (check.name, "bold"), Content(where))
        )
        if check.detail:
            lines.append(Content.styled(f"    {check.detail}", "$muted"))
    if report.limits:
        lines += [Content(""), Content.styled(words("audit.limits"), "bold")]
        lines += [Content(f"• {limit}") for limit in report.limits]
    return lines
