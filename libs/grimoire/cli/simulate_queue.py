"""`grimoire simulate-queue`: quick play's waiting times, by the very policy that the service matches with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec
from rich.box import SIMPLE_HEAD
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from grimoire.cli.say import ERRORS, OUT, fail
from grimoire.quickplay import POLICY, Demand, Outcome, Policy, Simulation

__all__ = ["Row", "simulate_queue"]


_HEADINGS: Final = (
    "a\nminute",
    "\ncame",
    "\nmatched",
    "fill\nrate",
    "wait\np50",
    "wait\np95",
    "gap\np50",
    "gap\np95",
    "gave\nup",
    "not\nready",
)


class Row(msgspec.Struct, frozen=True):
    """What one stated demand leads to. Figures that cannot be (nobody was matched) are null in JSON."""

    demand: Demand
    outcome: Outcome


class _Report(msgspec.Struct, frozen=True):
    minutes: int
    seed: str
    policy: Policy
    rows: list[Row]


def simulate_queue(
    rates: Sequence[float],
    minutes: int,
    demand: Demand,
    *,
    seed: str,
    as_json: bool,
) -> int:
    """Lets model people queue, for each rate of arrival, and reports.

    Args:
        rates: tickets a minute.
        minutes: how long the model runs for each rate.
        demand: everything else about the people.
        seed: the same seed gives the same people.
        as_json: prints the report as JSON.

    Returns:
        The exit status.
    """
    _check(rates, demand)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    rows = []
    with Progress(*columns, TimeRemainingColumn(), console=ERRORS, transient=True) as progress:
        bar = progress.add_task("Queueing", total=minutes * len(rates))
        for rate in rates:
            model = msgspec.structs.replace(demand, per_minute=rate)
            simulation = Simulation(model, POLICY, seed)
            for _ in simulation.minutes(minutes):
                progress.advance(bar)
            rows.append(Row(model, simulation.outcome()))
    if as_json:
        report = _Report(minutes, seed, POLICY, rows)
        OUT.out(msgspec.json.format(msgspec.json.encode(report), indent=2).decode())
    else:
        _show(rows, minutes, seed)
    return 0


def _check(rates: Sequence[float], demand: Demand) -> None:
    if any(rate <= 0 for rate in rates):
        fail("--rate: a rate of arrival is more than 0 tickets a minute", code=2)
    if demand.rating_sd < 0:
        fail("--rating-sd: a spread is 0 or more", code=2)
    for name, seconds in (("--patience", demand.patience_s), ("--answer", demand.answer_s)):
        if seconds <= 0:
            fail(f"{name}: a time is more than 0 seconds", code=2)
    for name, part in (("--ready", demand.ready), ("--parties", demand.parties)):
        if not 0 <= part <= 1:
            fail(f"{name}: a part is 0 to 1", code=2)
    if demand.seats < 2:
        fail("--seats: a match has at least 2 seats", code=2)


def _show(rows: Sequence[Row], minutes: int, seed: str) -> None:
    table = Table(title=f"Quick play for {minutes} minutes", title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right")
    for row in rows:
        outcome = row.outcome
        table.add_row(
            f"{row.demand.per_minute:g}",
            str(outcome.arrived),
            str(outcome.matched),
            _percent(outcome.fill_rate),
            _number(outcome.wait_p50_s, " s"),
            _number(outcome.wait_p95_s, " s"),
            _number(outcome.gap_p50),
            _number(outcome.gap_p95),
            str(outcome.left),
            str(outcome.not_ready),
        )
    OUT.print(table)
    demand = rows[0].demand
    facts = Table.grid(padding=(0, 2))
    facts.add_row("Ratings", f"{demand.rating_mean:g} ± {demand.rating_sd:g} points (normal)")
    facts.add_row("Patience", f"{demand.patience_s:g} s on average (exponential)")
    facts.add_row("Ready", f"{demand.ready:.0%} of the ready checks, after {demand.answer_s:g} s on average")
    facts.add_row("Seats", f"{demand.seats}, parties of two: {demand.parties:.0%}")
    facts.add_row(
        "Policy",
        f"±{POLICY.first_window} points at once, {POLICY.points_per_s} more a second, anybody after "
        f"{POLICY.anyone_after_s:g} s; ready check {POLICY.ready_s:g} s; a ticket lasts {POLICY.ticket_s:g} s",
    )
    facts.add_row("Seed", seed)
    OUT.print(facts, highlight=False)


def _number(value: float, unit: str = "") -> str:
    return "–" if math.isnan(value) else f"{value:.0f}{unit}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1%}"
