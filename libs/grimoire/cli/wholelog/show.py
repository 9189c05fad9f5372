"""The report of a whole log for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from grimoire.cli.wholelog.findings import Doubt, Findings, KeyFrom
from grimoire.fairness.statistics import REMARKABLE
from grimoire.fairness.transparency import LeafKind

__all__ = ["show"]

_MOST: Final = 50
"""Rows of one list; the rest is counted. All of them are in the JSON report."""
_KEYS: Final = {
    KeyFrom.GIVEN: "as you named it",
    KeyFrom.PINNED: "as it was when it was first seen from here",
    KeyFrom.SHOWN: "seen here for the first time: compare it with one you know from elsewhere (--log-key)",
}
_AWAITED: Final = {
    LeafKind.START: "neither began nor was broken off",
    LeafKind.CLOSE: "began and never ended",
    LeafKind.REVEAL: "ended, and its secrets were never opened",
}
_DOUBTS: Final = {
    Doubt.LIES: "[bold red]✗ LIES[/]",
    Doubt.WITHHELD: "[bold red]✗ withheld[/]",
    Doubt.UNANSWERED: "[yellow]○ no answer[/]",
    Doubt.UNJUDGED: "[yellow]○ not checked[/]",
}


def show(found: Findings, out: Console) -> None:
    """Prints a report.

    Args:
        found: what was found.
        out: where to.
    """
    out.print(f"[bold]Transparency log of {escape(found.server)}[/]: {found.size:,} leaves", highlight=False)
    if found.key:
        out.print(f"key {escape(found.key)}, {_KEYS[found.key_from]}", highlight=False, soft_wrap=True)
    if found.checkpoint:
        # Whoever shows others this note shows them what this server has bound itself to.
        out.print(escape(found.checkpoint.rstrip("\n")), style="dim", highlight=False, soft_wrap=True)
    if found.seen_before:
        out.print(f"It was last seen from here with {found.seen_before:,} leaves.", highlight=False)
    for fault in found.faults[:_MOST]:
        out.print(f"[bold red]✗[/] {escape(fault)}", highlight=False)
    _rest(len(found.faults), out)
    if found.sums:
        _show_sums(found, out)
    _show_missing(found, out)
    _show_matches(found, out)
    if found.draws:
        _show_draws(found, out)
    out.print(_verdict(found))


def _show_sums(found: Findings, out: Console) -> None:
    for s in found.sums:
        out.print(f"[bold]{escape(s.game)}, {s.month}[/]", highlight=False)
        for line in (
            f"  promised {s.commits:,} = begun {s.starts:,} + void {s.voids:,} + in their handshake {s.handshakes:,}"
            f" + {_missing(s.missing_starts)}",
            f"  begun {s.starts:,} = ended {s.closes:,} + running {s.running:,} + {_missing(s.missing_closes)}",
            f"  ended or void {s.closes + s.voids:,} = opened {s.reveals:,} + not open yet"
            f" {s.unrevealed:,} + {_missing(s.missing_reveals)}",
        ):
            out.print(line, highlight=False)
    for game, outcomes in found.outcomes.items():
        listed = ", ".join(f"{escape(outcome)} {count:,}" for outcome, count in sorted(outcomes.items()))
        out.print(f"Ends of {escape(game)}: {listed or 'none yet'}", highlight=False)


def _missing(count: int) -> str:
    return f"[bold red]missing {count:,}[/]" if count else "missing 0"


def _show_missing(found: Findings, out: Console) -> None:
    if not found.missing:
        return
    table = Table(title="Missing", title_justify="left")
    for heading in ("Match", "Game", "It …", "Due"):
        table.add_column(heading)
    for one in found.missing[:_MOST]:
        table.add_row(escape(one.match_id), escape(one.game), _AWAITED[one.kind], _time(one.since_ms))
    out.print(table)
    _rest(len(found.missing), out)


def _show_matches(found: Findings, out: Console) -> None:
    out.print(f"{found.audited:,} matches hold in every check.", highlight=False)
    if not found.matches:
        return
    table = Table(title="Matches that do not stand", title_justify="left")
    for heading in ("Match", "Game", "Result", "What was found"):
        table.add_column(heading)
    for one in found.matches[:_MOST]:
        table.add_row(escape(one.match_id), escape(one.game), _DOUBTS[one.doubt], escape(one.what))
    out.print(table)
    _rest(len(found.matches), out)


def _show_draws(found: Findings, out: Console) -> None:
    table = Table(title="Do the draws look drawn?", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("Game", "Month", "Test"):
        table.add_column(heading)
    for heading in ("Draws", "Statistic", "p", "corrected"):
        table.add_column(heading, justify="right")
    for row in found.draws:
        statistic = f"χ²({row.degrees}) = {row.statistic:.1f}" if row.degrees else f"z = {row.statistic:+.2f}"
        corrected = f"[bold red]{row.corrected:.2g}[/]" if row.remarkable else f"{row.corrected:.2g}"
        numbers = (f"{row.draws:,}", statistic, f"{row.p:.2g}", corrected)
        table.add_row(escape(row.game), row.month, row.test, *numbers)
    out.print(table)
    strange = sum(row.remarkable for row in found.draws)
    if strange:
        out.print(
            f"[bold red]{strange} of {len(found.draws)} tests come out as chance alone hardly ever does[/] (corrected "
            f"p below {REMARKABLE}): look into it."
        )
    else:
        out.print(
            f"Nothing that chance would not do: of so many tests some p are small; a corrected p below {REMARKABLE} "
            "would be a question.",
            highlight=False,
        )


def _rest(count: int, out: Console) -> None:
    if count > _MOST:
        out.print(f"… and {count - _MOST:,} more (--json lists all).", highlight=False)


def _time(ms: int) -> str:
    try:
        return f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError, OSError):
        return "–"


def _verdict(found: Findings) -> str:
    match found.status:
        case 0:
            return "[bold green]The log and every match in it hold.[/]"
        case 3:
            return "[bold yellow]Nothing lies, but not everything could be checked.[/]"
        case _:
            return "[bold red]This log does not hold.[/]"
